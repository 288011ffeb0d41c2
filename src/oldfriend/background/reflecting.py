"""What does the companion make of what it has learned? One or two thoughts, each with its reasons.

When it may reflect is decided by gates, in this order: not too often, something was felt very
strongly, or a day has passed and something was learned. Knows no tools and plans nothing.
"""

from typing import Final

from oldfriend.background.gates.ideas import Rules
from oldfriend.background.retrospect import (
    Retrospect,
    fitted,
    laid_out,
    look_back,
    request_over,
)
from oldfriend.background.thinking import Means, Task, think_over
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import PersonId
from oldfriend.memory.beliefs import list_rejected
from oldfriend.memory.ticks import Tick, TickWhy, find_last_tick, thinking_since
from oldfriend.prompts.prompt import get_prompt

PROMPT: Final = "reflect/2"
WANTED: Final = ("thoughts",)
MOST_A_DAY: Final = 3
EVERY: Final = DAY
"""The hard gate and the timer (ACCEPTANCE G14)."""
FIRST_LOOK_BACK: Final = 7 * DAY
MOST_THOUGHTS: Final = 2
MOST_SHOWN: Final = 3_500
MOST_TOKENS: Final = 1_200
MOST_IN: Final = 14_000
MOST_OUT: Final = 2_400
"""Tokens of one reflection, with the one time that it may be mended."""


async def reflect(means: Means, person: PersonId) -> Tick | None:
    """Reflect, where a gate is open; None where none is, or there is nothing to think about.

    Raises BrokenOutput, and what the model raises.
    """
    now = means.clock()
    async with means.db.reading() as tx:
        last = await find_last_tick(tx, person, "reflection")
        since = now - FIRST_LOOK_BACK if last is None else last.ran_at
        retrospect = await look_back(tx, person, since=since, now=now)
        why = await open_gate(tx, retrospect, last)
        rejected = [each.text for each in await list_rejected(tx, person)]
    if why is None:
        return None
    retrospect = fitted(retrospect, get_prompt(PROMPT), most_tokens=MOST_SHOWN)
    request = request_over(
        retrospect, PROMPT, purpose="reflect", wanted=WANTED, most_tokens=MOST_TOKENS
    )
    task = Task(
        kind="reflection", why=why, person=person, request=request,
        most_in=MOST_IN, most_out=MOST_OUT,
        brief=tuple(laid_out(retrospect, get_prompt(PROMPT)).splitlines()),
    )  # fmt: skip
    rules = Rules(
        most={"thought": MOST_THOUGHTS}, must_cite_event=True, rejected=rejected,
        is_forgotten=means.is_forgotten,
    )  # fmt: skip
    return await think_over(means, task, retrospect, WANTED, rules)


async def open_gate(
    tx: Transaction, retrospect: Retrospect, last: Tick | None
) -> TickWhy | None:  # fmt: skip
    """Why it may reflect now; None: it may not. Runs count, whatever came of them."""
    person, now = retrospect.person.id, retrospect.now
    runs = await thinking_since(tx, person, "reflection", now - DAY)
    return gate_for(retrospect, runs=runs.cycles, last_at=None if last is None else last.ran_at)


def gate_for(retrospect: Retrospect, *, runs: int, last_at: Micros | None) -> TickWhy | None:
    """The same, of so many runs in the last day."""
    if runs >= MOST_A_DAY or not retrospect.events:
        return None
    if retrospect.shock is not None:
        return "shock"
    is_time = last_at is None or retrospect.now - last_at >= EVERY
    return "timer" if is_time and retrospect.has_news else None
