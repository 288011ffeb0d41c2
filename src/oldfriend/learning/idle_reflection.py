"""Idle reflection: thoughts, expectations, questions and general patterns between conversations.

Never exceeds its quotas. Believes nothing without evidence that it was shown, calls no tools, and
runs only when called. It may suggest a change to a core block; people decide on it.
"""

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
from oldfriend.memory.belief_views import list_rejected_memories
from oldfriend.memory.journal import has_corrections_since
from oldfriend.memory.reflection_log import (
    ReflectionRecord,
    ReflectionTrigger,
    ReflectionUsage,
    find_last_reflection,
    sum_reflection_usage,
)
from oldfriend.prompts.prompt import get_prompt

PROMPT: Final = "tick/2"
IDEA_KEYS: Final = ("thoughts", "expectations", "questions", "patterns", "suggestions")
MAX_IDEAS: Final[dict[IdeaKind, int]] = {
    "thought": 3,
    "expectation": 2,
    "question": 3,
    "pattern": 1,
    "suggestion": 1,
}
COOLDOWN: Final = 30 * MINUTE
FIRST_LOOKBACK: Final = 7 * DAY
MAX_INPUT_TOKENS: Final = 8_000
MAX_OUTPUT_TOKENS: Final = 1_000
"""Tokens of one run, including one repair of the answer …"""
DAILY_LIMIT: Final = ReflectionUsage(runs=36, tokens_in=150_000, tokens_out=30_000)
"""… and of one person's day."""
MAX_SHOWN_TOKENS: Final = 2_000
MAX_TOKENS: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionHistory:
    """Reflection history: what can delay the next idle reflection."""

    last_at: Micros | None
    usage_today: ReflectionUsage
    has_correction: bool  # the person has corrected something since the last run


async def reflect_when_idle(deps: ReflectionDeps, person: PersonId) -> ReflectionRecord | None:
    """Reflect if a trigger applies; None if it does not, or there is nothing new.

    Raises BrokenOutput, and what the model raises.
    """
    now = deps.clock()
    async with deps.db.begin_read() as tx:
        last = await find_last_reflection(tx, person, "slow tick")
        since = now - FIRST_LOOKBACK if last is None else last.ran_at
        context = await load_reflection_context(
            tx, person, since=since, now=now, embedder=deps.embedder
        )
        trigger = choose_trigger(
            context, await load_history(tx, person, last, now=now, zone=deps.zone)
        )
        rejected = [each.text for each in await list_rejected_memories(tx, person)]
    if trigger is None:
        return None
    context = trim_to_budget(context, get_prompt(PROMPT), most_tokens=MAX_SHOWN_TOKENS)
    request = build_reflection_request(
        context, PROMPT, purpose="slow_tick", wanted=IDEA_KEYS, most_tokens=MAX_TOKENS
    )
    task = ReflectionTask(
        kind="slow tick",
        why=trigger,
        person=person,
        request=request,
        max_input_tokens=MAX_INPUT_TOKENS,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        shown_lines=tuple(render_context(context, get_prompt(PROMPT)).splitlines()),
    )
    rules = IdeaRules(max_by_kind=MAX_IDEAS, rejected=rejected, is_forgotten=deps.is_forgotten)
    return await run_reflection(deps, task, context, IDEA_KEYS, rules)


async def load_history(
    tx: Transaction, person: PersonId, last: ReflectionRecord | None, *, now: Micros, zone: str
) -> ReflectionHistory:
    """Load when idle reflections ran and what they used today."""
    midnight = get_start_of_day(now, zone)
    last_at = None if last is None else last.ran_at
    return ReflectionHistory(
        last_at=last_at,
        usage_today=await sum_reflection_usage(tx, person, "slow tick", midnight),
        has_correction=last_at is not None and await has_corrections_since(tx, person, last_at),
    )


def choose_trigger(
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
    """Return whether another run might exceed the daily limit."""
    return (
        today.runs >= DAILY_LIMIT.runs
        or today.tokens_in + MAX_INPUT_TOKENS > DAILY_LIMIT.tokens_in
        or today.tokens_out + MAX_OUTPUT_TOKENS > DAILY_LIMIT.tokens_out
    )
