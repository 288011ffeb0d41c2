"""Step execution: repeats one recorded step with the original code, at its original time."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from oldfriend.app.app_context import RoleModel
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import ModelRole
from oldfriend.db.database import Database
from oldfriend.domain.errors import (
    BrokenOutput,
    InvalidInput,
    ModelRefusal,
    NotFound,
    RequestRejected,
)
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.domain.job_types import Job
from oldfriend.learning.consolidate import consolidate
from oldfriend.learning.extractor_factory import (
    build_consolidation_deps_with_model,
    is_model_requested,
)
from oldfriend.learning.learning_scheduler import mark_consolidation_failed
from oldfriend.learning.merge_duplicates import merge_duplicate_memories
from oldfriend.learning.reflection_scheduler import (
    DESCRIBE_JOB,
    IDLE_REFLECTION_JOB,
    REFLECT_JOB,
    REFLECTION_JOBS,
    ReflectionRunner,
)
from oldfriend.learning.reflection_scheduler import (
    build_reflection_deps_with_model as thinking_with,
)
from oldfriend.learning.summary_rollup import roll_up
from oldfriend.llm.model import LanguageModel
from oldfriend.memory.expiry import expire_overdue
from oldfriend.memory.people import lock_person
from oldfriend.memory.reflection_log import ReflectionKind
from oldfriend.memory.segments import get_segment
from oldfriend.memory.thoughts import expire_questions
from oldfriend.replay.cached_model import CachedModel, ReplayCache
from oldfriend.replay.checkpoint import ack_step
from oldfriend.replay.reapply_corrections import copy_decision, reapply_decision
from oldfriend.replay.replay_types import ReplayContext
from oldfriend.replay.steps import ReplayStep, SourceHistory
from oldfriend.replay.target_snapshot import TargetSnapshot
from oldfriend.usage.model_calls import CallContext

REFLECTION_RUNNERS: Final[Mapping[ReflectionKind, ReflectionRunner]] = MappingProxyType(
    {
        "reflection": REFLECTION_JOBS[REFLECT_JOB],
        "slow tick": REFLECTION_JOBS[IDLE_REFLECTION_JOB],
        "description": REFLECTION_JOBS[DESCRIBE_JOB],
    }
)


async def execute_step(
    context: ReplayContext,
    person: PersonId,
    queued: tuple[Job, ReplayStep],
    *,
    cache: ReplayCache,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
) -> None:
    """Execute one queued step."""
    job, step = queued
    match step.kind:
        case "read":
            await replay_consolidation(context, person, job, step, cache)
        case "tidy" | "fold":
            asker = CallContext(person=person, is_background=True)
            await replay_maintenance(
                context, person, job, step, build_cached_model(context, cache, asker)
            )
        case "think":
            await replay_reflection(context, person, job, step, cache)
        case "carry" | "uphold":
            await replay_decision(context, person, job, step, source_history, snapshot)


async def replay_consolidation(
    context: ReplayContext, person: PersonId, letter: Job, step: ReplayStep, cache: ReplayCache
) -> None:
    """Read a segment again; mark it failed if a model cannot make sense of it."""
    assert step.segment is not None
    app, result = context.app, context.result
    async with app.db.begin_read() as tx:
        segment = await get_segment(tx, person, step.segment)
    asker = CallContext(
        person=person,
        turn=TurnId(segment.id),
        answered_versions=f"generation {segment.generation}",
        is_background=True,
    )
    is_by_model = is_model_requested(app.settings, segment, step.extractor)
    model = build_cached_model(context, cache, asker) if is_by_model else None
    deps = replace(
        await build_consolidation_deps_with_model(app, asker, model), clock=lambda: step.at
    )
    try:
        result.read += await consolidate(deps, segment) is not None
    except (BrokenOutput, ModelRefusal) as error:
        if isinstance(error, RequestRejected) and cache.misses == 1:
            raise  # the first request was rejected, so all others would be too
        result.failed += 1
        async with app.db.begin_write() as tx:
            await mark_consolidation_failed(tx, person, segment.id, str(error), now=step.at)
    await finish_step(app.db, person, letter)


async def replay_maintenance(
    context: ReplayContext,
    person: PersonId,
    letter: Job,
    step: ReplayStep,
    model: LanguageModel | None,
) -> None:
    """Run maintenance or a rollup at the time of the step."""
    app = context.app
    if step.kind == "tidy":
        async with app.db.begin_write() as tx:
            await lock_person(tx, person)
            await expire_overdue(tx, person, now=step.at)
            await expire_questions(tx, person, now=step.at)
        await merge_duplicate_memories(
            app.db, person, model=model, embedder=app.embedder.model, now=step.at
        )
    elif model is not None:
        await roll_up(app.db, person, model=model, now=step.at)
    await finish_step(app.db, person, letter)


async def replay_reflection(
    context: ReplayContext, person: PersonId, letter: Job, step: ReplayStep, cache: ReplayCache
) -> None:
    """Reflect as at the time of the step; unusable model output is ignored."""
    app = context.app

    async def model(asked: str) -> LanguageModel:
        asker = CallContext(
            person=person, turn=TurnId(person), answered_versions=asked, is_background=True
        )
        found = build_cached_model(context, cache, asker, "reflect")
        assert found is not None
        return found

    if step.reflection is not None and has_reflection_model(context):
        deps = await thinking_with(app, person, model)
        with suppress(BrokenOutput, ModelRefusal):
            await REFLECTION_RUNNERS[step.reflection](replace(deps, clock=lambda: step.at), person)
    await finish_step(app.db, person, letter)


def has_reflection_model(context: ReplayContext) -> bool:
    """Return whether a model for reflection is configured."""
    return "reflect" in context.app.models and context.request.mode != "rules"


async def finish_step(db: Database, person: PersonId, letter: Job) -> None:
    """Mark a step done whose work was committed in other transactions."""
    async with db.begin_write() as tx:
        await lock_person(tx, person)
        await ack_step(tx, person, letter)


async def replay_decision(
    context: ReplayContext,
    person: PersonId,
    letter: Job,
    step: ReplayStep,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
) -> None:
    """Repeat a decision, or record why it could not be repeated."""
    apply_decision = copy_decision if step.kind == "carry" else reapply_decision
    change = source_history.find_change(step.change)
    if change is not None:
        try:
            async with context.app.db.begin_write() as tx:
                await apply_decision(tx, source_history, snapshot, change, now=step.at)
                await ack_step(tx, person, letter)
            context.result.upheld += 1
        except (InvalidInput, NotFound) as error:
            snapshot.invalidate()
            context.result.lost.append(f"{change.op} {change.object_id}: {error}")
        else:
            return
    await finish_step(context.app.db, person, letter)


def build_cached_model(
    context: ReplayContext, cache: ReplayCache, asker: CallContext, role: ModelRole = "small"
) -> LanguageModel | None:
    """Return the cached model of a role, or None if rules read."""
    role_model = context.app.models.get(role)
    if role_model is None or context.request.mode == "rules":
        return None
    return CachedModel(
        name=role_model.name,
        models=list_model_names(context.app.settings, role_model, role),
        chain=role_model.build_chain,
        cache=cache,
        asker=asker,
        spend_limit=context.spend_limit,
    )


def list_model_names(settings: Settings, make: RoleModel, role: ModelRole) -> tuple[str, ...]:
    """Return the models whose answers count as the model's own: all in its fallback chain."""
    return tuple(dict.fromkeys((make.name, *settings.models.for_role(role))))
