"""A house in which something thinks between conversations, and says what it is told to say."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from oldfriend.app.accepting import Line, Said
from oldfriend.app.answering import answer
from oldfriend.app.forming.tending import tend
from oldfriend.app.forming.thinking_ahead import plan_thinking
from oldfriend.app.house import House
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, new_id
from oldfriend.domain.memories import (
    Cause,
    Entity,
    Known,
    Memory,
    MemoryKind,
    PatternKind,
)
from oldfriend.llm.model import Request, Turn
from oldfriend.llm.scripted import Answer, ScriptedModel
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.changes import Ground, check_fold, decide
from oldfriend.memory.evidence import Words, add_evidence, check_standings
from oldfriend.memory.ticks import Tick, list_ticks
from tests.app.forming.test_tending import with_model, work

TOLD = (
    "I live in Porto, in a small flat by the river.",
    "My sister Ana is a nurse. She works nights at the hospital.",
    "I love jazz, and I can't stand coriander.",
    "My dog Rex died yesterday. I am heartbroken.",
)
NOTHING = {"thoughts": [], "expectations": [], "questions": [], "patterns": []}
Script = Callable[[Request], object]


@dataclass(slots=True)
class Mind:
    """What it answers to each kind of thinking; an answer that is no text becomes JSON."""

    reflects: Script = field(default=lambda _: NOTHING)
    ticks: Script = field(default=lambda _: NOTHING)
    describes: Script = field(default=lambda _: {"text": "", "cites": []})
    model: ScriptedModel = field(init=False)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.answer)

    def answer(self, request: Request) -> Answer:
        """What it says."""
        scripts = {
            "reflect": self.reflects, "slow_tick": self.ticks, "describe": self.describes
        }  # fmt: skip
        said = scripts[request.purpose](request)
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)

    def asked(self, purpose: str) -> list[Request]:
        """What it was asked of one kind."""
        return [each for each in self.model.asked if each.purpose == purpose]


def thinking_house(house: House, mind: Mind) -> House:
    """The house, in which rules read and a model thinks."""
    return with_model(house, "reflect", mind.model)


def alias(request: Request, words: str) -> str:
    """The small name of what was shown with these words in it."""
    found = re.findall(r'<(?:event|known) id="(\w+)"[^>]*>([^<]*)<', text_of(request))
    return next(name for name, text in found if words in text)


def text_of(request: Request) -> str:
    """All that a request shows."""
    return "\n".join(turn.text for turn in request.turns if isinstance(turn, Turn))


def a_thought(text: str, *cites: str, **more: object) -> dict[str, object]:
    """One thought as a model gives it."""
    return {"text": text, "cites": list(cites), "about": "person", "impact": -3, "tags": [], **more}


async def tell(house: House, line: Line, *texts: str) -> list[str]:
    """Say some things, have them read and thought about; the jobs that were done."""
    for text in texts:
        await answer(house, line, Said(text=text))
    await tend(house, line.person.id, because="asked")
    return await work(house)


async def learned(
    house: House, line: Line, said: str, *, kind: MemoryKind = "event",
    pattern: PatternKind | None = None, names: Sequence[EntityId] = (),
) -> Memory:  # fmt: skip
    """Say something, and have it believed as it was said."""
    message, now = (await answer(house, line, Said(text=said))).said, house.clock()
    memory = Memory(
        id=MemoryId(ObjectId(new_id(now))), person=line.person.id, kind=kind, text=said,
        language="en", pattern=pattern, entities=tuple(names), learned_at=now,
    )  # fmt: skip
    async with house.db.writing() as tx:
        cause = Cause(message=message.id, version=message.version)
        ground = Ground(author="rules/1", causes=(cause,))
        await decide(tx, memory, op="learned", base=0, ground=ground, now=now)
        words = [Words(source=message, quote=said)]
        await add_evidence(tx, line.person.id, memory.id, words, extractor="rules/1", now=now)
    return memory


async def named(house: House, line: Line, name: str) -> Entity:
    """Have somebody be known by name."""
    now = house.clock()
    entity = Entity(
        id=EntityId(ObjectId(new_id(now))), person=line.person.id, name=name, kind="person",
        learned_at=now,
    )  # fmt: skip
    async with house.db.writing() as tx:
        await decide(tx, entity, op="learned", base=0, ground=Ground(author="rules/1"), now=now)
    return entity


async def ponder(house: House, line: Line) -> list[str]:
    """Think as after a reading; the jobs that were done."""
    async with house.db.writing() as tx:
        await plan_thinking(tx, house, line.person.id, now=house.clock())
    return await work(house)


async def thoughts(house: House, line: Line, *, live: bool = True) -> list[Known]:
    """What it thinks; all is found to be what was decided, and to stand as its words make it."""
    async with house.db.reading() as tx:
        assert await check_fold(tx, line.person.id) == []
        assert await check_standings(tx, line.person.id) == []
        return await list_memories(tx, line.person.id, kinds=["thought"], live=live)


async def ticks(house: House, line: Line) -> list[Tick]:
    """Every time it thought, the last first."""
    async with house.db.reading() as tx:
        return await list_ticks(tx, line.person.id, since=0)
