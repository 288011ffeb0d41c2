"""A life in which the person decides things, and the same life derived anew."""

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from oldfriend.app.app_context import AppContext
from oldfriend.beliefs import correct as correcting
from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.db.database import Database
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Entity, MemoryState
from oldfriend.forgetting.delete import forget
from oldfriend.learning.learning_scheduler import consolidate_segment
from oldfriend.llm.model import CompletionRequest, LanguageModel
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.belief_views import list_entities, list_memories
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.evidence import list_stats_mismatches
from oldfriend.memory.journal import list_view_mismatches
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import list_segments
from oldfriend.replay.memory_diff import PersonDiff, diff_memories
from oldfriend.replay.replay_run import run_replay
from oldfriend.replay.replay_types import ReplayRequest, ReplayResult
from oldfriend_evals.lives.adversarial_extractor import build_adversarial_extractor
from oldfriend_evals.lives.life import Life
from oldfriend_evals.lives.oracle_judge import build_oracle_judge
from oldfriend_evals.lives.simulation import (
    Simulation,
    build_calendar,
    create_person,
    use_small_model,
)

DEEDS = ("pin", "unpin", "reject", "confirm", "edit", "merge", "separate", "names", "note")
"""All that a person decides but for forgetting."""


def nobody_looks(_done: int, _total: int) -> None:
    """Nobody is looking."""


@dataclass(slots=True)
class Decided:
    """What the person has decided, and how often each."""

    rng: random.Random
    deeds: Sequence[str]
    done: dict[str, int] = field(default_factory=dict)

    async def decide(self, app: AppContext, person: PersonId) -> None:
        """Decide something about something that is believed."""
        deed = self.rng.choice(self.deeds)
        async with app.db.begin_read() as tx:
            known = await list_memories(tx, person)
            names = await list_entities(tx, person)
        with suppress(InvalidInput, IndexError, ValueError):
            await self.do(app, person, deed, known, names)
            self.done[deed] = self.done.get(deed, 0) + 1

    async def do(
        self,
        app: AppContext,
        person: PersonId,
        deed: str,
        known: Sequence[MemoryState],
        names: Sequence[Entity],
    ) -> None:
        """Do it, as the command would."""
        each = self.rng.choice(known).memory
        match deed:
            case "pin" | "unpin" | "confirm" | "reject":
                await correcting.apply_belief_action(app.db, app.clock, person, deed, each.id)
            case "edit":
                facts = [one.memory for one in known if one.memory.value]
                meant = self.rng.choice(facts)
                await correcting.edit_belief_text(
                    app.db, app.clock, person, meant.id, "It is otherwise.", value="other"
                )
            case "merge" | "separate":
                alike = [one.memory for one in known if one.memory.kind == "event"]
                one, other = self.rng.sample(alike, 2)
                act = correcting.merge_beliefs if deed == "merge" else correcting.separate_beliefs
                await act(app, person, one.id, other.id)
            case "names":
                keep, go = self.rng.sample(list(names), 2)
                await correcting.merge_beliefs(app, person, keep.id, go.id)
            case "note":
                await self.note(app, person)
            case "forget":
                await forget(app, person, DeletionRequest(ids=(each.id,)))
            case "orphan":
                await self.forget_words(app, person)

    async def note(self, app: AppContext, person: PersonId) -> None:
        """Have some words of theirs remembered."""
        async with app.db.begin_write() as tx:
            said = [m for m in await list_messages(tx, person, limit=999) if m.trust == "person"]
            source = self.rng.choice(said)
            await learn_note(tx, source.text, source=source, author="notes/1", now=app.clock())

    async def forget_words(self, app: AppContext, person: PersonId) -> None:
        """Let some words go, and keep what was learned from them."""
        async with app.db.begin_read() as tx:
            said = [m for m in await list_messages(tx, person, limit=999) if m.trust == "person"]
        await forget(app, person, DeletionRequest(ids=(self.rng.choice(said).id,)), orphan=True)


async def live(
    app: AppContext,
    life: Life,
    *,
    model: LanguageModel | None,
    days: int,
    deeds: Sequence[str] = (),
    seed: int = 1,
) -> Decided:
    """Live some days, and decide something at the end of each."""
    calendar = build_calendar(life)
    settings = replace(app.settings, zone=life.zone, language=life.language)
    app = replace(app, settings=settings, clock=calendar)
    if model is not None:
        app = use_small_model(app, model)
    living = Simulation(
        app=app, life=life, calendar=calendar, person=await create_person(app, life)
    )
    decided = Decided(rng=random.Random(seed), deeds=deeds)
    for day in life.days[:days]:
        await living.spend(day)
        if deeds:
            calendar.reach(calendar.now + 1_000_000)
            await decided.decide(app, living.person)
            await living.rest()
            await read_what_waits(app, living.person)
    return decided


async def read_what_waits(app: AppContext, person: PersonId) -> None:
    """Read once more what was changed by a forgetting."""
    async with app.db.begin_read() as tx:
        waiting = await list_segments(tx, person, status=["waiting"])
    for segment in waiting:
        await consolidate_segment(app, person, segment.id)


def reader(life: Life) -> ScriptedModel:
    """A scripted model that knows a life; the same request gets the same answer."""
    return ScriptedModel(lambda request: answer_of(life, request))


def answer_of(life: Life, request: CompletionRequest) -> str:
    """What it answers, but for the commas that it forgets now and then."""
    if request.purpose == "adjudicate":
        return build_oracle_judge(life)(request)
    return build_adversarial_extractor(life, seed=1, share=0.0)(request)


async def owner_of(db: Database) -> PersonId:
    """The one who has lived there."""
    async with db.begin_read() as tx:
        (person,) = await list_people(tx)
    return person.id


async def derived(
    source: Database,
    app: AppContext,
    *,
    model: LanguageModel | None,
    wanted: ReplayRequest | None = None,
) -> ReplayResult:
    """Derive everything anew, with the same model or another."""
    there = app if model is None else use_small_model(app, model)
    return await run_replay(source, there, wanted or ReplayRequest(), on_progress=nobody_looks)


async def compared(one: Database, other: Database, *, is_all: bool = True) -> list[PersonDiff]:
    """What two memories believe differently; both are sound."""
    async with one.begin_read() as ours, other.begin_read() as theirs:
        return await diff_memories(ours, theirs, include_ended=is_all)


async def faults_of(db: Database) -> list[str]:
    """What is wrong with a memory."""
    person = await owner_of(db)
    async with db.begin_read() as tx:
        return [*await list_view_mismatches(tx, person), *await list_stats_mismatches(tx, person)]


def findings(found: Sequence[PersonDiff]) -> list[tuple[str, str]]:
    """What differs: how, and what of it."""
    return [
        (each.status, words_in(side))
        for one in found
        for each in one.differences
        for side in [each.first or each.second]
        if side is not None
    ]


def words_in(belief: BeliefDetails) -> str:
    """What a belief says."""
    return belief.content.name if isinstance(belief.content, Entity) else belief.content.text
