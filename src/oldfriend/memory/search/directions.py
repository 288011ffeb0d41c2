"""In which direction does each message point? One vector each, whole, or narrow so that many fit.

A narrow vector has four bits for each number, and how large they are: an eighth of the bytes. Its
cosine with a question is off by some .006, which is enough to tell the best hundreds from the rest;
those are then compared by their whole vectors, which somebody else keeps. Whose they are it does
not know.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.growing import Growing
from oldfriend.memory.search.values import Floats

Bytes = NDArray[np.uint8]

_SIZE: Final = 4  # bytes behind the numbers, for how large they are
_MIDDLE: Final = np.float32(7.5)  # of the sixteen steps
_LEAST: Final = np.float32(1e-30)
_ROWS_AT_ONCE: Final = 1024  # so that what is unpacked stays in the processor's cache


class Directions:
    """A vector at each position; zeros where none is there."""

    __slots__ = ("dimension", "is_narrow", "kept")

    def __init__(self, vectors: Floats, *, is_narrow: bool = False, room: int = 0) -> None:
        """Keep these, with room for so many; whole ones are not copied before they grow."""
        self.dimension = int(vectors.shape[1])
        self.is_narrow = is_narrow
        self.kept: Growing[np.float32 | np.uint8] = Growing(self._formed(vectors), room=room)

    def __len__(self) -> int:
        return len(self.kept.now)

    @property
    def nbytes(self) -> int:
        """How much memory they take with their room."""
        return self.kept.nbytes

    def append(self, vectors: Floats) -> None:
        """Add positions at the end."""
        self.kept.append(self._formed(vectors))

    def append_none(self, count: int) -> None:
        """Add positions that have no vector yet."""
        self.append(np.zeros((count, self.dimension), np.float32))

    def place(self, places: NDArray[np.integer], vectors: Floats) -> None:
        """Set the vectors at these positions."""
        self.kept.now[places] = self._formed(vectors)

    def at(self, places: NDArray[np.integer]) -> Floats:
        """The vectors at these positions, as exactly as they are kept."""
        kept = self.kept.now[places]
        if self.is_narrow:
            return widened(kept.astype(np.uint8, copy=False))[:, : self.dimension]
        whole: Floats = kept.astype(np.float32, copy=False)
        return whole

    def taken(self, places: NDArray[np.integer] | NDArray[np.bool_]) -> "Directions":
        """Only these positions, in this order."""
        taken = Directions(np.zeros((0, self.dimension), np.float32), is_narrow=self.is_narrow)
        taken.kept.append(self.kept.now[places])
        return taken

    def extend(self, more: "Directions") -> None:
        """Add others of the same kind at the end."""
        self.kept.append(more.kept.now)

    def made_narrow(self, *, room: int = 0) -> "Directions":
        """The same in an eighth of the bytes."""
        narrow = Directions(np.zeros((0, self.dimension), np.float32), is_narrow=True, room=room)
        for first in range(0, len(self), _ROWS_AT_ONCE):
            narrow.append(self.at(np.arange(first, min(first + _ROWS_AT_ONCE, len(self)))))
        return narrow

    def cosines(self, vector: Floats) -> Floats:
        """How close each is to a vector of the same model."""
        if self.is_narrow:
            return narrow_cosines(self.kept.now.astype(np.uint8, copy=False), vector)
        cosines: Floats = self.kept.now @ vector
        return cosines

    def _formed(self, vectors: Floats) -> Floats | Bytes:
        return narrowed(vectors) if self.is_narrow else vectors


def narrow_cosines(kept: Bytes, vector: Floats) -> Floats:
    """How close each narrow vector is to a whole one."""
    even = np.pad(vector, (0, len(vector) % 2))
    low, high = np.split(even, 2)
    below = _MIDDLE * even.sum()
    cosines = np.empty(len(kept), np.float32)
    for first in range(0, len(kept), _ROWS_AT_ONCE):
        steps = kept[first : first + _ROWS_AT_ONCE, :-_SIZE]
        close = cosines[first : first + _ROWS_AT_ONCE]
        np.matmul((steps & 15).astype(np.float32), low, out=close)
        close += (steps >> 4).astype(np.float32) @ high
    cosines -= below
    cosines *= _sizes(kept)
    return cosines


def narrowed(vectors: Floats) -> Bytes:
    """Each row in four bits a number: the first half of it in the low ones, the rest in the high.

    The largest number decides how large a step is, so that none is cut off.
    """
    narrow = np.empty((len(vectors), (vectors.shape[1] + 1) // 2 + _SIZE), np.uint8)
    for first in range(0, len(vectors), _ROWS_AT_ONCE):
        _narrow_some(vectors[first : first + _ROWS_AT_ONCE], narrow[first : first + _ROWS_AT_ONCE])
    return narrow


def _narrow_some(vectors: Floats, narrow: Bytes) -> None:
    even = np.pad(vectors, ((0, 0), (0, 1))) if vectors.shape[1] % 2 else vectors
    size = np.maximum(even.max(axis=1, initial=0), -even.min(axis=1, initial=0)) / _MIDDLE
    steps = (even * (1 / np.maximum(size, _LEAST))[:, None] + 8).astype(np.uint8)
    low, high = np.split(steps, 2, axis=1)
    np.bitwise_or(low, high << 4, out=narrow[:, :-_SIZE])
    narrow[:, -_SIZE:] = size.astype("<f4")[:, None].view(np.uint8)


def widened(rows: Bytes) -> Floats:
    """What is left of the vectors."""
    steps = np.hstack([rows[:, :-_SIZE] & 15, rows[:, :-_SIZE] >> 4]).astype(np.float32)
    steps -= _MIDDLE
    wide: Floats = steps * _sizes(rows)[:, None]
    return wide


def _sizes(rows: Bytes) -> Floats:
    sizes: Floats = np.ascontiguousarray(rows[:, -_SIZE:]).view("<f4")[:, 0].astype(np.float32)
    return sizes
