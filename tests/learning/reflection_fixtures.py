"""A house in which something thinks between conversations, and says what it is told to say."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from oldfriend.app.app_context import AppContext
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, new_id
from oldfriend.domain.memories import (
    Cause,
    Entity,
    MemoryKind,
    MemoryState,
    PatternKind,
    StoredBelief,
)
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.learning_scheduler import schedule_learning
from oldfriend.learning.reflection_scheduler import enqueue_reflection
from oldfriend.llm.model import CompletionRequest, PromptTurn
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.evidence import NewEvidence, add_evidence, list_stats_mismatches
from oldfriend.memory.journal import Provenance, list_view_mismatches, record_decision
from oldfriend.memory.reflection_log import ReflectionRecord, list_reflections
from oldfriend.replies.reply_worker import answer_message
from tests.learning.test_learning_scheduler import with_model, work

TOLD = (
    "I live in Porto, in a small flat by the river.",
    "My sister Ana is a nurse. She works nights at the hospital.",
    "I love jazz, and I can't stand coriander.",
    "My dog Rex died yesterday. I am heartbroken.",
)
NOTHING = {"thoughts": [], "expectations": [], "questions": [], "patterns": []}
Script = Callable[[CompletionRequest], object]


@dataclass(slots=True)
class Mind:
    """What it answers to each kind of thinking; an answer that is no text becomes JSON."""

    reflects: Script = field(default=lambda _: NOTHING)
    ticks: Script = field(default=lambda _: NOTHING)
    describes: Script = field(default=lambda _: {"text": "", "cites": []})
    model: ScriptedModel = field(init=False)

    def __post_init__(self) -> None:
        self.model = ScriptedModel(self.answer)

    def answer(self, request: CompletionRequest) -> ScriptedAnswer:
        """What it says."""
        scripts = {"reflect": self.reflects, "slow_tick": self.ticks, "describe": self.describes}
        said = scripts[request.purpose](request)
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)

    def asked(self, purpose: str) -> list[CompletionRequest]:
        """What it was asked of one kind."""
        return [each for each in self.model.requests if each.purpose == purpose]


def thinking_house(app: AppContext, mind: Mind) -> AppContext:
    """The house, in which rules read and a model thinks."""
    return with_model(app, "reflect", mind.model)


def alias(request: CompletionRequest, words: str) -> str:
    """The small name of what was shown with these words in it."""
    found = re.findall(r'<(?:event|known) id="(\w+)"[^>]*>([^<]*)<', text_of(request))
    return next(name for name, text in found if words in text)


def text_of(request: CompletionRequest) -> str:
    """All that a request shows."""
    return "\n".join(turn.text for turn in request.turns if isinstance(turn, PromptTurn))


def a_thought(text: str, *cites: str, **more: object) -> dict[str, object]:
    """One thought as a model gives it."""
    return {"text": text, "cites": list(cites), "about": "person", "impact": -3, "tags": [], **more}


async def tell(app: AppContext, chat_context: ChatContext, *texts: str) -> list[str]:
    """Say some things, have them read and thought about; the jobs that were done."""
    for text in texts:
        await answer_message(app, chat_context, MessageSubmission(text=text))
    await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    return await work(app)


async def learned(
    app: AppContext,
    chat_context: ChatContext,
    said: str,
    *,
    kind: MemoryKind = "event",
    pattern: PatternKind | None = None,
    names: Sequence[EntityId] = (),
) -> StoredBelief:
    """Say something, and have it believed as it was said."""
    message, now = (
        (await answer_message(app, chat_context, MessageSubmission(text=said))).message,
        app.clock(),
    )
    memory = StoredBelief(
        id=MemoryId(ObjectId(new_id(now))),
        person=chat_context.person.id,
        kind=kind,
        text=said,
        language="en",
        pattern=pattern,
        entities=tuple(names),
        learned_at=now,
    )
    async with app.db.begin_write() as tx:
        cause = Cause(message=message.id, version=message.version)
        ground = Provenance(author="rules/1", causes=(cause,))
        await record_decision(tx, memory, op="learned", base=0, provenance=ground, now=now)
        words = [NewEvidence(source=message, quote=said)]
        await add_evidence(
            tx, chat_context.person.id, memory.id, words, extractor="rules/1", now=now
        )
    return memory


async def named(app: AppContext, chat_context: ChatContext, name: str) -> Entity:
    """Have somebody be known by name."""
    now = app.clock()
    entity = Entity(
        id=EntityId(ObjectId(new_id(now))),
        person=chat_context.person.id,
        name=name,
        kind="person",
        learned_at=now,
    )
    async with app.db.begin_write() as tx:
        await record_decision(
            tx, entity, op="learned", base=0, provenance=Provenance(author="rules/1"), now=now
        )
    return entity


async def ponder(app: AppContext, chat_context: ChatContext) -> list[str]:
    """Think as after a reading; the jobs that were done."""
    async with app.db.begin_write() as tx:
        await enqueue_reflection(tx, app, chat_context.person.id, now=app.clock())
    return await work(app)


async def thoughts(
    app: AppContext, chat_context: ChatContext, *, live: bool = True
) -> list[MemoryState]:
    """What it thinks; all is found to be what was decided, and to stand as its words make it."""
    async with app.db.begin_read() as tx:
        assert await list_view_mismatches(tx, chat_context.person.id) == []
        assert await list_stats_mismatches(tx, chat_context.person.id) == []
        return await list_memories(tx, chat_context.person.id, kinds=["thought"], live=live)


async def ticks(app: AppContext, chat_context: ChatContext) -> list[ReflectionRecord]:
    """Every time it thought, the last first."""
    async with app.db.begin_read() as tx:
        return await list_reflections(tx, chat_context.person.id, since=0)
