"""Dedup keys: recognize a job that was enqueued before, also for a while after it is done.

Channels redeliver: a message that was answered yesterday may arrive again today. A key is unique
within its partition.
"""

from collections.abc import Iterable

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.job_types import Job, QueueName

RETENTION_DAYS = 30
DELETE_BATCH_SIZE = 20


async def add_dedup_key(tx: Transaction, queue: QueueName, partition: str, key: str) -> bool:
    """Add a key and return whether it was new. The partition must be locked."""
    added = await tx.run(
        """INSERT INTO job_key (queue, partition, key) VALUES (:queue, :partition, :key)
           ON CONFLICT (queue, partition, key) DO NOTHING""",
        queue=queue,
        partition=partition,
        key=key,
    )
    return added == 1


async def expire_keys(tx: Transaction, jobs: Iterable[Job], *, now: Micros) -> None:
    """Start the retention period of these jobs' keys, and delete a few expired keys."""
    finished: list[dict[str, SqlValue]] = [
        {"queue": job.queue, "partition": job.partition, "key": job.dedup_key, "now": now}
        for job in jobs
        if job.dedup_key is not None
    ]
    if not finished:
        return
    await tx.run_many(
        """UPDATE job_key SET finished_at = :now
           WHERE queue = :queue AND partition = :partition AND key = :key""",
        finished,
    )
    await delete_expired_keys(tx, now)


async def delete_expired_keys(tx: Transaction, now: Micros) -> int:
    """Delete a batch of expired keys, and return their number."""
    rows = await tx.rows(
        """SELECT queue, partition, key FROM job_key WHERE finished_at < :before
           ORDER BY finished_at LIMIT :some FOR UPDATE SKIP LOCKED""",
        before=now - RETENTION_DAYS * DAY,
        some=DELETE_BATCH_SIZE,
    )
    await tx.run_many(
        "DELETE FROM job_key WHERE queue = :queue AND partition = :partition AND key = :key",
        [{"queue": queue, "partition": partition, "key": key} for queue, partition, key in rows],
    )
    return len(rows)
