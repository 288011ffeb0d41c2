"""Text caches: results computed from texts people wrote, cleared as soon as anything is deleted.

Deleted words must not survive in the memory of a process.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, ParamSpec, TypeVar, cast
from weakref import WeakMethod

from oldfriend.domain.ids import PersonId

P = ParamSpec("P")
T = TypeVar("T")

_CACHE_CLEARERS: Final[list[Callable[[], None]]] = []
_PERSON_CACHES: Final[list[WeakMethod[Callable[[PersonId], None]]]] = []


def text_lru_cache(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that caches a function's results for the last ``maxsize`` texts."""

    def with_memory(work: Callable[P, T]) -> Callable[P, T]:
        cached = lru_cache(maxsize=maxsize)(work)
        _CACHE_CLEARERS.append(cached.cache_clear)
        return cast(Callable[P, T], cached)

    return with_memory


def clear_when_forgotten(clear: Callable[[PersonId], None]) -> None:
    """Have a method called when something of a person is deleted, for as long as its object lives.

    For what is kept by person, and is no function of a text.
    """
    _PERSON_CACHES[:] = [each for each in _PERSON_CACHES if each() is not None]
    _PERSON_CACHES.append(WeakMethod(clear))


def clear_text_caches(person: PersonId) -> None:
    """Clear all text caches, and what is kept of the person of whom something was deleted."""
    for each in _CACHE_CLEARERS:
        each()
    for held in _PERSON_CACHES:
        if (clear := held()) is not None:
            clear(person)
