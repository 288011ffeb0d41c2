"""Expiry: ends commitments, expectations, plans and time-limited facts that are overdue.

Only the clock counts here; evidence says whether something was kept or came true.
"""

from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.memory.belief_views import list_facts_with_end, list_memories, list_memories_by_key
from oldfriend.memory.journal import Provenance, record_decision

GRACE_PERIOD: Final = 2 * DAY
"""The person still has this long after the due time to tell how it went."""
BY_CLOCK: Final = Provenance(author="clock/1")


async def find_next_expiry(tx: Transaction, person: PersonId) -> Micros | None:
    """Return when the next open memory expires, or None if none does."""
    due = [find_end_time(known.memory) for known in await list_expirable(tx, person)]
    return min((at + GRACE_PERIOD + 1 for at in due if at is not None), default=None)


async def expire_overdue(tx: Transaction, person: PersonId, *, now: Micros) -> list[MemoryId]:
    """Expire what is overdue and return the ids. The caller holds the person's lock."""
    expired: list[MemoryId] = []
    for known in await list_expirable(tx, person):
        at = find_end_time(known.memory)
        if at is not None and at + GRACE_PERIOD < now:
            after = replace(known.memory, status="expired", ended_at=now)
            if known.memory.kind == "triple":
                after = replace(after, holds_until=at)
            elif known.memory.kind == "fact":
                after = replace(after, status="superseded")  # it was true until then
            await record_decision(
                tx, after, op="expired", base=known.base_seq, provenance=BY_CLOCK, now=now
            )
            expired.append(known.memory.id)
    return expired


async def list_expirable(tx: Transaction, person: PersonId) -> list[MemoryState]:
    """List open commitments, expectations, plans to go somewhere and facts with a known end, except
    pinned ones.
    """
    due = await list_memories(tx, person, kinds=FUTURE_KINDS)
    plans = await list_memories_by_key(tx, person, "triple", "plans_for")
    temporary = await list_facts_with_end(tx, person)
    candidates = (*due, *plans, *temporary)
    return [each for each in candidates if not each.memory.is_pinned]


def find_end_time(memory: Memory) -> Micros | None:
    """Return until when a memory is still to come, or None if nobody has said."""
    if memory.kind == "fact":
        return memory.holds_until
    if memory.kind != "triple":
        return memory.due_at
    day = None if memory.holds_from is None else memory.holds_from + DAY
    return memory.holds_until or day
