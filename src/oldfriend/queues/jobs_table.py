"""Jobs table: reads, inserts, updates and deletes the rows of queued jobs and of dead letters.

Inbox and outbox are strictly ordered: behind a job that is not due yet, all later ones wait. In the
agenda each job becomes due by itself. The jobs of a group (the messages of a turn, the parts of a
reply) always share one outcome. Leases are the business of ``queue``.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import takewhile
from types import MappingProxyType
from typing import Final, TypeAlias

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import MAX_CLOCK_SKEW, MAX_TIME, SECOND, Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job, QueueName
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import sanitize_text


def get_text_field(job: Job, name: str) -> str:
    """Return a text field of a job's payload. Raises InvalidInput."""
    value = job.payload.get(name)
    if not isinstance(value, str):
        raise build_payload_error(job, name)
    return value


def get_int_field(job: Job, name: str) -> int:
    """Return an integer field of a job's payload. Raises InvalidInput."""
    value = job.payload.get(name)
    if not isinstance(value, int):
        raise build_payload_error(job, name)
    return value


def build_payload_error(job: Job, name: str) -> InvalidInput:
    """Build the error for a job whose payload lacks a field."""
    return InvalidInput(f"Job {job.seq} in {job.queue} {job.partition} has no {name!r}.")


MAX_CLAIMED_JOBS = 50
MAX_ERROR_CHARS = 2000
MAX_CRASH_PAUSE_S: Final = 5
"""The longest pause after a crash in isolation, in seconds."""

COLUMNS = """queue, partition, seq, person, key, "group", payload, enqueued_at, due_at,
    attempts, error, dead_lettered_at, crashes, isolated_crashes, is_isolated,
    coalesce(scheduled_at, 0)"""
ORDER_BY: Final = MappingProxyType[QueueName, str](
    {"inbox": "seq", "outbox": "seq", "agenda": "due_at, seq"}
)


async def insert_job(tx: Transaction, job: Job) -> None:
    """Append a job to its partition."""
    await tx.run(
        """INSERT INTO job (queue, partition, seq, person, key, "group", payload, enqueued_at,
             due_at)
           VALUES (:queue, :partition, :seq, :person, :key, :group, :payload, :enqueued_at,
             :due_at)""",
        queue=job.queue,
        partition=job.partition,
        seq=job.seq,
        person=job.person,
        key=job.dedup_key,
        group=job.group,
        payload=json.dumps(job.payload),
        enqueued_at=job.enqueued_at,
        due_at=job.due_at,
    )


async def find_first_due(tx: Transaction, queue: QueueName, partition: str) -> Micros | None:
    """Return when the next job of a partition is due; None if none is open."""
    row = await tx.row(build_first_due_sql(queue), queue=queue, partition=partition)
    return None if row is None else int(row[0])


def build_first_due_sql(queue: QueueName) -> str:
    """Build the SELECT of a partition's next due time, for use alone or as a subquery."""
    return f"""SELECT due_at FROM job WHERE queue = :queue AND partition = :partition
        AND dead_lettered_at IS NULL ORDER BY {ORDER_BY[queue]} LIMIT 1"""


