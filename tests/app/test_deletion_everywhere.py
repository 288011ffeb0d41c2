"""A secret goes through everything that models make of it, and leaves nothing anywhere."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings_schema import ModelSettings
from oldfriend.forgetting.delete import ForgetReport, forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission
from oldfriend.learning.learning_scheduler import schedule_learning
from oldfriend.learning.reflection_scheduler import enqueue_reflection
from oldfriend.llm.model import CompletionRequest, PromptTurn, ToolCall, ToolResult
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel, ScriptedReply
from oldfriend.memory.belief_views import list_entities, list_memories, list_summaries
from oldfriend.memory.core_blocks import list_suggestions
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.replies.reply_worker import answer_message
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock
from tests.engines import both_engines
from tests.learning.test_learning_scheduler import work
from tests.memory.deletion.life import rows_of

engine = both_engines


SECRETS = (
    "My cousin Radomir owes the bookmaker in Lublin eleven thousand zloty.",
    "Yesterday my cousin Radomir sold his cello to pay the bookmaker.",
    "My cousin Radomir cried on the stairs last night because of the bookmaker.",
)
REPLIES = (
    "Oh no. I think that gambling is a slow poison.",
    "That must have hurt him.",
    "Poor man. I will ask you about Radomir on Friday.",
)
HARMLESS = "My cat Miso sleeps in the warm attic every afternoon."
TRACES = (
    "Radomir",
    "bookmaker",
    "cello",
    "slow poison",
    "gambl",
    "zloty",
    "Lublin",
    "stairs",
    "pawnbroker",
    "forlorn",
    "croupier",
    "roulette",
    "hurt him",
    "Poor man",
)
"""The words themselves, and what models have made of them in words of their own."""
KEPT = ("Miso", "attic", "Cats are good company", "a purring household")


pytestmark = pytest.mark.usefixtures("settings_folder")


def text_of(request: CompletionRequest) -> str:
    """All that a request shows."""
    turns = [turn.text for turn in request.turns if isinstance(turn, PromptTurn)]
    return "\n".join([request.call_instructions, *turns])


def is_secret(request: CompletionRequest) -> bool:
    """Whether anything of the secret stands in a request, in whatever words."""
    return any(each in text_of(request) for each in TRACES)


def judged(request: CompletionRequest) -> object:
    """What a message needs: the plan is in words of its own."""
    secret = {"goal": "save him from the pawnbroker", "progress": "", "next_step": "roulette"}
    plan = (
        secret if is_secret(request) else {"goal": "feed the cat", "progress": "", "next_step": ""}
    )
    return {
        "complexity": "moderate",
        "search": True,
        "tool": None,
        "emotion": "neutral",
        "goal": "plan",
        "signal": "normal",
        "plan": plan,
        "asks_for": ["name of the croupier"] if is_secret(request) else [],
    }


def replied(request: CompletionRequest) -> ScriptedAnswer:
    """The companion's words; it notes the first secret, and is told so."""
    said = [turn.text for turn in request.turns if isinstance(turn, PromptTurn)][-1]
    for secret, reply in zip(SECRETS, REPLIES, strict=True):
        if secret in said or (said == "" and reply == REPLIES[0]):
            has_noted = any(isinstance(turn, ToolResult) for turn in request.turns)
            if reply == REPLIES[0] and not has_noted:
                words = {"words": "owes the bookmaker in Lublin eleven thousand zloty"}
                return ScriptedReply(calls=(ToolCall(id="c", name="note", arguments=words),))
            return reply
    return "Cats are good company." if "Miso" in said else "I see."


def message_in(request: CompletionRequest, words: str) -> str:
    """The small name of the message that holds some words."""
    return next(name for name, text in messages_in(request) if words in text)


def messages_in(request: CompletionRequest) -> list[tuple[str, str]]:
    """The small names and the words of the messages to be read."""
    return re.findall(r'<message id="(m\d+)"[^>]*>([^<]*)<', text_of(request))


