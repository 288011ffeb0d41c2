"""Which lane may be taken now? Not one that somebody holds, as long as their lease is not over.

A claim looks at the few leases that are over, then at the one free lane that has been ready
longest, however many letters wait. Whoever finds nothing so looks for a lane whose next letter was
put in what is now the future, before the house's clock was set back: nobody waits for the time
that a wrong clock has shown. Knows nothing of what is done in a lane.
"""

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.letters import Queue
from oldfriend.queues.letters import CLOCKS_DIFFER, ORDER

LONGEST_LEASE_S = 120.0
"""One that ends later than this from now was given before the clock was set back, and is over."""


async def find_lane(
    tx: Transaction, queue: Queue, lane: str | None, *, now: Micros, clock: Micros
) -> str | None:
    """A lane that may be taken (or this one, if it may), locked."""
    if lane is not None:
        return await find_this(tx, queue, lane, now=now, clock=clock)
    return (
        await find_abandoned(tx, queue, clock=clock)
        or await find_ready(tx, queue, now=now)
        or await find_misdated(tx, queue, now=now)
    )


async def find_this(
    tx: Transaction, queue: Queue, lane: str, *, now: Micros, clock: Micros
) -> str | None:
    """A lane by its name, if it may be taken for any of the reasons below."""
    row = await tx.row(
        f"""SELECT key FROM lane WHERE queue = :queue AND key = :lane
           AND (ready_at <= :now OR lease_until <= :clock OR lease_until > :latest
             OR ({is_misdated(queue)}))
           FOR UPDATE""",
        queue=queue, lane=lane, now=now, ahead=now + CLOCKS_DIFFER, clock=clock,
        latest=lease_end(clock, LONGEST_LEASE_S),
    )  # fmt: skip
    return None if row is None else str(row[0])


async def find_abandoned(tx: Transaction, queue: Queue, *, clock: Micros) -> str | None:
    """The lane whose lease has been over longest."""
    row = await tx.row(
        """SELECT key FROM lane WHERE queue = :queue AND lease_until IS NOT NULL
           AND (lease_until <= :clock OR lease_until > :latest)
           ORDER BY lease_until LIMIT 1 FOR UPDATE SKIP LOCKED""",
        queue=queue,
        clock=clock,
        latest=lease_end(clock, LONGEST_LEASE_S),
    )
    return None if row is None else str(row[0])


async def find_ready(tx: Transaction, queue: Queue, *, now: Micros) -> str | None:
    """The free lane that has been ready longest."""
    row = await tx.row(
        """SELECT key FROM lane WHERE queue = :queue AND ready_at <= :now
           ORDER BY ready_at LIMIT 1 FOR UPDATE SKIP LOCKED""",
        queue=queue,
        now=now,
    )
    return None if row is None else str(row[0])


async def find_misdated(tx: Transaction, queue: Queue, *, now: Micros) -> str | None:
    """A free lane whose next letter was put in what is now the future."""
    row = await tx.row(
        f"""SELECT key FROM lane WHERE queue = :queue AND {is_misdated(queue)}
           ORDER BY ready_at LIMIT 1 FOR UPDATE SKIP LOCKED""",
        queue=queue,
        ahead=now + CLOCKS_DIFFER,
    )
    return None if row is None else str(row[0])


def is_misdated(queue: Queue) -> str:
    """The condition for such a lane, of which few are ready so far ahead."""
    return f"""ready_at > :ahead AND :ahead < (
        SELECT put_at FROM letter WHERE letter.queue = lane.queue AND letter.lane = lane.key
        AND parked_at IS NULL ORDER BY {ORDER[queue]} LIMIT 1)"""


def lease_end(clock: Micros, lease_s: float) -> Micros:
    """When a lease that begins now is over. Raises InvalidInput if it would hold too long."""
    if not 0 < lease_s <= LONGEST_LEASE_S:
        raise InvalidInput(f"A lease lasts up to {LONGEST_LEASE_S:g} s, not {lease_s:g} s.")
    return clock + round(lease_s * SECOND)
