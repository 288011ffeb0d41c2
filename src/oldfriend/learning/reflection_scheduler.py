"""Reflection scheduler: plans reflection jobs once a segment is learned.

The jobs run in partitions of their own, so nobody waits for them; each checks its own gate. Nothing
reschedules itself: where nothing is learned, nothing is reflected on.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Final

from oldfriend.app.app_context import LearningContext
from oldfriend.app.deletion_filter import load_deletion_filter
from oldfriend.app.recorded_models import build_background_model
from oldfriend.app.spend_limits import UsageAccount
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, get_start_of_day
from oldfriend.domain.errors import BrokenOutput, ModelMisconfigured
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId, TurnId
from oldfriend.learning.entity_descriptions import describe_entities
from oldfriend.learning.extractor_factory import try_embed
from oldfriend.learning.reflection import reflect, reflect_when_idle
from oldfriend.learning.reflection_runner import ReflectionDeps
from oldfriend.llm.model import LanguageModel
from oldfriend.memory.learning_stats import parse_counts
from oldfriend.memory.reflection_log import (
    TRANSCRIPT_TTL,
    ReflectionKind,
    ReflectionUsage,
    clamp_future_reflections,
    list_reflections,
    sum_reflection_usage,
)
from oldfriend.queues.jobs_table import find_first_due
from oldfriend.queues.scheduled_jobs import JobSpec, schedule_job
from oldfriend.usage.model_calls import CallContext, discard_answers

REFLECT_JOB: Final = "reflect"
IDLE_REFLECTION_JOB: Final = "tick"
DESCRIBE_JOB: Final = "describe"

ReflectionRunner = Callable[[ReflectionDeps, PersonId], Awaitable[object]]
REFLECTION_JOBS: Final[Mapping[str, ReflectionRunner]] = MappingProxyType(
    {REFLECT_JOB: reflect, IDLE_REFLECTION_JOB: reflect_when_idle, DESCRIBE_JOB: describe_entities}
)
"""The reflection jobs, and what each runs."""

REFLECTION_OFF: Final = localizable(
    "thinks_off",
    "It does not think between conversations: [memory] thinks is off in oldfriend.toml.",
)
LEARNING_OFF: Final = localizable(
    "thinks_off_with_forms",
    "It does not think between conversations: [memory] forms is off.",
)
NO_REFLECTION_MODEL: Final = localizable(
    "thinking_takes_model",
    "It does not think between conversations: that takes a language model.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionStatus:
    """Reflection status: whether reflection is on, and what it did today."""

    why_not: str | None  # None: reflection is on
    today: Mapping[ReflectionKind, ReflectionUsage]
    is_failing: bool  # today's latest run failed
    refused: Mapping[str, int]  # rejected ideas of the last two weeks, by reason


def find_reflection_blocker(app: LearningContext) -> str | None:
    """Return why reflection is off, or None."""
    if not app.settings.memory.forms:
        return LEARNING_OFF
    if not app.settings.memory.thinks:
        return REFLECTION_OFF
    return None if "reflect" in app.models else NO_REFLECTION_MODEL


def build_reflection_partition(name: str, person: PersonId) -> str:
    """Return the partition of one kind of reflection job of a person."""
    return f"{name}:{person}"


async def enqueue_reflection(
    tx: Transaction, app: LearningContext, person: PersonId, *, now: Micros
) -> None:
    """Schedule the reflection jobs; one that is queued or postponed already is enough."""
    if find_reflection_blocker(app) is not None:
        return
    for name in REFLECTION_JOBS:
        partition = build_reflection_partition(name, person)
        if await find_first_due(tx, "agenda", partition) is None:
            await schedule_job(tx, partition, JobSpec(name=name), person=person, now=now)


async def run_reflection(app: LearningContext, person: PersonId, name: str) -> None:
    """Run one of the reflection jobs if reflection is still on.

    Raises AllowanceUsedUp, BrokenOutput, and what the model raises.
    """
    if find_reflection_blocker(app) is not None:
        return
    async with app.db.begin_write() as tx:
        await clamp_future_reflections(tx, person, now=app.clock())
    try:
        await REFLECTION_JOBS[name](await build_reflection_deps(app, person), person)
    except BrokenOutput:
        async with app.db.begin_write() as tx:
            await discard_answers(
                tx, person, TurnId(person)
            )  # else the same answers would be read again
        raise


async def build_reflection_deps(app: LearningContext, person: PersonId) -> ReflectionDeps:
    """Build a reflection's dependencies. Raises AllowanceUsedUp if the daily limit is spent."""
    asker = CallContext(person=person, is_background=True)
    await UsageAccount(db=app.db, settings=app.settings, clock=app.clock, asker=asker).check()

    async def model(asked: str) -> LanguageModel:
        call_context = CallContext(
            person=person, turn=TurnId(person), answered_versions=asked, is_background=True
        )
        found = await build_background_model(app, call_context, "reflect")
        if found is None:
            raise ModelMisconfigured(NO_REFLECTION_MODEL)
        return found

    return await build_reflection_deps_with_model(app, person, model)


async def build_reflection_deps_with_model(
    app: LearningContext, person: PersonId, open_model: Callable[[str], Awaitable[LanguageModel]]
) -> ReflectionDeps:
    """Build the dependencies with a given model; embeddings are charged to the person."""
    asker = CallContext(person=person, is_background=True)
    async with app.db.begin_read() as tx:
        forgotten = await load_deletion_filter(app.settings, tx, person)
    return ReflectionDeps(
        db=app.db,
        clock=app.clock,
        model=open_model,
        embed=partial(try_embed, app.with_asker(asker).embedder),
        embedder=app.embedder.model,
        is_forgotten=forgotten.is_belief_forgotten,
        zone=app.settings.zone,
    )


async def load_reflection_status(
    tx: Transaction, app: LearningContext, person: PersonId
) -> ReflectionStatus:
    """Load whether reflection is on, and what it did today."""
    now = app.clock()
    midnight = get_start_of_day(now, app.settings.zone)
    kinds: tuple[ReflectionKind, ...] = ("reflection", "slow tick", "description")
    today = {each: await sum_reflection_usage(tx, person, each, midnight) for each in kinds}
    records = await list_reflections(tx, person, since=now - TRANSCRIPT_TTL)
    refused = sum((parse_counts(each.outcome.get("rejected")) for each in records), Counter[str]())
    newest = next((each for each in records if each.ran_at >= midnight), None)
    return ReflectionStatus(
        why_not=find_reflection_blocker(app),
        today=today,
        is_failing=newest is not None and newest.error is not None,
        refused=dict(refused.most_common()),
    )


def format_reflection_status(status: ReflectionStatus) -> str:
    """Format the status on one line."""
    if status.why_not is not None:
        return status.why_not
    counts = ", ".join(
        f"{usage.runs} {kind}{'' if usage.runs == 1 else 's'}"
        for kind, usage in status.today.items()
        if usage.runs
    )
    tokens = sum(each.tokens_in + each.tokens_out for each in status.today.values())
    if not counts:
        return localizable("thinks_not_yet", "It thinks between conversations; not yet today.")
    failed = localizable("thought_in_vain", " The last time in vain.") if status.is_failing else ""
    return localizable(
        "thinks_today",
        f"It thinks between conversations. Today: {counts}, {tokens:,} tokens.{failed}",
        counts=counts,
        times=sum(each.runs for each in status.today.values()),
        tokens=tokens,
        failed=failed,
    )
