"""How is what cannot be taken back said one after the other, and nobody made to wait for long?

It does not know what is said.
"""

import asyncio
from collections import deque


class OneByOne:
    """Lets one in at a time; nobody is waited for longer than ``patience_s``.

    Nobody waits longer than ``longest_s`` for all that came before.
    """

    def __init__(self, patience_s: float, longest_s: float) -> None:
        """Nobody is in it."""
        self._patience_s = patience_s
        self._longest_s = longest_s
        self._inside: Place | None = None
        self._waiting: deque[Place] = deque()

    async def enter(self) -> "Place":
        """Wait until nobody is in it, or for long enough; who leaves it again lets others in."""
        mine = Place(self)
        if self._inside is None:
            self._let_in(mine)
            return mine
        self._waiting.append(mine)
        impatience = asyncio.get_running_loop().call_later(self._longest_s, mine.is_called.set)
        try:
            await mine.is_called.wait()
        except asyncio.CancelledError:
            mine.leave()
            raise
        finally:
            impatience.cancel()
        return mine

    def leave(self, place: "Place") -> None:
        """Let the next one in, where this one kept others out."""
        if self._inside is not place:
            place.is_called.set()  # who waited and is gone is passed over
            return
        self._inside = None
        while self._waiting:
            following = self._waiting.popleft()
            if not following.is_called.is_set():
                self._let_in(following)
                return

    def _let_in(self, place: "Place") -> None:
        self._inside = place
        place.is_called.set()
        asyncio.get_running_loop().call_later(self._patience_s, place.leave)


class Place:
    """Where one may be at a time."""

    def __init__(self, one_by_one: OneByOne) -> None:
        """Not taken yet."""
        self.is_called = asyncio.Event()
        self._one_by_one = one_by_one

    def leave(self) -> None:
        """Be done; a second time nothing happens."""
        self._one_by_one.leave(self)
