"""How is what cannot be taken back said one after the other, and nobody made to wait for long?

It does not know what is said, nor how.
"""

import asyncio
from collections import deque
from collections.abc import Callable


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

    def line_up(self, call: Callable[[], None]) -> "Place":
        """Be called as soon as nobody is in it, or after long enough.

        In the very moment in which whoever was before leaves: a busy process would take long to
        come to it otherwise.
        """
        place = Place(self, call)
        if self._inside is None:
            self._let_in(place)
        else:
            self._waiting.append(place)
            place.impatience = self._later(self._longest_s, place.call)
        return place

    def leave(self, place: "Place") -> None:
        """Let the next one in, where this one kept others out."""
        if self._inside is not place:
            return
        self._inside = None
        while self._waiting:
            following = self._waiting.popleft()
            if not (following.is_called.is_set() or following.is_gone):
                self._let_in(following)
                return

    def _let_in(self, place: "Place") -> None:
        self._inside = place
        self._later(self._patience_s, place.leave)
        place.call()

    def _later(self, after_s: float, act: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(after_s, act)


class Place:
    """Where one stands, from lining up until all is done."""

    def __init__(self, one_by_one: OneByOne, call: Callable[[], None]) -> None:
        """Not called yet."""
        self.is_called = asyncio.Event()
        self.is_gone = False
        self.impatience: asyncio.TimerHandle | None = None
        self._one_by_one = one_by_one
        self._call = call

    def call(self) -> None:
        """Call who stands there, if that has not been done and they are there still."""
        if not (self.is_called.is_set() or self.is_gone):
            self.is_called.set()
            self._call()

    def leave(self) -> None:
        """Let the next one in at once; a second time nothing happens."""
        self._one_by_one.leave(self)

    def give_up(self) -> None:
        """Be gone, called or not; the next is let in once all have left that leave together."""
        self.is_gone = True
        if self.impatience is not None:
            self.impatience.cancel()
        asyncio.get_running_loop().call_soon(self.leave)
