"""Replay run: copies the log to an empty database and derives all beliefs again; and what it costs.

``db.stored_tables`` says which tables are copied, and why others are left out. Rows are copied
without being interpreted.

The source database is only read. The target database stores the remaining steps, so a replay that
was killed or ran out of budget can resume. Each step runs at its original time; only new model
calls are recorded at the current time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import embed_beliefs, try_embed_missing
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, TableInfo, Transaction
from oldfriend.db.stored_tables import TABLES_BY_NAME
from oldfriend.db.table_copy import count_rows, iter_row_batches, write_rows
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.messages import SESSION_IDLE_GAP
from oldfriend.learning.consolidate import would_use_model
from oldfriend.learning.learning_scheduler import enqueue_learning, enqueue_maintenance
from oldfriend.learning.re_extraction import build_reextraction_plan
from oldfriend.learning.summary_rollup import count_words
from oldfriend.memory.consolidation_undo import (
    requeue_segment,
    reset_journal_counters,
    rewind_memory,
)
from oldfriend.memory.expiry import find_next_expiry
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import Segment, list_segment_messages, list_uncut_spans
from oldfriend.replay.alignment import TargetSnapshot
from oldfriend.replay.cached_model import load_replay_cache
from oldfriend.replay.execute_step import execute_step
from oldfriend.replay.replay_types import (
    RULES_MODEL,
    ReplayContext,
    ReplayProgress,
    ReplayRequest,
    ReplayResult,
)
from oldfriend.replay.steps import (
    ReplayCheckpoint,
    ReplayStep,
    build_steps,
    count_remaining_steps,
    delete_checkpoint,
    enqueue_steps,
    find_checkpoint,
    find_next_step,
    fingerprint_database,
    load_source_history,
    save_checkpoint,
)
from oldfriend.runtime.wiring import estimate_cost
from oldfriend.usage.model_calls import load_answered_calls


async def require_empty_target(source_tx: Transaction, target_tx: Transaction) -> None:
    """Raise InvalidInput where the target database has other tables or is not empty."""
    tables = await source_tx.list_tables()
    if await target_tx.list_tables() != tables:
        raise InvalidInput(
            "The two databases were made by different versions of Oldfriend. Start this one on "
            "both, then replay. Nothing was written."
        )
    for table in tables:
        if await count_rows(target_tx, table):
            raise InvalidInput(
                f"The database to replay into holds something (in {table.name}), and it is no "
                "replay of this one that was broken off. Name one that is empty. Nothing was "
                "written."
            )


async def copy_log(
    source_tx: Transaction, target_tx: Transaction, person: PersonId | None, *, with_journal: bool
) -> None:
    """Copy the log tables of one person, or of everybody (None)."""
    for table in await source_tx.list_tables():
        stored = TABLES_BY_NAME[table.name]
        if stored.not_replayed or (stored.is_journal and not with_journal):
            continue
        async for rows in iter_row_batches(
            source_tx, table, owner=find_person_filter(table, person)
        ):
            await write_rows(target_tx, table, rows)


def find_person_filter(table: TableInfo, person: PersonId | None) -> tuple[str, str] | None:
    """Return the column and value that select one person's rows; None selects all."""
    column = TABLES_BY_NAME[table.name].person_column
    return None if person is None or column is None else (column, person)


def select_people(person_ids: Sequence[PersonId], person: PersonId | None) -> list[PersonId]:
    """Return the people whose memory is derived again."""
    return [each for each in person_ids if person in {None, each}]


SOURCE_CHANGED: Final = (
    "In the first database something was forgotten or taken back since this replay began, and "
    "would stand in the second one. Begin anew with an empty one."
)


async def run_replay(
    source: Database, app: AppContext, replay_request: ReplayRequest, *, on_progress: ReplayProgress
) -> ReplayResult:
    """Derive all beliefs in an empty target database, or resume an unfinished replay there.

    Raises InvalidInput where the target holds anything else. AllowanceUsedUp and temporary model
    errors also pass through; the replay can be resumed then.
    """
    context = ReplayContext(
        source=source,
        app=app,
        request=replay_request,
        result=ReplayResult(),
        on_progress=on_progress,
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
    source_tx: Transaction, checkpoint: ReplayCheckpoint, replay_request: ReplayRequest
) -> None:
    """Raise InvalidInput if another replay was begun there, or data was deleted from the source."""
    people = {replay_request.person} if replay_request.person is not None else {*checkpoint.people}
    if (checkpoint.model, checkpoint.since) != (
        replay_request.model,
        replay_request.since,
    ) or people != {*checkpoint.people}:
        option = f"--model {checkpoint.model}" if checkpoint.model else "no --model"
        raise InvalidInput(
            f"The replay there was begun with {option}, and the same people and date each time. "
            "Go on with the same, or name an empty database."
        )
    fingerprint = await fingerprint_database(source_tx, checkpoint.people)
    if fingerprint["companion"] != checkpoint.source.get("companion"):
        raise InvalidInput("What is there is a replay of another database.")
    if fingerprint != checkpoint.source:
        raise InvalidInput(SOURCE_CHANGED)


