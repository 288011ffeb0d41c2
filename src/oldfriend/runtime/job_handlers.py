"""Background jobs: the handler of each job, and retries. They never delay a reply."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import TypeAlias

from oldfriend.app.app_context import AppContext
from oldfriend.app.concurrency import ConcurrencyLimiter
from oldfriend.app.embed_messages import EMBED_JOB, embed_missing, plan_embedding
from oldfriend.app.event_log import log_event, log_warning
from oldfriend.app.leases import HeldLease
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.db.merge_record import forget_expired_merges
from oldfriend.domain.clock import DAY, MINUTE, Clock, Micros, from_micros, get_start_of_day
from oldfriend.domain.errors import (
    AllowanceUsedUp,
    BrokenOutput,
    InvalidInput,
    LeaseLost,
    NotFound,
    UnknownJob,
)
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job, Lease
from oldfriend.forgetting.cleanup import CLEAN_JOB, run_cleanup_job
from oldfriend.forgetting.delete import RETENTION_JOB, apply_retention_to_all, forget
from oldfriend.inbound.audio_storage import SWEEP_JOB, can_have_audio, sweep_audio
from oldfriend.inbound.failed_events import EVENT_JOB
from oldfriend.inbound.receive import retry_event
from oldfriend.inbound.voice_messages import TRANSCRIBE_JOB, transcribe_group_audio
from oldfriend.inbound.withdrawn_messages import DELETE_JOB, RESEND_JOB, parse_resend_job
from oldfriend.learning.learning_scheduler import (
    MAINTAIN_JOB,
    ROLLUP_JOB,
    SCHEDULE_JOB,
    consolidate_planned,
    enqueue_next_maintenance,
    maintain_memory,
    mark_consolidation_failed,
    parse_cut_reason,
    parse_maintenance_since,
    roll_up_summaries,
    schedule_learning,
)
from oldfriend.learning.reading_jobs import CONSOLIDATE_JOB, parse_consolidate_job
from oldfriend.learning.reflection_scheduler import (
    DESCRIBE_JOB,
    IDLE_REFLECTION_JOB,
    REFLECT_JOB,
    REFLECTION_JOBS,
    run_reflection,
)
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.people import list_people
from oldfriend.proactive.look_planner import LOOK_JOB, plan_next_look
from oldfriend.queues.inbox import list_open_turns
from oldfriend.queues.jobs_table import compute_retry_at, find_first_due
from oldfriend.queues.queue import (
    MAX_ATTEMPTS,
    ack,
    fail_job,
    release_lease,
    release_locked_lease,
)
from oldfriend.queues.scheduled_jobs import JobSpec, parse_job_spec, schedule_job
from oldfriend.replies.confirmed_deletions import forget_chosen, purge_person, tell_forgotten
from oldfriend.replies.outbox_worker import resend_undelivered
from oldfriend.replies.proactive_messages import look
from oldfriend.replies.push_notifications import PUSH_JOB, deliver_push
from oldfriend.replies.reminders import deliver_reminder
from oldfriend.replies.watch_checks import check_watch
from oldfriend.tasks.reminder_jobs import REMIND_JOB, plan_reminders
from oldfriend.transfer.oura_pull import OURA_JOB, plan_oura_jobs, read_oura
from oldfriend.turn.belief_changes import FORGET_JOB, PURGE_JOB, TELL_JOB
from oldfriend.watches.watch_store import WATCH_JOB, plan_watches

UNKNOWN_JOB_ATTEMPTS = 9
"""A job this version does not know backs off like one with this many attempts."""

JobHandler: TypeAlias = Callable[[AppContext, Job], Awaitable[None]]
LeaseHandler: TypeAlias = Callable[[AppContext, Lease, asyncio.Event], Awaitable[None]]


async def embed_everyone(app: AppContext, _: Job) -> None:
    """Embed all messages that have no vector from the current embedder.

    Messages of open turns are left to those turns.
    """
    async with app.db.begin_read() as tx:
        people, waiting = await list_people(tx), await list_open_turns(tx)
    for person in people:
        await embed_missing(app, person.id, excluded_turns=waiting)


async def schedule_learning_of_person(app: AppContext, job: Job) -> None:
    """Schedule the reading of a person's new messages."""
    await schedule_learning(
        app.db,
        app.clock,
        app.settings,
        get_person_id(job),
        cut_reason=parse_cut_reason(parse_job_spec(job)),
        by_model="small" in app.models,
    )
    await plan_look(app, get_person_id(job))


