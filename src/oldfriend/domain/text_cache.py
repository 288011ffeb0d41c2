"""Text caches: results computed from texts people wrote, cleared as soon as anything is deleted.

Deleted words must not survive in the memory of a process.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_CACHE_CLEARERS: Final[list[Callable[[], None]]] = []


def text_lru_cache(maxsize: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that caches a function's results for the last ``maxsize`` texts."""

    def with_memory(work: Callable[P, T]) -> Callable[P, T]:
        cached = lru_cache(maxsize=maxsize)(work)
        _CACHE_CLEARERS.append(cached.cache_clear)
        return cast(Callable[P, T], cached)

    return with_memory


def clear_text_caches() -> None:
    """Clear all text caches."""
    for each in _CACHE_CLEARERS:
        each()
