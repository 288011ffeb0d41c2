"""Concurrency: work next to a watcher, or all alone, and a guard on what it spends.

A process that was frozen or starved of CPU checks the guard before it spends anything.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from oldfriend.domain.errors import LeaseLost

_LEASE_CHECK: Final[ContextVar[Callable[[], None] | None]] = ContextVar("refuse", default=None)


@contextmanager
def guard_lease(refuse_lost: Callable[[], None]) -> Iterator[None]:
    """Guard what runs in this block; ``refuse_lost`` raises LeaseLost once the lease is lost."""
    token = _LEASE_CHECK.set(refuse_lost)
    try:
        yield
    finally:
        _LEASE_CHECK.reset(token)


def is_lease_lost() -> bool:
    """Return whether the current work belongs to a lease that may have been lost."""
    try:
        raise_if_lease_lost()
    except LeaseLost:
        return True
    return False


def raise_if_lease_lost() -> None:
    """Raise LeaseLost if the current work belongs to a lease that may have been lost."""
    if (refuse_lost := _LEASE_CHECK.get()) is not None:
        refuse_lost()


T = TypeVar("T")


async def run_with_watcher(watcher: Coroutine[Any, Any, None], work: Coroutine[Any, Any, T]) -> T:
    """Run the work while the watcher runs, and return the result of the work.

    Raises the error of the work unchanged. An error of the watcher cancels the work and is raised.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(watcher)
            done = await work
            watching.cancel()
    except BaseExceptionGroup as group:
        raise group.exceptions[-1] from group  # the work's own error, if there is one, comes last
    return done


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


class ConcurrencyLimiter:
    """A semaphore from which several slots can be taken at once."""

    def __init__(self, at_once: int) -> None:
        """Start with all slots free."""
        self._free = asyncio.Semaphore(at_once)

    async def acquire(self, *, limit: int = 1) -> int:
        """Wait for one slot, take further free ones up to ``limit``, and return the count."""
        await self._free.acquire()
        slots = 1
        while slots < limit and not self._free.locked():
            await self._free.acquire()
            slots += 1
        return slots

    def release(self, places: int = 1) -> None:
        """Free slots."""
        for _ in range(places):
            self._free.release()
