"""Learning scheduler: plans one extraction job per segment, in the person's order.

A failed segment is retried by itself while the others go on. Schedules nothing if nothing was said.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.recorded_models import build_background_model
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import DAY, MINUTE, SECOND, Clock, Micros
from oldfriend.domain.errors import BrokenOutput, InvalidInput, ModelError, NotFound
from oldfriend.domain.ids import MessageId, PersonId, SegmentId, SessionId, TurnId
from oldfriend.domain.people import SESSION_IDLE_GAP
from oldfriend.learning.consolidate import ConsolidationResult, consolidate
from oldfriend.learning.extractor_factory import (
    IMPORT_CUT,
    ExtractorChoice,
    build_consolidation_deps,
)
from oldfriend.learning.merge_duplicates import merge_duplicate_memories
from oldfriend.learning.reflection_scheduler import enqueue_reflection
from oldfriend.learning.segmentation import (
    EARLY_TURN_LIMITS,
    SegmentationCriteria,
    cut_ready_segments,
    get_idle_deadline,
    get_turn_limit,
)
from oldfriend.learning.summary_rollup import roll_up, select_for_rollup
from oldfriend.memory.beliefs import list_summaries
from oldfriend.memory.expiry import expire_overdue, find_next_expiry
from oldfriend.memory.learning_threshold import count_uncut_turns, find_learning_threshold
from oldfriend.memory.messages import get_message
from oldfriend.memory.people import lock_person
from oldfriend.memory.receipts import delete_expired_traces, find_next_trace_expiry
from oldfriend.memory.reflection_log import (
    clamp_future_reflections,
    delete_expired_transcripts,
    find_next_transcript_expiry,
)
from oldfriend.memory.segments import (
    CutReason,
    Segment,
    count_segments_up_to,
    find_segment,
    list_uncut_spans,
    list_waiting_segments,
    reopen_segment,
    reopen_segments,
    set_segment_status,
)
from oldfriend.memory.thoughts import expire_questions
from oldfriend.queues.jobs_table import find_first_due, find_first_job, list_queued_people
from oldfriend.queues.queue import reschedule_jobs
from oldfriend.queues.scheduled_jobs import JobSpec, list_due_times, schedule_job
from oldfriend.usage.model_calls import CallContext, discard_answers

SCHEDULE_JOB: Final = "tend"
CONSOLIDATE_JOB: Final = "read"
MAINTAIN_JOB: Final = "tidy"
ROLLUP_JOB: Final = "fold"
ACTIVE_WINDOW: Final = 2 * MINUTE
"""A person whose last message is newer than this may still be writing."""
EARLY_DELAY: Final = 15 * SECOND
"""Delay before a new person's messages are read, so that they are answered first."""
MAX_CONSOLIDATION_TIME: Final = 60 * MINUTE
"""Maximum age of a consolidation that runs at the same time."""


def build_learning_partition(person: PersonId) -> str:
    """Return the partition of a person's learning jobs."""
    return f"memory:{person}"


def build_backlog_partition(person: PersonId) -> str:
    """Return the partition of backlog jobs: imported messages, and re-extraction."""
    return f"old-talk:{person}"


def build_rollup_partition(person: PersonId) -> str:
    """Return the partition of a person's summary roll-ups."""
    return f"{ROLLUP_JOB}:{person}"


def build_maintenance_partition(person: PersonId) -> str:
    """Return the partition of a person's memory maintenance."""
    return f"{MAINTAIN_JOB}:{person}"


