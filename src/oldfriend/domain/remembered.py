"""What was worked out of a text is remembered for a while, and let go once anything is forgotten.

For functions of texts that people wrote: their words must not outlive them in a process.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Final, ParamSpec, TypeVar, cast

P = ParamSpec("P")
T = TypeVar("T")

_LETTING_GO: Final[list[Callable[[], None]]] = []


def remembered(most: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Have a function's results for so many texts remembered, those asked for last."""

    def with_memory(work: Callable[P, T]) -> Callable[P, T]:
        kept = lru_cache(maxsize=most)(work)
        _LETTING_GO.append(kept.cache_clear)
        return cast(Callable[P, T], kept)

    return with_memory


def let_go() -> None:
    """Remember nothing of any text."""
    for each in _LETTING_GO:
        each()
