"""May what is done for a lane still cost something? Not once the lane may be another's.

Whoever was frozen, or got no processor, asks this before they spend anything. Knows nothing of
lanes but whether one is lost.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_REFUSE: Final[ContextVar[Callable[[], None] | None]] = ContextVar("refuse", default=None)


@contextmanager
def done_for_a_lane(refuse_lost: Callable[[], None]) -> Iterator[None]:
    """What is done within is done for a lane; ``refuse_lost`` raises LeaseLost once it is lost."""
    outer = _REFUSE.set(refuse_lost)
    try:
        yield
    finally:
        _REFUSE.reset(outer)


def refuse_too_late() -> None:
    """Raise LeaseLost where what is done now is done for a lane that may be another's by now."""
    if (refuse_lost := _REFUSE.get()) is not None:
        refuse_lost()
