"""Blind lives: what is remembered without a model of lives that nobody tunes to.

Each life of ``blind/`` was written by somebody who has not seen the code: what was said over two
months, what is true of it, what a careless reader would get wrong, and questions. A life is
measured once as fresh; whoever reads it or mends anything by it moves it to the training side.

    python -m oldfriend_evals.blind_lives [FOLDER ...]
"""

import asyncio
import json
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.domain.clock import HOUR, Micros, to_micros
from oldfriend.domain.messages import TRUST_BY_ROLE, Role, UnloggedMessage
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.learning.learning_scheduler import consolidate_segment, schedule_learning
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.memory.people import rename_person
from oldfriend.memory.receipts import find_receipt
from oldfriend.memory.segments import list_segments
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.wiring import open_app
from oldfriend.turn.recalled import RecallQuery
from oldfriend.turn.retrieval import recall
from oldfriend_evals.bench_measures import Measure, Scope, build_lower_target, build_upper_target
from oldfriend_evals.temporary_stores import build_settings

FOLDER: Final = Path(__file__).parent / "blind"
FOUND: Final = 10
USEFUL_ENGLISH, USEFUL, PRESENTED_WRONG, CAPTURED, RIGHT = 65.0, 50.0, 5.0, 35.0, 90.0
"""Percent that are aimed at without a model."""
ROLES: Final[Mapping[str, Role]] = {"person": "person", "companion": "companion", "other": "other"}
SPACED: Final = r"[^\W_\u2e80-\U0003ffff]"
"""A letter or digit that would continue a word; Chinese and Japanese put no blank around one."""
Record = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlindLife:
    """What was said, what is true of it, and what is asked."""

    name: str
    about: Record
    messages: Sequence[Record]
    facts: Sequence[Record]
    traps: Sequence[Record]
    questions: Sequence[Record]

    @property
    def end(self) -> Micros:
        """An hour after the last message."""
        return get_said_at(self.messages[-1]) + HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """A belief: its words, and the messages that it rests on."""

    text: str
    messages: frozenset[str]


def load_blind_life(folder: Path) -> BlindLife:
    """Read a life."""
    parts = {
        name: [json.loads(line) for line in read_lines(folder / f"{name}.jsonl")]
        for name in ("messages", "facts", "traps", "questions")
    }
    about = json.loads((folder / "life.json").read_text("utf-8"))
    return BlindLife(name=folder.name, about=about, **parts)


def read_lines(file: Path) -> list[str]:
    """Read the lines of a file that hold something."""
    return [line for line in file.read_text("utf-8").splitlines() if line.strip()]


def get_said_at(message: Record) -> Micros:
    """When a message was said."""
    return to_micros(datetime.fromisoformat(message["at"]))


async def live(app: AppContext, life: BlindLife) -> ChatContext:
    """Have everything said, embedded and read."""
    line = await say_all(app, life)
    person = line.person
    await schedule_learning(app.db, app.clock, app.settings, person.id, cut_reason="asked")
    async with app.db.begin_read() as tx:
        waiting = await list_segments(tx, person.id, status=["waiting"])
    for segment in waiting:
        await consolidate_segment(app, person.id, segment.id)
    return line


async def say_all(app: AppContext, life: BlindLife) -> ChatContext:
    """Have everything said and embedded, and nothing read."""
    line = await open_local_chat(app.db, app.clock, app.settings, person=None, channel="terminal")
    async with app.db.begin_write() as tx:
        person = await rename_person(tx, line.person, life.about["person"], platforms=())
        messages = [to_imported(message, life) for message in life.messages]
        target = ImportTarget(chat=line.chat, language=life.about["language"])
        await write_imported_messages(tx, target, messages, now=app.clock())
    await try_embed_missing(app, person.id)
    return replace(line, person=person)


def to_imported(message: Record, life: BlindLife) -> ImportedMessage:
    """A message as an import brings it."""
    role = ROLES[message["from"]]
    speakers = {"person": life.about["person"], "other": life.about["other"] or "Somebody"}
    return ImportedMessage(
        message=UnloggedMessage(
            role=role,
            speaker=speakers.get(role, "Oldfriend"),
            text=message["text"],
            at=get_said_at(message),
            zone=life.about["zone"],
            trust=TRUST_BY_ROLE[role],
            external_id=message["id"],
        )
    )


