"""Growable array: a NumPy array with spare capacity, so that appending seldom copies."""

from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

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