async def consolidate_segments_job(app: AppContext, job: Job) -> None:
    """Extract beliefs from one segment, or from several that are read together."""
    await consolidate_planned(app, get_person_id(job), parse_consolidate_job(parse_job_spec(job)))
    await plan_look(app, get_person_id(job))


async def expire_messages(app: AppContext, _: Job) -> None:
    """Delete messages older than the retention period, and schedule the next run for tomorrow."""
    await apply_retention_to_all(app)
    if app.settings.retention.messages_days is not None:
        async with app.db.begin_write() as tx:
            job_spec = JobSpec(name=RETENTION_JOB)
            now = app.clock()
            await schedule_job(tx, RETENTION_JOB, job_spec, person=None, now=now, due_at=now + DAY)


async def sweep_stored_audio(app: AppContext, _: Job) -> None:
    """Delete audio files that no row refers to, and schedule the next run for tomorrow."""
    await sweep_audio(app.db, app.clock, app.settings)
    now = app.clock()
    if can_have_audio(app.settings):
        async with app.db.begin_write() as tx:
            await schedule_job(
                tx, SWEEP_JOB, JobSpec(name=SWEEP_JOB), person=None, now=now, due_at=now + DAY
            )


async def clean_deleted_files(app: AppContext, _: Job) -> None:
    """Finish removing deleted content from files."""
    await run_cleanup_job(app)


async def run_maintenance_job(app: AppContext, job: Job) -> None:
    """Merge duplicate memories and expire overdue ones."""
    await maintain_memory(
        app, get_person_id(job), since=parse_maintenance_since(parse_job_spec(job))
    )


async def roll_up_oldest_summaries(app: AppContext, job: Job) -> None:
    """Roll up the oldest summaries into a higher level."""
    await roll_up_summaries(app, get_person_id(job))


async def run_reflection_job(app: AppContext, job: Job) -> None:
    """Reflect on what was read, and plan the expiry of thoughts even if nobody talks again."""
    person = get_person_id(job)
    try:
        await run_reflection(app, person, parse_job_spec(job).name)
    except Exception:
        await plan_expiry(app.db, app.clock, person)
        raise
    await plan_expiry(app.db, app.clock, person)


async def plan_expiry(db: Database, clock: Clock, person: PersonId) -> None:
    """Schedule the maintenance that expires thoughts."""
    async with db.begin_write() as tx:
        await enqueue_next_maintenance(tx, person, now=clock())


async def look_at_impulses(app: AppContext, job: Job) -> None:
    """Say what there is to say unasked, if anything."""
    await look(app, get_person_id(job))


async def plan_look(app: AppContext, person: PersonId) -> None:
    """Plan when to look whether there is something to say unasked, as something may be new."""
    async with app.db.begin_write() as tx:
        await plan_next_look(tx, person, now=app.clock())


async def run_oura_job(app: AppContext, job: Job) -> None:
    """Read what a person's ring has measured, and plan the next reading."""
    await read_oura(app, get_person_id(job))


async def transcribe_group_messages(app: AppContext, job: Job) -> None:
    """Transcribe voice messages of a group that were addressed to others."""
    await transcribe_group_audio(app, get_person_id(job), parse_job_spec(job))


async def forget_deleted_message(app: AppContext, job: Job) -> None:
    """Forget a message that was deleted on its platform, with all that follows from it."""
    message = str(parse_job_spec(job).arguments["message"])
    with suppress(NotFound):  # it was forgotten meanwhile
        await forget(app, get_person_id(job), DeletionRequest(ids=(message,)))


async def resend_message(app: AppContext, job: Job) -> None:
    """Send a message again that its platform had accepted and did not deliver."""
    with suppress(NotFound):  # the reply was forgotten meanwhile
        await resend_undelivered(app, get_person_id(job), parse_resend_job(job))


