"""Reflection: thoughts, expectations, questions and patterns, each with its evidence.

Two modes. A reflection has one or two thoughts on recently learned beliefs, at most a few times a
day; within that, if something very emotional was said, or if a day has passed and something was
learned. An idle reflection comes between conversations and may also suggest a change to a core
block; people decide on it. Neither exceeds its quotas, believes anything without evidence that it
was shown, calls tools or schedules itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, MINUTE, Micros, get_start_of_day
from oldfriend.domain.ids import PersonId
from oldfriend.learning.reflection_context import (
    ReflectionContext,
    build_reflection_request,
    load_reflection_context,
    render_context,
    trim_to_budget,
)
from oldfriend.learning.reflection_output import IdeaKind
from oldfriend.learning.reflection_runner import ReflectionDeps, ReflectionTask, run_reflection
from oldfriend.learning.validation.reflection_checks import IdeaRules
from oldfriend.llm.model import Purpose
from oldfriend.memory.belief_views import list_rejected_memories
from oldfriend.memory.journal import has_corrections_since
from oldfriend.memory.reflection_log import (
    ReflectionKind,
    ReflectionRecord,
    ReflectionTrigger,
    ReflectionUsage,
    find_last_reflection,
    sum_reflection_usage,
)
from oldfriend.prompts.prompt import get_prompt

FIRST_LOOKBACK: Final = 7 * DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionMode:
    """Reflection mode: what is asked for, and the limits of one run."""

    kind: ReflectionKind
    prompt: str
    purpose: Purpose
    max_by_kind: Mapping[IdeaKind, int]
    idea_keys: Sequence[str]  # of the answer
    must_cite_event: bool
    max_shown_tokens: int
    max_tokens: int  # of one answer
    max_input_tokens: int  # of one run, including one repair of the answer
    max_output_tokens: int


REFLECTION: Final = ReflectionMode(
    kind="reflection",
    prompt="reflect/3",
    purpose="reflect",
    max_by_kind={"thought": 2},
    idea_keys=("thoughts",),
    must_cite_event=True,
    max_shown_tokens=3_500,
    max_tokens=1_200,
    max_input_tokens=14_000,
    max_output_tokens=2_400,
)
MAX_PER_DAY: Final = 3
INTERVAL: Final = DAY
"""Maximum runs in a day, and the interval after which a reflection is due."""

IDLE_REFLECTION: Final = ReflectionMode(
    kind="slow tick",
    prompt="tick/3",
    purpose="slow_tick",
    max_by_kind={"thought": 3, "expectation": 2, "question": 3, "pattern": 1, "suggestion": 1},
    idea_keys=("thoughts", "expectations", "questions", "patterns", "suggestions"),
    must_cite_event=False,
    max_shown_tokens=2_000,
    max_tokens=600,
    max_input_tokens=8_000,
    max_output_tokens=1_000,
)
COOLDOWN: Final = 30 * MINUTE
DAILY_LIMIT: Final = ReflectionUsage(runs=36, tokens_in=150_000, tokens_out=30_000)
"""What idle reflections of one person may use in a day."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionHistory:
    """Reflection history: what can delay the next idle reflection."""

    last_at: Micros | None
    usage_today: ReflectionUsage
    has_correction: bool  # the person has corrected something since the last run


async def reflect(deps: ReflectionDeps, person: PersonId) -> ReflectionRecord | None:
    """Reflect if a trigger applies; None if none does, or there is nothing to reflect on.

    Raises BrokenOutput, and what the model raises.
    """
    return await reflect_in_mode(deps, person, REFLECTION)


async def reflect_when_idle(deps: ReflectionDeps, person: PersonId) -> ReflectionRecord | None:
    """Reflect between conversations if a trigger applies; None if not, or there is nothing new.

    Raises BrokenOutput, and what the model raises.
    """
    return await reflect_in_mode(deps, person, IDLE_REFLECTION)


