"""Faults of the companion's state: thoughts without reasons, stale moods, prompts cut short.

Judges what was to be seen while a life was talked through; each judge gives what is wrong, a line
each. By the truth and by the words that were given, never by the product's own lists.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import count
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, HOUR, Micros, from_micros
from oldfriend.domain.ids import MessageId, ObjectId, PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import LIVE_STATUSES, Evidence, StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.llm.model import PromptTurn, Purpose
from oldfriend.memory.belief_views import list_entities, list_memories
from oldfriend.memory.core_blocks import list_blocks, list_suggestions
from oldfriend.memory.evidence import list_object_evidence, list_stats_mismatches
from oldfriend.memory.journal import list_journal, list_view_mismatches
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.reflection_log import ReflectionKind, ReflectionRecord, list_reflections
from oldfriend.prompts.token_budget import BUDGETS
from oldfriend.turn.prompt_labels import sanitize
from oldfriend_evals.lives.bad_reflector import IN_WORDS
from oldfriend_evals.lives.group_simulation import list_days
from oldfriend_evals.lives.life import Life, Line
from oldfriend_evals.lives.opinion_eval import list_contraries, list_held
from oldfriend_evals.lives.relation_eval import (
    Edge,
    list_edges,
    list_known_relations,
    list_wrong_relations,
)
from oldfriend_evals.lives.retraction_eval import retract
from oldfriend_evals.lives.simulation import ALL
from oldfriend_evals.lives.turn_simulation import (
    WHO,
    SimulatedTurn,
    TurnSimulation,
    begin_simulation,
    get_mood_phrase,
)

CITING: Final = frozenset({"rests_on", "parent_of"})
THINKING: Final = ("reflect/", "tick/")
MAY_BE_THOUGHT: Final = frozenset({"thought", "expectation", "pattern"})
COMING: Final = frozenset({"commitment", "expectation"})
GRACE: Final = 2 * DAY
"""So long after its time something is still open, since somebody may tell how it went …"""
SOON: Final = HOUR
"""… and so long it may take until that is marked."""
OWED: Final[Mapping[Purpose, Micros]] = {"adjudicate": DAY + HOUR}
"""So long after a talk something is still asked on its behalf; all else within the hour."""
MOCKING: Final = frozenset({"sarcastic", "contrary"})
HEAVY: Final = frozenset({"anxious", "overwhelmed", "frustrated"})
REMEMBERED: Final = HOUR
TURNS_AFTER: Final = 2
"""Who was in distress is not mocked for so many turns, while it is in mind (ACCEPTANCE B12)."""
SHARES: Final[Mapping[str, int]] = {"in mind": 150, "guidance": 150, "opinions": 120}
"""Tokens, at most, of what is said of the inner life (ACCEPTANCE J13)."""
NEVER_CUT: Final = ("rules", "core", "tools", "state", "message", "passed on")
ITS_MOOD: Final = re.compile(r"Your own mood since you last talked: (.*?) \(energy \d+ of 10\)")
PLAINLY: Final = "answer just that, plainly"
"""So the prompt asks of a question that shows no feeling: it gets no mood either."""
OF_A_TIME: Final[Mapping[ReflectionKind, tuple[int, int]]] = {
    "slow tick": (8_000, 1_000),
    "reflection": (14_000, 2_400),
    "description": (5_000, 600),
}
"""Tokens in and out of one time of thinking …"""
CYCLES, DAILY_IN, DAILY_OUT = 36, 150_000, 30_000
"""… of all slow ticks of a day (ACCEPTANCE G17) …"""
REFLECTIONS: Final = 3
"""… and how often it may reflect within one (ACCEPTANCE G14)."""
MOST: Final[Mapping[ReflectionKind, Mapping[str, int]]] = {
    "reflection": {"thought": 2},
    "slow tick": {"thought": 3, "expectation": 2, "question": 3, "pattern": 1, "suggestion": 1},
    "description": {"description": 1},
}
"""What may come of one time."""


REGRETS_EVERY: Final = 3


@dataclass(slots=True)
class StateFindings:
    """What is wrong with an inner life, by what should be; nothing where all is well."""

    uncited: list[str] = field(default_factory=list)  # thoughts without live evidence
    harmful: list[str] = field(default_factory=list)  # labels, advice, machinery, orders
    misshapen: list[str] = field(default_factory=list)  # too many, endless, in other languages …
    unsound: list[str] = field(default_factory=list)  # the fold, and what only people may change
    overdue: list[str] = field(default_factory=list)
    over_caps: list[str] = field(default_factory=list)
    on_silent_days: list[str] = field(default_factory=list)
    wrong_moods: list[str] = field(default_factory=list)
    missing_moods: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)  # of who is who, or of what was said
    too_long: list[str] = field(default_factory=list)
    mocking: list[str] = field(default_factory=list)  # of somebody in distress
    contradicted: list[str] = field(default_factory=list)  # itself, aloud or in memory
    gave_in: list[str] = field(default_factory=list)  # also where it is known to think nothing
    wrong_ties: list[Edge] = field(default_factory=list)  # turned round, or of another sort
    ties: int = 0  # that are known, of those in the truth
    opinions: int = 0  # that are held, of those in the truth
    evenings: int = 0  # that were looked at
    thoughts: int = 0
    kept_from: int = 0  # jarring styles
    ended: Counter[str] = field(default_factory=Counter)  # what was due, by what became of it

    @property
    def faults(self) -> dict[str, list[str]]:
        """All that is wrong, under a name."""
        return {
            "thoughts without live evidence": self.uncited,
            "labels, advice, machinery, orders": self.harmful,
            "misshapen ideas": self.misshapen,
            "unsound, or changed by thinking": self.unsound,
            "open though it is over": self.overdue,
            "over the caps": self.over_caps,
            "calls on silent days": self.on_silent_days,
            "moods that are not of now": self.wrong_moods,
            "moods that do not show": self.missing_moods,
            "core or message lost": self.lost,
            "sections too long": self.too_long,
            "mocked in distress": self.mocking,
            "contradicted itself": self.contradicted,
        }


async def simulate_and_inspect(
    app: AppContext, life: Life, *, seed: int = 1, last: date | None = None, regrets: bool = True
) -> tuple[TurnSimulation, StateFindings]:
    """Talk through a life in an empty house, to its end or to a day, and look within.

    Now and then something that was told is taken back.
    """
    talking, inward = await begin_simulation(app, life, seed=seed), StateFindings()
    if regrets:
        talking.regrets = build_retraction(talking)
    for day in list_days([life]):
        if last is None or day <= last:
            await talking.spend(day)
            await inspect_day(talking, inward, day)
    await inspect_life(talking, inward)
    return talking, inward


def build_retraction(talking: TurnSimulation) -> Callable[[Line], Awaitable[None]]:
    """Takes something back every third time, each time in another way."""
    times = count()

    async def regret_now(line: Line) -> None:
        nth, is_time = divmod(next(times), REGRETS_EVERY)
        if is_time == 0:
            await retract(talking, line, nth=nth)

    return regret_now


async def inspect_day(talking: TurnSimulation, inward: StateFindings, day: date) -> None:
    """What is to be seen at the end of a day."""
    inward.evenings += 1
    async with talking.app.db.begin_read() as tx:
        known = [each.memory for each in await list_memories(tx, talking.person)]
        inward.uncited += [f"{day} {each}" for each in await list_uncited(tx, talking.person)]
        unsound = [
            *await list_view_mismatches(tx, talking.person),
            *await list_stats_mismatches(tx, talking.person),
        ]
    inward.unsound += [f"{day} {each}" for each in unsound]
    now = talking.living.calendar.now
    inward.overdue += [f"{day} {each.text}" for each in known if is_overdue(each, now)]


async def list_uncited(tx: Transaction, person: PersonId) -> list[str]:
    """What is thought now, and stands on no words that are there, or on nothing that held."""
    everything = [each.memory for each in await list_memories(tx, person, live=False)]
    held = {ObjectId(each.id) for each in everything if not has_fallen(each)}
    thought = [each for each in everything if each.is_live and is_thought(each)]
    words = await list_object_evidence(tx, person, [ObjectId(each.id) for each in thought])
    said = {each.id: each for each in await list_messages(tx, person, limit=ALL)}
    return [
        each.text
        for each in thought
        if not held & set(list_cited(each))
        or not words.get(ObjectId(each.id))
        or not all(is_in_place(row, said) for row in words[ObjectId(each.id)])
    ]


def is_thought(memory: StoredBelief) -> bool:
    """Whether something is no more than what the companion makes of other things."""
    return memory.kind == "thought" or bool(list_cited(memory))


def list_cited(memory: StoredBelief) -> list[ObjectId]:
    """What it was made of."""
    return [link.target for link in memory.relations if link.kind in CITING]


def has_fallen(memory: StoredBelief) -> bool:
    """Whether it was taken back: it was not overtaken, fulfilled or over."""
    return memory.status == "rejected" or (
        memory.ended_at is not None and memory.status in LIVE_STATUSES
    )


def is_in_place(words: Evidence, said: Mapping[MessageId, Message]) -> bool:
    """Whether words are still to be read where they are said to stand."""
    message = said.get(words.message)
    return (
        message is not None
        and message.version == words.version
        and words.quote in message.text
        and words.trust != "outside"
    )


def is_overdue(memory: StoredBelief, now: Micros) -> bool:
    """Whether something promised or expected should be marked by now."""
    due_at = memory.due_at
    return due_at is not None and memory.is_live and due_at + GRACE + SOON < now


async def inspect_life(talking: TurnSimulation, inward: StateFindings) -> None:
    """What is to be seen at the end of a life."""
    async with talking.app.db.begin_read() as tx:
        everything = [each.memory for each in await list_memories(tx, talking.person, live=False)]
        inward.unsound += await list_reflection_changes(tx, talking.person)
        kept = [*map(get_text, everything), *await list_other_texts(tx, talking)]
        ticks = await list_reflections(tx, talking.person, since=0)
        names = await list_entities(tx, talking.person, live=False)
    faults = [(talking.brooded.find_fault(text), text) for text in kept]
    inward.harmful += [f"{why}: {text}" for why, text in faults if why in IN_WORDS]
    inward.misshapen += [f"{why}: {text}" for why, text in faults if why and why not in IN_WORDS]
    inward.misshapen += list_surplus_ticks(ticks)
    inward.over_caps += list_over_caps(ticks, talking.living.life.zone)
    inward.on_silent_days += list_calls_on_silent_days(talking)
    for each in talking.turns:
        inward.wrong_moods += find_wrong_mood(each)
        inward.missing_moods += find_missing_mood(each)
        inward.lost += list_lost_parts(each)
        inward.too_long += list_too_long(each)
    inward.mocking += list_mocking(talking.turns)
    life, held = talking.living.life, list_held(talking.living.life, everything)
    edges = list_edges(everything, names, life)
    inward.contradicted += list_contraries(held, [turn.replied for turn in talking.turns])
    inward.contradicted += list_contraries(life.truth.stands, map(get_text, everything))
    inward.gave_in += list_contraries(life.truth.stands, [turn.replied for turn in talking.turns])
    inward.opinions += len(held)
    inward.ties += len(list_known_relations(edges, life))
    inward.wrong_ties += list_wrong_relations(edges, life)
    inward.kept_from += sum("kept_from" in each.understood for each in talking.turns)
    inward.thoughts += sum(each.kind == "thought" for each in everything)
    inward.ended.update(
        each.status
        for each in everything
        if each.kind in COMING and each.due_at and each.due_at < talking.living.calendar.now
    )


def get_text(memory: StoredBelief) -> str:
    """What a memory says."""
    return memory.text


async def list_other_texts(tx: Transaction, talking: TurnSimulation) -> list[str]:
    """Descriptions, and suggestions but for what the companion could do."""
    described = [each.description for each in await list_entities(tx, talking.person, live=False)]
    return described + [
        each.proposal.text
        for each in await list_suggestions(tx, talking.person)
        if each.proposal.block == "user"
        or talking.brooded.find_fault(each.proposal.text) != "advice"
    ]


async def list_reflection_changes(tx: Transaction, person: PersonId) -> list[str]:
    """What who thinks has done beside thinking: decided about beliefs, written core blocks."""
    changes = [
        f"{each.op} by {each.author}: {each.object_id}"
        for each in await list_journal(tx, person)
        if each.author.startswith(THINKING)
        and not (
            each.op == "learned"
            and isinstance(each.after, StoredBelief)
            and each.after.kind in MAY_BE_THOUGHT
        )
    ]
    blocks = [
        f"the {each.name} block was rewritten"
        for each in await list_blocks(tx, person)
        if each.text != WHO.get(each.name)
    ]
    return [*changes, *blocks]


def list_surplus_ticks(ticks: Sequence[ReflectionRecord]) -> list[str]:
    """Times of thinking of which more came than may come."""
    return [
        f"{each.kind}: {number} × {what}"
        for each in ticks
        for what, number in _build_counts(each.outcome.get("learned")).items()
        if number > MOST[each.kind].get(what, 0)
    ]


def list_over_caps(ticks: Sequence[ReflectionRecord], zone: str) -> Iterator[str]:
    """Times and days on which it thought more than it may."""
    for each in ticks:
        most_in, most_out = OF_A_TIME[each.kind]
        if each.tokens_in > most_in or each.tokens_out > most_out:
            yield f"{each.kind}: {each.tokens_in} in, {each.tokens_out} out"
        lately = [one for one in ticks if each.ran_at - DAY < one.ran_at <= each.ran_at]
        if sum(one.kind == "reflection" for one in lately) > REFLECTIONS:
            yield f"more than {REFLECTIONS} reflections in a day"
    for day, slow in _group_by_day(
        [each for each in ticks if each.kind == "slow tick"], zone
    ).items():
        tokens_in, tokens_out = (sum(o.tokens_in for o in slow), sum(o.tokens_out for o in slow))
        if len(slow) > CYCLES or tokens_in > DAILY_IN or tokens_out > DAILY_OUT:
            yield f"{day}: {len(slow)} slow ticks, {tokens_in} in, {tokens_out} out"


def list_calls_on_silent_days(talking: TurnSimulation) -> list[str]:
    """Calls on days on which nothing was said, but for what is still owed to the talk before.

    That is talk of just before midnight, and doubles among what it told, which are looked for
    within a day.
    """
    life = talking.living.life
    said = [line.spoken.at for line in life.lines if not line.is_imported]
    said += [turn.at for turn in talking.turns]
    days = {from_micros(at, life.zone).date() for at in said}
    days |= {line.day for line in life.lines if line.is_imported}
    return [
        f"{from_micros(at, life.zone):%Y-%m-%d %H:%M} {purpose}"
        for at, purpose in talking.asked
        if from_micros(at, life.zone).date() not in days
        and not any(at - OWED.get(purpose, HOUR) < each <= at for each in said)
    ]


def find_wrong_mood(turn: SimulatedTurn) -> list[str]:
    """A mood that shows and is not of now."""
    shown = ITS_MOOD.search(turn.request.call_instructions)
    expected = get_mood_phrase(turn.mood) if turn.mood and turn.mood.signal else ""
    return [f"{turn.line}: {shown[1]}, not {expected}"] if shown and shown[1] != expected else []


def find_missing_mood(turn: SimulatedTurn) -> list[str]:
    """A mood of now that does not show, though more than a plain answer is asked for."""
    is_felt = turn.mood is not None and turn.mood.signal is not None
    changing = turn.request.call_instructions
    is_shown = ITS_MOOD.search(changing) is not None or PLAINLY in changing
    return [turn.line] if is_felt and not is_shown else []


def list_lost_parts(turn: SimulatedTurn) -> list[str]:
    """Who is who, and what was said: lost from a prompt."""
    request = turn.request
    last = request.turns[-1]
    told = f"{last.text if isinstance(last, PromptTurn) else ''}\n{request.call_instructions}"
    lost = [
        f"{turn.line}: the {name} block"
        for name, text in WHO.items()
        if text not in request.system_prompt
    ]
    is_there = turn.said in told or sanitize(turn.said) in told
    return lost if is_there else [*lost, f"{turn.line}: what was said"]


def list_too_long(turn: SimulatedTurn) -> list[str]:
    """Sections that take more than their tokens, and prompts that take more than theirs."""
    tokens, budget = turn.tokens, BUDGETS[turn.preset]
    most = {**SHARES, "thoughts": budget.snippets // 4}
    fixed = sum(tokens.get(name, 0) for name in NEVER_CUT)
    over = [
        f"{turn.line}: {name} {tokens[name]}" for name in most if tokens.get(name, 0) > most[name]
    ]
    total = sum(tokens.values())
    return [*over, f"{turn.line}: {total} in all"] if total > max(budget.total, fixed) else over


def list_mocking(turns: Sequence[SimulatedTurn]) -> list[str]:
    """Turns in a mocking style with somebody who is in distress, or was a turn or two ago."""
    return [
        f"{turn.line}: {turn.understood.get('style')}"
        for place, turn in enumerate(turns)
        if turn.understood.get("style") in MOCKING
        and any(
            is_in_distress(each) and each.session == turn.session and turn.at - each.at < REMEMBERED
            for each in list_recent_turns(turns, place)
        )
    ]


def list_recent_turns(turns: Sequence[SimulatedTurn], place: int) -> list[SimulatedTurn]:
    """A turn and the two before it in its session."""
    own = [each for each in turns[: place + 1] if each.session == turns[place].session]
    return own[-TURNS_AFTER - 1 :]


def is_in_distress(turn: SimulatedTurn) -> bool:
    """Whether somebody seemed to feel heavy, by how they were understood."""
    return turn.understood.get("emotion") in HEAVY or turn.understood.get("signal") == "stressed"


def _build_counts(value: JsonValue) -> dict[str, int]:
    """Numbers under names."""
    if not isinstance(value, dict):
        return {}
    return {name: count for name, count in value.items() if isinstance(count, int)}


def _group_by_day(
    ticks: Sequence[ReflectionRecord], zone: str
) -> dict[date, list[ReflectionRecord]]:
    days: dict[date, list[ReflectionRecord]] = {}
    for each in ticks:
        days.setdefault(from_micros(each.ran_at, zone).date(), []).append(each)
    return days
