"""Rate limit: how many messages of one person are answered per minute.

A token bucket in the database, so it holds for all processes together. A person may send a whole
minute's messages at once, and then one each time a minute's share has passed. Messages over the
limit wait; none is dropped. Nobody waits longer than their queued messages explain, whatever the
clock showed before.
"""

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.queues.jobs_table import count_open_jobs


async def reserve_slot(
    tx: Transaction, person: PersonId, *, per_minute: int, now: Micros
) -> Micros:
    """Reserve the next slot of a person, and return when it begins: now or later."""
    if per_minute == 0:  # no limit
        return now
    interval = MINUTE // per_minute
    row = await tx.row(
        """INSERT INTO pace (person, free_at) VALUES (:person, :now + :share)
           ON CONFLICT (person) DO UPDATE SET free_at = :share
             + CASE WHEN pace.free_at > :now THEN pace.free_at ELSE :now END
           RETURNING free_at""",
        person=person,
        now=now,
        share=interval,
    )
    assert row is not None
    free_at = int(row[0])
    if free_at > now + MINUTE:
        free_at = await cap_wait(tx, person, free_at=free_at, share=interval, now=now)
    return max(now, free_at - MINUTE)


async def cap_wait(
    tx: Transaction, person: PersonId, *, free_at: Micros, share: Micros, now: Micros
) -> Micros:
    """Return when the person's next slot is free, limited to what their waiting jobs explain."""
    waiting = 1 + await count_open_jobs(tx, "inbox", person)  # the new message is not enqueued yet
    latest = now + MINUTE + share * waiting
    if free_at <= latest:
        return free_at
    await tx.run(
        "UPDATE pace SET free_at = :free_at WHERE person = :person",
        free_at=latest,
        person=person,
    )
    return latest