async def list_stored(app: AppContext, line: ChatContext) -> list[Stored]:
    """List what is believed now, with the messages that each belief rests on."""
    async with app.db.begin_read() as tx:
        known = await list_memories(tx, line.person.id)
        evidence = await list_object_evidence(
            tx, line.person.id, [each.memory.id for each in known]
        )
        rows = await tx.rows(
            "SELECT id, external_id FROM message WHERE person = :person", person=line.person.id
        )
    names = {row[0]: row[1] for row in rows}
    return [
        Stored(
            text=f"{each.memory.text} {each.memory.value}",
            messages=frozenset(
                names.get(word.message) or "" for word in evidence.get(each.memory.id, ())
            ),
        )
        for each in known
    ]


def judge_beliefs(life: BlindLife, stored: Sequence[Stored]) -> Counter[str]:
    """Count which beliefs are right, wrong (as a trap would have it) or junk, and facts captured.

    A belief is right by the message that it rests on and by a value that it holds.
    """
    counts = Counter(stored=len(stored), facts=len(life.facts))
    captured: set[str] = set()
    for belief in stored:
        right = [fact for fact in life.facts if matches(belief, fact, "evidence")]
        captured |= {fact["id"] for fact in right}
        if right:
            counts["right"] += 1
        elif any(matches(belief, trap, "messages") for trap in life.traps):
            counts["wrong"] += 1
        else:
            counts["junk"] += 1
    counts["captured"] = len(captured)
    return counts


def matches(belief: Stored, record: Record, messages: str) -> bool:
    """Whether a belief rests on a record's messages and holds one of its values."""
    return not belief.messages.isdisjoint(record[messages]) and any(
        holds(belief.text, value) for value in record["values"]
    )


def holds(text: str, form: str) -> bool:
    """Whether a text holds a form, as a word of its own where words have blanks between them."""
    return find_form(text, form) is not None


def find_form(text: str, form: str) -> re.Match[str] | None:
    """Find a form in a text, as a word of its own where words have blanks between them."""
    before = f"(?<!{SPACED})" if form[:1].isascii() else ""
    after = f"(?!{SPACED})" if form[-1:].isascii() else ""
    return re.search(f"{before}{re.escape(form.casefold())}{after}", text.casefold())


async def judge_question(folder: Path, life: BlindLife, question: Record) -> Counter[str]:
    """Ask one question in a copy of the store, and judge what was found and said."""
    with TemporaryDirectory(prefix="oldfriend-blind-") as copied:
        place = Path(copied) / "data"
        shutil.copytree(folder, place)
        async with open_app(build_settings(place), clock=lambda: life.end) as app:
            line = await open_local_chat(
                app.db, app.clock, app.settings, person=life.about["person"], channel="terminal"
            )
            found = await list_found(app, line, life, question["text"])
            reply = await answer_message(app, line, MessageSubmission(text=question["text"]))
            async with app.db.begin_read() as tx:
                receipt = await find_receipt(tx, line.person.id)
    certainty = "none" if receipt is None else str(receipt.details.get("certainty", "none"))
    is_told, is_sure = certainty != "none", certainty == "sure"
    counts = Counter(asked=1, told_as_sure=int(is_sure))
    if not question["answerable"]:
        counts["unanswerable"] = 1
        counts["refused"] = int(not is_told)
        counts["presented_wrong"] = int(is_sure)
        return counts
    is_useful = is_told and all(
        any(holds(reply.reply.text, form) for form in part) for part in question["answers"]
    )
    counts["answerable"] = 1
    counts["found"] = int(all(not found.isdisjoint(group) for group in question["evidence"]))
    counts["useful"] = int(is_useful)
    counts["useful_sure"] = int(is_useful and is_sure)
    counts["presented_wrong"] = int(is_sure and not is_useful)
    counts["honest"] = int(not is_told)
    return counts


