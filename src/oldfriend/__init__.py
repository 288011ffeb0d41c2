"""Oldfriend: a companion, and a memory for your own program, that remembers like an old friend.

from oldfriend import Memory
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oldfriend.domain.errors import OldfriendError
    from oldfriend.library import Hit, Memory, MemorySync, Words

__version__ = "0.1.0"
__all__ = ["Hit", "Memory", "MemorySync", "OldfriendError", "Words", "__version__"]


def __getattr__(name: str) -> object:
    """Load what is exported when it is first used; a command does not pay for the library."""
    if name == "OldfriendError":
        from oldfriend.domain.errors import OldfriendError

        return OldfriendError
    if name in __all__:
        from oldfriend import library

        return getattr(library, name)
    raise AttributeError(f"oldfriend has no {name!r}")
