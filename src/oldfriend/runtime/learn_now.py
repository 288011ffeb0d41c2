"""Learn now: processes a person's planned segments in this process instead of in a worker.

Segments are processed as jobs like all background work: whoever holds the lease reads, others wait
or leave it to them. What is interrupted resumes, and what fails stays planned.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.concurrency import ConcurrencyLimiter, run_with_watcher
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import MAX_TIME, Clock
from oldfriend.domain.errors import InvalidInput, OldfriendError
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job, Lease
from oldfriend.learning.learning_scheduler import schedule_learning
from oldfriend.learning.reading_jobs import (
    CONSOLIDATE_JOB,
    build_backlog_partition,
    build_learning_partition,
    list_planned_readings,
    parse_consolidate_job,
)
from oldfriend.memory.segments import UNREAD_STATUSES, CutReason, count_segments
from oldfriend.queues.jobs_table import find_first_due, find_job
from oldfriend.queues.queue import claim_jobs, list_jobs, reschedule_jobs, retry_dead_letter
from oldfriend.queues.scheduled_jobs import parse_job_spec
from oldfriend.runtime.job_handlers import run_handler, run_jobs

POLL_INTERVAL_S: Final = 0.3
LEARNING_DISABLED: Final = localizable(
    "forms_off",
    "Nothing is learned from what is said: [memory] forms is off in oldfriend.toml. To turn "
    "learning on again, set forms = true there.",
)
EXIT_GRACE_S: Final = 5.0
"""Seconds an exiting chat waits for the rest to be read; what remains is read later."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnNowProgress:
    """The progress of a reading."""

    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningResult:
    """The result of processing planned segments."""

    read: int = 0  # segments, including trivial ones, by this process or another
    waiting: int = 0  # postponed, paused, or read by another process
    failed: int = 0  # dead letters after too many attempts


OnProgress = Callable[[LearnNowProgress], None]


async def learn_now(
    app: AppContext,
    person: PersonId,
    *,
    cut_reason: CutReason | None = None,
    on_progress: OnProgress | None = None,
    wait_s: float = 0.0,
) -> LearningResult:
    """Cut finished segments and process them, if learning is on.

    ``cut_reason`` cuts everything, finished or not, or with "import" what was imported. For
    ``wait_s`` seconds it waits for another process that holds the lease. Raises InvalidInput if the
    reason is "asked" while learning is off.
    """
    if not app.settings.memory.forms:
        if cut_reason == "asked":
            raise InvalidInput(LEARNING_DISABLED)
        return LearningResult()
    finished_before = await load_finished_count(app.db, person)
    await schedule_learning(
        app.db,
        app.clock,
        app.settings,
        person,
        cut_reason=cut_reason,
        by_model="small" in app.models,
    )
    result = await process_due_segments(app, person, on_progress=on_progress, wait_s=wait_s)
    # A worker may have been quicker: what it has read meanwhile counts, too.
    finished = await load_finished_count(app.db, person) - finished_before
    return replace(result, read=max(result.read, finished))


async def process_due_segments(
    app: AppContext, person: PersonId, *, on_progress: OnProgress | None = None, wait_s: float = 0.0
) -> LearningResult:
    """Process everything that is planned and due, in order."""
    draining = drain_partitions(app, person, wait_s=wait_s)
    read = await run_with_watcher(report_progress(app.db, person, on_progress), draining)
    async with app.db.begin_read() as tx:
        pending, counts = await count_planned_segments(tx, person), await count_segments(tx, person)
    return LearningResult(read=read, waiting=pending, failed=counts.get("failed", 0))


async def try_process_due_segments(app: AppContext, person: PersonId) -> str | None:
    """Process due segments; return None, or a message for the user if that failed."""
    try:
        await process_due_segments(app, person)
    except OldfriendError as error:
        return f"What was said will be read later: {error}"
    return None


async def learn_before_exit(app: AppContext, person: PersonId) -> None:
    """Read the rest of a finished conversation if no model is needed, which is fast.

    A model reads it later.
    """
    if "small" in app.models:
        return
    try:
        async with asyncio.timeout(EXIT_GRACE_S):
            await learn_now(app, person, cut_reason="shutdown")
    except (TimeoutError, OldfriendError):
        return  # nobody is left to tell; it is read at the next start


