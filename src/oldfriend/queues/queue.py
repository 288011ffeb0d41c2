"""Queue: durable jobs in ordered partitions, claimed with a lease and a fencing token (epoch).

``enqueue`` appends a job to a partition. ``claim`` leases a partition and raises its epoch; every
write of the lease holder checks the epoch in its own transaction, so that a holder that was
presumed dead cannot write late. ``ack`` deletes finished jobs, ``fail_job`` reschedules a job or
moves it to the dead letters, ``release_lease`` gives the partition back.

Two clocks: whether a job is due is decided by the application's clock (``now``); whether a lease
has expired is decided by the clock of the machine or the database server (``tx.read_clock``), never
by a simulated time. A free partition has ``ready_at`` (when its first open job is due), a leased
one has ``lease_until`` instead, each with an index of its own that holds only such partitions (see
``claim``).

Order: inbox and outbox are strictly ordered, also behind a job that was rescheduled; in the agenda
each job becomes due by itself. A dead letter no longer holds up its partition, nor does the rest of
its group.

Locks: a transaction that writes for a person locks the person's row first, then partitions; so
there are no deadlocks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import MAX_TIME, SECOND, Micros, uptime_s
from oldfriend.domain.errors import InvalidInput, LeaseLost
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import MAX_LEASE_S, Job, Lease, PartitionFilter, QueueName
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import sanitize_text
from oldfriend.queues.claim import (
    build_filter_condition,
    build_filter_params,
    compute_lease_end,
    find_free_partition,
)
from oldfriend.queues.dedup_keys import add_dedup_key, expire_keys
from oldfriend.queues.jobs_table import (
    COLUMNS,
    build_first_due_sql,
    delete_jobs,
    find_first_due,
    get_job_group,
    insert_job,
    list_due_jobs,
    list_due_jobs_after,
    move_to_dead_letters,
    parse_job,
    record_crash,
    reopen_dead_letters,
    schedule_retry,
)

FIRST_POSITION: Final[tuple[QueueName, str, int]] = ("agenda", "", 0)
"""The position before the first job."""
MAX_ATTEMPTS = 5
"""Attempts that ended without success before a job becomes a dead letter."""
OVERDUE_S: Final = 15.0
"""A job due for this long has no worker to take it: workers look every five seconds."""
MAX_CRASHES: Final = 5
"""Crashes in isolation before a job becomes a dead letter."""


async def enqueue(  # noqa: PLR0913 - a job has this many properties
    tx: Transaction,
    queue: QueueName,
    partition: str,
    payload: Mapping[str, JsonValue],
    *,
    person: PersonId | None,
    now: Micros,
    due_at: Micros | None = None,
    dedup_key: str | None = None,
    group: str | None = None,
) -> Job | None:
    """Append a job to a partition; None if its dedup key is known there."""
    row = await tx.row(
        """INSERT INTO job_partition (queue, partition, next_seq) VALUES (:queue, :partition, 2)
           ON CONFLICT (queue, partition) DO UPDATE SET next_seq = job_partition.next_seq + 1
           RETURNING next_seq - 1, ready_at, lease_until""",
        queue=queue,
        partition=partition,
    )
    assert row is not None
    seq, ready_at, lease_until = row
    if dedup_key is not None and not await add_dedup_key(
        tx, queue, partition, sanitize_text(dedup_key)
    ):
        return None
    job = Job(
        queue=queue,
        partition=partition,
        seq=seq,
        person=person,
        dedup_key=dedup_key and sanitize_text(dedup_key),
        group=group,
        payload=payload,
        enqueued_at=now,
        due_at=now if due_at is None else due_at,
        attempts=0,
        error=None,
        is_dead_letter=False,
    )
    await insert_job(tx, job)
    is_first = ready_at is None or (queue == "agenda" and job.due_at < ready_at)
    if lease_until is None and is_first:
        await set_ready_at(tx, queue, partition, ready_at=job.due_at)
        await tx.notify()
    return job


async def claim_jobs(
    tx: Transaction,
    queue: QueueName,
    *,
    owner: str,
    now: Micros,
    lease_s: float,
    partition: str | PartitionFilter | None = None,
    max_crashes: int = MAX_CRASHES,
) -> Lease | None:
    """Lease a partition that has a due job (the named one, or one of some); None if there is none.

    A job that crashed ``max_crashes`` processes in isolation becomes a dead letter. The lease
    reports it, even if nothing else is due in that partition.
    """
    taken_at, clock = uptime_s(), await tx.read_clock()
    until = compute_lease_end(clock, lease_s)
    while (
        found := await find_free_partition(tx, queue, partition, now=now, clock=clock)
    ) is not None:
        if found.owner not in {None, owner}:  # else it was released, or its owner is alive
            await record_crash(tx, queue, found.key, now=now, max_isolated=max_crashes)
        jobs, dead_letters = await take_due_jobs(
            tx, queue, found.key, now=now, max_crashes=max_crashes
        )
        if jobs or dead_letters:
            last_seq = get_last_seq(jobs or dead_letters)
            epoch = await lease_partition(
                tx, queue, found.key, owner=owner, lease_until=until, last_claimed_seq=last_seq
            )
            return Lease(
                queue=queue,
                partition=found.key,
                owner=owner,
                epoch=epoch,
                claimed_uptime_s=taken_at,
                jobs=jobs,
                dead_letters=dead_letters,
            )
        await release_partition(tx, queue, found.key)
    return None


async def take_due_jobs(
    tx: Transaction, queue: QueueName, partition: str, *, now: Micros, max_crashes: int
) -> tuple[tuple[Job, ...], tuple[Job, ...]]:
    """Return the due jobs of a locked partition, the first with a new attempt, and new dead
    letters.
    """
    dead_letters: list[Job] = []
    while jobs := await list_due_jobs(tx, queue, partition, now=now):
        first, *others = jobs
        if first.isolated_crashes < max_crashes:
            return (replace(first, attempts=first.attempts + 1), *others), tuple(dead_letters)
        error = first.error or "whoever worked on it ended each time"
        reason = f"given up after {first.isolated_crashes} attempts: {error}"
        dead_letters += await move_to_dead_letters(tx, first, error=reason, now=now)
    return (), tuple(dead_letters)


async def renew_lease(tx: Transaction, lease: Lease, *, lease_s: float) -> bool:
    """Extend a lease; False if it was lost."""
    touched = await tx.run(
        """UPDATE job_partition SET lease_until = :until
           WHERE queue = :queue AND partition = :partition AND epoch = :epoch
           AND lease_until IS NOT NULL""",
        until=compute_lease_end(await tx.read_clock(), lease_s),
        queue=lease.queue,
        partition=lease.partition,
        epoch=lease.epoch,
    )
    return touched == 1


async def lock_lease(tx: Transaction, lease: Lease) -> None:
    """Lock the partition if this lease still holds it. Raises LeaseLost."""
    row = await tx.row(
        """SELECT 1 FROM job_partition
           WHERE queue = :queue AND partition = :partition AND epoch = :epoch
           AND lease_until IS NOT NULL FOR UPDATE""",
        queue=lease.queue,
        partition=lease.partition,
        epoch=lease.epoch,
    )
    if row is None:
        raise LeaseLost(f"{lease.queue} {lease.partition} was taken over from {lease.owner}.")


async def check_epoch(tx: Transaction, lease: Lease) -> None:
    """Raise LeaseLost if another worker holds the partition; that may also happen right after."""
    row = await tx.row(
        "SELECT epoch FROM job_partition WHERE queue = :queue AND partition = :partition",
        queue=lease.queue,
        partition=lease.partition,
    )
    if row is None or int(row[0]) != lease.epoch:
        raise LeaseLost(f"{lease.queue} {lease.partition} was taken over from {lease.owner}.")


async def ack(tx: Transaction, lease: Lease, jobs: Sequence[Job], *, now: Micros) -> None:
    """Delete finished jobs; the partition stays leased. Raises LeaseLost."""
    await lock_lease(tx, lease)
    await delete_finished(tx, jobs, now=now)


async def ack_and_claim_new(
    tx: Transaction, lease: Lease, jobs: Sequence[Job], *, now: Micros
) -> tuple[Job, ...]:
    """Delete finished jobs and claim those that have arrived since; return them.

    If none has arrived, the partition is released. The lease must have been checked in the same
    transaction: it holds until that ends.
    """
    await delete_finished(tx, jobs, now=now)
    new_jobs = await claim_new_jobs(tx, lease, now=now)
    if not new_jobs:
        await release_locked_lease(tx, lease, now=now)
    return new_jobs


async def delete_finished(tx: Transaction, jobs: Sequence[Job], *, now: Micros) -> None:
    """Delete finished jobs from a locked partition."""
    await delete_jobs(tx, jobs)
    await expire_keys(tx, jobs, now=now)


async def fail_job(
    tx: Transaction,
    lease: Lease,
    job: Job,
    *,
    error: str,
    now: Micros,
    retry_at: Micros | None,
    counts_attempt: bool = True,
) -> None:
    """Reschedule a failed job, or make it a dead letter (None); keep the lease. Raises LeaseLost.

    With ``counts_attempt=False`` the attempt does not count, such as during a provider's outage.
    """
    await lock_lease(tx, lease)
    was_counted = [each.seq for each in lease.jobs[:1]] == [job.seq]
    attempts = job.attempts + counts_attempt - was_counted
    await schedule_retry(
        tx, job, attempts=attempts, error=error, now=now, due_at=retry_at, has_ended=counts_attempt
    )
    if retry_at is None:
        await move_to_dead_letters(tx, job, error=error, now=now)


async def release_lease(tx: Transaction, lease: Lease, *, now: Micros) -> None:
    """Release a partition with whatever is left in it; does nothing if the lease is lost.

    Other workers are notified of jobs that are due; a rescheduled job is resumed by whoever delayed
    it.
    """
    try:
        await lock_lease(tx, lease)
    except LeaseLost:
        return
    await release_locked_lease(tx, lease, now=now)


async def release_locked_lease(tx: Transaction, lease: Lease, *, now: Micros) -> None:
    """Release a partition that is locked and held by this lease."""
    due_at = await release_partition(tx, lease.queue, lease.partition)
    if due_at is not None and due_at <= now:
        await tx.notify()


async def claim_new_jobs(tx: Transaction, lease: Lease, *, now: Micros) -> tuple[Job, ...]:
    """Return the due jobs that were enqueued in a locked partition since it was claimed."""
    last_seq = get_last_seq(lease.jobs or lease.dead_letters)
    new_jobs = await list_due_jobs_after(tx, lease.queue, lease.partition, seq=last_seq, now=now)
    if new_jobs:
        await tx.run(
            """UPDATE job_partition SET last_claimed_seq = :last
               WHERE queue = :queue AND partition = :partition""",
            last=get_last_seq(new_jobs),
            queue=lease.queue,
            partition=lease.partition,
        )
    return new_jobs


async def get_last_claimed_seq(tx: Transaction, queue: QueueName, partition: str) -> int:
    """Return the position of the last job that the lease holder has claimed; 0 if not leased."""
    row = await tx.row(
        """SELECT coalesce(last_claimed_seq, 0) FROM job_partition
           WHERE queue = :queue AND partition = :partition""",
        queue=queue,
        partition=partition,
    )
    return 0 if row is None else int(row[0])


def get_last_seq(jobs: Sequence[Job]) -> int:
    """Return the highest position among jobs."""
    return max(job.seq for job in jobs)


async def find_next_due(
    tx: Transaction,
    queue: QueueName,
    *,
    partitions: PartitionFilter | None = None,
    until: Micros = MAX_TIME,
) -> Micros | None:
    """Return when the next free partition is ready, perhaps in the past; None if none is by then.

    Expiring leases do not count: they are found by polling.
    """
    row = await tx.row(
        f"""SELECT ready_at FROM job_partition
           WHERE queue = :queue AND ready_at <= :until {build_filter_condition(partitions)}
           ORDER BY ready_at LIMIT 1""",
        queue=queue,
        until=until,
        **build_filter_params(partitions),
    )
    return None if row is None else int(row[0])


async def has_overdue_job(tx: Transaction, queue: QueueName, *, now: Micros) -> bool:
    """Return whether a job has waited so long that no worker can be running."""
    due_at = await find_next_due(tx, queue)
    return due_at is not None and due_at <= now - int(OVERDUE_S * SECOND)


async def reschedule_jobs(
    tx: Transaction, queue: QueueName, partition: str, *, from_seq: int, due_at: Micros, now: Micros
) -> None:
    """Change the due time of the open jobs of a partition, from a position on."""
    await lock_partition(tx, queue, partition)
    await tx.run(
        """UPDATE job SET due_at = :due_at, scheduled_at = :now
           WHERE queue = :queue AND partition = :partition AND seq >= :since
           AND dead_lettered_at IS NULL""",
        due_at=due_at,
        now=now,
        queue=queue,
        partition=partition,
        since=from_seq,
    )
    await update_ready_at(tx, queue, partition)


async def list_jobs(
    tx: Transaction,
    *,
    is_dead_letter: bool,
    limit: int = 1000,
    after: tuple[QueueName, str, int] = FIRST_POSITION,
) -> list[Job]:
    """Return jobs of all partitions in order, from a position on; optionally dead letters only."""
    only = "AND dead_lettered_at IS NOT NULL" if is_dead_letter else ""
    queue, partition, seq = after
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM job
           WHERE (queue, partition, seq) > (:queue, :partition, :seq) {only}
           ORDER BY queue, partition, seq LIMIT :most""",
        queue=queue,
        partition=partition,
        seq=seq,
        most=limit,
    )
    return [parse_job(row) for row in rows]