async def enqueue_learning_for_message(
    tx: Transaction,
    settings: Settings,
    person: PersonId,
    session: SessionId,
    *,
    now: Micros,
    dropped: Sequence[MessageId] = (),
) -> None:
    """Schedule learning for a new message once its segment is ready to be cut.

    At once if some messages were dropped from a model's context (``dropped``, oldest first).
    """
    if not settings.memory.forms:
        return
    planned = await list_due_times(tx, SCHEDULE_JOB, partition=build_learning_partition(person))
    if dropped and await is_unsegmented(tx, person, dropped[-1]):
        await enqueue_learning(tx, person, now=now, due_at=now, cut_reason="pressure")
    if not planned:
        await enqueue_learning(tx, person, now=now, due_at=now + SESSION_IDLE_GAP)
    elif planned[0] <= now:
        return  # a job is looking at it, or will be at once
    uncut = await count_uncut_turns(tx, person, session)
    max_turns = uncut.threshold or settings.memory.read_every_turns
    if uncut.turns >= max_turns:
        await enqueue_learning(tx, person, now=now, due_at=now)
    elif planned and planned[0] <= now + EARLY_DELAY:
        return
    elif uncut.turns >= EARLY_TURN_LIMITS[0] and uncut.turns >= await compute_turn_limit(
        tx, person, most=max_turns
    ):
        await enqueue_learning(tx, person, now=now, due_at=now + EARLY_DELAY)


async def compute_turn_limit(tx: Transaction, person: PersonId, *, most: int) -> int:
    """Return after how many turns to cut a segment: fewer for new people."""
    segments = await count_segments_up_to(tx, person, limit=len(EARLY_TURN_LIMITS))
    return get_turn_limit(segments, most)


async def is_unsegmented(tx: Transaction, person: PersonId, message: MessageId) -> bool:
    """Return whether a message is in no segment yet."""
    try:
        stored = await get_message(tx, person, message)
    except NotFound:
        return False  # deleted meanwhile
    uncut = await list_uncut_spans(tx, person, session=stored.session)
    return any(each.first_seq <= stored.seq for each in uncut)


async def enqueue_learning_for_import(
    tx: Transaction, settings: Settings, person: PersonId, *, now: Micros
) -> None:
    """Schedule learning for imported messages once their segments are ready to be cut."""
    is_planned = bool(
        await list_due_times(tx, SCHEDULE_JOB, partition=build_learning_partition(person))
    )
    if settings.memory.forms and not is_planned:
        await enqueue_learning(tx, person, now=now, due_at=now + SESSION_IDLE_GAP)


async def enqueue_learning(
    tx: Transaction,
    person: PersonId,
    *,
    now: Micros,
    due_at: Micros,
    cut_reason: CutReason | None = None,
) -> None:
    """Schedule a job that cuts what is ready; ``cut_reason`` makes it cut everything."""
    job = JobSpec(
        name=SCHEDULE_JOB, arguments={} if cut_reason is None else {"because": cut_reason}
    )
    await schedule_job(
        tx, build_learning_partition(person), job, person=person, now=now, due_at=due_at
    )
    if due_at <= now:
        await tx.notify()


async def schedule_learning(
    db: Database,
    clock: Clock,
    settings: Settings,
    person: PersonId,
    *,
    cut_reason: CutReason | None = None,
    imported: bool = False,
    session: SessionId | None = None,
) -> list[Segment]:
    """Cut what is ready and schedule its consolidation; check again when the rest may be ready.

    ``cut_reason`` cuts everything; ``imported``: the import is complete. With ``session`` only that
    session is looked at, which costs the same in a long history. Nothing is cut if learning is off.
    """
    if not settings.memory.forms:
        return []
    now = clock()
    async with db.begin_write() as tx:
        most = await find_learning_threshold(tx, person) or settings.memory.read_every_turns
        max_turns = await compute_turn_limit(tx, person, most=most)
        criteria = SegmentationCriteria(
            now=now, max_turns=max_turns, force_reason=cut_reason, import_finished=imported
        )
        segments = await cut_ready_segments(tx, person, criteria, session=session)
        for segment in await list_waiting_segments(tx, person):
            await enqueue_consolidation(tx, segment, now=now)
        uncut_spans = await list_uncut_spans(tx, person, session=session)
        idle_deadlines = [get_idle_deadline(uncut, now=now) for uncut in uncut_spans]
        planned = await list_due_times(tx, SCHEDULE_JOB, partition=build_learning_partition(person))
        if idle_deadlines and not any(due_at > now for due_at in planned):
            await enqueue_learning(tx, person, now=now, due_at=max(min(idle_deadlines), now + 1))
    return segments


