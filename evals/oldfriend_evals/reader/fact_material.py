"""Material of the fact tagger: messages with the clauses that tell something worth remembering.

``material/facts/`` was written for it; the lives of ``blind/`` that are measured, and the chats of
the reader, give more.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from oldfriend.lang.clause_splitting import split_clauses
from oldfriend_evals.blind_lives import BlindLife, holds, list_folders, load_blind_life
from oldfriend_evals.reader.material import FOLDER, UNSPACED_LANGUAGES, is_held_out, load_chats

FACT_TOPICS: Final = (
    "name",
    "age",
    "birthday",
    "work",
    "school",
    "home",
    "relationship",
    "family",
    "friend",
    "pet",
    "health",
    "allergy",
    "diet",
    "like",
    "dislike",
    "habit",
    "skill",
    "possession",
    "plan",
    "event",
    "date",
    "belief",
    "other",
)
"""What a clause is about; learned beside, since it teaches what matters."""
FACTS_FOLDER: Final = FOLDER / "facts"


@dataclass(frozen=True, slots=True, kw_only=True)
class FactCase:
    """A message; spans are characters of it."""

    text: str
    before: str
    clauses: Mapping[tuple[int, int], str] = field(default_factory=dict)  # with their topic
    values: tuple[tuple[int, int], ...] = ()
    unknown: tuple[tuple[int, int], ...] = ()  # clauses that nobody has judged
    language: str
    is_held_out: bool


def load_fact_cases(skipped_lives: frozenset[str] = frozenset()) -> Iterator[FactCase]:
    """Yield the messages in which every fact is marked, without those of some lives."""
    for file in sorted(FACTS_FOLDER.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            yield _read_fact_line(json.loads(line), file.stem[:2])
    for folder in list_folders():
        if folder.name not in skipped_lives:
            life = load_blind_life(folder)
            if life.about["language"] not in UNSPACED_LANGUAGES:
                yield from _list_life_cases(life)


def _read_fact_line(line: Mapping[str, Any], language: str) -> FactCase:
    text = line["text"]
    clauses: dict[tuple[int, int], str] = {}
    values: list[tuple[int, int]] = []
    for fact in line["facts"]:
        start = text.find(fact["words"])
        if start < 0:
            continue
        topic = fact["kind"] if fact["kind"] in FACT_TOPICS else "other"
        clauses[widen_to_clauses(text, start, start + len(fact["words"]))] = topic
        value = text.find(fact.get("value") or fact["words"], start)
        if value >= 0:
            values.append((value, value + len(fact.get("value") or fact["words"])))
    return FactCase(
        text=text,
        before=line.get("before") or "",
        clauses=clauses,
        values=tuple(values),
        language=language,
        is_held_out=is_held_out(text[:25]),
    )


def widen_to_clauses(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the whole clauses of which a span is half, or that are half of it."""
    inside = [
        (first, last)
        for first, last in split_clauses(text)
        if 2 * (min(last, end) - max(first, start)) >= min(last - first, end - start)
    ]
    if not inside:
        return start, end
    return min(first for first, _ in inside), max(last for _, last in inside)


def _list_life_cases(life: BlindLife) -> Iterator[FactCase]:
    """Yield the messages of a life."""
    before = ""
    for message in life.messages:
        if message["from"] != "companion":
            yield _build_life_case(life, message, before)
        before = message["text"]


def _build_life_case(life: BlindLife, message: Mapping[str, Any], before: str) -> FactCase:
    """Return a message whose facts mark the clauses that hold a value of theirs.

    Nobody has said of its other clauses whether they tell the same fact.
    """
    text = message["text"]
    clauses: dict[tuple[int, int], str] = {}
    values: list[tuple[int, int]] = []
    facts = [fact for fact in life.facts if message["id"] in fact["evidence"]]
    for start, end in split_clauses(text):
        for fact in facts:
            for value in fact["values"]:
                if holds(text[start:end], value):
                    topic = fact["kind"] if fact["kind"] in FACT_TOPICS else "other"
                    clauses.setdefault((start, end), topic)
                    at = text.casefold().find(value.casefold(), start)
                    values += [(at, at + len(value))] if at >= 0 else []
    others = (span for span in split_clauses(text) if span not in clauses)
    return FactCase(
        text=text,
        before=before,
        clauses=clauses,
        values=tuple(values),
        unknown=tuple(others) if facts else (),
        language=life.about["language"],
        is_held_out=is_held_out(text[:25]),
    )


def load_chat_cases() -> Iterator[FactCase]:
    """Yield messages of two people's chats that tell of the writer's life, or are no statements.

    What other statements tell is not marked in them.
    """
    for chat in load_chats():
        if chat["lang"] in UNSPACED_LANGUAGES or not chat.get("other"):
            continue
        before = ""
        for message in chat["messages"]:
            is_told = bool(message.get("facts"))
            if message["from"] != "companion" and (is_told or message["act"] != "statement"):
                yield _build_chat_case(chat, message, before)
            before = message["text"]


def _build_chat_case(chat: Mapping[str, Any], message: Mapping[str, Any], before: str) -> FactCase:
    text = message["text"]
    clauses: dict[tuple[int, int], str] = {}
    values: list[tuple[int, int]] = []
    for key, words in message.get("facts", ()):
        start = text.find(words)
        if start >= 0:
            values.append((start, start + len(words)))
            topic = key if key in FACT_TOPICS else "other"
            clauses[widen_to_clauses(text, start, start + len(words))] = topic
    others = [
        (start, end)
        for start, end in split_clauses(text)
        if not any(first < end and last > start for first, last in clauses)
    ]
    return FactCase(
        text=text,
        before=before,
        clauses=clauses,
        values=tuple(values),
        unknown=tuple(others) if message.get("facts") else (),
        language=chat["lang"],
        is_held_out=is_held_out(chat["messages"][0]["text"]),
    )