async def reflect_in_mode(
    deps: ReflectionDeps, person: PersonId, mode: ReflectionMode
) -> ReflectionRecord | None:
    """Reflect on what was learned since the last run of a mode, if a trigger applies.

    Raises BrokenOutput, and what the model raises.
    """
    now = deps.clock()
    async with deps.db.begin_read() as tx:
        last = await find_last_reflection(tx, person, mode.kind)
        since = now - FIRST_LOOKBACK if last is None else last.ran_at
        context = await load_reflection_context(
            tx, person, since=since, now=now, embedder=deps.embedder
        )
        last_at = None if last is None else last.ran_at
        if mode is REFLECTION:
            trigger = await find_trigger(tx, context, last_at)
        else:
            history = await load_history(tx, person, last_at, now=now, zone=deps.zone)
            trigger = choose_idle_trigger(context, history)
        rejected = [each.text for each in await list_rejected_memories(tx, person)]
    if trigger is None:
        return None
    context = trim_to_budget(context, get_prompt(mode.prompt), most_tokens=mode.max_shown_tokens)
    request = build_reflection_request(
        context,
        mode.prompt,
        purpose=mode.purpose,
        wanted=mode.idea_keys,
        max_output_tokens=mode.max_tokens,
    )
    task = ReflectionTask(
        kind=mode.kind,
        why=trigger,
        person=person,
        request=request,
        max_input_tokens=mode.max_input_tokens,
        max_output_tokens=mode.max_output_tokens,
        shown_lines=tuple(render_context(context, get_prompt(mode.prompt)).splitlines()),
    )
    rules = IdeaRules(
        max_by_kind=mode.max_by_kind,
        must_cite_event=mode.must_cite_event,
        rejected=rejected,
        is_forgotten=deps.is_forgotten,
    )
    return await run_reflection(deps, task, context, mode.idea_keys, rules)


async def find_trigger(
    tx: Transaction, reflection: ReflectionContext, last_at: Micros | None
) -> ReflectionTrigger | None:
    """Return why to reflect now, or None. All recent runs count, whatever their outcome."""
    person, now = reflection.person.id, reflection.now
    runs = await sum_reflection_usage(tx, person, "reflection", now - DAY)
    return choose_trigger(reflection, runs=runs.runs, last_at=last_at)


def choose_trigger(
    reflection: ReflectionContext, *, runs: int, last_at: Micros | None
) -> ReflectionTrigger | None:
    """Return why to reflect, given the runs in the last day; None if it may not."""
    if runs >= MAX_PER_DAY or not reflection.events:
        return None
    if reflection.shock is not None:
        return "shock"
    is_due = last_at is None or reflection.now - last_at >= INTERVAL
    return "timer" if is_due and reflection.has_news else None


async def load_history(
    tx: Transaction, person: PersonId, last_at: Micros | None, *, now: Micros, zone: str
) -> ReflectionHistory:
    """Load when idle reflections ran and what they used today."""
    midnight = get_start_of_day(now, zone)
    return ReflectionHistory(
        last_at=last_at,
        usage_today=await sum_reflection_usage(tx, person, "slow tick", midnight),
        has_correction=last_at is not None and await has_corrections_since(tx, person, last_at),
    )


def choose_idle_trigger(
    reflection: ReflectionContext, history: ReflectionHistory
) -> ReflectionTrigger | None:
    """Return why to reflect now; None if it may not run or there is nothing new."""
    if is_daily_limit_reached(history.usage_today) or not (
        reflection.has_news or history.has_correction
    ):
        return None
    if reflection.shock is not None:
        return "shock"
    if history.has_correction or any(map(reflection.is_correction, reflection.events)):
        return "correction"
    is_cooled_down = history.last_at is None or reflection.now - history.last_at >= COOLDOWN
    return "news" if is_cooled_down else None


def is_daily_limit_reached(today: ReflectionUsage) -> bool:
    """Return whether another idle reflection might exceed the daily limit."""
    return (
        today.runs >= DAILY_LIMIT.runs
        or today.tokens_in + IDLE_REFLECTION.max_input_tokens > DAILY_LIMIT.tokens_in
        or today.tokens_out + IDLE_REFLECTION.max_output_tokens > DAILY_LIMIT.tokens_out
    )
