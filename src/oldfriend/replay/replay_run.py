"""Replay run: copies the log to an empty database and derives all beliefs again, step by step.

The source database is only read. The target database stores the remaining steps, so a replay that
was killed or ran out of budget can resume. Each step runs at its original time; only new model
calls are recorded at the current time.
"""

from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import embed_beliefs, try_embed_missing
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.people import SESSION_IDLE_GAP
from oldfriend.learning.learning_scheduler import enqueue_learning, enqueue_maintenance
from oldfriend.memory.expiry import find_next_expiry
from oldfriend.memory.people import list_people
from oldfriend.memory.replay_reset import requeue_segment, reset_journal_counters, rewind_memory
from oldfriend.memory.segments import Segment, list_uncut_spans
from oldfriend.replay.cached_model import load_replay_cache
from oldfriend.replay.checkpoint import (
    ReplayCheckpoint,
    count_remaining_steps,
    delete_checkpoint,
    enqueue_steps,
    find_checkpoint,
    find_next_step,
    fingerprint_database,
    save_checkpoint,
)
from oldfriend.replay.copy_log import copy_log, require_empty_target, select_people
from oldfriend.replay.execute_step import execute_step
from oldfriend.replay.replay_types import ReplayContext, ReplayProgress, ReplayRequest, ReplayResult
from oldfriend.replay.steps import ReplayStep, build_steps, load_source_history
from oldfriend.replay.target_snapshot import TargetSnapshot

SOURCE_CHANGED: Final = (
    "In the first database something was forgotten or taken back since this replay began, and "
    "would stand in the second one. Begin anew with an empty one."
)


async def run_replay(
    source: Database, app: AppContext, request: ReplayRequest, *, on_progress: ReplayProgress
) -> ReplayResult:
    """Derive all beliefs in an empty target database, or resume an unfinished replay there.

    Raises InvalidInput where the target holds anything else. AllowanceUsedUp and temporary model
    errors also pass through; the replay can be resumed then.
    """
    context = ReplayContext(
        source=source, app=app, request=request, result=ReplayResult(), on_progress=on_progress
    )
    checkpoint = await start_or_resume(context)
    for person in checkpoint.people:
        await replay_person(context, person, checkpoint)
    for person in checkpoint.people:
        await try_embed_missing(app, person)
    async with app.db.begin_write() as tx:
        for person in checkpoint.people:
            await enqueue_remaining_jobs(tx, person, now=app.clock())
        await delete_checkpoint(tx)
    return context.result


async def enqueue_remaining_jobs(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Schedule a person's learning and maintenance for the further use of the target database."""
    if await list_uncut_spans(tx, person):
        await enqueue_learning(tx, person, now=now, due_at=now + SESSION_IDLE_GAP)
    due_at = await find_next_expiry(tx, person)
    if due_at is not None:
        await enqueue_maintenance(tx, person, now=now, due_at=max(due_at, now + DAY), since=now)


async def start_or_resume(context: ReplayContext) -> ReplayCheckpoint:
    """Copy the log and store the steps, or return the checkpoint of an unfinished replay."""
    async with context.source.begin_read() as source, context.app.db.begin_write() as target:
        checkpoint = await find_checkpoint(target)
        if checkpoint is not None:
            await require_same_replay(source, checkpoint, context.request)
            return checkpoint
        await require_empty_target(source, target)
        request, now = context.request, context.app.clock()
        person_ids = [each.id for each in await list_people(source)]
        people = select_people(person_ids, request.person)
        checkpoint = ReplayCheckpoint(
            model=request.model,
            since=request.since,
            people=tuple(people),
            source=await fingerprint_database(source, people),
        )
        await copy_log(source, target, request.person, with_journal=request.since is not None)
        for person in people:
            await prepare_person(source, target, person, request, now=now)
        await save_checkpoint(target, checkpoint, now=now)
    return checkpoint


async def require_same_replay(
    source: Transaction, checkpoint: ReplayCheckpoint, request: ReplayRequest
) -> None:
    """Raise InvalidInput if another replay was begun there, or data was deleted from the source."""
    people = {request.person} if request.person is not None else {*checkpoint.people}
    if (checkpoint.model, checkpoint.since) != (request.model, request.since) or people != {
        *checkpoint.people
    }:
        option = f"--model {checkpoint.model}" if checkpoint.model else "no --model"
        raise InvalidInput(
            f"The replay there was begun with {option}, and the same people and date each time. "
            "Go on with the same, or name an empty database."
        )
    fingerprint = await fingerprint_database(source, checkpoint.people)
    if fingerprint["companion"] != checkpoint.source.get("companion"):
        raise InvalidInput("What is there is a replay of another database.")
    if fingerprint != checkpoint.source:
        raise InvalidInput(SOURCE_CHANGED)


async def prepare_person(
    source: Transaction,
    target: Transaction,
    person: PersonId,
    request: ReplayRequest,
    *,
    now: Micros,
) -> None:
    """Reset a person's copied log to before the first reading or ``since``; enqueue the steps."""
    history = await load_source_history(source, person)
    steps = build_steps(history, mode=request.mode, since=request.since)
    if request.since is None:
        await reset_journal_counters(target, person)
    else:
        await rewind_memory(target, person, history.journal, since=request.since)
    segments = {each.id: each for each in history.segments}
    for step in steps:
        if step.segment is not None:
            is_again = has_earlier_result(segments[step.segment], request)
            await requeue_segment(target, person, step.segment, keep_generation=is_again)
    await enqueue_steps(target, person, steps, now=now)


def has_earlier_result(segment: Segment, request: ReplayRequest) -> bool:
    """Return whether results of an earlier reading of a segment stay until it is read again."""
    is_again = request.since is not None and segment.cut_at < request.since
    return is_again and segment.generation > 1


async def replay_person(
    context: ReplayContext, person: PersonId, checkpoint: ReplayCheckpoint
) -> None:
    """Run all remaining steps of one person."""
    async with context.source.begin_read() as tx:
        history = await load_source_history(tx, person)
    snapshot = TargetSnapshot(person=person)
    if checkpoint.since is not None:
        await embed_beliefs(context.app, person)
    cache = await load_replay_cache(context.source, context.app.db, person)
    async with context.app.db.begin_read() as tx:
        total = await count_remaining_steps(tx, checkpoint.people)
    done = 0
    while (next_step := await load_next_step(context.app.db, person)) is not None:
        context.on_progress(done, total)
        await execute_step(
            context, person, next_step, cache=cache, source_history=history, snapshot=snapshot
        )
        done += 1
    context.on_progress(done, total)
    context.result.reused += cache.hits
    context.result.asked += cache.misses


async def load_next_step(db: Database, person: PersonId) -> tuple[Job, ReplayStep] | None:
    """Return a person's next step; None if all are done."""
    async with db.begin_read() as tx:
        return await find_next_step(tx, person)
