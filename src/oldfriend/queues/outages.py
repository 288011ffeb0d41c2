"""Outages of platforms: since when the process that listens to one has not reached it."""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.queues.outbox import save_cursor

OUTAGE_SCOPE: Final = "outage"
"""The scope of a channel's cursor whose position is when its platform was first not reached."""
OUTAGE_TTL: Final = 3 * MINUTE
"""So long after its last failure a platform is taken to be away."""


async def record_failure(tx: Transaction, channel: str, *, now: Micros) -> None:
    """Record that a platform was not reached."""
    began_at = await find_outage_start(tx, channel, now=now)
    await save_cursor(tx, channel, OUTAGE_SCOPE, str(began_at or now), now=now)


async def clear_outage(tx: Transaction, channel: str) -> None:
    """Record that a platform has told something."""
    await tx.run(
        "DELETE FROM channel_cursor WHERE channel = :channel AND scope = :scope",
        channel=channel,
        scope=OUTAGE_SCOPE,
    )


async def find_outage_start(tx: Transaction, channel: str, *, now: Micros) -> Micros | None:
    """Return since when a platform is not reached; None if it has not failed lately.

    While it is away, it is tried again at least every minute.
    """
    row = await tx.row(
        """SELECT position FROM channel_cursor
           WHERE channel = :channel AND scope = :scope AND saved_at > :earliest""",
        channel=channel,
        scope=OUTAGE_SCOPE,
        earliest=now - OUTAGE_TTL,
    )
    return None if row is None else Micros(int(row[0]))
