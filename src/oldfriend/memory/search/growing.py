"""How does an array grow at its end without being copied each time? It keeps room behind it."""

from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

_Value = TypeVar("_Value", bound=np.generic)

_LEAST_ROOM: Final = 64
_ROOM_SHARE: Final = 16


class Growing(Generic[_Value]):
    """An array with room for more rows; `now` is what it holds."""

    __slots__ = ("_count", "_room")

    def __init__(self, values: NDArray[_Value], *, room: int = 0) -> None:
        """Begin with these values; they are not copied before the array grows beyond its room."""
        self._room = values
        self._count = len(values)
        if room > len(values):
            self._make_room(room)

    @property
    def now(self) -> NDArray[_Value]:
        """The values, as a view: writing to it writes here."""
        return self._room[: self._count]

    @property
    def nbytes(self) -> int:
        """How much memory the array takes with its room."""
        return int(self._room.nbytes)

    def append(self, more: NDArray[_Value]) -> None:
        """Add values at the end."""
        count = self._count + len(more)
        if count > len(self._room):
            self._make_room(count + max(_LEAST_ROOM, count // _ROOM_SHARE))
        self._room[self._count : count] = more
        self._count = count

    def _make_room(self, rows: int) -> None:
        room = np.empty((rows, *self._room.shape[1:]), dtype=self._room.dtype)
        room[: self._count] = self.now
        self._room = room
