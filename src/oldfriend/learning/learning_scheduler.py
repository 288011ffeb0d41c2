"""Learning scheduler: plans when segments are read, in the person's order.

A model reads small segments together, once enough has gathered. A failed segment is retried by
itself while the others go on. Schedules nothing if nothing was said.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oldfriend.app.app_context import LearningContext
from oldfriend.app.recorded_models import build_background_model
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import DAY, MINUTE, SECOND, Clock, Micros
from oldfriend.domain.errors import BrokenOutput, ModelError, ModelRefusal, NotFound
from oldfriend.domain.ids import MessageId, PersonId, SegmentId, SessionId, TurnId
from oldfriend.domain.messages import SESSION_IDLE_GAP
from oldfriend.learning.consolidate import ConsolidationResult, consolidate_together
from oldfriend.learning.extractor_factory import (
    IMPORT_CUT,
    ExtractorChoice,
    build_consolidation_deps,
)
from oldfriend.learning.merge_duplicates import merge_duplicate_memories
from oldfriend.learning.reading_jobs import (
    PlannedReading,
    build_learning_partition,
    enqueue_consolidations,
    schedule_reading,
)
from oldfriend.learning.reflection_scheduler import enqueue_reflection
from oldfriend.learning.segmentation import (
    EARLY_TURN_LIMITS,
    SegmentationCriteria,
    cut_ready_segments,
    get_idle_deadline,
    get_turn_limit,
)
from oldfriend.learning.summary_rollup import roll_up, select_for_rollup
from oldfriend.memory.belief_views import list_summaries
from oldfriend.memory.expiry import expire_overdue, find_next_expiry
from oldfriend.memory.message_log import get_message
from oldfriend.memory.people import lock_person
from oldfriend.memory.readers import ReaderKind, find_reader
from oldfriend.memory.receipts import delete_expired_traces, find_next_trace_expiry
from oldfriend.memory.reflection_log import (
    clamp_future_reflections,
    delete_expired_transcripts,
    expire_questions,
    find_next_transcript_expiry,
)
from oldfriend.memory.segments import (
    CutReason,
    Segment,
    count_segments_up_to,
    count_uncut_turns,
    find_learning_threshold,
    find_segment,
    list_uncut_spans,
    list_waiting_segments,
    reopen_segment,
    reopen_segments,
    set_segment_status,
)
from oldfriend.queues.jobs_table import find_first_due, find_first_job, list_queued_people
from oldfriend.queues.queue import reschedule_jobs
from oldfriend.queues.scheduled_jobs import (
    JobSpec,
    list_due_times,
    schedule_job,
)
from oldfriend.usage.model_calls import CallContext, discard_answers

SCHEDULE_JOB: Final = "tend"
MAINTAIN_JOB: Final = "tidy"
ROLLUP_JOB: Final = "fold"
ACTIVE_WINDOW: Final = 2 * MINUTE
"""A person whose last message is newer than this may still be writing."""
EARLY_DELAY: Final = 15 * SECOND
"""Delay before a new person's messages are read, so that they are answered first."""
MAX_CONSOLIDATION_TIME: Final = 60 * MINUTE
"""Maximum age of a consolidation that runs at the same time."""


NEW_PERSON_SEGMENTS: Final = 1
"""The first segment of a person is read at once, so that they see what is learned."""
GATHERED_TOKENS: Final = 800
"""Waiting tokens that are worth a call: the instructions of one are 2,200 and more."""
IMMEDIATE_CUTS: Final = frozenset[CutReason | None]({"turns", "length", "pressure", "asked"})
"""Cuts after which a model reads at once."""


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
    session_id: SessionId,
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
    if not planned or planned[0] > now + SESSION_IDLE_GAP:
        await enqueue_learning(tx, person, now=now, due_at=now + SESSION_IDLE_GAP)
    elif planned[0] <= now:
        return  # a job is looking at it, or will be at once
    uncut = await count_uncut_turns(tx, person, session_id)
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


async def is_unsegmented(tx: Transaction, person: PersonId, message_id: MessageId) -> bool:
    """Return whether a message is in no segment yet."""
    try:
        stored = await get_message(tx, person, message_id)
    except NotFound:
        return False  # deleted meanwhile
    uncut = await list_uncut_spans(tx, person, session_id=stored.session)
    return any(each.first_seq <= stored.seq for each in uncut)