async def find_first_job(tx: Transaction, queue: QueueName, partition: str) -> Job | None:
    """Return the next open job of a partition, due or not."""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM job
           WHERE queue = :queue AND partition = :partition AND dead_lettered_at IS NULL
           ORDER BY {ORDER_BY[queue]} LIMIT 1""",
        queue=queue,
        partition=partition,
    )
    return None if row is None else parse_job(row)


async def list_due_jobs(
    tx: Transaction, queue: QueueName, partition: str, *, now: Micros
) -> tuple[Job, ...]:
    """Return the due jobs of a partition, oldest first, in whole groups."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM job
           WHERE queue = :queue AND partition = :partition AND dead_lettered_at IS NULL
           ORDER BY {ORDER_BY[queue]} LIMIT :most""",
        queue=queue,
        partition=partition,
        most=MAX_CLAIMED_JOBS,
    )
    return keep_whole_groups(
        tuple(takewhile(lambda job: is_due(job, now=now), map(parse_job, rows)))
    )


def is_due(job: Job, *, now: Micros) -> bool:
    """Return whether a job is due; a job that a wrong clock has scheduled is."""
    return job.due_at <= now or is_misdated(job, now=now)


def is_misdated(job: Job, *, now: Micros) -> bool:
    """Return whether a job was scheduled by a clock that was ahead of the present time."""
    scheduled_at = job.scheduled_at or job.enqueued_at
    return scheduled_at > now + MAX_CLOCK_SKEW and job.due_at != MAX_TIME


def keep_whole_groups(jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """Return the jobs of one batch, without a last group that may be incomplete."""
    if len(jobs) < MAX_CLAIMED_JOBS or jobs[-1].group is None:
        return jobs
    return tuple(job for job in jobs if job.group != jobs[-1].group) or jobs


async def list_due_jobs_after(
    tx: Transaction, queue: QueueName, partition: str, *, seq: int, now: Micros
) -> tuple[Job, ...]:
    """Return the open jobs after ``seq`` that are due by themselves, in whole groups."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM job WHERE queue = :queue AND partition = :partition AND seq > :seq
           AND dead_lettered_at IS NULL
           AND (due_at <= :now
             OR (coalesce(scheduled_at, enqueued_at) > :ahead AND due_at <> :never))
           ORDER BY seq LIMIT :most""",
        queue=queue,
        partition=partition,
        seq=seq,
        now=now,
        ahead=now + MAX_CLOCK_SKEW,
        never=MAX_TIME,
        most=MAX_CLAIMED_JOBS,
    )
    return keep_whole_groups(tuple(map(parse_job, rows)))


async def list_last_jobs(tx: Transaction, queue: QueueName, partition: str) -> tuple[Job, ...]:
    """Return the open jobs of a partition that were enqueued last, newest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM job
           WHERE queue = :queue AND partition = :partition AND dead_lettered_at IS NULL
           ORDER BY seq DESC LIMIT :most""",
        queue=queue,
        partition=partition,
        most=MAX_CLAIMED_JOBS,
    )
    return tuple(map(parse_job, rows))


async def get_job_group(
    tx: Transaction, queue: QueueName, partition: str, seq: int
) -> tuple[Job, ...]:
    """Return a job together with its group. Raises NotFound."""
    job = await find_job(tx, queue, partition, seq)
    if job is None:
        raise NotFound(localizable("letter_gone", f"There is no job {seq} in {queue} {partition}."))
    return await load_job_group(tx, job)


async def load_job_group(tx: Transaction, job: Job) -> tuple[Job, ...]:
    """Return the whole group of a job, or the job alone if it has none."""
    if job.group is None:
        return (job,)
    return await list_group_jobs(tx, job.queue, job.partition, job.group)


async def list_group_jobs(
    tx: Transaction, queue: QueueName, partition: str, group: str
) -> tuple[Job, ...]:
    """Return the jobs of a group, open or dead, oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM job
           WHERE queue = :queue AND partition = :partition AND "group" = :group ORDER BY seq""",
        queue=queue,
        partition=partition,
        group=group,
    )
    return tuple(map(parse_job, rows))


async def list_queued_people(
    tx: Transaction, queue: QueueName, partition_pattern: str
) -> list[PersonId]:
    """Return the people with open jobs in partitions that match a LIKE pattern."""
    rows = await tx.rows(
        """SELECT DISTINCT person FROM job WHERE queue = :queue AND partition LIKE :pattern
           AND person IS NOT NULL AND dead_lettered_at IS NULL ORDER BY person""",
        queue=queue,
        pattern=partition_pattern,
    )
    return [PersonId(row[0]) for row in rows]


async def count_open_jobs(tx: Transaction, queue: QueueName, person: PersonId) -> int:
    """Return the number of a person's open jobs in all partitions of a queue."""
    row = await tx.row(
        """SELECT count(*) FROM job
           WHERE queue = :queue AND person = :person AND dead_lettered_at IS NULL""",
        queue=queue,
        person=person,
    )
    assert row is not None
    return int(row[0])


