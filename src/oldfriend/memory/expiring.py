"""Which promises, expectations and plans have come to their time without a word? They expire.

And what was to be so until some day is so no more.

What was kept or came true is said by evidence; this knows only the clock.
"""

from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import Known, Memory, MemoryKind
from oldfriend.memory.beliefs import list_memories, list_of_key, list_until
from oldfriend.memory.changes import Ground, decide

GRACE: Final = 2 * DAY
"""So long after its time somebody may still tell how it went."""
COMING: Final[tuple[MemoryKind, ...]] = ("commitment", "expectation")
CLOCK: Final = Ground(author="clock/1")


async def next_expiry(tx: Transaction, person: PersonId) -> Micros | None:
    """When the next of what is open expires, unless somebody tells of it; None: nothing does."""
    due = [time_of(known.memory) for known in await list_coming(tx, person)]
    return min((at + GRACE + 1 for at in due if at is not None), default=None)


async def expire_overdue(tx: Transaction, person: PersonId, *, now: Micros) -> list[MemoryId]:
    """Mark what is overdue; which that was. The caller holds the person's lock."""
    expired: list[MemoryId] = []
    for known in await list_coming(tx, person):
        at = time_of(known.memory)
        if at is not None and at + GRACE < now:
            after = replace(known.memory, status="expired", ended_at=now)
            if known.memory.kind == "triple":
                after = replace(after, holds_until=at)
            elif known.memory.kind == "fact":
                after = replace(after, status="superseded")  # it was so
            await decide(tx, after, op="expired", base=known.base, ground=CLOCK, now=now)
            expired.append(known.memory.id)
    return expired


async def list_coming(tx: Transaction, person: PersonId) -> list[Known]:
    """What is still open, but for what is pinned: promises, expectations, where to go.

    And of what somebody has said until when it will be so.
    """
    promised = await list_memories(tx, person, kinds=COMING)
    planned = await list_of_key(tx, person, "triple", "plans_for")
    for_a_while = await list_until(tx, person)
    coming = (*promised, *planned, *for_a_while)
    return [each for each in coming if not each.memory.is_pinned]


def time_of(memory: Memory) -> Micros | None:
    """Until when something is still to come; None: nobody has said."""
    if memory.kind == "fact":
        return memory.holds_until
    if memory.kind != "triple":
        return memory.due_at
    day = None if memory.holds_from is None else memory.holds_from + DAY
    return memory.holds_until or day
