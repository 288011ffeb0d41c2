"""Concurrency: work next to a watcher task, and a guard that ends spending with a lost lease.

A process that was frozen or starved of CPU checks the guard before it spends anything.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
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
