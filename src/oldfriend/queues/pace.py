"""How fast may one person be answered? Counted in the database, so for all processes together.

A person may say a whole minute's messages at once, and then one each time a minute's share has
passed. Whoever is over the limit waits; nothing is dropped.
"""

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.ids import PersonId


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
    return max(now, int(row[0]) - MINUTE)
