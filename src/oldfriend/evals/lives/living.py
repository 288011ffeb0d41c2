"""What does the real product come to believe when somebody lives a month with it?

Every line is taken in as it was said, and read when its talk has come to a pause; a clock that
stands still goes on from line to line. Judges nothing.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from oldfriend.app.accepting import Line as Open
from oldfriend.app.accepting import Said, accept
from oldfriend.app.forming.tending import fold, read, tend, tidy
from oldfriend.app.house import House
from oldfriend.domain.clock import MINUTE, Micros, from_micros
from oldfriend.domain.errors import ModelError
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.memories import Entity
from oldfriend.domain.people import SESSION_IDLE
from oldfriend.evals.lives.judging import Held
from oldfriend.evals.lives.life import Day, Life, Line, LineId
from oldfriend.evals.roles import with_models
from oldfriend.llm.model import Model
from oldfriend.memory.beliefs import list_entities, list_memories
from oldfriend.memory.bringing import Target, Told, bring
from oldfriend.memory.changes import check_fold
from oldfriend.memory.evidence import check_standings, list_evidence
from oldfriend.memory.log import list_messages
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    ensure_person,
    get_companion,
    get_person_by_id,
    set_language,
)
from oldfriend.transfer.importing import bring_in
from oldfriend.transfer.inspecting import inspect

PAUSE: Final = SESSION_IDLE + MINUTE
"""After so long a talk is surely over."""
ALL: Final = 1_000_000


@dataclass(slots=True)
class Calendar:
    """A clock that goes on only when it is told what time it is."""

    now: Micros

    def __call__(self) -> Micros:
        """The time."""
        return self.now

    def reach(self, moment: Micros) -> None:
        """Go on to a moment; never back."""
        self.now = max(self.now, moment)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """What a store has come to believe by the end of a life, and believed on each of its days."""

    places: Mapping[MessageId, LineId]
    held: tuple[Held, ...]  # all that was ever believed
    by_day: Mapping[date, tuple[Held, ...]]
    entities: tuple[Entity, ...]
    outcomes: tuple[Mapping[str, object], ...]  # of each stretch that was read
    faults: tuple[str, ...]  # of the fold and of the standings: none, where all is well


def calendar_for(life: Life) -> Calendar:
    """A clock that stands at the beginning of a life."""
    return Calendar(now=min(line.spoken.at for line in life.lines if not line.is_imported))


def with_small_model(house: House, model: Model) -> House:
    """The same house, in which a model reads what was said."""

    return with_models(house, {"small": model})


async def live(house: House, life: Life, *, model: Model | None = None) -> Lived:
    """Live a whole life in a house; a model reads it, or without one the rules."""
    living = await settle(house, life, model=model)
    for day in life.days:
        await living.spend(day)
    return await living.remember()


async def settle(house: House, life: Life, *, model: Model | None) -> "Living":
    """The beginning of a life in a house, by a clock of its own."""
    calendar = calendar_for(life)
    settings = replace(house.settings, zone=life.zone, language=life.language)
    house = replace(house, settings=settings, clock=calendar)
    if model is not None:
        house = with_small_model(house, model)
    return Living(house=house, life=life, calendar=calendar, person=await arrive(house, life))


async def arrive(house: House, life: Life) -> PersonId:
    """The person whose life it is, in this house."""
    async with house.db.writing() as tx:
        person = await ensure_person(tx, first_name(life), now=house.clock(), zone=life.zone)
        await set_language(tx, person.id, life.language)
        await ensure_companion(tx, now=house.clock())
    return person.id


def first_name(life: Life) -> str:
    """What the person of a life is called by the house."""
    return life.person.split()[0]


@dataclass(slots=True)
class Living:
    """A life under way."""

    house: House
    life: Life
    calendar: Calendar
    person: PersonId
    by_day: dict[date, tuple[Held, ...]] = field(default_factory=dict)
    outcomes: list[Mapping[str, object]] = field(default_factory=list)

    async def spend(self, day: Day) -> None:
        """Say and hear all of a day, and let it be read at each pause."""
        imported = [line for line in day.lines if line.is_imported]
        for line in day.lines:
            if not line.is_imported:
                await self.hear(line)
            elif line is imported[0]:
                await self.bring_in(imported)
        await self.rest()
        await self.close(day.date)

    async def close(self, day: date) -> None:
        """The end of a day: what is done with a memory once a day, and what is believed then."""
        await tidy(self.house, self.person)
        with suppress(ModelError):  # a rehearsed reader may have no words for it
            await fold(self.house, self.person)
        self.by_day[day] = await self.believed(live=True)

    async def hear(self, line: Line) -> None:
        """Take in one line, as what it is; what was said before a pause is read first."""
        if line.spoken.at > self.calendar.now + SESSION_IDLE:
            await self.rest()
        self.calendar.reach(line.spoken.at)
        chat = await self.open(line)
        said = line.spoken
        if said.trust == "person":
            words = Said(text=said.text, at=said.at, zone=said.zone, key=line.id)
            await accept(self.house, chat, words, to_answer=False)
            return
        told = Told(spoken=replace(said, external_id=line.id))
        async with self.house.db.writing() as tx:
            target = Target(chat=chat.chat, language=self.life.language)
            await bring(tx, target, [told], now=self.calendar.now)

    async def open(self, line: Line) -> Open:
        """The chat that a line is said in."""
        async with self.house.db.writing() as tx:
            person = await ensure_person(
                tx, first_name(self.life), now=self.calendar.now, zone=self.life.zone
            )
            chat = await ensure_chat(
                tx, person, await ensure_companion(tx, now=self.calendar.now),
                channel=line.channel, address=line.chat, title=line.chat, now=self.calendar.now,
            )  # fmt: skip
        return Open(person=person, chat=chat)

    async def rest(self) -> None:
        """Let a pause go by, in which everything is read that waits for it."""
        self.calendar.reach(self.calendar.now + PAUSE)
        for segment in await tend(self.house, self.person):
            done = await read(self.house, self.person, segment.id)
            if done is not None:
                self.outcomes.append(done.outcome)

    async def bring_in(self, lines: Sequence[Line]) -> None:
        """Import lines of long ago from a file, as somebody would who has found an old phone."""
        async with self.house.db.reading() as tx:
            person = await get_person_by_id(tx, self.person)
            companion = await get_companion(tx)
        with TemporaryDirectory(prefix="oldfriend-life-") as folder:
            file = Path(folder) / "old phone.jsonl"
            file.write_text("\n".join(map(as_json, lines)), "utf-8")
            preview = inspect(file, me=None, person=person.name, zone=self.life.zone)
            await bring_in(
                self.house.db, preview, person=person, companion=companion, clock=self.calendar
            )

    async def believed(self, *, live: bool) -> tuple[Held, ...]:
        """What is believed now, or was at any time, with its words."""
        async with self.house.db.reading() as tx:
            evidence = await list_evidence(tx, self.person)
            return tuple(
                Held(memory=each.memory, evidence=tuple(evidence.get(each.memory.id, ())))
                for each in await list_memories(tx, self.person, live=live)
            )

    async def remember(self) -> Lived:
        """All that has come of it."""
        async with self.house.db.reading() as tx:
            messages = await list_messages(tx, self.person, limit=ALL)
            entities = await list_entities(tx, self.person)
            faults = (
                *await check_fold(tx, self.person),
                *await check_standings(tx, self.person),
            )
        return Lived(
            places={each.id: LineId(each.external_id) for each in messages if each.external_id},
            held=await self.believed(live=False), by_day=self.by_day, entities=tuple(entities),
            outcomes=tuple(self.outcomes), faults=tuple(map(str, faults)),
        )  # fmt: skip


def as_json(line: Line) -> str:
    """A line as one of our own format for messages."""
    said = line.spoken
    fields = {
        "id": line.id, "speaker": said.speaker, "role": said.role, "text": said.text,
        "at": from_micros(said.at, said.zone).isoformat(),
    }  # fmt: skip
    return json.dumps(fields, ensure_ascii=False)
