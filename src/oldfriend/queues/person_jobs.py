"""Person jobs: moves what is queued for one person to another, while nobody works on any of it."""

import json
from collections.abc import Collection, Mapping

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job
from oldfriend.queues.jobs_table import build_job_params, delete_jobs, list_person_jobs
from oldfriend.queues.purge import list_job_texts
from oldfriend.queues.queue import enqueue, update_ready_at


async def is_anybody_served(tx: Transaction, person_ids: Collection[PersonId]) -> bool:
    """Lock what is queued for some people, and tell whether any of it is being worked on."""
    clock = await tx.read_clock()
    leases: list[int | None] = []
    for person in person_ids:
        rows = await tx.rows(
            """SELECT lease_until FROM job_partition
               WHERE (queue = 'agenda' AND partition LIKE :mine)
                 OR partition IN (SELECT id FROM chat WHERE person = :person)
               FOR UPDATE""",
            mine=f"%{person}%",
            person=person,
        )
        leases += [row[0] for row in rows]
    return any(until is not None and until > clock for until in leases)


async def move_jobs(
    tx: Transaction,
    old: PersonId,
    new: PersonId,
    *,
    now: Micros,
    only: Collection[str] | None = None,
) -> None:
    """Give another person the jobs of one: all, or those that name one of ``only``.

    What is known to be done or planned of them is known there, too.
    """
    everything = await list_person_jobs(tx, old)
    jobs = [job for job in everything if only is None or names_any(job, only)]
    moving = [job for job in jobs if job.queue == "agenda" and old in job.partition]
    await tx.run_many(
        """UPDATE job SET person = :new
           WHERE queue = :queue AND partition = :partition AND seq = :seq""",
        [{**build_job_params(job), "new": new} for job in jobs if job not in moving],
    )
    await delete_jobs(tx, moving)
    await move_keys(tx, old, new, only=only)
    for job in moving:
        if not job.is_dead_letter:
            await enqueue_for(tx, job, old, new, now=now)
    for partition in sorted({job.partition for job in moving}):
        await update_ready_at(tx, "agenda", partition)


def names_any(job: Job, names: Collection[str]) -> bool:
    """Tell whether a job is of one of these chats, or for one of these things."""
    return job.partition in names or any(text in names for text in list_job_texts(job))


async def enqueue_for(
    tx: Transaction, job: Job, old: PersonId, new: PersonId, *, now: Micros
) -> None:
    """Enqueue a job of the agenda again, for another person, under the same key."""
    payload: Mapping[str, object] = job.payload
    moved = await enqueue(
        tx,
        job.queue,
        job.partition.replace(old, new),
        json.loads(json.dumps(payload).replace(old, new)),
        person=new,
        now=now,
        due_at=job.due_at,
        group=job.group,
    )
    if moved is not None and job.dedup_key is not None:
        await tx.run(
            """UPDATE job SET key = :name
               WHERE queue = :queue AND partition = :partition AND seq = :seq""",
            name=job.dedup_key,
            **build_job_params(moved),
        )


async def move_keys(
    tx: Transaction, old: PersonId, new: PersonId, *, only: Collection[str] | None
) -> None:
    """Move the keys of a person's jobs in the agenda to the partitions of another."""
    rows = await tx.rows(
        """SELECT partition, key, finished_at FROM job_key
           WHERE queue = 'agenda' AND partition LIKE :mine""",
        mine=f"%{old}%",
    )
    keys = [
        {"partition": partition, "to": partition.replace(old, new), "name": key, "done": done}
        for partition, key, done in rows
        if only is None or key.partition("/")[0] in only
    ]
    await tx.run_many(
        """INSERT INTO job_key (queue, partition, key, finished_at)
           VALUES ('agenda', :to, :name, :done) ON CONFLICT (queue, partition, key) DO NOTHING""",
        [{name: key[name] for name in ("to", "name", "done")} for key in keys],
    )
    await tx.run_many(
        "DELETE FROM job_key WHERE queue = 'agenda' AND partition = :partition AND key = :name",
        [{name: key[name] for name in ("partition", "name")} for key in keys],
    )
