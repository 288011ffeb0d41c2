"""Which promises and expectations have come to their time without a word? They expire.

What was kept or came true is said by evidence; this knows only the clock.
"""

from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import MemoryKind
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.changes import Ground, decide

GRACE: Final = 2 * DAY
"""So long after its time somebody may still tell how it went."""
COMING: Final[tuple[MemoryKind, ...]] = ("commitment", "expectation")
CLOCK: Final = Ground(author="clock/1")


async def next_expiry(tx: Transaction, person: PersonId) -> Micros | None:
    """When the next of what is open expires, unless somebody tells of it; None: nothing does."""
    due = [
        known.memory.due_at + GRACE + 1
        for known in await list_memories(tx, person, kinds=COMING)
        if known.memory.due_at is not None and not known.memory.is_pinned
    ]
    return min(due, default=None)


async def expire_overdue(tx: Transaction, person: PersonId, *, now: Micros) -> list[MemoryId]:
    """Mark what is overdue; which that was. The caller holds the person's lock."""
    expired: list[MemoryId] = []
    for known in await list_memories(tx, person, kinds=COMING):
        due_at = known.memory.due_at
        if due_at is not None and due_at + GRACE < now and not known.memory.is_pinned:
            after = replace(known.memory, status="expired", ended_at=now)
            await decide(tx, after, op="expired", base=known.base, ground=CLOCK, now=now)
            expired.append(known.memory.id)
    return expired
