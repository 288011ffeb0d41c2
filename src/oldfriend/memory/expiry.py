"""Expiry: ends promises, expectations, plans and time-limited facts, and what waits too long.

Only the clock counts here; evidence says whether something was kept or came true.
"""

from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.memory.belief_views import (
    list_facts_with_end,
    list_memories,
    list_memories_by_key,
    list_unconfirmed_memories,
)
from oldfriend.memory.journal import Provenance, record_decision

GRACE_PERIOD: Final = 2 * DAY
"""The person still has this long after the due time to tell how it went."""
UNCONFIRMED_TTL: Final = 60 * DAY
"""So long a claim in doubt waits for the person's word."""
MAX_UNCONFIRMED: Final = 200
"""So many wait; the oldest go first."""
BY_CLOCK: Final = Provenance(author="clock/1")


async def find_next_expiry(tx: Transaction, person: PersonId) -> Micros | None:
    """Return when the next open memory expires, or None if none does."""
    due = [find_end_time(known.memory) for known in await list_expirable(tx, person)]
    ends = [at + GRACE_PERIOD + 1 for at in due if at is not None]
    waiting = await list_unconfirmed_memories(tx, person)
    ends += [each.memory.learned_at + UNCONFIRMED_TTL + 1 for each in waiting]
    return min(ends, default=None)


async def expire_overdue(tx: Transaction, person: PersonId, *, now: Micros) -> list[MemoryId]:
    """Expire what is overdue and return the ids. The caller holds the person's lock."""
    expired = await expire_unconfirmed(tx, person, now=now)
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


async def expire_unconfirmed(tx: Transaction, person: PersonId, *, now: Micros) -> list[MemoryId]:
    """Withdraw what has waited too long for the person's word, or is too much; return the ids."""
    waiting = await list_unconfirmed_memories(tx, person)
    expired = [
        known
        for place, known in enumerate(waiting)
        if place >= MAX_UNCONFIRMED or known.memory.learned_at + UNCONFIRMED_TTL < now
    ]
    for known in expired:
        after = replace(known.memory, status="withdrawn", ended_at=now)
        await record_decision(
            tx, after, op="withdrawn", base=known.base_seq, provenance=BY_CLOCK, now=now
        )
    return [each.memory.id for each in expired]


async def list_expirable(tx: Transaction, person: PersonId) -> list[MemoryState]:
    """List open commitments, expectations, plans to go somewhere and facts with a known end, except
    pinned ones.
    """
    due = await list_memories(tx, person, kinds=FUTURE_KINDS)
    plans = await list_memories_by_key(tx, person, "triple", "plans_for")
    temporary = await list_facts_with_end(tx, person)
    candidates = (*due, *plans, *temporary)
    return [each for each in candidates if not each.memory.is_pinned]


def find_end_time(memory: StoredBelief) -> Micros | None:
    """Return until when a memory is still to come, or None if nobody has said."""
    if memory.kind == "fact":
        return memory.holds_until
    if memory.kind != "triple":
        return memory.due_at
    day = None if memory.holds_from is None else memory.holds_from + DAY
    return memory.holds_until or day
