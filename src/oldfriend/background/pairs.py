"""Which of many may say the same? Found in one go, so that only those are looked at closely.

Knows no database and no model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from oldfriend.background.likeness import (
    CHARACTERS,
    DEFAULT,
    LETTERS,
    THRESHOLDS,
    Told,
    Vector,
    Vectors,
    letters,
    matter_of,
    measure_of,
)

Level = Literal["unclear", "merge"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The places of two in the rows that they are from, and how alike they are."""

    one: int
    other: int
    likeness: float


def alike_pairs(
    ones: Sequence[Told], others: Sequence[Told], vectors: Vectors | None, *, language: str,
    level: Level = "unclear",
) -> list[Pair]:  # fmt: skip
    """Those that may say the same, the most alike first; what is left out is different."""
    found = {
        (each.one, each.other): each for each in pairs_by_measure(ones, others, vectors, level)
    }
    for each in pairs_by_matter(ones, others, language):
        found.setdefault((each.one, each.other), each)
    return sorted(found.values(), key=lambda pair: (-pair.likeness, pair.one, pair.other))


def pairs_by_measure(
    ones: Sequence[Told], others: Sequence[Told], vectors: Vectors | None, level: Level
) -> Iterator[Pair]:
    """Those that are alike enough by what they can be compared by."""
    rows, columns = by_measure(ones, vectors), by_measure(others, vectors)
    for measure in rows.keys() & columns.keys():
        least: float = getattr(THRESHOLDS.get(measure, DEFAULT), level)
        mine = stacked([vector_of(ones[place].text, vectors, measure) for place in rows[measure]])
        theirs = [vector_of(others[place].text, vectors, measure) for place in columns[measure]]
        close = mine @ stacked(theirs).T
        for row, column in np.argwhere(close >= least).tolist():
            yield Pair(
                one=rows[measure][row], other=columns[measure][column],
                likeness=float(close[row, column]),
            )  # fmt: skip


def by_measure(told: Sequence[Told], vectors: Vectors | None) -> dict[str, list[int]]:
    """The places of those that can be compared with each other."""
    places: dict[str, list[int]] = {}
    for place, each in enumerate(told):
        places.setdefault(measure_of(each.text, vectors), []).append(place)
    return places


def stacked(vectors: Sequence[Vector]) -> Vector:
    """Vectors as the rows of one; of thousands `np.stack` looks at each by itself."""
    rows: Vector = np.concatenate(vectors).reshape(len(vectors), -1)
    return rows


def vector_of(text: str, vectors: Vectors | None, measure: str) -> Vector:
    """What a text is compared by."""
    if vectors is None or measure in {LETTERS, CHARACTERS}:
        return letters(text)
    return vectors.of[text]


def pairs_by_matter(ones: Sequence[Told], others: Sequence[Told], language: str) -> Iterator[Pair]:
    """Those that consist of the same words."""
    places: dict[frozenset[str], list[int]] = {}
    for place, each in enumerate(ones):
        if matter := matter_of(each.text, language):
            places.setdefault(matter, []).append(place)
    for other, each in enumerate(others):
        for place in places.get(matter_of(each.text, language), ()):
            yield Pair(one=place, other=other, likeness=1.0)
