"""Dead leases: frees the partitions of a process that is known to have crashed."""

from typing import Final, cast

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.job_types import Job, QueueName
from oldfriend.queues.jobs_table import record_crash
from oldfriend.queues.queue import MAX_CRASHES, release_partition

CRASHES_BEFORE_ISOLATION: Final = 2
"""This many crashes may be due to work done beside a job; after them it runs in isolation."""


def is_poison_suspect(job: Job) -> bool:
    """Return whether a job may have crashed its workers and has to run in isolation."""
    return job.crashes >= CRASHES_BEFORE_ISOLATION


async def release_partitions_of_dead_owner(tx: Transaction, owner: str, *, now: Micros) -> int:
    """Release all partitions that a dead process holds, and return their number."""
    rows = await tx.rows(
        """SELECT queue, key FROM lane WHERE queue IN ('inbox', 'outbox', 'agenda')
           AND lease_until IS NOT NULL AND owner = :owner FOR UPDATE SKIP LOCKED""",
        owner=owner,
    )
    for queue, partition in rows:
        await record_crash(
            tx, cast("QueueName", queue), partition, now=now, max_isolated=MAX_CRASHES
        )
        await release_partition(tx, cast("QueueName", queue), partition)
    if rows:
        await tx.notify()
    return len(rows)