JOB_HANDLERS: Mapping[str, JobHandler] = MappingProxyType(
    {
        EMBED_JOB: embed_everyone,
        SCHEDULE_JOB: schedule_learning_of_person,
        CONSOLIDATE_JOB: consolidate_segments_job,
        MAINTAIN_JOB: run_maintenance_job,
        ROLLUP_JOB: roll_up_oldest_summaries,
        RETENTION_JOB: expire_messages,
        REFLECT_JOB: run_reflection_job,
        IDLE_REFLECTION_JOB: run_reflection_job,
        DESCRIBE_JOB: run_reflection_job,
        SWEEP_JOB: sweep_stored_audio,
        TRANSCRIBE_JOB: transcribe_group_messages,
        LOOK_JOB: look_at_impulses,
        CLEAN_JOB: clean_deleted_files,
        DELETE_JOB: forget_deleted_message,
        PURGE_JOB: purge_person,
        FORGET_JOB: forget_chosen,
        TELL_JOB: tell_forgotten,
        RESEND_JOB: resend_message,
        EVENT_JOB: retry_event,
        REMIND_JOB: deliver_reminder,
        OURA_JOB: run_oura_job,
        WATCH_JOB: check_watch,
        PUSH_JOB: deliver_push,
    }
)
LEARNING_OFF_RETRY = 60 * MINUTE
"""How long to wait before checking again whether learning was turned on."""
MAX_MODEL_ATTEMPTS = 3
"""Attempts at a reading or a reflection before it becomes a dead letter."""
MAX_BROKEN_ATTEMPTS = 2
"""The same for a reading of which the model's answer is unusable, also when it is told why."""
BROKEN_OUTPUT_PAUSE_S = 60.0
"""Pause before a model that gave an unusable answer is asked again."""


async def plan_jobs(db: Database, clock: Clock, settings: Settings) -> None:
    """Enqueue the jobs that may be due at a start."""
    async with db.begin_write() as tx:
        await forget_expired_merges(tx, now=clock())
        await plan_embedding(tx, now=clock())
        await plan_retention(tx, clock, settings, due_at=clock())
        await plan_audio_sweep(tx, clock, settings, due_at=clock())
        await plan_reminders(tx, now=clock())
        await plan_oura_jobs(tx, now=clock())
        for person in await list_people(tx):
            await plan_next_look(tx, person.id, now=clock())
            await plan_watches(tx, person.id, now=clock())


async def plan_retention(
    tx: Transaction, clock: Clock, settings: Settings, *, due_at: Micros
) -> None:
    """Schedule the daily deletion of old messages, if a retention period is set."""
    is_chosen = settings.retention.messages_days is not None
    if is_chosen and await find_first_due(tx, "agenda", RETENTION_JOB) is None:
        await schedule_job(
            tx,
            RETENTION_JOB,
            JobSpec(name=RETENTION_JOB),
            person=None,
            now=clock(),
            due_at=due_at,
        )


async def plan_audio_sweep(
    tx: Transaction, clock: Clock, settings: Settings, *, due_at: Micros
) -> None:
    """Schedule the daily sweep of audio files, if there may be any."""
    if can_have_audio(settings) and await find_first_due(tx, "agenda", SWEEP_JOB) is None:
        await schedule_job(
            tx, SWEEP_JOB, JobSpec(name=SWEEP_JOB), person=None, now=clock(), due_at=due_at
        )


async def run_jobs(app: AppContext, lease: Lease, stopping: asyncio.Event) -> None:
    """Run the due jobs of a partition; a failed one is retried later or becomes a dead letter."""
    held_lease = HeldLease(app, lease)
    for job in lease.jobs:
        if stopping.is_set():
            break
        if parse_job_spec(job).name == CONSOLIDATE_JOB and not app.settings.memory.forms:
            await postpone_until_learning_on(app.db, app.clock, lease, job)
            return
        if not await run_leased_job(app, held_lease, job):
            return
        async with app.db.begin_write() as tx:
            await ack(tx, lease, [job], now=app.clock())
            if job == lease.jobs[-1]:
                await release_locked_lease(tx, lease, now=app.clock())
    if stopping.is_set() or not lease.jobs:
        await held_lease.release()


async def run_leased_job(app: AppContext, held_lease: HeldLease, job: Job) -> bool:
    """Run a job and return whether it is done; it is not if it waits or the lease is lost.

    The error of a failed one is raised once it is scheduled again.
    """
    try:
        async with held_lease.isolated(job):
            await held_lease.run(run_job(app, job))
    except LeaseLost:
        return False  # another process took it over
    except asyncio.CancelledError:
        await held_lease.release(job)
        raise
    except AllowanceUsedUp as error:
        await postpone_to_tomorrow(app.db, app.clock, app.settings, held_lease.lease, job, error)
        return False
    except Exception as error:
        await schedule_job_retry(app.db, app.clock, held_lease.lease, job, error)
        raise
    return True


