"""Which of many may say the same? Found in one go, so that only those are looked at closely.

Knows no database and no model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

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
        close = mine.rows(ones) @ theirs.rows(others).T
        for row, column in np.argwhere(close >= least).tolist():
            yield Pair(
                one=mine.places[row], other=theirs.places[column],
                likeness=float(close[row, column]),
            )  # fmt: skip


@dataclass(slots=True)
class Compared:
    """Those that are compared by one measure: their places, and vectors where an embedder has them.

    Lists side by side, for there may be thousands.
    """

    places: list[int] = field(default_factory=list)
    vectors: list[Vector] = field(default_factory=list)

    def rows(self, told: Sequence[Told]) -> Vector:
        """What they are compared by, as the rows of one."""
        vectors = self.vectors or [letters(told[place].text) for place in self.places]
        rows: Vector = np.concatenate(vectors).reshape(len(vectors), -1)
        return rows  # of thousands `np.stack` looks at each by itself


def by_measure(told: Sequence[Told], vectors: Vectors | None) -> dict[str, Compared]:
    """Those that can be compared with each other."""
    found: dict[str, Compared] = {}
    understood_ones = Compared()
    for place, each in enumerate(told):
        vector = None if vectors is None else understood(each.text, vectors)
        if vector is None:
            found.setdefault(written_with(each.text), Compared()).places.append(place)
        else:
            understood_ones.places.append(place)
            understood_ones.vectors.append(vector)
    if vectors is not None and understood_ones.places:
        found[family_of(vectors.model)] = understood_ones
    return found


def pairs_by_matter(ones: Sequence[Told], others: Sequence[Told], language: str) -> Iterator[Pair]:
    """Those that consist of the same words."""
    places: dict[frozenset[str], list[int]] = {}
    for place, each in enumerate(ones):
        if matter := matter_of(each.text, language):
            places.setdefault(matter, []).append(place)
    for other, each in enumerate(others):
        found = places.get(matter_of(each.text, language))
        for place in found or ():
            yield Pair(one=place, other=other, likeness=1.0)