async def list_partition_jobs(tx: Transaction, queue: QueueName, partition: str) -> list[Job]:
    """Return the jobs of a partition, open or dead, oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM job WHERE queue = :queue AND partition = :partition
           ORDER BY seq""",
        queue=queue,
        partition=partition,
    )
    return [parse_job(row) for row in rows]


async def list_person_jobs(tx: Transaction, person: PersonId) -> list[Job]:
    """Return the jobs of a person in all queues, open or dead."""
    rows = await tx.rows(
        f"SELECT {COLUMNS} FROM job WHERE person = :person ORDER BY queue, partition, seq",
        person=person,
    )
    return [parse_job(row) for row in rows]


async def find_job(tx: Transaction, queue: QueueName, partition: str, seq: int) -> Job | None:
    """Return a job by its key, open or dead."""
    row = await tx.row(
        f"SELECT {COLUMNS} FROM job WHERE queue = :queue AND partition = :partition AND seq = :seq",
        queue=queue,
        partition=partition,
        seq=seq,
    )
    return None if row is None else parse_job(row)


async def update_payload(tx: Transaction, job: Job, payload: Mapping[str, JsonValue]) -> None:
    """Replace the payload of a job."""
    await tx.run(
        """UPDATE job SET payload = :payload
           WHERE queue = :queue AND partition = :partition AND seq = :seq""",
        payload=json.dumps(dict(payload)),
        **build_job_params(job),
    )


async def record_crash(
    tx: Transaction, queue: QueueName, partition: str, *, now: Micros, max_isolated: int
) -> None:
    """Record that the worker of the first job of a locked partition has crashed.

    A job that ran in isolation is delayed, longer each time: a process that crashes for another
    reason may crash repeatedly within a short time.
    """
    first = await find_first_job(tx, queue, partition)
    if first is None:
        return
    isolated_crashes, due_at = first.isolated_crashes + first.is_isolated, first.due_at
    if first.is_isolated and isolated_crashes < max_isolated:
        due_at = now + min(1 << isolated_crashes, MAX_CRASH_PAUSE_S) * SECOND
    await tx.run(
        """UPDATE job SET crashes = crashes + 1, isolated_crashes = :isolated_crashes,
             is_isolated = 0, due_at = :due_at,
             scheduled_at = CASE WHEN due_at = :due_at THEN scheduled_at ELSE :now END
           WHERE queue = :queue AND partition = :partition AND seq = :seq""",
        isolated_crashes=isolated_crashes,
        due_at=due_at,
        now=now,
        **build_job_params(first),
    )


async def mark_isolated(tx: Transaction, job: Job, *, is_isolated: bool) -> None:
    """Record whether a job runs in isolation, so that a crash of its process counts against it."""
    await tx.run(
        """UPDATE job SET is_isolated = :is_isolated
           WHERE queue = :queue AND partition = :partition AND seq = :seq""",
        is_isolated=int(is_isolated),
        **build_job_params(job),
    )


async def schedule_retry(
    tx: Transaction,
    job: Job,
    *,
    attempts: int,
    error: str,
    now: Micros,
    due_at: Micros | None,
    has_ended: bool,
) -> None:
    """Record an error of a job and when it is due again; None keeps the due time.

    If its work has ended (``has_ended``), earlier crashes no longer count against it.
    """
    await tx.run(
        """UPDATE job SET attempts = :attempts, error = :error, is_isolated = 0,
             isolated_crashes = CASE WHEN :has_ended = 1 THEN 0 ELSE isolated_crashes END,
             due_at = coalesce(:due_at, due_at), scheduled_at = :now,
             enqueued_at = CASE WHEN enqueued_at > :now THEN :now ELSE enqueued_at END
           WHERE queue = :queue AND partition = :partition AND seq = :seq""",
        queue=job.queue,
        partition=job.partition,
        seq=job.seq,
        attempts=attempts,
        error=truncate_error(error),
        due_at=due_at,
        now=now,
        has_ended=int(has_ended),
    )