def claim(request: CompletionRequest, text: str, quote: str, **more: object) -> dict[str, object]:
    """A claim with one quote."""
    quotes = [{"message": message_in(request, quote), "text": quote}]
    return {
        "text": text,
        "quotes": quotes,
        "subject": "person",
        "confidence": 0.9,
        "signal": "explicit",
        "bearing": "new",
        "target": None,
        "names": [],
        **more,
    }


def read(request: CompletionRequest) -> object:
    """What is read in a talk."""
    nothing = {"self_check": {"missed_peak": "none", "attribution": "fine"}}
    if SECRETS[0] not in text_of(request):
        if not any(HARMLESS in text for _, text in messages_in(request)):
            return nothing
        event = claim(
            request,
            "Has a cat, Miso, that sleeps in the warm attic.",
            HARMLESS,
            impact=1,
            names=["Miso"],
            importance=0.5,
        )
        names = [{"name": "Miso", "kind": "pet", "aliases": [], "quotes": event["quotes"]}]
        return nothing | {
            "events": [event],
            "names": names,
            "topics": ["cats"],
            "summary": "Miso the cat sleeps in a purring household.",
            "mood": {"phrase": "cosy", "energy": 4},
        }
    events = [
        claim(
            request,
            f"The cousin Radomir {said.split('Radomir ')[1]}",
            said,
            impact=-4,
            tags=["forlorn"],
            names=["Radomir"],
            subject="other",
            importance=0.6,
        )
        for said in SECRETS
    ]
    opinion = claim(
        request,
        "Thinks that gambling is a slow poison.",
        "I think that gambling is a slow poison",
        subject="companion",
        key="gambling",
    )
    promise = claim(
        request,
        "Will ask about Radomir on Friday.",
        "I will ask you about Radomir on Friday",
        names=["Radomir"],
        subject="companion",
        due_at="2023-11-17",
    )
    tie = {
        "first": "Radomir",
        "tie": "relative_of",
        "second": "person",
        "text": "Radomir is the cousin.",
        "quotes": events[0]["quotes"],
        "confidence": 0.9,
        "signal": "explicit",
    }
    names = [{"name": "Radomir", "kind": "person", "aliases": [], "quotes": events[0]["quotes"]}]
    return nothing | {
        "events": events,
        "opinions": [opinion],
        "commitments": [promise],
        "ties": [tie],
        "names": names,
        "topics": ["roulette"],
        "summary": "A cousin lost zloty and a cello at roulette.",
        "mood": {"phrase": "forlorn for them", "energy": 2, "signal": "warm"},
    }


def cited(request: CompletionRequest, words: str) -> str | None:
    """The small name of what was shown with these words in it."""
    found = re.findall(r'<(?:event|known) id="(\w+)"[^>]*>([^<]*)<', text_of(request))
    return next((name for name, text in found if words in text), None)


def thought(request: CompletionRequest) -> object:
    """What it thinks of it."""
    name = cited(request, "cello")
    text = "Radomir sold his cello, and the bookmaker may still be on the stairs."
    idea = {"text": text, "cites": [name], "about": "person", "impact": -3, "tags": ["forlorn"]}
    return {"thoughts": [idea] if name else []}


def ticked(request: CompletionRequest) -> object:
    """What it suggests because of it."""
    name = cited(request, "cello")
    idea = {
        "text": "Should speak softly of debts.",
        "cites": [name],
        "block": "style",
        "reason": "The pawnbroker is no joke.",
    }
    nothing: dict[str, object] = {
        each: [] for each in ("thoughts", "expectations", "questions", "patterns")
    }
    return nothing | {"suggestions": [idea] if name else []}


def described(_: CompletionRequest) -> object:
    """Who somebody is."""
    text = "The cousin, who sold his cello because of the bookmaker."
    return {"text": text, "cites": ["e1", "e2"]}