async def retry_dead_letter(
    tx: Transaction, queue: QueueName, partition: str, seq: int, *, now: Micros
) -> tuple[Job, ...]:
    """Reopen a dead letter and its whole group, and return them. Raises NotFound, InvalidInput."""
    await lock_idle_partition(tx, queue, partition)
    jobs = await get_job_group(tx, queue, partition, seq)
    await reopen_dead_letters(tx, jobs, now=now)
    await release_partition(tx, queue, partition)
    await tx.notify()
    return jobs


async def drop_job(
    tx: Transaction, queue: QueueName, partition: str, seq: int, *, now: Micros
) -> tuple[Job, ...]:
    """Delete a job and its whole group undone, and return them. Raises NotFound, InvalidInput."""
    await lock_idle_partition(tx, queue, partition)
    jobs = await get_job_group(tx, queue, partition, seq)
    await delete_jobs(tx, jobs)
    await expire_keys(tx, jobs, now=now)
    await release_partition(tx, queue, partition)
    await tx.notify()
    return jobs


async def lock_partition(tx: Transaction, queue: QueueName, partition: str) -> None:
    """Lock a partition, waiting until nobody else writes to it."""
    await tx.lock(
        "SELECT 1 FROM job_partition WHERE queue = :queue AND partition = :partition FOR UPDATE",
        queue=queue,
        partition=partition,
    )


