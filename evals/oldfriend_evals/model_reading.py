"""Cost of reading by a model: tokens for each word that the person says in two months.

A life of ``blind/`` is said message by message while a clock goes on and a worker does what is due.
A scripted model stands for the reader: its answers are valid and rest on the words, and it tells
each fact of the life once the last message that the fact rests on is read.

    python -m oldfriend_evals.model_reading [FOLDER ...]
"""

import asyncio
import json
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import SessionId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import TRUST_BY_ROLE, UnloggedMessage, estimate_tokens
from oldfriend.inbound.accept import (
    ChatContext,
    MessageSubmission,
    accept_message,
    open_local_chat,
)
from oldfriend.learning.learning_scheduler import enqueue_learning_for_message
from oldfriend.llm.model import CompletionRequest, PromptTurn, estimate_input_tokens
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.message_log import WriteTarget, write_messages
from oldfriend.memory.people import rename_person
from oldfriend.memory.segments import count_segments
from oldfriend.queues.queue import claim_jobs
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_measures import Measure, Scope, build_lower_target, build_upper_target
from oldfriend_evals.blind_lives import (
    FOLDER,
    ROLES,
    BlindLife,
    Record,
    get_said_at,
    holds,
    judge_beliefs,
    list_stored,
    load_blind_life,
)
from oldfriend_evals.lives.simulation import Calendar
from oldfriend_evals.model_roles import with_models
from oldfriend_evals.temporary_stores import build_settings

LIVES: Final = ("en-casual-1", "pt-casual-1")
TOKENS_PER_WORD: Final = 25.0
CAPTURED: Final = 90.0
"""Percent of the facts that must be believed: what a good reader tells, the gates accept."""
AFTERWARDS: Final = 15 * DAY
"""After so long everything that waits is read."""
MAX_QUOTE: Final = 160
MESSAGE: Final = re.compile(r'<message id="(m\d+)"[^>]*>(.*?)</message>')
KNOWN: Final = re.compile(r'<known id="(k\d+)"[^>]*>(.*?)</known>')
WORD: Final = re.compile(r"\S+")


@dataclass(slots=True)
class ReadingCost:
    """What reading a life has cost, and what came of it."""

    words: int
    calls: Counter[str] = field(default_factory=Counter)  # by purpose
    tokens_in: Counter[str] = field(default_factory=Counter)
    tokens_out: Counter[str] = field(default_factory=Counter)
    segments: int = 0
    facts: int = 0
    captured: int = 0

    @property
    def per_word(self) -> float:
        """Tokens of input and output for each word that the person said."""
        return (self.tokens_in.total() + self.tokens_out.total()) / self.words


