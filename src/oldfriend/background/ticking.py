"""What does the companion think ahead, once a conversation is written down? The slow tick.

A few thoughts, what it expects, what it would like to know, what patterns have in common; never
more than its rations allow. It believes nothing that it was not shown the reasons for, calls no
tool, and is done only when somebody else asks for it. What it thinks should stand in a core block
it may suggest; people decide.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.background.gates.ideas import Rules
from oldfriend.background.ideas import IdeaKind
from oldfriend.background.retrospect import (
    Retrospect,
    fitted,
    laid_out,
    look_back,
    request_over,
)
from oldfriend.background.thinking import Means, Task, think_over
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, MINUTE, Micros, start_of_day
from oldfriend.domain.ids import PersonId
from oldfriend.memory.beliefs import list_rejected
from oldfriend.memory.changes import was_set_right_since
from oldfriend.memory.ticks import (
    Thinking,
    Tick,
    TickWhy,
    find_last_tick,
    thinking_since,
)
from oldfriend.prompts.prompt import get_prompt

PROMPT: Final = "tick/2"
WANTED: Final = ("thoughts", "expectations", "questions", "patterns", "suggestions")
MOST: Final[dict[IdeaKind, int]] = {
    "thought": 3, "expectation": 2, "question": 3, "pattern": 1, "suggestion": 1,
}  # fmt: skip
COOL_DOWN: Final = 30 * MINUTE
FIRST_LOOK_BACK: Final = 7 * DAY
MOST_IN: Final = 8_000
MOST_OUT: Final = 1_000
"""Tokens of one cycle, with the one time that an answer may be mended …"""
DAILY: Final = Thinking(cycles=36, tokens_in=150_000, tokens_out=30_000)
"""… and of one person's day (ACCEPTANCE G17)."""
MOST_SHOWN: Final = 2_000
MOST_ANSWERED: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """What holds the next tick up."""

    last_at: Micros | None
    today: Thinking
    was_set_right: bool  # the person has corrected something since


async def tick(means: Means, person: PersonId) -> Tick | None:
    """Think ahead, where that is due; None where it is not, or there is nothing new.

    Raises BrokenOutput, and what the model raises.
    """
    now = means.clock()
    async with means.db.reading() as tx:
        last = await find_last_tick(tx, person, "slow tick")
        since = now - FIRST_LOOK_BACK if last is None else last.ran_at
        retrospect = await look_back(tx, person, since=since, now=now)
        why = gate_for(retrospect, await pause_of(tx, person, last, now=now, zone=means.zone))
        rejected = [each.text for each in await list_rejected(tx, person)]
    if why is None:
        return None
    retrospect = fitted(retrospect, get_prompt(PROMPT), most_tokens=MOST_SHOWN)
    request = request_over(
        retrospect, PROMPT, purpose="slow_tick", wanted=WANTED, most_tokens=MOST_ANSWERED
    )
    task = Task(
        kind="slow tick", why=why, person=person, request=request,
        most_in=MOST_IN, most_out=MOST_OUT,
        brief=tuple(laid_out(retrospect, get_prompt(PROMPT)).splitlines()),
    )  # fmt: skip
    rules = Rules(most=MOST, rejected=rejected, is_forgotten=means.is_forgotten)
    return await think_over(means, task, retrospect, WANTED, rules)


async def pause_of(
    tx: Transaction, person: PersonId, last: Tick | None, *, now: Micros, zone: str
) -> Pause:
    """How often it has thought ahead, and when."""
    midnight = start_of_day(now, zone)
    last_at = None if last is None else last.ran_at
    return Pause(
        last_at=last_at,
        today=await thinking_since(tx, person, "slow tick", midnight),
        was_set_right=last_at is not None and await was_set_right_since(tx, person, last_at),
    )


def gate_for(retrospect: Retrospect, pause: Pause) -> TickWhy | None:
    """Why it may think ahead now; None: it may not, or there is nothing new."""
    if is_spent(pause.today) or not (retrospect.has_news or pause.was_set_right):
        return None
    if retrospect.shock is not None:
        return "shock"
    if pause.was_set_right or any(map(retrospect.is_correction, retrospect.events)):
        return "correction"
    is_cool = pause.last_at is None or retrospect.now - pause.last_at >= COOL_DOWN
    return "news" if is_cool else None


def is_spent(today: Thinking) -> bool:
    """Whether another cycle might take more than a day has."""
    return (
        today.cycles >= DAILY.cycles
        or today.tokens_in + MOST_IN > DAILY.tokens_in
        or today.tokens_out + MOST_OUT > DAILY.tokens_out
    )
