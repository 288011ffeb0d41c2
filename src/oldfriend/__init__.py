"""Oldfriend: a companion, and a memory library for programs, that remembers like an old friend.

from oldfriend import Memory
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oldfriend.domain.errors import OldfriendError
    from oldfriend.sdk import (
        Belief,
        BeliefHit,
        Decided,
        Forgot,
        Hit,
        Memory,
        MemorySync,
        Quoted,
        Words,
    )

__version__ = "0.1.0"
__all__ = [
    "Belief",
    "BeliefHit",
    "Decided",
    "Forgot",
    "Hit",
    "Memory",
    "MemorySync",
    "OldfriendError",
    "Quoted",
    "Words",
    "__version__",
]


HOMES = {
    "Belief": "oldfriend.sdk",
    "BeliefHit": "oldfriend.sdk",
    "Decided": "oldfriend.sdk",
    "Forgot": "oldfriend.sdk",
    "Hit": "oldfriend.sdk",
    "Memory": "oldfriend.sdk",
    "MemorySync": "oldfriend.sdk",
    "OldfriendError": "oldfriend.domain.errors",
    "Quoted": "oldfriend.sdk",
    "Words": "oldfriend.sdk",
}


def __getattr__(name: str) -> object:
    """Import an exported name on first use, so that a command does not load the whole library."""
    if name not in HOMES:
        raise AttributeError(f"oldfriend has no {name!r}")
    return getattr(import_module(HOMES[name]), name)
