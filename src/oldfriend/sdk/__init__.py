"""Python SDK: the memory as a library, ``from oldfriend import Memory``.

    with Memory.open("sqlite:///notes.db") as memory:
        memory.add([{"speaker": "me", "text": "My cat is called Miso."}])
        hits = memory.recall("What is my cat called?")

``async with`` gives the same methods to await. It is the same store, search and log that the
companion uses; it needs no network and no key.
"""

from oldfriend.presenters.belief_schemas import Belief, BeliefHit
from oldfriend.presenters.deletion_schemas import ForgetResult
from oldfriend.presenters.history_schemas import Decision
from oldfriend.presenters.hit_schemas import Hit, RecalledHits
from oldfriend.presenters.message_schemas import EvidenceQuote, StoredMessage
from oldfriend.sdk.answering import Answer
from oldfriend.sdk.memory import Memory, MemoryOpener
from oldfriend.sdk.memory_sync import MemorySync
from oldfriend.sdk.record_methods import Goal, Task, Watch

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
    "MemoryOpener",
    "MemorySync",
    "RecalledHits",
    "StoredMessage",
    "Task",
    "Watch",
]
