"""Lease guard: prevents spending for a partition once its lease may have been lost.

A process that was frozen or starved of CPU checks the guard before it spends anything. The module
knows nothing about a lease except whether it is lost.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

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