async def enqueue_consolidation(
    tx: Transaction, segment: Segment, *, now: Micros, extractor: ExtractorChoice = "either"
) -> None:
    """Schedule a segment's consolidation once per generation; imports have their own partition."""
    is_backlog = extractor == "model" or segment.cut_by == IMPORT_CUT
    partition = (
        build_backlog_partition(segment.person)
        if is_backlog
        else build_learning_partition(segment.person)
    )
    job = JobSpec(name=CONSOLIDATE_JOB, arguments={"segment": segment.id, "by": extractor})
    key = f"{segment.id}/{segment.generation}/{extractor}"
    await schedule_job(tx, partition, job, person=segment.person, now=now, dedup_key=key)


async def consolidate_segment(
    app: AppContext,
    person: PersonId,
    segment_id: SegmentId,
    *,
    extractor: ExtractorChoice = "either",
) -> ConsolidationResult | None:
    """Consolidate a segment; None if it was consolidated or deleted meanwhile.

    A segment read by rules is read again if a model is requested. Raises what extraction raises;
    then nothing of it is written.
    """
    async with app.db.begin_read() as tx:
        segment = await find_segment(tx, person, segment_id)
    if segment is None or (
        is_consolidated(segment) and not (extractor == "model" and is_extracted_by_rules(segment))
    ):
        return None
    started_at = app.clock()
    next_segment = (
        replace(segment, generation=segment.generation + 1) if is_consolidated(segment) else segment
    )
    deps = await build_consolidation_deps(app, next_segment, extractor=extractor)
    if is_consolidated(segment):
        async with app.db.begin_write() as tx:
            await lock_person(tx, person)
            segment = await reopen_segment(tx, segment)
    try:
        done = await consolidate(deps, segment)
    except BrokenOutput:
        async with app.db.begin_write() as tx:
            await discard_answers(
                tx, person, TurnId(segment.id)
            )  # else the same answers would be read again
        raise
    async with app.db.begin_write() as tx:
        now = app.clock()
        await enqueue_maintenance(
            tx, person, now=now, due_at=now + DAY, since=started_at - MAX_CONSOLIDATION_TIME
        )
        await enqueue_rollup(tx, person, now=now)
        if segment.cut_by != IMPORT_CUT or app.settings.memory.imports_by_model:
            await enqueue_reflection(tx, app, person, now=now)
    return done


def is_consolidated(segment: Segment) -> bool:
    """Return whether a segment was consolidated in this generation."""
    return segment.status in {"done", "trivial"}


def is_extracted_by_rules(segment: Segment) -> bool:
    """Return whether a segment was read by rules."""
    return (segment.author or "").startswith("rules/")


async def reopen_for_messages(
    tx: Transaction,
    settings: Settings,
    person: PersonId,
    messages: Sequence[MessageId],
    *,
    now: Micros,
) -> None:
    """Schedule changed messages to be read again if they were read already.

    If learning is off, they are read once it is on again.
    """
    if await reopen_segments(tx, person, messages) and settings.memory.forms:
        await enqueue_learning(tx, person, now=now, due_at=now)


async def segment_at_shutdown(db: Database, clock: Clock, settings: Settings) -> None:
    """Cut the sessions of everybody who has stopped writing; the next start reads them."""
    if not settings.memory.forms:
        return
    now = clock()
    async with db.begin_read() as tx:
        people = await list_queued_people(tx, "agenda", build_learning_partition(PersonId("%")))
        silent = [
            person
            for person in people
            if all(
                each.written_at + ACTIVE_WINDOW < now for each in await list_uncut_spans(tx, person)
            )
        ]
    for person in silent:
        await schedule_learning(db, clock, settings, person, cut_reason="shutdown")


async def mark_consolidation_failed(
    tx: Transaction, person: PersonId, segment: SegmentId, error: str, *, now: Micros
) -> None:
    """Mark a segment as failed after its last retry."""
    failed = await find_segment(tx, person, segment)
    if failed is not None:
        await set_segment_status(tx, failed, "failed", error=error, now=now)


