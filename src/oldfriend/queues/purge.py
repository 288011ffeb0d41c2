"""Purge: deletes queued jobs that mention deleted content, even while their partition is leased."""

from collections.abc import Callable, Collection, Iterable
from itertools import groupby

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.queues.jobs_table import delete_jobs, list_person_jobs
from oldfriend.queues.queue import lock_partition, update_ready_at


async def purge_jobs(
    tx: Transaction,
    person: PersonId,
    gone: Collection[str],
    holds_words: Callable[[str], bool],
    is_named: Callable[[Job], bool],
) -> int:
    """Delete the jobs that name or quote deleted content, with their keys; return how many.

    ``is_named`` tells which others are deleted themselves.
    """
    purged = [
        job
        for job in await list_person_jobs(tx, person)
        if is_named(job) or any(text in gone or holds_words(text) for text in list_job_texts(job))
    ]
    for (queue, partition), jobs in groupby(purged, key=lambda each: (each.queue, each.partition)):
        await lock_partition(tx, queue, partition)
        await delete_jobs(tx, jobs)
        await update_ready_at(tx, queue, partition)
    await purge_keys(tx, gone)
    return len(purged)


async def purge_keys(tx: Transaction, gone: Collection[str]) -> None:
    """Delete the dedup keys that name a deleted id: of parts of replies, reminders, presses."""
    rows = await tx.rows("SELECT queue, partition, key FROM job_key")
    await tx.run_many(
        "DELETE FROM job_key WHERE queue = :queue AND partition = :partition AND key = :key",
        [
            {"queue": queue, "partition": partition, "key": key}
            for queue, partition, key in rows
            if any(part in gone for part in key.split("/"))
        ],
    )


async def delete_inbox_keys(tx: Transaction, keys: Iterable[tuple[str, str]]) -> None:
    """Delete dedup keys of finished or withdrawn inbox jobs, given as (partition, key)."""
    await tx.run_many(
        "DELETE FROM job_key WHERE queue = 'inbox' AND partition = :partition AND key = :key",
        [{"partition": partition, "key": key} for partition, key in keys],
    )


def list_job_texts(job: Job) -> list[str]:
    """Return every text in a job."""
    found: list[str] = [job.error or "", job.group or ""]
    waiting: list[JsonValue] = [*job.payload.values()]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
    return found
