"""Isolation: runs work that may have killed its process alone, whichever queue it came from."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

DRAIN_TIMEOUT_S: Final = 5.0
"""How long exclusive access waits for running work; if that takes longer, it is not exclusive."""
MAX_EXCLUSIVE_S: Final = 10.0
"""The longest exclusive access, so that a chat that hangs does not delay others for longer."""
SETTLE_S: Final = 3.0
"""How long suspect work waits after the start: a new process is slow, and may end anyhow."""

COOLDOWN_S: Final = 1.0
"""Pause for other work after each exclusive access, so that nobody waits for more than one."""


class Isolation:
    """Read-write style lock over the work of this process: any number at once, or one alone."""

    def __init__(self) -> None:
        """Start with no work running."""
        self._inside = 0
        self._is_closed = False
        self._began_at = time.monotonic()
        self._rests_until = 0.0
        self._open = asyncio.Event()
        self._emptied = asyncio.Event()

    @property
    def settles_in_s(self) -> float:
        """Seconds until suspect work may run: not right after the start, nor back to back."""
        return max(0.0, max(self._began_at + SETTLE_S, self._rests_until) - time.monotonic())

    def try_enter(self) -> bool:
        """Enter next to others and return True, unless exclusive access is held or pending."""
        if self._is_closed:
            return False
        self._inside += 1
        return True

    def leave(self) -> None:
        """Leave after try_enter."""
        self._inside -= 1
        if self._inside <= 1:
            self._emptied.set()

    @asynccontextmanager
    async def shared(self) -> AsyncIterator[None]:
        """Run the block next to others, as soon as nobody has exclusive access."""
        while not self.try_enter():
            await self._wait_until_open()
        try:
            yield
        finally:
            self.leave()

    @asynccontextmanager
    async def exclusive(self) -> AsyncIterator["ExclusiveAccess"]:
        """Run the block alone, as soon as this process has settled and the others are done.

        If the others do not finish in time, the block runs next to them.
        """
        while (wait_s := self.settles_in_s) or not self.try_enter():
            await (asyncio.sleep(wait_s) if wait_s else self._wait_until_open())
        self._is_closed = True
        access = ExclusiveAccess(self)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(DRAIN_TIMEOUT_S):
                    while self._inside > 1:
                        self._emptied.clear()
                        await self._emptied.wait()
            if self._inside > 1:
                access.end()
            yield access
        finally:
            access.end()
            self.leave()

    async def _wait_until_open(self) -> None:
        self._open.clear()
        await self._open.wait()

    def reopen(self) -> None:
        """Let others enter again."""
        self._rests_until = time.monotonic() + COOLDOWN_S
        self._is_closed = False
        self._open.set()


class ExclusiveAccess:
    """Exclusive access to the process, until it is given back."""

    def __init__(self, isolation: Isolation) -> None:
        """Hold the access; others wait until it ends."""
        self._isolation = isolation
        self.is_active = True

    def end(self) -> None:
        """End the exclusive access; does nothing if it has ended already."""
        if self.is_active:
            self.is_active = False
            self._isolation.reopen()
