"""How fast may one person be answered? Counted in the database, so for all processes together.

A person may say a whole minute's messages at once, and then one each time a minute's share has
passed. Whoever is over the limit waits; nothing is dropped. Nobody waits longer than what waits
before them explains, whatever the house's clock showed before.
"""

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.queues.letters import count_open


async def take_place(tx: Transaction, person: PersonId, *, per_minute: int, now: Micros) -> Micros:
    """When the next message of a person may be answered: now, or later. Its place is taken."""
    if per_minute == 0:  # no limit
        return now
    share = MINUTE // per_minute
    row = await tx.row(
        """INSERT INTO pace (person, free_at) VALUES (:person, :now + :share)
           ON CONFLICT (person) DO UPDATE SET free_at = :share
             + CASE WHEN pace.free_at > :now THEN pace.free_at ELSE :now END
           RETURNING free_at""",
        person=person,
        now=now,
        share=share,
    )
    assert row is not None
    free_at = int(row[0])
    if free_at > now + MINUTE:
        free_at = await cap(tx, person, free_at=free_at, share=share, now=now)
    return max(now, free_at - MINUTE)


async def cap(
    tx: Transaction, person: PersonId, *, free_at: Micros, share: Micros, now: Micros
) -> Micros:
    """When there is room again for a person, as far as letters that wait account for it."""
    waiting = 1 + await count_open(tx, "inbox", person)  # the one whose place it is comes next
    explained = now + MINUTE + share * waiting
    if free_at <= explained:
        return free_at
    await tx.run(
        "UPDATE pace SET free_at = :free_at WHERE person = :person",
        free_at=explained,
        person=person,
    )
    return explained
