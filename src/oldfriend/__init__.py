"""Oldfriend: a companion, and a memory library for programs, that remembers like an old friend.

from oldfriend import Memory
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oldfriend.domain.errors import OldfriendError
    from oldfriend.sdk import (
        Answer,
        Belief,
        BeliefHit,
        Decision,
        EvidenceQuote,
        ForgetResult,
        Goal,
        Hit,
        Memory,
        MemorySync,
        StoredMessage,
        Task,
        Watch,
    )

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Belief",
    "BeliefHit",
    "Decision",
    "EvidenceQuote",
    "ForgetResult",
    "Goal",
    "Hit",
    "Memory",
    "MemorySync",
    "OldfriendError",
    "StoredMessage",
    "Task",
    "Watch",
    "__version__",
]


HOMES = {
    **{name: "oldfriend.sdk" for name in __all__ if name != "__version__"},
    "OldfriendError": "oldfriend.domain.errors",
}
FORMER_NAMES = {
    "Decided": "Decision",
    "Forgot": "ForgetResult",
    "Quoted": "EvidenceQuote",
    "Words": "StoredMessage",
}
"""Former names, which still work, with what they are called now."""


def __dir__() -> list[str]:
    """Name what is public, so that dir() and completion show it before it is imported."""
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


def __getattr__(name: str) -> object:
    """Import an exported name on first use, so that a command does not load the whole library."""
    current = FORMER_NAMES.get(name, name)
    if current not in HOMES:
        raise AttributeError(f"oldfriend has no {name!r}")
    return getattr(import_module(HOMES[current]), current)
