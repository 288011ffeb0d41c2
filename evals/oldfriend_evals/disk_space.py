"""Disk space: what a scripted life with a model takes, by table, index and message."""

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, get_args

import apsw

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import is_postgres_url, parse_database_path
from oldfriend.domain.clock import DAY, HOUR, MINUTE, Micros
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.json import JsonValue
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.llm.model import CompletionRequest, PromptTurn, TokenUsage
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.working_memory import ReplyGoal, UserEmotion
from oldfriend.queues.queue import claim_jobs, find_next_due
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_measures import Measure, Scope, build_upper_target
from oldfriend_evals.corpus import FIRST_DAY, build_sessions, list_sentences
from oldfriend_evals.lives.simulation import Calendar
from oldfriend_evals.model_roles import with_models
from oldfriend_evals.temporary_stores import CHANNEL, build_settings

MOST_BYTES: Final = 4_096
"""The target for a message with a model, everything that is stored included."""
MOST_GROWTH: Final = 1.1
"""How much more a message of the last third may take than one of the first."""
MESSAGES_A_DAY: Final = 40
"""Of both sides; so 3,000 messages are eleven weeks."""
REPLY_SENTENCES: Final = 4
LEASE_S: Final = 30.0
NAME: Final = "scripted:companion"
MEETING_EVERY: Final = 3
"""One of so many messages of the person tells of something that is worth being remembered."""
FRIENDS: Final = (
    *("Ana", "Boris", "Chioma", "Dmitri", "Elena", "Farid", "Greta", "Hiroshi", "Imani", "Jonas"),
    *("Katya", "Leandro", "Mei", "Nadia", "Oskar", "Priya", "Quentin", "Rosa", "Stefan", "Tamsin"),
)
PLACES: Final = (
    *("harbour", "library", "old station", "market hall", "swimming pool", "bakery", "museum"),
    *("botanical garden", "ferry", "town hall", "theatre"),
)
THEMES: Final = (
    *("broken boiler", "choir", "house in the hills", "new teacher", "election", "lost suitcase"),
    *("garden fence", "film festival", "night train", "family recipe", "flood", "violin", "bees"),
)
_MEETING: Final = re.compile(
    r"I met (?P<who>\w+) at the (?P<where>[a-z ]+) and we talked about the (?P<what>[a-z ]+)\."
)
_MET: Final = re.compile(r"Met \w+ at the ([a-z ]+) and talked about the ([a-z ]+)\.")
_MESSAGE: Final = re.compile(r'^<message id="(m\d+)"[^>]*>(.*)</message>$', re.MULTILINE)
SIZES: Final = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What a store took once so many messages were in it."""

    messages: int
    bytes: int
    parts: dict[str, int]  # by table and index


async def measure_disk_space(scope: Scope) -> list[Measure]:
    """Measure how much a message takes on disk, and whether later ones take more."""
    messages = 300 if scope.quick else 3_000
    sizes = await live_and_measure(messages, marks=3)
    first, last = sizes[0], sizes[-1]
    thirds = [compute_bytes_per_message(before, after) for before, after in pairwise(sizes)]
    return [
        Measure(
            name=f"bytes a message with a model, all in, of {messages:,}",
            value=(last.bytes - first.bytes) / last.messages,
            unit="B",
            target=build_upper_target(MOST_BYTES),
            note=f"{MESSAGES_A_DAY} messages a day, after a checkpoint; without the empty store",
        ),
        Measure(
            name="… of the last third of these messages",
            value=thirds[-1],
            unit="B",
            reference=thirds[0],
            target=None if scope.quick else build_upper_target(MOST_GROWTH),
            note="reference: of the first third",
        ),
    ]


def compute_bytes_per_message(before: Size, after: Size) -> float:
    """How much each message between two moments has taken."""
    return (after.bytes - before.bytes) / (after.messages - before.messages)


async def live_and_measure(
    messages: int, *, marks: int, a_day: int = MESSAGES_A_DAY, database: str | None = None
) -> list[Size]:
    """Live so many messages; the sizes at the beginning, and after each of so many equal parts."""
    sizes: list[Size] = []
    async with open_scripted_store(database) as (app, calendar):
        line = await open_local_chat(app.db, app.clock, app.settings, person=None, channel=CHANNEL)
        sizes.append(await measure_size(app, 0))
        turns = messages // 2
        at = {turns * mark // marks for mark in range(1, marks + 1)}
        for number, text in enumerate(iter_remarks(turns), 1):
            await run_due_jobs(app, calendar, until=get_turn_time(number - 1, a_day // 2))
            await say(app, line, text)
            if number in at:
                sizes.append(await measure_size(app, 2 * number))
    return sizes


def iter_remarks(turns: int) -> Iterator[str]:
    """What a person says in so many turns: small talk, and now and then whom they have met."""
    said = (said.text for day in build_sessions(turns, seed=1) for said in day)
    for number, text in enumerate(said):
        yield (
            f"{build_meeting(number // MEETING_EVERY)} {text}"
            if number % MEETING_EVERY == 0
            else text
        )


def build_meeting(number: int) -> str:
    """A sentence about a meeting; the first 2,860 are different."""
    who, where, what = (each[number % len(each)] for each in (FRIENDS, PLACES, THEMES))
    return f"I met {who} at the {where} and we talked about the {what}."


async def say(app: AppContext, line: ChatContext, text: str) -> None:
    """Have one thing said and answered."""
    await answer_message(app, line, MessageSubmission(text=text))


def get_turn_time(turn: int, turns_a_day: int) -> Micros:
    """When a turn takes place: in one talk a day, a minute after the turn before."""
    day, minute = divmod(turn, turns_a_day)
    return FIRST_DAY + day * DAY + minute * MINUTE


@asynccontextmanager
async def open_scripted_store(database: str | None) -> AsyncIterator[tuple[AppContext, Calendar]]:
    """A house with one scripted model for every role, whose clock goes on when it is told to."""
    calendar = Calendar(now=FIRST_DAY - HOUR)
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        settings = build_settings(Path(folder))
        settings = replace(
            settings,
            database=database or settings.database,
            models=replace(settings.models, small=(NAME,)),
        )
        async with open_app(settings) as app:
            model = ScriptedModel(build_scripted_model(random.Random(1)), name=NAME)
            roles = with_models(app, {"main": model, "small": model, "reflect": model})
            yield replace(roles, clock=calendar), calendar


async def run_due_jobs(app: AppContext, calendar: Calendar, *, until: Micros) -> None:
    """Do what a worker would do until a moment, each job when it is due."""
    while True:
        async with app.db.begin_read() as tx:
            due = await find_next_due(tx, "agenda")
        if due is None or due > until:
            break
        calendar.reach(due)
        async with app.db.begin_write() as tx:
            held = await claim_jobs(tx, "agenda", owner="worker", now=app.clock(), lease_s=LEASE_S)
        if held is not None:
            with suppress(OldfriendError):  # it is put off, as it would be by a worker
                await run_jobs(app, held, asyncio.Event())
    calendar.reach(until)


def build_scripted_model(rng: random.Random) -> Callable[[CompletionRequest], ScriptedReply]:
    """A model whose answers have the length and form of a real one's, for every purpose."""

    def answer(request: CompletionRequest) -> ScriptedReply:
        laid = next(turn.text for turn in request.turns if isinstance(turn, PromptTurn))
        text = write_text(request, laid, rng)
        read = len(request.system_prompt + request.call_instructions) + sum(
            len(each.text) for each in request.turns
        )
        return ScriptedReply(
            text=text,
            chunk_size=len(text),
            usage=TokenUsage(input=read // 4, output=len(text) // 4),
        )

    return answer


def write_text(request: CompletionRequest, laid: str, rng: random.Random) -> str:
    """The words of one answer."""
    if request.purpose == "reply":
        return " ".join(rng.choices(list_sentences(), k=rng.randint(2, REPLY_SENTENCES)))
    return json.dumps(write_object(request, laid, rng), ensure_ascii=False)


def write_object(request: CompletionRequest, laid: str, rng: random.Random) -> JsonValue:
    """The object that a request in the background, or for judging a message, asks for."""
    match request.purpose:
        case "classify":
            return {
                "complexity": "simple",
                "search": True,
                "tool": None,
                "emotion": rng.choice(get_args(UserEmotion)),
                "goal": rng.choice(get_args(ReplyGoal)),
                "signal": "normal",
                "plan": None,
                "asks_for": [],
            }
        case "extract":
            return build_claims(laid)
        case "adjudicate":
            return {"same": False}
        case "describe":
            met = _MET.search(laid)
            told = "" if met is None else f"Met at the {met[1]} to talk about the {met[2]}."
            return {"text": told, "cites": ["e1", "e2"]}
        case "summary":
            return {"text": " ".join(rng.choices(list_sentences(), k=3)), "topics": ["talk"]}
        case _:
            return {"thoughts": [], "expectations": [], "questions": [], "patterns": []}


def build_claims(laid: str) -> JsonValue:
    """An event for each meeting that the messages to be read tell of, and whom it names."""
    met = [
        (message, found)
        for message, text in _MESSAGE.findall(laid)
        for found in _MEETING.finditer(text)
    ]
    return {
        "events": [build_event_claim(message, found) for message, found in met],
        "names": [build_name_claim(message, found) for message, found in met],
        "facts": [],
        "same": [],
        "ties": [],
        "preferences": [],
        "patterns": [],
        "commitments": [],
        "expectations": [],
        "opinions": [],
        "topics": ["friends"],
        "summary": " ".join(f"Met {found['who']}." for _, found in met) or "Small talk.",
        "mood": {"phrase": "quiet", "energy": 4, "signal": None},
        "self_check": {"missed_peak": "none", "attribution": "checked"},
    }


def build_event_claim(message: str, found: re.Match[str]) -> JsonValue:
    """The claim that a meeting took place."""
    return {
        "text": f"Met {found['who']} at the {found['where']} and talked about the {found['what']}.",
        "quotes": [{"message": message, "text": found[0]}],
        "subject": "person",
        "confidence": 0.9,
        "signal": "explicit",
        "importance": 0.6,
        "names": [found["who"]],
        "bearing": "new",
        "target": None,
        "impact": 2,
        "tags": ["calm"],
        "happened_at": None,
    }


def build_name_claim(message: str, found: re.Match[str]) -> JsonValue:
    """The claim that somebody has this name."""
    quote: JsonValue = {"message": message, "text": found[0]}
    return {"name": found["who"], "kind": "person", "aliases": [], "quotes": [quote]}


async def measure_size(app: AppContext, messages: int) -> Size:
    """What a store takes now, after a checkpoint on SQLite; by parts only there."""
    await app.db.truncate_wal()
    url = app.settings.database
    parts = {} if is_postgres_url(url) else measure_parts(parse_database_path(url))
    return Size(messages=messages, bytes=await app.db.size_bytes(), parts=parts)


def measure_parts(file: Path) -> dict[str, int]:
    """The bytes of each table and index of a SQLite file, the largest first."""
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return {name: int(size) for name, size in connection.execute(SIZES)}
    finally:
        connection.close()