async def prepare_person(
    source_tx: Transaction,
    target_tx: Transaction,
    person: PersonId,
    replay_request: ReplayRequest,
    *,
    now: Micros,
) -> None:
    """Reset a person's copied log to before the first reading or ``since``; enqueue the steps."""
    history = await load_source_history(source_tx, person)
    steps = build_steps(history, mode=replay_request.mode, since=replay_request.since)
    if replay_request.since is None:
        await reset_journal_counters(target_tx, person)
    else:
        await rewind_memory(target_tx, person, history.journal, since=replay_request.since)
    segments = {each.id: each for each in history.segments}
    for step in steps:
        if step.segment is not None:
            is_again = has_earlier_result(segments[step.segment], replay_request)
            await requeue_segment(target_tx, person, step.segment, keep_generation=is_again)
    await enqueue_steps(target_tx, person, steps, now=now)


def has_earlier_result(segment: Segment, replay_request: ReplayRequest) -> bool:
    """Return whether results of an earlier reading of a segment stay until it is read again."""
    is_again = replay_request.since is not None and segment.cut_at < replay_request.since
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayEstimate:
    """How much is to be read again, and the most that a model would read."""

    segments: int = 0
    words: int = 0
    by_model: int = 0  # segments
    reflections: int = 0  # model-based reflections to run
    tokens_in: int = 0
    tokens_out: int = 0
    decisions: int = 0  # by the person
    cached_responses: int = 0  # recorded answers of this model
    unread: int = 0  # messages in no segment yet, which stay so
    cost: int | None = 0  # millionths of a dollar; None: unknown

    @property
    def tokens(self) -> int:
        """Input and output tokens."""
        return self.tokens_in + self.tokens_out

    def add(self, other: "ReplayEstimate") -> "ReplayEstimate":
        """Return the sum of both, without the cost."""
        return ReplayEstimate(
            segments=self.segments + other.segments,
            words=self.words + other.words,
            by_model=self.by_model + other.by_model,
            reflections=self.reflections + other.reflections,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            decisions=self.decisions + other.decisions,
            cached_responses=self.cached_responses + other.cached_responses,
            unread=self.unread + other.unread,
        )


async def estimate_replay(
    tx: Transaction, settings: Settings, replay_request: ReplayRequest, *, model: str | None
) -> ReplayEstimate:
    """Estimate a replay of the source database; ``model`` is the one that would be asked."""
    total = ReplayEstimate()
    effective_model = None if replay_request.model == RULES_MODEL else model
    for person in select_people([each.id for each in await list_people(tx)], replay_request.person):
        total = total.add(
            await estimate_person(tx, settings, replay_request, person, model=effective_model)
        )
    if effective_model is None or not total.tokens:
        return total
    cost = estimate_cost(
        settings, effective_model, tokens_in=total.tokens_in, tokens_out=total.tokens_out
    )
    return replace(total, cost=cost)


async def estimate_person(
    tx: Transaction,
    settings: Settings,
    replay_request: ReplayRequest,
    person: PersonId,
    *,
    model: str | None,
) -> ReplayEstimate:
    """Estimate what is to be read again of one person."""
    history = await load_source_history(tx, person)
    segments = {each.id: each for each in history.segments}
    steps = build_steps(history, mode=replay_request.mode, since=replay_request.since)
    words, by_model = 0, list[Segment]()
    for step in steps:
        if step.segment is None:
            continue
        messages = await list_segment_messages(tx, segments[step.segment])
        words += sum(count_words(each.text) for each in messages)
        if model is not None and step.extractor != "rules" and would_use_model(messages):
            by_model.append(segments[step.segment])
    plan = build_reextraction_plan(by_model, calls=len(by_model), passes=settings.memory.passes)
    has_reflection = model is not None and bool(settings.models.for_role("reflect"))
    reflections = [
        each
        for each in history.reflections
        if has_reflection and each.ran_at >= (replay_request.since or 0)
    ]
    answered = await load_answered_calls(tx, person)
    return ReplayEstimate(
        segments=sum(is_consolidation(step) for step in steps),
        words=words,
        by_model=len(by_model),
        reflections=len(reflections),
        tokens_in=plan.tokens_in + sum(each.tokens_in for each in reflections),
        tokens_out=plan.tokens_out + sum(each.tokens_out for each in reflections),
        decisions=sum(step.kind in {"carry", "uphold"} for step in steps),
        cached_responses=sum(key.model == model for key in answered),
        unread=sum(each.messages for each in await list_uncut_spans(tx, person)),
    )


def is_consolidation(step: ReplayStep) -> bool:
    """Return whether a step reads a segment."""
    return step.kind == "read"