async def enqueue_learning_for_import(
    tx: Transaction, settings: Settings, person: PersonId, *, now: Micros
) -> None:
    """Schedule learning for imported messages once their segments are ready to be cut."""
    planned = await list_due_times(tx, SCHEDULE_JOB, partition=build_learning_partition(person))
    if settings.memory.forms and not any(at <= now + SESSION_IDLE_GAP for at in planned):
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
    session_id: SessionId | None = None,
    by_model: bool = False,
) -> list[Segment]:
    """Cut what is ready and schedule its consolidation; check again when the rest may be ready.

    ``cut_reason`` cuts everything, or with "import" what was imported. With ``session`` only that
    session is looked at, which costs the same in a long history. ``by_model``: what a model will
    read waits until enough has gathered. Nothing is cut if learning is off.
    """
    if not settings.memory.forms:
        return []
    now = clock()
    async with db.begin_write() as tx:
        most = await find_learning_threshold(tx, person) or settings.memory.read_every_turns
        max_turns = await compute_turn_limit(tx, person, most=most)
        criteria = SegmentationCriteria(now=now, max_turns=max_turns, force_reason=cut_reason)
        segments = await cut_ready_segments(tx, person, criteria, session_id=session_id)
        waiting = await list_waiting_segments(tx, person)
        imports = [each for each in waiting if each.cut_by == IMPORT_CUT]
        spoken = [each for each in waiting if each.cut_by != IMPORT_CUT]
        gathers = by_model and cut_reason not in IMMEDIATE_CUTS
        reading_at = await compute_reading_time(tx, settings, spoken) if gathers else now
        together = by_model and settings.memory.imports_by_model
        await enqueue_consolidations(tx, imports, now=now, together=together)
        if reading_at <= now:
            await enqueue_consolidations(tx, spoken, now=now, together=by_model)
        uncut_spans = await list_uncut_spans(tx, person, session_id=session_id)
        due_times = [get_idle_deadline(uncut, now=now) for uncut in uncut_spans]
        if reading_at > now:
            due_times.append(reading_at)
        planned = await list_due_times(tx, SCHEDULE_JOB, partition=build_learning_partition(person))
        if due_times and not any(now < at <= max(min(due_times), now + 1) for at in planned):
            await enqueue_learning(tx, person, now=now, due_at=max(min(due_times), now + 1))
    return segments


async def compute_reading_time(
    tx: Transaction, settings: Settings, waiting: Sequence[Segment]
) -> Micros:
    """Return when a model is to read waiting segments; 0 if at once.

    It is at once where somebody waits for it (they are new here, have talked long, or have changed
    what they said) or enough words have gathered.
    """
    if not waiting:
        return 0
    person = waiting[0].person
    is_new = await count_segments_up_to(tx, person, limit=NEW_PERSON_SEGMENTS + 1)
    if (
        is_new <= NEW_PERSON_SEGMENTS
        or sum(each.tokens for each in waiting) >= GATHERED_TOKENS
        or any(each.cut_by in IMMEDIATE_CUTS or each.generation > 1 for each in waiting)
    ):
        return 0
    return min(each.cut_at for each in waiting) + settings.memory.read_within_days * DAY


async def consolidate_planned(
    app: LearningContext, person: PersonId, reading: PlannedReading
) -> None:
    """Consolidate the segments of a job; of several, each that fails gets a job of its own.

    Raises what the consolidation of a single segment raises.
    """
    if len(reading.generations) == 1:
        (segment,) = reading.generations
        await consolidate_segment(app, person, segment, extractor=reading.extractor)
        return
    try:
        results = await consolidate_segments(
            app, person, tuple(reading.generations), extractor=reading.extractor
        )
        failed = [each for each in results if isinstance(results[each], Exception)]
    except (BrokenOutput, ModelRefusal):
        failed = list(reading.generations)
    async with app.db.begin_write() as tx:
        for segment in failed:
            if (found := await find_segment(tx, person, segment)) is not None:
                await schedule_reading(tx, [found], reading.extractor, now=app.clock())


async def consolidate_segment(
    app: LearningContext,
    person: PersonId,
    segment_id: SegmentId,
    *,
    extractor: ExtractorChoice = "either",
) -> ConsolidationResult | None:
    """Consolidate a segment; None if it was consolidated or deleted meanwhile.

    Raises what extraction raises; then nothing of it is written.
    """
    results = await consolidate_segments(app, person, [segment_id], extractor=extractor)
    result = results.get(segment_id)
    if isinstance(result, Exception):
        raise result
    return result