async def lock_idle_partition(tx: Transaction, queue: QueueName, partition: str) -> None:
    """Lock a partition that is not leased. Raises InvalidInput if it is."""
    await lock_partition(tx, queue, partition)
    clock = await tx.read_clock()
    lease = await tx.row(
        """SELECT owner FROM job_partition WHERE queue = :queue AND partition = :partition
           AND lease_until > :clock AND lease_until <= :latest""",
        queue=queue,
        partition=partition,
        clock=clock,
        latest=compute_lease_end(clock, MAX_LEASE_S),
    )
    if lease is not None:
        text = f"{queue} {partition} is being worked on; try again in a moment."
        raise InvalidInput(localizable("letter_at_work", text))


async def lease_partition(
    tx: Transaction,
    queue: QueueName,
    partition: str,
    *,
    owner: str,
    lease_until: Micros,
    last_claimed_seq: int,
) -> int:
    """Lease a locked partition to an owner, and return its new epoch."""
    row = await tx.row(
        """UPDATE job_partition SET owner = :owner, lease_until = :until, ready_at = NULL,
             epoch = epoch + 1, last_claimed_seq = :last_claimed_seq
           WHERE queue = :queue AND partition = :partition RETURNING epoch""",
        owner=owner,
        until=lease_until,
        last_claimed_seq=last_claimed_seq,
        queue=queue,
        partition=partition,
    )
    assert row is not None
    return int(row[0])


