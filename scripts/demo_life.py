"""Make a data folder with the memory of an invented life: demo_life.py FOLDER [--until MOMENT].

Nine weeks of one person's talk (`demo/life.toml`), told to the real product by a clock of its own:
an import, turns, and every job that falls due in between. The models are scripted, in this process:
what a good reader would answer stands beside each line. The same each time, but for the ids, and
moved by whole weeks so that it ended within the last seven days.
"""

import argparse
import asyncio
import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import ChatRef
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings import Settings, load_settings
from oldfriend.config.settings_schema import ModelRole
from oldfriend.domain.clock import DAY, Micros, from_micros, parse_timestamp, system_clock
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.messages import Person, estimate_tokens
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.inbound.chat_resolver import resolve_chat
from oldfriend.learning.learning_scheduler import schedule_learning
from oldfriend.llm.model import CompletionRequest, PromptTurn, TokenUsage
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from oldfriend.memory.core_blocks import BLOCK_NAMES, write_block
from oldfriend.memory.people import (
    ensure_companion,
    ensure_owner,
    get_person_by_id,
    rename_person,
    set_language,
)
from oldfriend.proactive.proactive_settings import ProactiveSettings, save_proactive_settings
from oldfriend.queues.queue import ack, claim_jobs, find_next_due, release_lease
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.runtime.wiring import open_app
from oldfriend.transfer.import_run import import_messages
from oldfriend.transfer.preview import build_preview
from oldfriend_evals.lives.simulation import Calendar
from oldfriend_evals.lives.turn_simulation import with_models

FOLDER: Final = Path(__file__).parent / "demo"
LIFE: Final = FOLDER / "life.toml"
OLD_CHAT: Final = FOLDER / "WhatsApp Chat with Jonah.txt"
BROUGHT_ON: Final = (6, "15:10")
"""The day and time at which the old chat is brought in."""
A_MOMENT: Final = 20_000
"""Microseconds that go by while anybody looks at the clock."""
LEASE_S: Final = 30.0
LISTS: Final[Mapping[str, str]] = {
    "event": "events",
    "fact": "facts",
    "preference": "preferences",
    "pattern": "patterns",
    "commitment": "commitments",
    "expectation": "expectations",
    "opinion": "opinions",
}
PRICE_IN, PRICE_OUT = 0.25, 1.0
"""Millionths of a dollar for a token, so that the ledger has something to show."""
_LABEL: Final = re.compile(r'<(message|known|event) id="(\w+)"[^>]*>(.*?)</\1>', re.DOTALL)
_SUMMARY: Final = re.compile(r"<summary [^>]*>(.*?)</summary>", re.DOTALL)
_WHO: Final = re.compile(r"Who or what is meant: (.*?) \(")

Fields = dict[str, object]
Entry = Mapping[str, object]


@dataclass(slots=True)
class Story:
    """The life as it is written, on the days on which it falls this time."""

    told: Entry
    monday: date
    done: set[str] = field(default_factory=set)  # what was thought already

    @property
    def zone(self) -> str:
        """By whose clocks it is lived."""
        return str(self.told["zone"])

    @property
    def lines(self) -> Sequence[Entry]:
        """All that the person says."""
        return self.list("said")

    def list(self, name: str) -> Sequence[Entry]:
        """The entries under a name."""
        found = self.told.get(name, ())
        assert isinstance(found, list)
        return found

    def day(self, number: object) -> date:
        """The day so many after the first Monday."""
        assert isinstance(number, int)
        return self.monday + timedelta(days=number)

    def at(self, number: object, time: object) -> Micros:
        """A moment of it."""
        return parse_timestamp(f"{self.day(number)}T{time}", self.zone)[0]

    def due(self, entry: Entry, name: str = "due") -> str | None:
        """A day that an entry names."""
        return str(self.day(entry[name])) if name in entry else None