async def drain_partitions(app: AppContext, person: PersonId, *, wait_s: float) -> int:
    """Run the due jobs of a person's partitions; return how many readings have ended."""
    now, read = asyncio.get_running_loop().time, 0
    deadline = now() + wait_s
    with app.notifier.subscribe() as wake_event:
        for partition in (build_learning_partition(person), build_backlog_partition(person)):
            while True:
                if (lease := await claim_partition(app, partition)) is not None:
                    done = await run_leased_jobs(app, lease)
                    read += sum(map(count_readings, done))
                elif now() < deadline and await has_due_job(app.db, app.clock, partition):
                    await wake_event.wait(POLL_INTERVAL_S)  # another process holds the lease
                else:
                    break
    return read


def count_readings(job: Job) -> int:
    """Return how many segments a job reads."""
    spec = parse_job_spec(job)
    return len(parse_consolidate_job(spec).generations) if spec.name == CONSOLIDATE_JOB else 0


async def claim_partition(app: AppContext, partition: str) -> Lease | None:
    """Claim a partition if something is due in it and nobody else holds it."""
    async with app.db.begin_write() as tx:
        return await claim_jobs(
            tx,
            "agenda",
            owner=app.register_process(),
            now=app.clock(),
            lease_s=app.settings.limits.lease_s,
            partition=partition,
        )


async def run_leased_jobs(
    app: AppContext, lease: Lease, *, stopping: asyncio.Event | None = None
) -> list[Job]:
    """Run the jobs of a lease until told to stop; return those done, postponing failed ones."""
    limiter = ConcurrencyLimiter(1)
    await limiter.acquire()
    await run_handler(app, run_jobs, lease, limiter, stopping or asyncio.Event())
    async with app.db.begin_read() as tx:
        return [
            each
            for each in lease.jobs
            if await find_job(tx, each.queue, each.partition, each.seq) is None
        ]


async def has_due_job(db: Database, clock: Clock, partition: str) -> bool:
    """Return whether a job of a partition is due now."""
    async with db.begin_read() as tx:
        due_at = await find_first_due(tx, "agenda", partition)
    return due_at is not None and due_at <= clock()


async def report_progress(db: Database, person: PersonId, on_progress: OnProgress | None) -> None:
    """Report the progress at intervals, until cancelled."""
    total = 0
    while on_progress is not None:
        pending = await load_planned_count(db, person)
        total = max(total, pending)
        on_progress(LearnNowProgress(done=total - pending, total=total))
        await asyncio.sleep(POLL_INTERVAL_S)


async def load_planned_count(db: Database, person: PersonId) -> int:
    """Return how many readings are planned, reading from the database."""
    async with db.begin_read() as tx:
        return await count_planned_segments(tx, person)


async def load_finished_count(db: Database, person: PersonId) -> int:
    """Return how many segments have been read, reading from the database."""
    async with db.begin_read() as tx:
        counts = await count_segments(tx, person)
    return sum(count for status, count in counts.items() if status not in UNREAD_STATUSES)


async def count_planned_segments(tx: Transaction, person: PersonId) -> int:
    """Return how many readings are planned, including paused ones."""
    return len(await list_planned_readings(tx, person))


async def pause_learning(db: Database, clock: Clock, person: PersonId) -> int:
    """Pause the reading of old conversations; return how many readings are then waiting."""
    partition = build_backlog_partition(person)
    async with db.begin_write() as tx:
        await reschedule_jobs(tx, "agenda", partition, from_seq=0, due_at=MAX_TIME, now=clock())
        return await count_planned_segments(tx, person)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningBacklog:
    """The readings still to be done, and whether those of old conversations are paused."""

    pending: int
    failed: int
    is_paused: bool


async def load_backlog(db: Database, person: PersonId) -> LearningBacklog:
    """Return what is still to be read for a person."""
    async with db.begin_read() as tx:
        pending, counts = await count_planned_segments(tx, person), await count_segments(tx, person)
        due_at = await find_first_due(tx, "agenda", build_backlog_partition(person))
    return LearningBacklog(
        pending=pending, failed=counts.get("failed", 0), is_paused=due_at == MAX_TIME
    )


async def resume_learning(db: Database, clock: Clock, person: PersonId) -> None:
    """Resume the reading of old conversations, and retry dead letters."""
    now, partitions = (
        clock(),
        {build_learning_partition(person), build_backlog_partition(person)},
    )
    async with db.begin_write() as tx:
        for job in await list_jobs(tx, is_dead_letter=True):
            if job.partition in partitions:
                await retry_dead_letter(tx, job.queue, job.partition, job.seq, now=now)
        for partition in sorted(partitions):
            await reschedule_jobs(tx, "agenda", partition, from_seq=0, due_at=now, now=now)
        await tx.notify()