async def run_job(app: AppContext, job: Job) -> None:
    """Run one job. Raises UnknownJob for one that only a newer version knows."""
    name = parse_job_spec(job).name
    if name not in JOB_HANDLERS:
        raise UnknownJob(f"This version does not know the job {name!r}.")
    await JOB_HANDLERS[name](app, job)


def get_person_id(job: Job) -> PersonId:
    """Return the person a job is for. Raises InvalidInput."""
    if job.person is None:
        raise InvalidInput(f"Job {job.seq} in {job.partition} names no person.")
    return job.person


async def postpone_to_tomorrow(
    db: Database, clock: Clock, settings: Settings, lease: Lease, job: Job, error: AllowanceUsedUp
) -> None:
    """Postpone a job until the next daily allowance, without counting the attempt."""
    now, zone = clock(), settings.zone
    tomorrow = get_start_of_day(now, zone, days_back=-1)
    async with db.begin_write() as tx:
        await fail_job(
            tx,
            lease,
            job,
            error=format_error(error),
            now=now,
            retry_at=tomorrow,
            counts_attempt=False,
        )
        await release_lease(tx, lease, now=now)
    log_event(
        "waits-for-tomorrow", job=job.partition, until=from_micros(tomorrow, zone).isoformat()
    )


async def postpone_until_learning_on(db: Database, clock: Clock, lease: Lease, job: Job) -> None:
    """Postpone a reading until learning may be on again, without counting the attempt."""
    now = clock()
    async with db.begin_write() as tx:
        await fail_job(
            tx,
            lease,
            job,
            error="[memory] forms is off",
            now=now,
            retry_at=now + LEARNING_OFF_RETRY,
            counts_attempt=False,
        )
        await release_lease(tx, lease, now=now)


async def schedule_job_retry(
    db: Database, clock: Clock, lease: Lease, job: Job, error: Exception
) -> None:
    """Schedule a failed job again, or make it a dead letter after too many attempts.

    A job this version does not know waits for a process that does, and a rollup for the next
    reading; neither ever becomes a dead letter.
    """
    now, is_known = clock(), not isinstance(error, UnknownJob)
    is_patient = not is_known or parse_job_spec(job).name == ROLLUP_JOB
    attempts = UNKNOWN_JOB_ATTEMPTS if is_patient else job.attempts
    is_broken = isinstance(error, BrokenOutput)
    min_delay_s = BROKEN_OUTPUT_PAUSE_S if is_broken else 0.0
    retry_at = compute_retry_at(now, attempts, jitter=random.random(), min_delay_s=min_delay_s)
    is_reading = is_known and parse_job_spec(job).name == CONSOLIDATE_JOB
    is_in_vain = is_broken and parse_job_spec(job).name in REFLECTION_JOBS
    max_attempts = MAX_MODEL_ATTEMPTS if is_reading or is_in_vain else MAX_ATTEMPTS
    if is_reading and is_broken:
        max_attempts = MAX_BROKEN_ATTEMPTS
    is_hopeless = not is_patient and job.attempts >= max_attempts
    async with db.begin_write() as tx:
        if is_hopeless and is_reading:
            for segment in parse_consolidate_job(parse_job_spec(job)).generations:
                await mark_consolidation_failed(
                    tx, get_person_id(job), segment, format_error(error), now=now
                )
        await fail_job(
            tx,
            lease,
            job,
            error=format_error(error),
            now=now,
            retry_at=None if is_hopeless else retry_at,
            counts_attempt=not is_patient,
        )
        await release_lease(tx, lease, now=now)


def format_error(error: Exception) -> str:
    """Format an error to be stored with a job."""
    return f"{type(error).__name__}: {error}"


async def run_handler(
    app: AppContext,
    handler: LeaseHandler,
    lease: Lease,
    limiter: ConcurrencyLimiter,
    stopping: asyncio.Event,
) -> None:
    """Run the handler for a lease and log its errors, so that they affect no other partition."""
    try:
        await handler(app, lease, stopping)
    except Exception as error:
        log_warning("job-failed", error, queue=lease.queue, partition=lease.partition)
    finally:
        limiter.release()