@dataclass(slots=True)
class ScriptedReader:
    """A reader that knows which facts of a life rest on which of its messages."""

    life: BlindLife
    cost: ReadingCost
    read: set[str] = field(default_factory=set)

    def answer(self, request: CompletionRequest) -> ScriptedReply:
        """Answer a request of any purpose, and count its tokens."""
        if request.purpose == "extract":
            answer = self.extract(request)
        elif request.purpose == "adjudicate":
            answer = {"differences": ["what"], "core_intent_match": False, "is_same": False}
        else:
            answer = {"text": "It was a week like others.", "topics": ["life"]}
        text = json.dumps(answer, ensure_ascii=False)
        self.cost.calls[request.purpose] += 1
        self.cost.tokens_in[request.purpose] += count_request_tokens(request)
        self.cost.tokens_out[request.purpose] += estimate_tokens(text)
        return ScriptedReply(text=text)

    def extract(self, request: CompletionRequest) -> dict[str, JsonValue]:
        """Tell the facts whose last message is among those that are to be read."""
        shown = "\n".join(turn.text for turn in request.turns if isinstance(turn, PromptTurn))
        aliases = self.find_messages(shown)
        known = {flatten(text): alias for alias, text in KNOWN.findall(shown)}
        self.read |= aliases.keys()
        events: list[JsonValue] = []
        facts: list[JsonValue] = []
        for fact in self.life.facts:
            evidence = set(fact["evidence"])
            if evidence <= self.read and evidence & aliases.keys():
                told = events if fact["kind"] == "event" else facts
                told.append(self.build_claim(fact, aliases, known))
        return {
            "events": events,
            "facts": facts,
            "topics": ["home", "work"],
            "summary": "They told of their days at home and at work. Some of it was hard.",
            "mood": {"phrase": "glad to have heard it", "energy": 5, "signal": "warm"},
            "self_check": {
                "missed_peak": "none",
                "attribution": "Every claim rests on the person's own words.",
            },
        }

    def find_messages(self, shown: str) -> dict[str, str]:
        """Return the aliases of the life's messages that are to be read, by their ids."""
        ids = {flatten(each["text"]): each["id"] for each in self.life.messages}
        found = ((flatten(text), alias) for alias, text in MESSAGE.findall(shown))
        return {ids[text]: alias for text, alias in found if text in ids}

    def build_claim(
        self, fact: Record, aliases: dict[str, str], known: dict[str, str]
    ) -> dict[str, JsonValue]:
        """Build the claim of a fact, with a quote of each message that is to be read."""
        said = {each["id"]: each["text"] for each in self.life.messages}
        name = self.life.about["person"]
        is_own = fact["about"] == "person"
        text = fact["statement"]
        if is_own and text.startswith(f"{name} "):
            text = text.removeprefix(f"{name} ").capitalize()
        quotes: list[JsonValue] = [
            {"message": aliases[each], "text": choose_quote(said[each], fact["values"])}
            for each in fact["evidence"]
            if each in aliases
        ]
        target = known.get(flatten(text))
        key = f"{fact['kind']}_{fact['id']}"
        return {
            "text": text,
            "quotes": quotes,
            "key": key if is_own else f"{fact['about']}:{key}",
            "value": str(fact["values"][0]),
            "subject": "person" if is_own else "other",
            "confidence": 0.95,
            "bearing": "new" if target is None else "reinforces",
            "target": target,
            "names": [] if is_own else [fact["about"]],
        }


def count_request_tokens(request: CompletionRequest) -> int:
    """Count what a provider with JSON Schema is sent: instructions, words and schema."""
    schema = "" if request.output is None else json.dumps(request.output, separators=(",", ":"))
    return estimate_input_tokens(request) + estimate_tokens(schema)


def choose_quote(text: str, values: Sequence[str]) -> str:
    """Return the sentence of a message that holds one of the values; else its beginning."""
    sentences = re.split(r"(?<=[.!?\n])\s+", text)
    found = next((each for each in sentences if any(holds(each, value) for value in values)), text)
    return found[:MAX_QUOTE]


def flatten(text: str) -> str:
    """Return a text with single blanks."""
    return " ".join(text.split())


async def measure_life_reading(folder: Path) -> ReadingCost:
    """Have a life said and read, and return what it cost."""
    life = load_blind_life(folder)
    words = sum(len(WORD.findall(e["text"])) for e in life.messages if e["from"] == "person")
    cost = ReadingCost(words=words)
    reader = ScriptedReader(life=life, cost=cost)
    async with open_life_store(life) as (app, calendar):
        app = with_models(app, {"small": ScriptedModel(reader.answer)})
        line = await open_local_chat(
            app.db, app.clock, app.settings, person=None, channel="terminal"
        )
        async with app.db.begin_write() as tx:
            person = await rename_person(tx, line.person, life.about["person"], platforms=())
        line = replace(line, person=person)
        session: SessionId | None = None
        for message in life.messages:
            await work_until(app, calendar, get_said_at(message))
            session = await say(app, line, life, message, session)
        await work_until(app, calendar, life.end + AFTERWARDS)
        judged = judge_beliefs(life, await list_stored(app, line))
        async with app.db.begin_read() as tx:
            cost.segments = sum((await count_segments(tx, person.id)).values())
    cost.facts, cost.captured = judged["facts"], judged["captured"]
    return cost


