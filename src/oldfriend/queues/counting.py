"""How much waits in each queue? For whoever looks after the house; nothing of what letters say."""

from collections import Counter
from dataclasses import dataclass
from typing import Final, TypeAlias

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.letters import Queue

QUEUES: Final[tuple[Queue, ...]] = ("inbox", "outbox", "agenda")


Opened: TypeAlias = tuple[int, int, Micros]
"""Open letters, those of them that are due, and when the first of them is or was."""

NONE: Final[Opened] = (0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How one queue does."""

    queue: Queue
    due: int  # letters that could be worked on now
    later: int  # letters that are put off, or for a later day
    parked: int  # letters that nobody tries any more until somebody looks
    held: int  # lanes on which somebody works
    oldest_due_at: Micros | None


async def count_waiting(tx: Transaction, *, now: Micros) -> list[Waiting]:
    """Every queue, also those in which nothing waits."""
    rows = await tx.rows(
        """SELECT queue, count(*), count(CASE WHEN due_at <= :now THEN 1 END), min(due_at)
           FROM letter WHERE parked_at IS NULL GROUP BY queue""",
        now=now,
    )
    opened: dict[Queue, Opened] = {
        queue: (count, due, first_at) for queue, count, due, first_at in rows
    }
    # In this order SQLite reads the few parked ones; grouped by queue it would read all
    aside = await tx.rows("SELECT queue FROM letter WHERE parked_at IS NOT NULL ORDER BY parked_at")
    parked: Counter[Queue] = Counter(queue for (queue,) in aside)
    held: dict[Queue, int] = dict(
        await tx.rows(
            "SELECT queue, count(*) FROM lane WHERE lease_until IS NOT NULL GROUP BY queue"
        )
    )
    return [
        waiting(queue, opened.get(queue, NONE), parked[queue], held.get(queue, 0))
        for queue in QUEUES
    ]


def waiting(queue: Queue, opened: Opened, parked: int, held: int) -> Waiting:
    """How one queue does."""
    count, due, first_at = opened
    return Waiting(
        queue=queue, due=due, later=count - due, parked=parked, held=held,
        oldest_due_at=first_at if due else None,
    )  # fmt: skip