async def consolidate_segments(
    app: LearningContext,
    person: PersonId,
    segment_ids: Sequence[SegmentId],
    *,
    extractor: ExtractorChoice = "either",
) -> dict[SegmentId, ConsolidationResult | Exception | None]:
    """Consolidate segments, which a model reads in one call; return each one's result or error.

    A segment read by rules is read again if a model is requested. Raises what concerns all of them;
    then nothing is written.
    """
    async with app.db.begin_read() as tx:
        found = [await find_segment(tx, person, each) for each in segment_ids]
    segments = [each for each in found if each is not None and is_to_be_read(each, extractor)]
    if not segments:
        return {}
    started_at, first = app.clock(), segments[0]
    next_first = replace(first, generation=first.generation + is_consolidated(first))
    deps = await build_consolidation_deps(app, next_first, extractor=extractor)
    if any(map(is_consolidated, segments)):
        async with app.db.begin_write() as tx:
            await lock_person(tx, person)
            segments = [
                await reopen_segment(tx, each) if is_consolidated(each) else each
                for each in segments
            ]
    try:
        results = await consolidate_together(deps, segments)
    except BrokenOutput:
        await discard_unusable_answers(app.db, person, segments)
        raise
    if any(isinstance(each, BrokenOutput) for each in results.values()):
        await discard_unusable_answers(app.db, person, segments)
    done = [each for each in results.values() if isinstance(each, ConsolidationResult)]
    if done:
        await schedule_follow_ups(app, person, done, started_at=started_at)
    return results


async def discard_unusable_answers(
    db: Database, person: PersonId, segments: Sequence[Segment]
) -> None:
    """Discard a model's answers about segments: they would be used again otherwise."""
    async with db.begin_write() as tx:
        for segment in segments:
            await discard_answers(tx, person, TurnId(segment.id))


async def schedule_follow_ups(
    app: LearningContext,
    person: PersonId,
    done: Sequence[ConsolidationResult],
    *,
    started_at: Micros,
) -> None:
    """Schedule what follows a consolidation: maintenance, a roll-up, and a reflection."""
    now, since = app.clock(), started_at - MAX_CONSOLIDATION_TIME
    async with app.db.begin_write() as tx:
        await enqueue_maintenance(tx, person, now=now, due_at=now + DAY, since=since)
        await enqueue_rollup(tx, person, now=now)
        if app.settings.memory.imports_by_model or any(
            each.segment.cut_by != IMPORT_CUT for each in done
        ):
            await enqueue_reflection(tx, app, person, now=now)


def is_to_be_read(segment: Segment, extractor: ExtractorChoice) -> bool:
    """Return whether a segment is unread, or was read by rules where a model is requested."""
    return not is_consolidated(segment) or (extractor == "model" and is_extracted_by_rules(segment))


def is_consolidated(segment: Segment) -> bool:
    """Return whether a segment was consolidated in this generation."""
    return segment.status in {"done", "trivial"}


def is_extracted_by_rules(segment: Segment) -> bool:
    """Return whether a segment was read by rules."""
    return find_reader(segment.author or "") in {ReaderKind.RULES, ReaderKind.TAGGER}


async def reopen_for_messages(
    tx: Transaction,
    settings: Settings,
    person: PersonId,
    message_ids: Sequence[MessageId],
    *,
    now: Micros,
) -> None:
    """Schedule changed messages to be read again if they were read already.

    If learning is off, they are read once it is on again.
    """
    if await reopen_segments(tx, person, message_ids) and settings.memory.forms:
        await enqueue_learning(tx, person, now=now, due_at=now)


async def segment_at_shutdown(
    db: Database, clock: Clock, settings: Settings, *, by_model: bool = False
) -> None:
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
        await schedule_learning(
            db, clock, settings, person, cut_reason="shutdown", by_model=by_model
        )


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


async def maintain_memory(app: LearningContext, person: PersonId, *, since: Micros = 0) -> None:
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


async def roll_up_summaries(app: LearningContext, person: PersonId) -> None:
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


def parse_cut_reason(job: JobSpec) -> CutReason | None:
    """Return why a scheduling job is to cut everything; None: only what is ready."""
    stored = job.arguments.get("because")
    reasons: tuple[CutReason, ...] = ("pressure", "asked")
    return next((each for each in reasons if each == stored), None)


def parse_maintenance_since(job: JobSpec) -> Micros:
    """Return since when a maintenance job has to look."""
    since = job.arguments.get("since")
    return since if isinstance(since, int) else 0