def story_until(until: Micros) -> Story:
    """The life, moved by whole weeks so that all of it is past."""
    told = tomllib.loads(LIFE.read_text("utf-8"))
    first = date.fromisoformat(str(told["starts_on"]))
    last = first + timedelta(days=max(int(each["day"]) for each in told["said"]))
    yesterday = from_micros(until - DAY, str(told["zone"])).date()
    return Story(told=told, monday=first + timedelta(weeks=(yesterday - last).days // 7))


def digest() -> str:
    """By which the texts of the life are known."""
    return hashlib.sha256(LIFE.read_bytes() + OLD_CHAT.read_bytes()).hexdigest()


# What the scripted models answer.


def reader(story: Story) -> Callable[[CompletionRequest], ScriptedReply]:
    """The small model: reads, understands, sums up; a little slower than it needs to be."""

    def told(request: CompletionRequest) -> str:
        match request.purpose:
            case "extract":
                return as_json(reading(story, request))
            case "classify":
                return as_json(understood(story, request))
            case "summary":
                return as_json(folded(request))
            case _:
                differ = {"differences": ["said of two things"], "core_intent_match": False}
                return as_json({**differ, "is_same": False})

    return lambda request: charged(request, told(request))


def thinker(story: Story) -> Callable[[CompletionRequest], ScriptedReply]:
    """The one that thinks between conversations."""

    def told(request: CompletionRequest) -> str:
        if request.purpose == "describe":
            return as_json(described(story, request))
        return as_json(ideas(story, request))

    return lambda request: charged(request, told(request))


def charged(request: CompletionRequest, text: str) -> ScriptedReply:
    """An answer with what it would have cost."""
    asked = sum(
        map(estimate_tokens, (request.system_prompt, request.call_instructions, shown(request)))
    )
    said = estimate_tokens(text)
    return ScriptedReply(
        text=text,
        usage=TokenUsage(input=asked, output=said),
        cost=round(asked * PRICE_IN + said * PRICE_OUT),
    )


def reading(story: Story, request: CompletionRequest) -> Fields:
    """What is to be learned of the lines that are laid before it."""
    labels = labels_in(request)
    names = {text: name for kind, name, text in labels if kind == "message"}
    known = {text: name for kind, name, text in labels if kind == "known"}
    read = [line for line in story.lines if flat(line["text"]) in names]
    found: Fields = {part: [] for part in (*LISTS.values(), "names", "same", "ties", "topics")}
    for line in read:
        for part, item in items_of(story, line, names, known):
            into = found[part]
            assert isinstance(into, list)
            into.append(item)
    moods = [line["mood"] for line in read if "mood" in line]
    found["mood"] = mood_of(moods[-1]) if moods else None
    found["summary"] = " ".join(str(line["gist"]) for line in read if "gist" in line)
    found["self_check"] = {"missed_peak": "none", "attribution": "all rests on their words"}
    wanted = (request.output or {}).get("properties")
    assert isinstance(wanted, dict)
    return {part: value for part, value in found.items() if part in wanted}


def items_of(
    story: Story, line: Entry, names: Mapping[str, str], known: Mapping[str, str]
) -> Iterator[tuple[str, Fields]]:
    """What one line tells, and in which list it stands."""
    for each in list_in(line, "learned"):
        yield claim_of(story, line, each, names, known)
    for each in named_in(story, line):
        quotes = [{"message": names[flat(line["text"])], "text": each["name"]}]
        yield "names", {"name": each["name"], "kind": each["kind"], "aliases": [], "quotes": quotes}
    for each in list_in(line, "ties"):
        ends = {name: each[name] for name in ("first", "tie", "second", "text")}
        times = {"holds_from": story.due(each, "from"), "holds_until": story.due(each, "until")}
        yield "ties", {**ends, **times, "quotes": quoted(line, each, names), "confidence": 0.9}


def named_in(story: Story, line: Entry) -> list[Entry]:
    """Who and what is named in a line, by the longest name that stands there."""
    known = {str(name["name"]): name for each in story.lines for name in list_in(each, "names")}
    said = str(line["text"])
    there = [name for name in known if re.search(rf"\b{re.escape(name)}\b", said)]
    shorter = {name for name in there for other in there if name != other and name in other}
    return [known[name] for name in there if name not in shorter]


def claim_of(
    story: Story, line: Entry, told: Entry, names: Mapping[str, str], known: Mapping[str, str]
) -> tuple[str, Fields]:
    """One claim in the form that a reader gives it."""
    kind = next(iter(told))
    bearing, target = bearing_of(told, str(told[kind]), known)
    item: Fields = {
        "text": told[kind],
        "quotes": quoted(line, told, names),
        "bearing": bearing,
        "target": target,
        "subject": told.get("by", told.get("subject", "person")),
        "confidence": 0.9,
        "signal": "explicit",
        "names": told.get("names", []),
        "importance": min(1.0, 0.4 + abs(int(str(told.get("impact", 0)))) / 15),
    }
    for name in ("key", "value", "impact", "tags", "arousal", "relational"):
        if name in told:
            item[name] = told[name]
    if kind == "pattern":
        item["pattern"] = told.get("pattern_kind", "behavior")
    item |= {"due_at": story.due(told), "happened_at": story.due(told, "day")}
    item |= {"holds_from": story.due(told, "since")}
    return LISTS[kind], item


def bearing_of(told: Entry, text: str, known: Mapping[str, str]) -> tuple[str, str | None]:
    """How something stands to what is known already."""
    old = str(told.get("instead", text))
    if flat(old) not in known:
        return "new", None
    word = "fulfils" if "kept" in told else "supersedes" if "instead" in told else "reinforces"
    return word, known[flat(old)]


def understood(story: Story, request: CompletionRequest) -> Fields:
    """How somebody seems as they say something."""
    laid = shown(request)
    line = next((each for each in story.lines if flat(each["text"]) in flat(unescape(laid))), {})
    return {
        "complexity": "simple",
        "search": True,
        "tool": None,
        "signal": "normal",
        "emotion": line.get("seems", "neutral"),
        "goal": "empathize",
        "plan": None,
        "asks_for": [],
    }


def folded(request: CompletionRequest) -> Fields:
    """Several summaries as one: of each what it begins with, of longer ones some more."""
    told = [flat(unescape(each)) for each in _SUMMARY.findall(shown(request))]
    parts = [re.split(r"(?<=\.) ", each) for each in told]
    kept = [" ".join(each[: 1 + len(each) // 3]) for each in parts]
    return {"text": " ".join(kept), "topics": []}


def ideas(story: Story, request: CompletionRequest) -> Fields:
    """What comes to mind over what is known now, and was not thought before."""
    names = {text: name for _, name, text in labels_in(request)}
    wanted = (request.output or {}).get("properties")
    assert isinstance(wanted, dict)
    found: dict[str, list[Fields]] = {part: [] for part in wanted}
    for part, name in IDEAS.items():
        for each in story.list(name) if part in found else ():
            cites = [names.get(flat(text)) for text in list_in(each, "cites")]
            if None in cites or str(each["text"]) in story.done or len(found[part]) >= MOST[part]:
                continue
            story.done.add(str(each["text"]))
            found[part].append(idea_of(story, each, part, cites))
    return dict(found)


IDEAS: Final[Mapping[str, str]] = {
    "thoughts": "thought",
    "questions": "question",
    "expectations": "expected",
    "patterns": "over",
    "suggestions": "suggestion",
}
MOST: Final[Mapping[str, int]] = {
    "thoughts": 1,
    "questions": 1,
    "expectations": 1,
    "patterns": 1,
    "suggestions": 1,
}


def idea_of(story: Story, told: Entry, part: str, cites: Sequence[str | None]) -> Fields:
    """One idea in the form of its list."""
    idea: Fields = {"text": told["text"], "cites": [*cites]}
    more: Mapping[str, Fields] = {
        "thoughts": {"about": "person", "impact": told.get("impact", 0), "tags": []},
        "expectations": {"due_at": story.due(told)},
        "patterns": {"pattern": "causal"},
        "suggestions": {"block": told.get("block"), "reason": told.get("reason")},
    }
    return {**idea, **more.get(part, {})}


def described(story: Story, request: CompletionRequest) -> Fields:
    """Who somebody is; nothing of whom nothing is written here."""
    asked = _WHO.search(request.call_instructions)
    who = asked[1] if asked else ""
    text = next((each["text"] for each in story.list("described") if each["name"] == who), "")
    cites = [name for kind, name, _ in labels_in(request) if kind == "event"]
    return {"text": text, "cites": cites[:3]}


def labels_in(request: CompletionRequest) -> list[tuple[str, str, str]]:
    """What is laid before a model: of which kind, under which small name, in which words."""
    found = _LABEL.findall(shown(request))
    return [(kind, name, flat(unescape(text))) for kind, name, text in found]


def shown(request: CompletionRequest) -> str:
    """All that a model is told beside its instructions."""
    return "\n".join(turn.text for turn in request.turns if isinstance(turn, PromptTurn))


def quoted(line: Entry, told: Entry, names: Mapping[str, str]) -> list[Fields]:
    """The words for something: of the person, or of the companion where it is its own."""
    said = line["reply"] if told.get("by") == "companion" else line["text"]
    return [{"message": names.get(flat(said), ""), "text": told["words"]}]


def mood_of(told: object) -> Fields:
    """How a talk leaves the companion."""
    assert isinstance(told, list)
    return {"phrase": told[0], "energy": told[1], "signal": told[2]}


def list_in(entry: Entry, name: str) -> Sequence[Entry]:
    """A list in an entry, empty where there is none."""
    found = entry.get(name, [])
    assert isinstance(found, list)
    return found


def flat(text: object) -> str:
    """A text on one line."""
    return " ".join(str(text).split())


def as_json(value: object) -> str:
    """A value as a model writes it."""
    return json.dumps(value, ensure_ascii=False)


# How it is lived.


@dataclass(slots=True)
class Living:
    """The life under way in a house."""

    app: AppContext
    story: Story
    calendar: Calendar
    person: Person

    async def live(self, until: Micros) -> None:
        """All of it, and what falls due until then."""
        brought = False
        for line in self.story.lines:
            if not brought and int(str(line["day"])) > BROUGHT_ON[0]:
                await self.bring_old_chat()
                brought = True
            await self.hear(line)
        await self.advance(until)

    async def hear(self, line: Entry) -> None:
        """Say one line, and have it answered."""
        at = self.story.at(line["day"], line["at"])
        await self.advance(at)
        said = MessageSubmission(text=str(line["text"]), at=at, zone=self.story.zone)
        await answer_message(self.app, await self.open(str(line["on"])), said)

    async def open(self, channel: str) -> ChatContext:
        """The chat on a channel."""
        if channel in CHANNELS:
            name = self.person.name
            spot = ChatRef(channel=channel, address=name, title=name, is_private=True)
            return await resolve_chat(self.app.db, self.app.clock, self.person, spot)
        return await open_local_chat(
            self.app.db, self.app.clock, self.app.settings, person=self.person.name, channel=channel
        )

    async def bring_old_chat(self) -> None:
        """Import a chat of long ago."""
        await self.advance(self.story.at(*BROUGHT_ON))
        preview = build_preview(
            OLD_CHAT, me=self.person.name, person=self.person.name, zone=self.story.zone
        )
        async with self.app.db.begin_write() as tx:
            companion = await ensure_companion(tx, now=self.calendar.now)
        await import_messages(
            self.app.db, preview, person=self.person, companion=companion, clock=self.calendar
        )
        await schedule_learning(
            self.app.db, self.app.clock, self.app.settings, self.person.id, cut_reason="import"
        )

    async def advance(self, until: Micros) -> None:
        """Let time go by, and do what a worker would do meanwhile, each thing when it is due."""
        await self.deliver()
        while True:
            async with self.app.db.begin_read() as tx:
                due = await find_next_due(tx, "agenda")
            if due is None or due > until:
                break
            self.calendar.reach(due)
            async with self.app.db.begin_write() as tx:
                now = self.app.clock()
                held = await claim_jobs(tx, "agenda", owner="worker", now=now, lease_s=LEASE_S)
            if held is not None:
                with suppress(OldfriendError):  # it is put off, and stays to be seen
                    await run_jobs(self.app, held, asyncio.Event())
        self.calendar.reach(until)

    async def deliver(self) -> None:
        """What was written to a platform counts as sent: nobody is there."""
        async with self.app.db.begin_write() as tx:
            now = self.app.clock()
            held = await claim_jobs(tx, "outbox", owner="worker", now=now, lease_s=LEASE_S)
            if held is not None:
                await ack(tx, held, held.jobs, now=now)
                await release_lease(tx, held, now=now)


async def make(settings: Settings, *, until: Micros) -> None:
    """Make the memory of the life where the settings say."""
    story = story_until(until)
    calendar = Calendar(now=story.at(0, "18:30"))

    def clock() -> Micros:
        calendar.reach(calendar.now + A_MOMENT)
        return calendar.now

    settings = replace(
        settings,
        zone=story.zone,
        language="en",
        models=replace(settings.models, small=("scripted:small",)),
    )
    async with open_app(settings, clock=clock) as opened:
        app = replace(opened, models=with_models(opened, models_for(story)).models)
        living = Living(app=app, story=story, calendar=calendar, person=await begin(app, story))
        await living.live(until)


def models_for(story: Story) -> dict[ModelRole, ScriptedModel]:
    """Who answers for each role."""

    def reply(request: CompletionRequest) -> ScriptedReply:
        asked = next(turn.text for turn in reversed(request.turns) if isinstance(turn, PromptTurn))
        line = next(each for each in story.lines if flat(each["text"]) in flat(unescape(asked)))
        return charged(request, str(line["reply"]))

    return {
        "main": ScriptedModel(reply, name="scripted:main"),
        "small": ScriptedModel(reader(story), name="scripted:small"),
        "reflect": ScriptedModel(thinker(story), name="scripted:reflect"),
    }


async def begin(app: AppContext, story: Story) -> Person:
    """The owner, who has written who is who."""
    who = story.told["who"]
    assert isinstance(who, dict)
    async with app.db.begin_write() as tx:
        now = app.clock()
        await ensure_companion(tx, now=now)
        owner = await ensure_owner(tx, now=now, zone=story.zone)
        await rename_person(tx, owner, str(story.told["person"]), platforms=app.platforms)
        await set_language(tx, owner.id, "en")
        # what is said unasked is in no script
        await save_proactive_settings(tx, owner.id, ProactiveSettings(level="off"), now=now)
        for name in BLOCK_NAMES:
            await write_block(tx, owner.id, name, str(who[name]).strip(), now=now)
        return await get_person_by_id(tx, owner.id)


def main() -> int:
    """Make it in an empty folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--until", help="as if it were this moment, such as 2026-11-22T12:00")
    options = parser.parse_args()
    if options.folder.exists() and any(options.folder.iterdir()):
        sys.stderr.write(f"{options.folder} is not empty.\n")
        return 1
    until = parse_timestamp(options.until, "UTC")[0] if options.until else system_clock()
    asyncio.run(make(load_settings({}, data=str(options.folder)), until=until))
    sys.stdout.write(f"Look at it: oldfriend --data {options.folder} serve --open\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
