"""Simulation: somebody lives a month with the real product.

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

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import MINUTE, Micros, from_micros
from oldfriend.domain.errors import ModelError
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.memories import Entity
from oldfriend.domain.messages import SESSION_IDLE_GAP
from oldfriend.inbound.accept import ChatContext as Open
from oldfriend.inbound.accept import MessageSubmission, accept_message
from oldfriend.learning.learning_scheduler import (
    consolidate_segment,
    maintain_memory,
    roll_up_summaries,
    schedule_learning,
)
from oldfriend.llm.model import LanguageModel
from oldfriend.memory.belief_views import list_entities, list_memories
from oldfriend.memory.evidence import list_evidence, list_stats_mismatches
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    ensure_person,
    get_companion,
    get_person_by_id,
    set_language,
)
from oldfriend.transfer.import_run import import_messages
from oldfriend.transfer.preview import build_preview
from oldfriend_evals.lives.belief_eval import Held
from oldfriend_evals.lives.life import Day, Life, Line, LineId
from oldfriend_evals.model_roles import with_models

PAUSE: Final = SESSION_IDLE_GAP + MINUTE
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
class SimulationResult:
    """What a store has come to believe by the end of a life, and believed on each of its days."""

    places: Mapping[MessageId, LineId]
    held: tuple[Held, ...]  # all that was ever believed
    by_day: Mapping[date, tuple[Held, ...]]
    entities: tuple[Entity, ...]
    outcomes: tuple[Mapping[str, object], ...]  # of each stretch that was read
    faults: tuple[str, ...]  # of the fold and of the standings: none, where all is well


def build_calendar(life: Life) -> Calendar:
    """A clock that stands at the beginning of a life."""
    return Calendar(now=min(line.spoken.at for line in life.lines if not line.is_imported))


def use_small_model(app: AppContext, model: LanguageModel) -> AppContext:
    """The same house, in which a model reads what was said."""

    return with_models(app, {"small": model})


async def simulate_life(
    app: AppContext, life: Life, *, model: LanguageModel | None = None
) -> SimulationResult:
    """Live a whole life in a house; a model reads it, or without one the rules."""
    living = await begin_life(app, life, model=model)
    for day in life.days:
        await living.spend(day)
    return await living.remember()


async def begin_life(app: AppContext, life: Life, *, model: LanguageModel | None) -> "Simulation":
    """The beginning of a life in a house, by a clock of its own."""
    calendar = build_calendar(life)
    settings = replace(app.settings, zone=life.zone, language=life.language)
    app = replace(app, settings=settings, clock=calendar)
    if model is not None:
        app = use_small_model(app, model)
    return Simulation(app=app, life=life, calendar=calendar, person=await create_person(app, life))


async def create_person(app: AppContext, life: Life) -> PersonId:
    """The person whose life it is, in this house."""
    async with app.db.begin_write() as tx:
        person = await ensure_person(tx, get_first_name(life), now=app.clock(), zone=life.zone)
        await set_language(tx, person.id, life.language)
        await ensure_companion(tx, now=app.clock())
    return person.id


def get_first_name(life: Life) -> str:
    """What the person of a life is called by the house."""
    return life.person.split()[0]


@dataclass(slots=True)
class Simulation:
    """A life under way."""

    app: AppContext
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
                await self.import_lines(imported)
        await self.rest()
        await self.close(day.date)

    async def close(self, day: date) -> None:
        """The end of a day: what is done with a memory once a day, and what is believed then."""
        await maintain_memory(self.app, self.person)
        with suppress(ModelError):  # a rehearsed reader may have no words for it
            await roll_up_summaries(self.app, self.person)
        self.by_day[day] = await self.believed(live=True)

    async def hear(self, line: Line) -> None:
        """Take in one line, as what it is; what was said before a pause is read first."""
        if line.spoken.at > self.calendar.now + SESSION_IDLE_GAP:
            await self.rest()
        self.calendar.reach(line.spoken.at)
        chat = await self.open(line)
        said = line.spoken
        if said.trust == "person":
            words = MessageSubmission(
                text=said.text, at=said.at, zone=said.zone, external_id=line.id
            )
            await accept_message(self.app, chat, words, claim_now=False)
            return
        told = ImportedMessage(message=replace(said, external_id=line.id))
        async with self.app.db.begin_write() as tx:
            target = ImportTarget(chat=chat.chat, language=self.life.language)
            await write_imported_messages(tx, target, [told], now=self.calendar.now)

    async def open(self, line: Line) -> Open:
        """The chat that a line is said in."""
        async with self.app.db.begin_write() as tx:
            person = await ensure_person(
                tx, get_first_name(self.life), now=self.calendar.now, zone=self.life.zone
            )
            chat = await ensure_chat(
                tx,
                person,
                await ensure_companion(tx, now=self.calendar.now),
                channel=line.channel,
                address=line.chat,
                title=line.chat,
                now=self.calendar.now,
            )
        return Open(person=person, chat=chat)

    async def rest(self) -> None:
        """Let a pause go by, in which everything is read that waits for it."""
        self.calendar.reach(self.calendar.now + PAUSE)
        for segment in await schedule_learning(
            self.app.db, self.app.clock, self.app.settings, self.person
        ):
            done = await consolidate_segment(self.app, self.person, segment.id)
            if done is not None:
                self.outcomes.append(done.outcome)

    async def import_lines(self, lines: Sequence[Line]) -> None:
        """Import lines of long ago from a file, as somebody would who has found an old phone."""
        async with self.app.db.begin_read() as tx:
            person = await get_person_by_id(tx, self.person)
            companion = await get_companion(tx)
        with TemporaryDirectory(prefix="oldfriend-life-") as folder:
            file = Path(folder) / "old phone.jsonl"
            file.write_text("\n".join(map(to_json, lines)), "utf-8")
            preview = build_preview(file, me=None, person=person.name, zone=self.life.zone)
            await import_messages(
                self.app.db, preview, person=person, companion=companion, clock=self.calendar
            )

    async def believed(self, *, live: bool) -> tuple[Held, ...]:
        """What is believed now, or was at any time, with its words."""
        async with self.app.db.begin_read() as tx:
            evidence = await list_evidence(tx, self.person)
            return tuple(
                Held(memory=each.memory, evidence=tuple(evidence.get(each.memory.id, ())))
                for each in await list_memories(tx, self.person, live=live)
            )

    async def remember(self) -> SimulationResult:
        """All that has come of it."""
        async with self.app.db.begin_read() as tx:
            messages = await list_messages(tx, self.person, limit=ALL)
            entities = await list_entities(tx, self.person)
            faults = (
                *await list_view_mismatches(tx, self.person),
                *await list_stats_mismatches(tx, self.person),
            )
        return SimulationResult(
            places={each.id: LineId(each.external_id) for each in messages if each.external_id},
            held=await self.believed(live=False),
            by_day=self.by_day,
            entities=tuple(entities),
            outcomes=tuple(self.outcomes),
            faults=tuple(map(str, faults)),
        )


def to_json(line: Line) -> str:
    """A line as one of our own format for messages."""
    said = line.spoken
    fields = {
        "id": line.id,
        "speaker": said.speaker,
        "role": said.role,
        "text": said.text,
        "at": from_micros(said.at, said.zone).isoformat(),
    }
    return json.dumps(fields, ensure_ascii=False)