SCRIPTS: Mapping[str, Callable[[CompletionRequest], object]] = {
    "classify": judged,
    "reply": replied,
    "extract": read,
    "reflect": thought,
    "slow_tick": ticked,
    "describe": described,
    "adjudicate": lambda _: {"differences": [], "core_intent_match": False, "is_same": False},
}


def says(request: CompletionRequest) -> ScriptedAnswer:
    """What a model answers."""
    given = SCRIPTS[request.purpose](request)
    return given if isinstance(given, str | ScriptedReply) else json.dumps(given)


def thinking_of(app: AppContext) -> AppContext:
    """The house with a model for everything."""
    model = ScriptedModel(says)

    settings = replace(app.settings, models=ModelSettings(small=("scripted:model",)))
    app = replace(app, settings=settings)
    return with_models(app, {"main": model, "small": model, "reflect": model})


async def form(app: AppContext, chat_context: ChatContext) -> None:
    """Have read and thought about whatever waits."""
    await schedule_learning(
        app.db, app.clock, app.settings, chat_context.person.id, cut_reason="asked"
    )
    await work(app)
    async with app.db.begin_write() as tx:
        await enqueue_reflection(tx, app, chat_context.person.id, now=app.clock())
    await work(app)


async def live(app: AppContext, chat_context: ChatContext, clock: FrozenClock) -> list[str]:
    """A harmless talk, and one with the secret, and some words after it; the secret's ids."""
    await answer_message(app, chat_context, MessageSubmission(text=HARMLESS))
    await form(app, chat_context)
    clock.tick(minutes=25 * 60)
    ids = []
    for text in SECRETS:
        clock.tick(minutes=1)
        ids.append(
            (await answer_message(app, chat_context, MessageSubmission(text=text))).message.id
        )
    for text in ("Well, let us see.", "The tram was late again."):
        clock.tick(minutes=1)
        await answer_message(app, chat_context, MessageSubmission(text=text))
    await form(app, chat_context)
    return ids


async def held(app: AppContext, chat_context: ChatContext) -> str:
    """Every text of every row that is kept of the person."""
    rows = await rows_of(app.db, chat_context.person.id)
    return json.dumps(rows, default=str, ensure_ascii=False)


async def assert_formed(app: AppContext, chat_context: ChatContext) -> None:
    """The secret has become all that it can become."""
    person = chat_context.person.id
    async with app.db.begin_read() as tx:
        memories = await list_memories(tx, person)
        names = {each.name: each.description for each in await list_entities(tx, person)}
        assert len(await list_summaries(tx, person)) == 2
        assert len(await list_suggestions(tx, person)) == 1
    kinds = {each.memory.kind for each in memories}
    assert {"note", "event", "opinion", "commitment", "triple", "thought"} <= kinds
    assert "cello" in names["Radomir"]
    before = await held(app, chat_context)
    assert [each for each in TRACES if each not in before] == []


async def assert_gone(app: AppContext, chat_context: ChatContext, report: ForgetReport) -> None:
    """Nothing of the secret is left, and nothing else is missing."""
    assert report.is_proved, report.left
    after = await held(app, chat_context)
    assert [each for each in TRACES if each in after] == []
    assert [each for each in KEPT if each not in after] == []
    pieces = [piece async for _, piece in app.db.iter_raw_bytes()]
    assert [each for each in TRACES for piece in pieces if each.encode() in piece] == []


@pytest.mark.parametrize("by", ["ids", "name"])
async def test_forgetting_erases_everything_models_derived_from_the_messages(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, by: str
) -> None:
    """Not in the call that judged, in a plan, a brief, a summary, a thought, a description, an
    opinion, a promise, a tie, a tool's result or a receipt."""
    talking = thinking_of(app)
    ids = await live(talking, chat_context, clock)
    await assert_formed(app, chat_context)
    wish = DeletionRequest(ids=tuple(ids)) if by == "ids" else DeletionRequest(about="Radomir")
    report = await forget(app, chat_context.person.id, wish)

    await assert_gone(app, chat_context, report)
    await form(talking, chat_context)
    await assert_gone(app, chat_context, report)
