"""Oldfriend: a companion, and a memory for your own program, that remembers like an old friend.

from oldfriend import Memory
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oldfriend.domain.errors import OldfriendError
    from oldfriend.library import (
        Belief,
        BeliefHit,
        Decided,
        Forgot,
        Hit,
        Memory,
        MemorySync,
        Quoted,
        Words,
    )  # fmt: skip

__version__ = "0.1.0"
__all__ = [
    "Belief", "BeliefHit", "Decided", "Forgot", "Hit", "Memory", "MemorySync", "OldfriendError",
    "Quoted", "Words", "__version__",
]  # fmt: skip


HOMES = {
    "Belief": "oldfriend.library",
    "BeliefHit": "oldfriend.library",
    "Decided": "oldfriend.library",
    "Forgot": "oldfriend.library",
    "Hit": "oldfriend.library",
    "Memory": "oldfriend.library",
    "MemorySync": "oldfriend.library",
    "OldfriendError": "oldfriend.domain.errors",
    "Quoted": "oldfriend.library",
    "Words": "oldfriend.library",
}


def __getattr__(name: str) -> object:
    """Load what is exported when it is first used; a command does not pay for the library."""
    if name not in HOMES:
        raise AttributeError(f"oldfriend has no {name!r}")
    return getattr(import_module(HOMES[name]), name)