async def release_partition(tx: Transaction, queue: QueueName, partition: str) -> Micros | None:
    """Release a locked partition, and return when it is ready for what is left in it."""
    row = await tx.row(
        f"""UPDATE job_partition SET owner = NULL, lease_until = NULL, last_claimed_seq = NULL,
             ready_at = ({build_first_due_sql(queue)})
           WHERE queue = :queue AND partition = :partition RETURNING ready_at""",
        queue=queue,
        partition=partition,
    )
    return None if row is None or row[0] is None else int(row[0])


async def update_ready_at(tx: Transaction, queue: QueueName, partition: str) -> Micros | None:
    """Make a locked partition ready for its first open job, unless leased; return its due time."""
    due_at = await find_first_due(tx, queue, partition)
    await set_ready_at(tx, queue, partition, ready_at=due_at)
    return due_at


async def set_ready_at(
    tx: Transaction, queue: QueueName, partition: str, *, ready_at: Micros | None
) -> None:
    """Set when a partition is ready, unless it is leased."""
    await tx.run(
        """UPDATE job_partition SET ready_at = :at
           WHERE queue = :queue AND partition = :partition AND lease_until IS NULL""",
        at=ready_at,
        queue=queue,
        partition=partition,
    )


CRASHES_BEFORE_ISOLATION: Final = 2
"""This many crashes may be due to work done beside a job; after them it runs in isolation."""


def is_poison_suspect(job: Job) -> bool:
    """Return whether a job may have crashed its workers and has to run in isolation."""
    return job.crashes >= CRASHES_BEFORE_ISOLATION


async def release_partitions_of_dead_owner(tx: Transaction, owner: str, *, now: Micros) -> int:
    """Release all partitions that a dead process holds, and return their number."""
    rows = await tx.rows(
        """SELECT queue, partition FROM job_partition WHERE queue IN ('inbox', 'outbox', 'agenda')
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
