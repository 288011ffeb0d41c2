"""Python SDK: the memory as a library, ``from oldfriend import Memory``.

    with Memory.open("sqlite:///notes.db") as memory:
        memory.add([{"speaker": "me", "text": "My cat is called Miso."}])
        hits = memory.recall("What is my cat called?")

``async with`` gives the same methods to await. It is the same store, search and log that the
companion uses; it needs no network and no key.
"""

from oldfriend.sdk.memory import Memory, MemoryOpener
from oldfriend.sdk.sync import MemorySync
from oldfriend.sdk.types import Belief, BeliefHit, Decided, Forgot, Hit, Quoted, Words

__all__ = [
    "Belief",
    "BeliefHit",
    "Decided",
    "Forgot",
    "Hit",
    "Memory",
    "MemoryOpener",
    "MemorySync",
    "Quoted",
    "Words",
]
