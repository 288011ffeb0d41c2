"""How does another program use the memory? ``from oldfriend import Memory``.

    with Memory.open("sqlite:///notes.db") as memory:
        memory.add([{"speaker": "me", "text": "My cat is called Miso."}])
        hits = memory.recall("What is my cat called?")

``async with`` gives the same methods to await. It is the same store, search and log that the
companion uses; no network, no key.
"""

from oldfriend.library.memory import Memory, Opening
from oldfriend.library.shapes import Belief, BeliefHit, Decided, Forgot, Hit, Quoted, Words
from oldfriend.library.sync import MemorySync

__all__ = [
    "Belief", "BeliefHit", "Decided", "Forgot", "Hit", "Memory", "MemorySync", "Opening", "Quoted",
    "Words",
]  # fmt: skip