@asynccontextmanager
async def open_life_store(life: BlindLife) -> AsyncIterator[tuple[AppContext, Calendar]]:
    """A house whose clock stands at the first message of a life."""
    calendar = Calendar(now=get_said_at(life.messages[0]))
    with TemporaryDirectory(prefix="oldfriend-model-reading-") as folder:
        settings = replace(
            build_settings(Path(folder)), zone=life.about["zone"], language=life.about["language"]
        )
        async with open_app(settings, clock=calendar) as app:
            yield app, calendar


async def say(
    app: AppContext,
    line: ChatContext,
    life: BlindLife,
    message: Record,
    session: SessionId | None,
) -> SessionId | None:
    """Store a message as it was said; return the session that it belongs to."""
    role, at, zone = ROLES[message["from"]], get_said_at(message), life.about["zone"]
    if role == "person":
        submission = MessageSubmission(
            text=message["text"], at=at, zone=zone, external_id=message["id"]
        )
        accepted = await accept_message(app, line, submission, claim_now=False)
        session = None if accepted is None else accepted.message.session
    async with app.db.begin_write() as tx:
        if session is not None and role != "person":
            await write_other(tx, line, session, message, zone=zone, at=at)
        if session is not None:
            await enqueue_learning_for_message(tx, app.settings, line.person.id, session, now=at)
    return session


async def write_other(
    tx: Transaction,
    line: ChatContext,
    session: SessionId,
    message: Record,
    *,
    zone: str,
    at: Micros,
) -> None:
    """Write what the companion answered into the session."""
    role = ROLES[message["from"]]
    spoken = UnloggedMessage(
        role=role,
        speaker="Oldfriend",
        text=message["text"],
        at=at,
        zone=zone,
        trust=TRUST_BY_ROLE[role],
        external_id=message["id"],
    )
    await write_messages(tx, WriteTarget(chat=line.chat, session=session), [spoken], now=at)


async def work_until(app: AppContext, calendar: Calendar, moment: Micros) -> None:
    """Do what falls due until a moment, at its time, as a worker would."""
    while True:
        async with app.db.begin_write() as tx:
            row = await tx.row(
                "SELECT min(due_at) FROM job WHERE queue = 'agenda' AND dead_lettered_at IS NULL"
            )
            due_at = None if row is None or row[0] is None else int(row[0])
            if due_at is None or due_at > moment:
                break
            calendar.reach(due_at)
            held = await claim_jobs(tx, "agenda", owner="worker", now=calendar.now, lease_s=30)
        if held is None:
            break
        await run_jobs(app, held, asyncio.Event())
    calendar.reach(moment)


def format_cost(name: str, cost: ReadingCost) -> str:
    """Put the cost of a life in a line."""
    parts = ", ".join(
        f"{purpose} {calls} ({cost.tokens_in[purpose]:,} in, {cost.tokens_out[purpose]:,} out)"
        for purpose, calls in sorted(cost.calls.items())
    )
    return (
        f"{name}: {cost.per_word:.1f} tokens a word ({cost.words:,} words, {cost.segments} "
        f"segments, {cost.calls.total()} calls: {parts}); facts believed {cost.captured} of "
        f"{cost.facts}"
    )


async def measure_model_reading(scope: Scope) -> list[Measure]:
    """The tokens of reading for each word said, and the share of facts that are believed."""
    lives = LIVES[:1] if scope.quick else LIVES
    costs = {name: await measure_life_reading(FOLDER / name) for name in lives}
    return [
        measure
        for name, cost in costs.items()
        for measure in (
            Measure(
                name=f"reading by a model: tokens a word, {name}",
                value=cost.per_word,
                unit="tokens",
                target=build_upper_target(TOKENS_PER_WORD),
                note=format_cost(name, cost),
            ),
            Measure(
                name=f"reading by a model: facts believed, {name}",
                value=100 * cost.captured / cost.facts,
                unit="%",
                target=build_lower_target(CAPTURED),
            ),
        )
    ]


async def measure_lives(folders: Iterable[Path]) -> None:
    """Measure each life, and print a line for it."""
    for folder in folders:
        sys.stdout.write(f"{format_cost(folder.name, await measure_life_reading(folder))}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(
        measure_lives(
            map(Path, sys.argv[1:]) if sys.argv[1:] else [FOLDER / name for name in LIVES]
        )
    )
