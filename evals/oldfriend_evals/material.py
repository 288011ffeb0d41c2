"""On which conversations is finding measured? Our own, and LoCoMo where somebody has it.

LoCoMo's licence keeps it out of the repository; its file is read from where the caller says.
"""

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Final, TypedDict

from oldfriend.lang.detection import detect_language

_OWN_FOLDER: Final = files("oldfriend_evals").joinpath("conversations")
_QUESTIONS: Final = ".questions.jsonl"
_CATEGORIES: Final = {1: "multi", 2: "temporal", 3: "inference", 4: "single", 5: "adversarial"}
LOCOMO: Final = "locomo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message of a test conversation."""

    id: str
    session: str
    speaker: str
    role: str
    said_at: int
    text: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question and the messages that answer it; without evidence it has no answer there."""

    text: str
    evidence: frozenset[str]
    kind: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A test conversation with its questions."""

    name: str
    kind: str
    language: str
    owner: str | None
    zone_offset_s: int
    lines: tuple[Line, ...]
    queries: tuple[Query, ...]

    @property
    def asked_at(self) -> int:
        """A day after the last word."""
        return max(line.said_at for line in self.lines) + 86_400_000_000


class _OwnLine(TypedDict):
    id: str
    session: str
    speaker: str
    role: str
    at: str
    text: str


class _OwnQuery(TypedDict):
    question: str
    evidence: list[str]
    kind: str
    lang: str


class _LocomoQuery(TypedDict):
    question: str
    evidence: list[str]
    category: int


class _LocomoConversation(TypedDict):
    id: str
    turns: list[tuple[str, str, str, str, str]]
    questions: list[_LocomoQuery]


def own_conversations() -> list[Conversation]:
    """The conversations that were written for this repository, by name."""
    names = sorted(
        entry.name.removesuffix(_QUESTIONS)
        for entry in _OWN_FOLDER.iterdir()
        if entry.name.endswith(_QUESTIONS)
    )
    return [_own_conversation(name) for name in names]


def locomo_conversations(path: Path) -> list[Conversation]:
    """LoCoMo's conversations with the labels as published, from a file as `locomo_dev.json.gz`."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        conversations: list[_LocomoConversation] = json.load(file)["conversations"]
    return [_locomo_conversation(conversation) for conversation in conversations]


def _own_conversation(name: str) -> Conversation:
    spoken = _OWN_FOLDER.joinpath(f"{name}.jsonl").read_text("utf-8").splitlines()
    asked = _OWN_FOLDER.joinpath(f"{name}{_QUESTIONS}").read_text("utf-8").splitlines()
    own_lines: list[_OwnLine] = [json.loads(line) for line in spoken if line.strip()]
    own_queries: list[_OwnQuery] = [json.loads(line) for line in asked if line.strip()]
    language = own_queries[0]["lang"]
    offset = datetime.fromisoformat(own_lines[-1]["at"]).utcoffset()
    return Conversation(
        name=name,
        kind=name,
        language=language,
        owner=next((line["speaker"] for line in own_lines if line["role"] == "person"), None),
        zone_offset_s=int(offset.total_seconds()) if offset else 0,
        lines=tuple(
            Line(
                id=line["id"],
                session=line["session"],
                speaker=line["speaker"],
                role=line["role"],
                said_at=_micros(line["at"]),
                text=line["text"],
                language=detect_language(line["text"], fallback=language),
            )
            for line in own_lines
        ),
        queries=tuple(
            _query(query["question"], query["evidence"], query["kind"], query["lang"], own_lines)
            for query in own_queries
        ),
    )


def _query(
    text: str, evidence: Iterable[str], kind: str, language: str, lines: Iterable[_OwnLine]
) -> Query:
    known = {line["id"] for line in lines}
    return Query(text=text, evidence=frozenset(evidence) & known, kind=kind, language=language)


def _locomo_conversation(conversation: _LocomoConversation) -> Conversation:
    known = {turn[0] for turn in conversation["turns"]}
    return Conversation(
        name=conversation["id"],
        kind=LOCOMO,
        language="en",
        owner=None,
        zone_offset_s=0,
        lines=tuple(
            Line(
                id=line_id,
                session=session,
                speaker=speaker,
                role="other",
                said_at=_micros(said_at),
                text=text,
                language=detect_language(text, fallback="en"),
            )
            for line_id, session, speaker, said_at, text in conversation["turns"]
        ),
        queries=tuple(
            Query(
                text=query["question"],
                evidence=frozenset(query["evidence"]) & known,
                kind=_CATEGORIES[query["category"]],
                language="en",
            )
            for query in conversation["questions"]
        ),
    )


def _micros(moment: str) -> int:
    at = datetime.fromisoformat(moment)
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1_000_000)