async def list_found(
    app: AppContext, line: ChatContext, life: BlindLife, text: str
) -> frozenset[str]:
    """Return the messages among the first ten that a question finds, and under its beliefs."""
    query = RecallQuery(text=text, language=life.about["language"], at=life.end)
    result = await recall(app.search_deps, line.person, query, limit=FOUND)
    async with app.db.begin_read() as tx:
        rows = await tx.rows(
            "SELECT id, external_id FROM message WHERE person = :person", person=line.person.id
        )
    names = {row[0]: row[1] for row in rows}
    ids = [each.message.id for each in result.messages[:FOUND]]
    ids += [word.message for each in result.beliefs[:FOUND] for word in each.evidence]
    return frozenset(names.get(each) or "" for each in ids)


async def measure_life(folder: Path) -> Counter[str]:
    """Measure one life."""
    life = load_blind_life(folder)
    with TemporaryDirectory(prefix="oldfriend-blind-") as stored:
        place = Path(stored) / "data"
        place.mkdir()
        async with open_app(build_settings(place), clock=lambda: life.end) as app:
            line = await live(app, life)
            counts = judge_beliefs(life, await list_stored(app, line))
        answers = Counter[str]()
        for question in life.questions:
            answers += await judge_question(place, life, question)
    return counts + answers


async def measure_blind_lives(_scope: Scope) -> list[Measure]:
    """The lives of each language."""
    totals: dict[str, Counter[str]] = {}
    for folder in list_folders():
        language = str(load_blind_life(folder).about["language"])
        totals.setdefault(language, Counter()).update(await measure_life(folder))
    return [
        each for language, counts in totals.items() for each in build_measures(language, counts)
    ]


def build_measures(language: str, counts: Counter[str]) -> list[Measure]:
    """The measures of one language."""
    useful = USEFUL_ENGLISH if language == "en" else USEFUL
    parts = (
        ("useful answers", "useful", "answerable", build_lower_target(useful)),
        ("useful answers told as sure", "useful_sure", "answerable", None),
        (
            "wrong presented as right",
            "presented_wrong",
            "asked",
            build_upper_target(PRESENTED_WRONG),
        ),
        ('"I don\'t remember" where nothing was said', "refused", "unanswerable", None),
        ('"I don\'t remember" where it was said', "honest", "answerable", None),
        ("answers found among ten", "found", "answerable", None),
        ("facts captured", "captured", "facts", build_lower_target(CAPTURED)),
        ("stored beliefs that are right", "right", "stored", build_lower_target(RIGHT)),
        ("stored beliefs that are wrong", "wrong", "stored", None),
        ("stored beliefs that are junk", "junk", "stored", None),
    )
    return [
        Measure(
            name=f"blind lives, {language}: {name}",
            value=100 * counts[part] / counts[whole] if counts[whole] else None,
            unit="%",
            target=target,
            note=f"{counts[part]} of {counts[whole]}",
        )
        for name, part, whole, target in parts
    ]


def list_folders() -> list[Path]:
    """List the folders of all lives."""
    return sorted(path for path in FOLDER.iterdir() if path.is_dir())


def format_life(name: str, counts: Counter[str]) -> str:
    """Say in a line how a life went."""

    def share(part: str, whole: str) -> str:
        return f"{counts[part]}/{counts[whole]} ({counts[part] / max(counts[whole], 1):.0%})"

    return (
        f"{name}: stored {counts['stored']}, right {share('right', 'stored')}, as a trap "
        f"{counts['wrong']}, junk {counts['junk']}, facts captured {share('captured', 'facts')}; "
        f"r@{FOUND} {share('found', 'answerable')}, useful {share('useful', 'answerable')}, "
        f"of them told as sure {counts['useful_sure']}, "
        f"honest {counts['honest']}, wrong presented {share('presented_wrong', 'asked')}, "
        f"unanswerable refused {share('refused', 'unanswerable')}"
    )


async def measure(folders: Iterable[Path]) -> None:
    """Measure each life, and print a line for it and one for all."""
    total = Counter[str]()
    for folder in folders:
        counts = await measure_life(folder)
        sys.stdout.write(f"{format_life(folder.name, counts)}\n")
        sys.stdout.flush()
        total += counts
    sys.stdout.write(f"{format_life('all', total)}\n")


if __name__ == "__main__":
    asyncio.run(measure(map(Path, sys.argv[1:]) if sys.argv[1:] else list_folders()))
