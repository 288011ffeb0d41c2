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
        """INSERT INTO letter_key (queue, lane, key) VALUES (:queue, :lane, :key)
           ON CONFLICT (queue, lane, key) DO NOTHING""",
        queue=queue,
        lane=partition,
        key=key,
    )
    return added == 1


async def expire_keys(tx: Transaction, jobs: Iterable[Job], *, now: Micros) -> None:
    """Start the retention period of these jobs' keys, and delete a few expired keys."""
    finished: list[dict[str, SqlValue]] = [
        {"queue": job.queue, "lane": job.partition, "key": job.dedup_key, "now": now}
        for job in jobs
        if job.dedup_key is not None
    ]
    if not finished:
        return
    await tx.run_many(
        """UPDATE letter_key SET finished_at = :now
           WHERE queue = :queue AND lane = :lane AND key = :key""",
        finished,
    )
    await delete_expired_keys(tx, now)


async def delete_expired_keys(tx: Transaction, now: Micros) -> int:
    """Delete a batch of expired keys, and return their number."""
    rows = await tx.rows(
        """SELECT queue, lane, key FROM letter_key WHERE finished_at < :before
           ORDER BY finished_at LIMIT :some FOR UPDATE SKIP LOCKED""",
        before=now - RETENTION_DAYS * DAY,
        some=DELETE_BATCH_SIZE,
    )
    await tx.run_many(
        "DELETE FROM letter_key WHERE queue = :queue AND lane = :lane AND key = :key",
        [{"queue": queue, "lane": partition, "key": key} for queue, partition, key in rows],
    )
    return len(rows)