async def enqueue_maintenance(
    tx: Transaction, person: PersonId, *, now: Micros, due_at: Micros, since: Micros
) -> None:
    """Schedule maintenance by a time; what was known at ``since`` was maintained then."""
    partition = build_maintenance_partition(person)
    planned = [at for at in await list_due_times(tx, MAINTAIN_JOB, partition=partition) if at > now]
    if not planned:
        job = JobSpec(name=MAINTAIN_JOB, arguments={"since": since})
        await schedule_job(tx, partition, job, person=person, now=now, due_at=due_at)
    elif planned[0] > due_at:
        await reschedule_jobs(tx, "agenda", partition, from_seq=0, due_at=due_at, now=now)


async def maintain_memory(app: AppContext, person: PersonId, *, since: Micros = 0) -> None:
    """End overdue beliefs and merge duplicates; schedule the next maintenance.

    Raises AllowanceUsedUp if a model would have to judge duplicates and the daily limit is spent.
    """
    now = app.clock()
    since = since if since <= now else 0  # else it was set while the clock was ahead
    async with app.db.begin_write() as tx:
        await lock_person(tx, person)
        await clamp_future_reflections(tx, person, now=now)
        await expire_overdue(tx, person, now=now)
        await expire_questions(tx, person, now=now)
        await delete_expired_transcripts(tx, person, now=now)
        await delete_expired_traces(tx, person, now=now)
        await enqueue_rollup(tx, person, now=now)
    model = await build_background_model(
        app, CallContext(person=person, is_background=True), "small"
    )
    embedder = app.embedder.model
    await merge_duplicate_memories(
        app.db, person, model=model, embedder=embedder, now=now, since=since
    )
    async with app.db.begin_write() as tx:
        await enqueue_next_maintenance(tx, person, now=now)


async def enqueue_next_maintenance(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Schedule maintenance for when the next item in memory expires."""
    expires_at = await find_next_trace_expiry(tx, person)
    traces = None if expires_at is None else max(expires_at, now + DAY)  # all of one day together
    expiries = [
        await find_next_expiry(tx, person),
        await find_next_transcript_expiry(tx, person),
        traces,
    ]
    due = [at for at in expiries if at is not None]
    if due:
        await enqueue_maintenance(tx, person, now=now, due_at=min(due), since=now)


async def enqueue_rollup(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Schedule a roll-up if there are too many summaries; at once also if the last one failed."""
    if not select_for_rollup(await list_summaries(tx, person)):
        return
    partition = build_rollup_partition(person)
    if await find_first_due(tx, "agenda", partition) is None:
        await schedule_job(tx, partition, JobSpec(name=ROLLUP_JOB), person=person, now=now)
    else:
        await reschedule_jobs(tx, "agenda", partition, from_seq=0, due_at=now, now=now)


async def roll_up_summaries(app: AppContext, person: PersonId) -> None:
    """Roll up old summaries, which takes a model: without one they stay as they are.

    Raises AllowanceUsedUp, and ModelError if the model failed.
    """
    model = await build_background_model(
        app, CallContext(person=person, is_background=True), "small"
    )
    if model is None:
        return
    result = await roll_up(app.db, person, model=model, now=app.clock())
    if result.error is not None:
        raise ModelError(result.error)


async def find_rollup_error(tx: Transaction, person: PersonId) -> str | None:
    """Return why the last roll-up failed; None if it did not."""
    job = await find_first_job(tx, "agenda", build_rollup_partition(person))
    return None if job is None else job.error


def parse_consolidate_job(job: JobSpec) -> tuple[SegmentId, ExtractorChoice]:
    """Return the segment and the extractor of a consolidation job. Raises InvalidInput."""
    match job.arguments:
        case {"segment": str(segment), "by": "rules" | "model" | "either" as by}:
            return SegmentId(segment), by
    raise InvalidInput(f"A job to read something that is not a segment: {dict(job.arguments)}")


def parse_cut_reason(job: JobSpec) -> CutReason | None:
    """Return why a scheduling job is to cut everything; None: only what is ready."""
    return "pressure" if job.arguments.get("because") == "pressure" else None


def parse_maintenance_since(job: JobSpec) -> Micros:
    """Return since when a maintenance job has to look."""
    since = job.arguments.get("since")
    return since if isinstance(since, int) else 0
