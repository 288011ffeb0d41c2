"""Vector array: one vector per message, as float32 or quantized to four bits per number.

A quantized vector takes an eighth of the bytes. Its cosine is off by about .006, which is enough
to select the best few hundred; those are then compared by their exact vectors, which are stored
elsewhere.
"""

from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.types import Floats, Ints, multiply

_Value = TypeVar("_Value", bound=np.generic)

_MIN_SPARE: Final = 64
_GROWTH_DIVISOR: Final = 16


class GrowableArray(Generic[_Value]):
    """Array with spare capacity; `values` is the part in use."""

    __slots__ = ("_buffer", "_count")

    def __init__(self, values: NDArray[_Value], *, capacity: int = 0) -> None:
        """Start with these values, which are not copied until the array outgrows them."""
        self._buffer = values
        self._count = len(values)
        if capacity > len(values):
            self._reserve(capacity)

    @property
    def values(self) -> NDArray[_Value]:
        """The values as a view: writing to it changes the array."""
        return self._buffer[: self._count]

    @property
    def nbytes(self) -> int:
        """Memory use in bytes, spare capacity included."""
        return int(self._buffer.nbytes)

    def append(self, values: NDArray[_Value]) -> None:
        """Append values."""
        count = self._count + len(values)
        if count > len(self._buffer):
            self._reserve(count + max(_MIN_SPARE, count // _GROWTH_DIVISOR))
        self._buffer[self._count : count] = values
        self._count = count

    def _reserve(self, rows: int) -> None:
        buffer = np.empty((rows, *self._buffer.shape[1:]), dtype=self._buffer.dtype)
        buffer[: self._count] = self.values
        self._buffer = buffer


Bytes = NDArray[np.uint8]

_SCALE_BYTES: Final = 4  # bytes after the numbers, for a float32 scale
_MIDPOINT: Final = np.float32(7.5)  # of the 16 levels
_MIN_SCALE: Final = np.float32(1e-30)
_BLOCK_ROWS: Final = 1024  # so that unpacked rows stay in the processor's cache


class VectorArray:
    """Vectors by position; zeros where one is missing."""

    __slots__ = ("array", "dimension", "is_quantized")

    def __init__(self, vectors: Floats, *, is_quantized: bool = False, capacity: int = 0) -> None:
        """Start with these vectors; float32 ones are not copied until the array outgrows them."""
        self.dimension = int(vectors.shape[1])
        self.is_quantized = is_quantized
        self.array: GrowableArray[np.float32 | np.uint8] = GrowableArray(
            self._encode(vectors), capacity=capacity
        )

    def __len__(self) -> int:
        return len(self.array.values)

    @property
    def nbytes(self) -> int:
        """Memory use in bytes, spare capacity included."""
        return self.array.nbytes

    def append(self, vectors: Floats) -> None:
        """Append vectors."""
        self.array.append(self._encode(vectors))

    def append_missing(self, count: int) -> None:
        """Append positions that have no vector yet."""
        self.append(np.zeros((count, self.dimension), np.float32))

    def assign(self, positions: NDArray[np.integer], vectors: Floats) -> None:
        """Set the vectors at these positions."""
        self.array.values[positions] = self._encode(vectors)

    def get_rows(self, positions: NDArray[np.integer]) -> Floats:
        """Return the vectors at these positions, dequantized where necessary."""
        kept = self.array.values[positions]
        if self.is_quantized:
            return dequantize(kept.astype(np.uint8, copy=False))[:, : self.dimension]
        whole: Floats = kept.astype(np.float32, copy=False)
        return whole

    def take(self, positions: NDArray[np.integer] | NDArray[np.bool_]) -> "VectorArray":
        """Return an array of only these positions, in this order."""
        taken = VectorArray(
            np.zeros((0, self.dimension), np.float32), is_quantized=self.is_quantized
        )
        taken.array.append(self.array.values[positions])
        return taken

    def extend(self, other: "VectorArray") -> None:
        """Append the vectors of another array with the same encoding."""
        self.array.append(other.array.values)

    def to_quantized(self, *, capacity: int = 0) -> "VectorArray":
        """Return these vectors quantized, in an eighth of the bytes."""
        quantized = VectorArray(
            np.zeros((0, self.dimension), np.float32), is_quantized=True, capacity=capacity
        )
        for first in range(0, len(self), _BLOCK_ROWS):
            quantized.append(self.get_rows(np.arange(first, min(first + _BLOCK_ROWS, len(self)))))
        return quantized

    def compute_cosines(self, vector: Floats) -> Floats:
        """Return the cosine of each vector with a vector of the same model."""
        if self.is_quantized:
            return compute_quantized_cosines(self.array.values.astype(np.uint8, copy=False), vector)
        cosines: Floats = multiply(self.array.values, vector)
        return cosines

    def compute_many_cosines(self, vectors: Floats) -> Floats:
        """Return the cosines of each of some vectors of the same model with each vector."""
        if self.is_quantized:
            return np.stack([self.compute_cosines(each) for each in vectors])
        cosines: Floats = np.ascontiguousarray(multiply(self.array.values, vectors.T).T)
        return cosines

    def _encode(self, vectors: Floats) -> Floats | Bytes:
        return quantize(vectors) if self.is_quantized else vectors


def compute_quantized_cosines(rows: Bytes, vector: Floats) -> Floats:
    """Return the cosine of each quantized row with a float32 vector."""
    padded = np.pad(vector, (0, len(vector) % 2))
    low, high = np.split(padded, 2)
    offset = _MIDPOINT * padded.sum()
    cosines = np.empty(len(rows), np.float32)
    for first in range(0, len(rows), _BLOCK_ROWS):
        steps = rows[first : first + _BLOCK_ROWS, :-_SCALE_BYTES]
        block = cosines[first : first + _BLOCK_ROWS]
        block[:] = multiply((steps & 15).astype(np.float32), low)
        block += multiply((steps >> 4).astype(np.float32), high)
    cosines -= offset
    cosines *= _read_scales(rows)
    return cosines


def quantize(vectors: Floats) -> Bytes:
    """Quantize rows to four bits per number: the first half in the low bits, the rest in the high.

    The largest number of a row sets its scale, so that none is clipped.
    """
    quantized = np.empty((len(vectors), (vectors.shape[1] + 1) // 2 + _SCALE_BYTES), np.uint8)
    for first in range(0, len(vectors), _BLOCK_ROWS):
        _quantize_block(
            vectors[first : first + _BLOCK_ROWS], quantized[first : first + _BLOCK_ROWS]
        )
    return quantized


def _quantize_block(vectors: Floats, narrow: Bytes) -> None:
    padded = np.pad(vectors, ((0, 0), (0, 1))) if vectors.shape[1] % 2 else vectors
    scale = np.maximum(padded.max(axis=1, initial=0), -padded.min(axis=1, initial=0)) / _MIDPOINT
    steps = (padded * (1 / np.maximum(scale, _MIN_SCALE))[:, None] + 8).astype(np.uint8)
    low, high = np.split(steps, 2, axis=1)
    np.bitwise_or(low, high << 4, out=narrow[:, :-_SCALE_BYTES])
    narrow[:, -_SCALE_BYTES:] = scale.astype("<f4")[:, None].view(np.uint8)


def dequantize(rows: Bytes) -> Floats:
    """Return the approximate float32 vectors of quantized rows."""
    steps = np.hstack([rows[:, :-_SCALE_BYTES] & 15, rows[:, :-_SCALE_BYTES] >> 4]).astype(
        np.float32
    )
    steps -= _MIDPOINT
    vectors: Floats = steps * _read_scales(rows)[:, None]
    return vectors


def _read_scales(rows: Bytes) -> Floats:
    scales: Floats = (
        np.ascontiguousarray(rows[:, -_SCALE_BYTES:]).view("<f4")[:, 0].astype(np.float32)
    )
    return scales


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LegacyVectors:
    """Vectors with their messages' positions; a mask of 0 marks one that is no longer needed."""

    positions: Ints
    vectors: VectorArray
    mask: Floats  # 1, or 0

    @property
    def nbytes(self) -> int:
        """Memory use in bytes."""
        return self.positions.nbytes + self.vectors.nbytes + self.mask.nbytes

    def concat(self, other: "LegacyVectors") -> "LegacyVectors":
        """Return these with those of other messages; extends this vector array in place."""
        self.vectors.extend(other.vectors)
        return LegacyVectors(
            positions=np.concatenate([self.positions, other.positions]),
            vectors=self.vectors,
            mask=np.concatenate([self.mask, other.mask]),
        )

    def to_quantized(self) -> "LegacyVectors":
        """Return these with quantized vectors."""
        return replace(self, vectors=self.vectors.to_quantized())

    def drop(self, positions: NDArray[np.integer]) -> "LegacyVectors":
        """Return these without those messages; copies only once half of them are not needed."""
        kept = ~np.isin(self.positions, positions)
        left = LegacyVectors(positions=self.positions, vectors=self.vectors, mask=self.mask * kept)
        return left if 2 * np.count_nonzero(left.mask) > len(kept) else left.take(kept)

    def remap(self, to: Ints) -> "LegacyVectors":
        """Return these with messages at new positions; a negative one in `to` drops the message."""
        remapped = LegacyVectors(positions=to[self.positions], vectors=self.vectors, mask=self.mask)
        return remapped.take(remapped.positions >= 0)

    def take(self, kept: NDArray[np.bool_]) -> "LegacyVectors":
        """Return only the masked-in vectors that are kept."""
        chosen = kept & (self.mask > 0)
        return LegacyVectors(
            positions=self.positions[chosen],
            vectors=self.vectors.take(chosen),
            mask=self.mask[chosen],
        )
