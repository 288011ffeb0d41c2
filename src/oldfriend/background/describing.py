"""Who or what is somebody in a person's life? Told by a model, from three events on.

What the person has written of them is never touched. Knows nothing of when it is done.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.background.fields import object_from, text_in, words_in
from oldfriend.background.form import TEXT, list_of, record
from oldfriend.background.gates.bearing import passes_judgement
from oldfriend.background.gates.grounding import is_grounded
from oldfriend.background.gates.harm import gives_orders, holds_secret
from oldfriend.background.gates.tone import tone_fault
from oldfriend.background.thinking import (
    Means,
    Run,
    Task,
    ask,
    keep_run,
    words_behind,
)
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Known
from oldfriend.domain.people import Person
from oldfriend.llm.model import Request, Turn
from oldfriend.memory.changes import newest_change_of
from oldfriend.memory.descriptions import Indescribed, describe, list_indescribed
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.memory.ticks import TRANSCRIPTS_LAST, Tick, list_ticks
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.context import day_of
from oldfriend.turn.labelling import inert

PROMPT: Final = "describe/1"
AT_ONCE: Final = 3
"""So many are described in one go."""
MOST_EVENTS: Final = 12
FEWEST_CITED: Final = 2
TOO_LONG: Final = 400
MOST_TOKENS: Final = 300
MOST_IN: Final = 5_000
MOST_OUT: Final = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """What a model says of somebody, before it is believed."""

    text: str
    cites: tuple[str, ...]


async def describe_everybody(means: Means, person: PersonId) -> list[Tick]:
    """Say who those are of whom enough is known by now; what was thought.

    Raises BrokenOutput, and what the model raises.
    """
    async with means.db.reading() as tx:
        somebody = await get_person_by_id(tx, person)
        asked = await asked_of(tx, person, since=means.clock() - TRANSCRIPTS_LAST)
        wanting = [each for each in await list_indescribed(tx, person) if is_news(each, asked)]
    wanting = wanting[:AT_ONCE]
    return [await describe_one(means, somebody, each) for each in wanting]


async def asked_of(
    tx: Transaction, person: PersonId, *, since: Micros
) -> Mapping[str, frozenset[str]]:  # fmt: skip
    """What a model was shown when it was last asked who somebody is; whatever came of it."""
    ticks = await list_ticks(tx, person, since=since)
    described = [each for each in reversed(ticks) if each.kind == "description"]
    return {about: frozenset(each.shown) for each in described for about in each.shown[:1]}


def is_news(wanting: Indescribed, asked: Mapping[str, frozenset[str]]) -> bool:
    """Whether something is newer than all that was shown the last time, lest it ask for ever."""
    shown = asked.get(wanting.entity.id, frozenset())
    times = [each.memory.learned_at for each in wanting.events if each.memory.id in shown]
    return not times or wanting.events[0].memory.learned_at > max(times)


async def describe_one(means: Means, person: Person, wanting: Indescribed) -> Tick:
    """Say who one is. Raises BrokenOutput, and what the model raises."""
    events = wanting.events[:MOST_EVENTS]
    request = request_for(person, wanting, events)
    task = Task(
        kind="description", why="events", person=person.id, request=request,
        brief=lines_of(person, events), most_in=MOST_IN, most_out=MOST_OUT,
    )  # fmt: skip
    found, run = await ask(means, task, description_from)
    fault = fault_of(found, events, (person.name, wanting.entity.name, *wanting.entity.aliases))
    return await keep(means, run, wanting, found, events, fault=fault)


async def keep(
    means: Means, run: Run, wanting: Indescribed, found: Description, events: tuple[Known, ...], *,
    fault: str | None,
) -> Tick:  # fmt: skip
    """Believe a description that may be believed, and keep the record of it."""
    now, person = means.clock(), run.task.person
    async with means.db.writing() as tx:
        await lock_person(tx, person)
        cited = [events[int(each[1:]) - 1] for each in found.cites] if fault is None else []
        if fault is None and not await is_still_so(tx, wanting, cited):
            fault = "no longer believed"
        if fault is None:
            await describe(
                tx, wanting.entity, found.text, base=wanting.base, author=run.author, now=now,
                causes=await words_behind(tx, person, [each.memory.id for each in cited]),
            )  # fmt: skip
        told: dict[str, JsonValue] = {"rejected": {} if fault is None else {fault: 1}}
        told["learned"] = {"description": 1} if fault is None else {}
        return await keep_run(tx, run, told, now=now)


async def is_still_so(tx: Transaction, wanting: Indescribed, cited: Sequence[Known]) -> bool:
    """Whether nothing was decided meanwhile about somebody, or about what tells of them."""
    entity = wanting.entity
    if await newest_change_of(tx, entity.person, entity.id) != wanting.base:
        return False
    bases = [await newest_change_of(tx, entity.person, each.memory.id) for each in cited]
    return bases == [each.base for each in cited]


def request_for(person: Person, wanting: Indescribed, events: tuple[Known, ...]) -> Request:
    """What a model is asked."""
    prompt, entity = get_prompt(PROMPT), wanting.entity
    language, told = events[0].memory.language, "\n".join(lines_of(person, events))
    return Request(
        purpose="describe",
        prompt=prompt.id,
        stable=prompt.render("stable"),
        changing=prompt.render(
            "scene", person=inert(person.name), language=language, name=inert(entity.name),
            kind=entity.kind,
        ),
        turns=(Turn(role="house", text=prompt.render("ask", events=told)),),
        output=record({"text": TEXT, "cites": list_of(TEXT)}, required=["text", "cites"]),
        most_tokens=MOST_TOKENS,
        shown=(entity.id, *(each.memory.id for each in events)),
    )  # fmt: skip


def lines_of(person: Person, events: tuple[Known, ...]) -> tuple[str, ...]:
    """What tells of somebody, a line each."""
    prompt = get_prompt(PROMPT)
    return tuple(
        prompt.render(
            "event", id=f"e{number}", text=inert(each.memory.text),
            when=day_of(each.memory.happened_at or each.standing.last_seen, person.zone),
        )
        for number, each in enumerate(events, 1)
    )  # fmt: skip


def description_from(answer: JsonValue) -> Description:
    """What a model has answered. Raises ValueError, in words for the model."""
    fields = object_from(answer, "the answer")
    return Description(text=text_in(fields, "text"), cites=words_in(fields, "cites"))


def fault_of(found: Description, events: tuple[Known, ...], called: tuple[str, ...]) -> str | None:
    """Why a description is not believed; None: it is. What people are called is told always."""
    names = {f"e{number}" for number in range(1, len(events) + 1)}
    if not found.text:
        return "too short"
    if not names.issuperset(found.cites):
        return "unknown citation"
    if len(found.cites) < FEWEST_CITED:
        return "no citation"
    if len(found.text) > TOO_LONG:
        return "too long"
    if holds_secret(found.text) or gives_orders(found.text):
        return "order"
    language = events[0].memory.language
    told = [*called, *(each.memory.text for each in events)]
    return (
        tone_fault(found.text, language=language)
        or passes_judgement(found.text, language=language)
        or (None if is_grounded(found.text, told, language=language) else "not told")
    )
