"""Reflection: one or two thoughts on recently learned beliefs, each with its evidence.

It runs at most a few times a day; within that, if something very emotional was said, or if a day
has passed and something was learned. Uses no tools, schedules nothing.
"""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.learning.reflection_context import (
    ReflectionContext,
    build_reflection_request,
    load_reflection_context,
    render_context,
    trim_to_budget,
)
from oldfriend.learning.reflection_runner import ReflectionDeps, ReflectionTask, run_reflection
from oldfriend.learning.validation.reflection_checks import IdeaRules
from oldfriend.memory.belief_views import list_rejected_memories
from oldfriend.memory.reflection_log import (
    ReflectionRecord,
    ReflectionTrigger,
    find_last_reflection,
    sum_reflection_usage,
)
from oldfriend.prompts.prompt import get_prompt

PROMPT: Final = "reflect/2"
IDEA_KEYS: Final = ("thoughts",)
MAX_PER_DAY: Final = 3
INTERVAL: Final = DAY
"""Maximum runs in a day, and the interval after which a reflection is due."""
FIRST_LOOKBACK: Final = 7 * DAY
MAX_THOUGHTS: Final = 2
MAX_SHOWN_TOKENS: Final = 3_500
MAX_TOKENS: Final = 1_200
MAX_INPUT_TOKENS: Final = 14_000
MAX_OUTPUT_TOKENS: Final = 2_400
"""Tokens of one reflection, including one repair of the answer."""


async def reflect(deps: ReflectionDeps, person: PersonId) -> ReflectionRecord | None:
    """Reflect if a trigger applies; None if none does, or there is nothing to reflect on.

    Raises BrokenOutput, and what the model raises.
    """
    now = deps.clock()
    async with deps.db.begin_read() as tx:
        last = await find_last_reflection(tx, person, "reflection")
        since = now - FIRST_LOOKBACK if last is None else last.ran_at
        context = await load_reflection_context(
            tx, person, since=since, now=now, embedder=deps.embedder
        )
        trigger = await find_trigger(tx, context, last)
        rejected = [each.text for each in await list_rejected_memories(tx, person)]
    if trigger is None:
        return None
    context = trim_to_budget(context, get_prompt(PROMPT), most_tokens=MAX_SHOWN_TOKENS)
    request = build_reflection_request(
        context, PROMPT, purpose="reflect", wanted=IDEA_KEYS, most_tokens=MAX_TOKENS
    )
    task = ReflectionTask(
        kind="reflection",
        why=trigger,
        person=person,
        request=request,
        max_input_tokens=MAX_INPUT_TOKENS,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        shown_lines=tuple(render_context(context, get_prompt(PROMPT)).splitlines()),
    )
    rules = IdeaRules(
        max_by_kind={"thought": MAX_THOUGHTS},
        must_cite_event=True,
        rejected=rejected,
        is_forgotten=deps.is_forgotten,
    )
    return await run_reflection(deps, task, context, IDEA_KEYS, rules)


async def find_trigger(
    tx: Transaction, reflection: ReflectionContext, last: ReflectionRecord | None
) -> ReflectionTrigger | None:
    """Return why to reflect now, or None. All recent runs count, whatever their outcome."""
    person, now = reflection.person.id, reflection.now
    runs = await sum_reflection_usage(tx, person, "reflection", now - DAY)
    return choose_trigger(reflection, runs=runs.runs, last_at=None if last is None else last.ran_at)


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