async def move_to_dead_letters(
    tx: Transaction, job: Job, *, error: str, now: Micros
) -> tuple[Job, ...]:
    """Make a job and its whole group dead letters, and return them."""
    dead = tuple(
        replace(
            each,
            is_dead_letter=True,
            error=truncate_error(format_dead_letter_reason(each, job, error)),
        )
        for each in await load_job_group(tx, job)
        if not each.is_dead_letter
    )
    await tx.run_many(
        """UPDATE job SET dead_lettered_at = :now, error = :error
           WHERE queue = :queue AND partition = :partition AND seq = :seq""",
        [{**build_job_params(each), "now": now, "error": each.error} for each in dead],
    )
    return dead


def format_dead_letter_reason(job: Job, failed_job: Job, error: str) -> str:
    """Return why a job is a dead letter; it may be due to another job of its group."""
    return error if job.seq == failed_job.seq else f"with job {failed_job.seq}: {error}"


async def reopen_dead_letters(tx: Transaction, jobs: Iterable[Job], *, now: Micros) -> None:
    """Reopen dead letters in their old positions, with attempts and crashes reset."""
    await tx.run_many(
        """UPDATE job SET dead_lettered_at = NULL, attempts = 0, error = NULL, due_at = :now,
             scheduled_at = :now, crashes = 0, isolated_crashes = 0, is_isolated = 0
           WHERE queue = :queue AND partition = :partition AND seq = :seq
           AND dead_lettered_at IS NOT NULL""",
        [{**build_job_params(job), "now": now} for job in jobs],
    )


async def delete_jobs(tx: Transaction, jobs: Iterable[Job]) -> None:
    """Delete jobs for good."""
    await tx.run_many(
        "DELETE FROM job WHERE queue = :queue AND partition = :partition AND seq = :seq",
        [build_job_params(job) for job in jobs],
    )


def build_job_params(job: Job) -> dict[str, str | int]:
    """Return the SQL parameters that identify a job."""
    return {"queue": job.queue, "partition": job.partition, "seq": job.seq}


def truncate_error(error: str) -> str:
    """Return an error text as it can be stored."""
    return sanitize_text(error)[:MAX_ERROR_CHARS]


def parse_job(row: Row) -> Job:
    """Build a job from a row of COLUMNS."""
    queue, partition, seq, person, key, group, payload, enqueued_at, due_at, attempts = row[:10]
    error, dead_lettered_at, crashes, isolated_crashes, is_isolated, scheduled_at = row[10:]
    return Job(
        queue=queue,
        partition=partition,
        seq=seq,
        person=None if person is None else PersonId(person),
        dedup_key=key,
        group=group,
        payload=json.loads(payload),
        enqueued_at=enqueued_at,
        due_at=due_at,
        attempts=attempts,
        error=error,
        is_dead_letter=dead_lettered_at is not None,
        crashes=crashes,
        isolated_crashes=isolated_crashes,
        is_isolated=bool(is_isolated),
        scheduled_at=scheduled_at,
    )


BASE_DELAY_S = 1.0
MAX_DELAY_S = 300.0


def compute_retry_at(
    now: Micros, attempts: int, *, jitter: float, min_delay_s: float = 0.0
) -> Micros:
    """Return when to retry after this many failed attempts: up to 1, 2, 4 … 300 s from now.

    ``jitter`` (0 to 1) picks the moment within that range, so that jobs that failed together are
    not retried together. ``min_delay_s`` is the delay that the other side asked for; it is added.
    """
    doublings = min(max(attempts - 1, 0), 32)
    most_s = min(MAX_DELAY_S, BASE_DELAY_S * (1 << doublings))
    return now + round((min_delay_s + jitter * most_s) * SECOND)


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
           FROM job WHERE dead_lettered_at IS NULL GROUP BY queue""",
        now=now,
    )
    open_counts: dict[QueueName, OpenCounts] = {
        queue: (count, due, first_at) for queue, count, due, first_at in rows
    }
    # In this order SQLite reads only the few dead letters; grouped, it would read all jobs
    dead = await tx.rows(
        "SELECT queue FROM job WHERE dead_lettered_at IS NOT NULL ORDER BY dead_lettered_at"
    )
    dead_letters: Counter[QueueName] = Counter(queue for (queue,) in dead)
    leased: dict[QueueName, int] = dict(
        await tx.rows(
            "SELECT queue, count(*) FROM job_partition WHERE lease_until IS NOT NULL GROUP BY queue"
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
