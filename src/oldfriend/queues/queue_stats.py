"""Queue statistics: how many jobs are due, delayed, leased and dead in each queue."""

from collections import Counter
from dataclasses import dataclass
from typing import Final, TypeAlias

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.job_types import QueueName

QUEUES: Final[tuple[QueueName, ...]] = ("inbox", "outbox", "agenda")


OpenCounts: TypeAlias = tuple[int, int, Micros]
"""Open jobs, how many of them are due, and the due time of the first one."""

NO_OPEN_JOBS: Final[OpenCounts] = (0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStats:
    """The statistics of one queue."""

    queue: QueueName
    due: int  # jobs that could run now
    delayed: int  # jobs that are scheduled for later
    dead_letters: int  # jobs that are not retried until somebody looks at them
    leased: int  # partitions with a lease
    oldest_due_at: Micros | None


async def load_queue_stats(tx: Transaction, *, now: Micros) -> list[QueueStats]:
    """Load the statistics of every queue, even of empty ones."""
    rows = await tx.rows(
        """SELECT queue, count(*), count(CASE WHEN due_at <= :now THEN 1 END), min(due_at)
           FROM letter WHERE parked_at IS NULL GROUP BY queue""",
        now=now,
    )
    open_counts: dict[QueueName, OpenCounts] = {
        queue: (count, due, first_at) for queue, count, due, first_at in rows
    }
    # In this order SQLite reads only the few dead letters; grouped, it would read all jobs
    dead = await tx.rows("SELECT queue FROM letter WHERE parked_at IS NOT NULL ORDER BY parked_at")
    dead_letters: Counter[QueueName] = Counter(queue for (queue,) in dead)
    leased: dict[QueueName, int] = dict(
        await tx.rows(
            "SELECT queue, count(*) FROM lane WHERE lease_until IS NOT NULL GROUP BY queue"
        )
    )
    return [
        build_queue_stats(
            queue, open_counts.get(queue, NO_OPEN_JOBS), dead_letters[queue], leased.get(queue, 0)
        )
        for queue in QUEUES
    ]


def build_queue_stats(
    queue: QueueName, open_counts: OpenCounts, dead_letters: int, leased: int
) -> QueueStats:
    """Build the statistics of one queue from its counts."""
    count, due, first_at = open_counts
    return QueueStats(
        queue=queue,
        due=due,
        delayed=count - due,
        dead_letters=dead_letters,
        leased=leased,
        oldest_due_at=first_at if due else None,
    )
