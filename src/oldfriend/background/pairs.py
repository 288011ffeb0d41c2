"""Which of many may say the same? Found in one go, so that only those are looked at closely.

Knows no database and no model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from oldfriend.background.likeness import (
    DEFAULT,
    THRESHOLDS,
    Told,
    Vector,
    Vectors,
    family_of,
    letters,
    matter_of,
    understood,
    written_with,
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
        mine, theirs = rows[measure], columns[measure]
        close = rows_of(ones, mine) @ rows_of(others, theirs).T
        for row, column in np.argwhere(close >= least).tolist():
            yield Pair(
                one=mine[row].place, other=theirs[column].place,
                likeness=float(close[row, column]),
            )  # fmt: skip


class Compared(NamedTuple):
    """The place of one that is compared, with what an embedder makes of it."""

    place: int
    vector: Vector | None


def by_measure(told: Sequence[Told], vectors: Vectors | None) -> dict[str, list[Compared]]:
    """Those that can be compared with each other."""
    found: dict[str, list[Compared]] = {}
    family = "" if vectors is None else family_of(vectors.model)
    for place, each in enumerate(told):
        vector = None if vectors is None else understood(each.text, vectors)
        measure = written_with(each.text) if vector is None else family
        found.setdefault(measure, []).append(Compared(place, vector))
    return found


def rows_of(told: Sequence[Told], compared: Sequence[Compared]) -> Vector:
    """What they are compared by, as the rows of one."""
    vectors = [
        letters(told[each.place].text) if each.vector is None else each.vector for each in compared
    ]
    rows: Vector = np.concatenate(vectors).reshape(len(vectors), -1)
    return rows  # of thousands `np.stack` looks at each by itself


def pairs_by_matter(ones: Sequence[Told], others: Sequence[Told], language: str) -> Iterator[Pair]:
    """Those that consist of the same words."""
    places: dict[frozenset[str], list[int]] = {}
    for place, each in enumerate(ones):
        if matter := matter_of(each.text, language):
            places.setdefault(matter, []).append(place)
    for other, each in enumerate(others):
        for place in places.get(matter_of(each.text, language), ()):
            yield Pair(one=place, other=other, likeness=1.0)
