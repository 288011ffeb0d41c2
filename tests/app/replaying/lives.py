"""A life in which the person decides things, and the same life derived anew."""

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from oldfriend.app.believing import correcting
from oldfriend.app.believing.looking import Belief
from oldfriend.app.comparing.differing import Compared, compare
from oldfriend.app.forgetting import forget
from oldfriend.app.forming.tending import read
from oldfriend.app.house import House
from oldfriend.app.replaying.going import replay
from oldfriend.app.replaying.wanting import Told, Wanted
from oldfriend.db.database import Database
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Entity, Known
from oldfriend.evals.lives.deeming import adjudicator
from oldfriend.evals.lives.hostile import hostile
from oldfriend.evals.lives.life import Life
from oldfriend.evals.lives.living import Living, arrive, calendar_for, with_small_model
from oldfriend.llm.model import Model, Request
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.beliefs import list_entities, list_memories
from oldfriend.memory.changes import check_fold
from oldfriend.memory.evidence import check_standings
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.memory.log import list_messages
from oldfriend.memory.notes import learn_note
from oldfriend.memory.people import list_people
from oldfriend.memory.segments import list_segments

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

    async def decide(self, house: House, person: PersonId) -> None:
        """Decide something about something that is believed."""
        deed = self.rng.choice(self.deeds)
        async with house.db.reading() as tx:
            known = await list_memories(tx, person)
            names = await list_entities(tx, person)
        with suppress(InvalidInput, IndexError, ValueError):
            await self.do(house, person, deed, known, names)
            self.done[deed] = self.done.get(deed, 0) + 1

    async def do(
        self, house: House, person: PersonId, deed: str, known: Sequence[Known],
        names: Sequence[Entity],
    ) -> None:  # fmt: skip
        """Do it, as the command would."""
        each = self.rng.choice(known).memory
        match deed:
            case "pin" | "unpin" | "confirm" | "reject":
                await correcting.judge(house, person, deed, each.id)
            case "edit":
                facts = [one.memory for one in known if one.memory.value]
                meant = self.rng.choice(facts)
                await correcting.edit(house, person, meant.id, "It is otherwise.", value="other")
            case "merge" | "separate":
                alike = [one.memory for one in known if one.memory.kind == "event"]
                one, other = self.rng.sample(alike, 2)
                act = correcting.merge if deed == "merge" else correcting.separate
                await act(house, person, one.id, other.id)
            case "names":
                keep, go = self.rng.sample(list(names), 2)
                await correcting.merge(house, person, keep.id, go.id)
            case "note":
                await self.note(house, person)
            case "forget":
                await forget(house, person, Wish(ids=(each.id,)))
            case "orphan":
                await self.forget_words(house, person)

    async def note(self, house: House, person: PersonId) -> None:
        """Have some words of theirs remembered."""
        async with house.db.writing() as tx:
            said = [m for m in await list_messages(tx, person, limit=999) if m.trust == "person"]
            source = self.rng.choice(said)
            await learn_note(tx, source.text, source=source, author="notes/1", now=house.clock())

    async def forget_words(self, house: House, person: PersonId) -> None:
        """Let some words go, and keep what was learned from them."""
        async with house.db.reading() as tx:
            said = [m for m in await list_messages(tx, person, limit=999) if m.trust == "person"]
        await forget(house, person, Wish(ids=(self.rng.choice(said).id,)), orphan=True)


async def live(
    house: House, life: Life, *, model: Model | None, days: int, deeds: Sequence[str] = (),
    seed: int = 1,
) -> Decided:  # fmt: skip
    """Live some days, and decide something at the end of each."""
    calendar = calendar_for(life)
    settings = replace(house.settings, zone=life.zone, language=life.language)
    house = replace(house, settings=settings, clock=calendar)
    if model is not None:
        house = with_small_model(house, model)
    living = Living(house=house, life=life, calendar=calendar, person=await arrive(house, life))
    decided = Decided(rng=random.Random(seed), deeds=deeds)
    for day in life.days[:days]:
        await living.spend(day)
        if deeds:
            calendar.reach(calendar.now + 1_000_000)
            await decided.decide(house, living.person)
            await living.rest()
            await read_what_waits(house, living.person)
    return decided


async def read_what_waits(house: House, person: PersonId) -> None:
    """Read once more what was changed by a forgetting."""
    async with house.db.reading() as tx:
        waiting = await list_segments(tx, person, status=["waiting"])
    for segment in waiting:
        await read(house, person, segment.id)


def reader(life: Life) -> ScriptedModel:
    """A scripted model that knows a life; the same request gets the same answer."""
    return ScriptedModel(lambda request: answer_of(life, request))


def answer_of(life: Life, request: Request) -> str:
    """What it answers, but for the commas that it forgets now and then."""
    if request.purpose == "adjudicate":
        return adjudicator(life)(request)
    return hostile(life, seed=1, share=0.0)(request)


async def owner_of(db: Database) -> PersonId:
    """The one who has lived there."""
    async with db.reading() as tx:
        (person,) = await list_people(tx)
    return person.id


async def derived(
    source: Database, house: House, *, model: Model | None, wanted: Wanted | None = None
) -> Told:
    """Derive everything anew, with the same model or another."""
    there = house if model is None else with_small_model(house, model)
    return await replay(source, there, wanted or Wanted(), show=nobody_looks)


async def compared(one: Database, other: Database, *, is_all: bool = True) -> list[Compared]:
    """What two memories believe differently; both are sound."""
    async with one.reading() as ours, other.reading() as theirs:
        return await compare(ours, theirs, is_all=is_all)


async def faults_of(db: Database) -> list[str]:
    """What is wrong with a memory."""
    person = await owner_of(db)
    async with db.reading() as tx:
        return [*await check_fold(tx, person), *await check_standings(tx, person)]


def findings(found: Sequence[Compared]) -> list[tuple[str, str]]:
    """What differs: how, and what of it."""
    return [
        (each.finding, words_in(side))
        for one in found
        for each in one.differences
        for side in [each.one or each.other]
        if side is not None
    ]


def words_in(belief: Belief) -> str:
    """What a belief says."""
    return belief.what.name if isinstance(belief.what, Entity) else belief.what.text
