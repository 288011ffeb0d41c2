"""Datasets for retrieval: our own conversations, the lives, and LoCoMo where somebody has it.

LoCoMo's licence (CC BY-NC) keeps it out of the repository and out of what is learned; its file is
read from where the caller says.
"""

import gzip
import json
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Final, NotRequired, TypedDict

from oldfriend.lang.detection import detect_language

_LIVES_FOLDER: Final = files("oldfriend_evals").joinpath("blind")
_OWN_FOLDER: Final = files("oldfriend_evals").joinpath("conversations")
_QUESTIONS: Final = ".questions.jsonl"
_CATEGORIES: Final = {1: "multi", 2: "temporal", 3: "inference", 4: "single", 5: "adversarial"}
LOCOMO: Final = "locomo"
_PAUSE: Final = 6 * 3_600_000_000  # after which a life's next message opens a session


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
    parts: tuple[frozenset[str], ...] = ()  # of the answer, any message of each; empty: all

    def is_found(self, ids: AbstractSet[str]) -> bool:
        """Whether these messages hold the whole answer."""
        return all(ids & part for part in self.parts) if self.parts else self.evidence <= ids


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A test conversation with its questions."""

    name: str
    kind: str
    fold: str  # all conversations that are left out together
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


_LifeRecord = TypedDict("_LifeRecord", {"id": str, "at": str, "from": str, "text": str})


class _LifeQuery(TypedDict):
    text: str
    evidence: NotRequired[list[list[str]]]


class _Life(TypedDict):
    person: str
    other: str | None
    kind: str
    language: str


class _LocomoQuery(TypedDict):
    question: str
    evidence: list[str]
    category: int


class _LocomoConversation(TypedDict):
    id: str
    turns: list[tuple[str, str, str, str, str]]
    questions: list[_LocomoQuery]


def load_own_conversations() -> list[Conversation]:
    """The conversations that were written for this repository, by name."""
    names = sorted(
        entry.name.removesuffix(_QUESTIONS)
        for entry in _OWN_FOLDER.iterdir()
        if entry.name.endswith(_QUESTIONS)
    )
    return [_load_own_conversation(name) for name in names]


def load_life_conversations() -> list[Conversation]:
    """The lives, by name: diaries to the companion and chats of two; a kind has one language."""
    folders = sorted(entry.name for entry in _LIVES_FOLDER.iterdir() if entry.is_dir())
    return [_load_life_conversation(name) for name in folders]


def _load_life_conversation(name: str) -> Conversation:
    folder = _LIVES_FOLDER.joinpath(name)
    about: _Life = json.loads(folder.joinpath("life.json").read_text("utf-8"))
    language, offset = about["language"], None
    speakers = {"person": about["person"], "other": about["other"] or "", "companion": "Oldfriend"}
    lines: list[Line] = []
    session = 0
    for text in folder.joinpath("messages.jsonl").read_text("utf-8").splitlines():
        record: _LifeRecord = json.loads(text)
        said_at, offset = _to_micros(record["at"]), datetime.fromisoformat(record["at"]).utcoffset()
        session += not lines or said_at - lines[-1].said_at > _PAUSE
        lines.append(
            Line(
                id=record["id"],
                session=str(session),
                speaker=speakers[record["from"]],
                role=record["from"],
                said_at=said_at,
                text=record["text"],
                language=detect_language(record["text"], fallback=language),
            )
        )
    asked: list[_LifeQuery] = [
        json.loads(text)
        for text in folder.joinpath("questions.jsonl").read_text("utf-8").splitlines()
    ]
    kind = f"{about['kind']}_{language}"
    return Conversation(
        name=name,
        kind=kind,
        fold=kind,
        language=language,
        owner=about["person"],
        zone_offset_s=int(offset.total_seconds()) if offset else 0,
        lines=tuple(lines),
        queries=tuple(
            Query(
                text=query["text"],
                evidence=frozenset(id_ for part in query.get("evidence", ()) for id_ in part),
                kind=kind,
                language=language,
                parts=tuple(map(frozenset, query.get("evidence", ()))),
            )
            for query in asked
        ),
    )


def load_locomo_conversations(path: Path) -> list[Conversation]:
    """LoCoMo's conversations with the labels as published, from a file as `locomo_dev.json.gz`."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        conversations: list[_LocomoConversation] = json.load(file)["conversations"]
    return [_build_locomo_conversation(conversation) for conversation in conversations]


def _load_own_conversation(name: str) -> Conversation:
    spoken = _OWN_FOLDER.joinpath(f"{name}.jsonl").read_text("utf-8").splitlines()
    asked = _OWN_FOLDER.joinpath(f"{name}{_QUESTIONS}").read_text("utf-8").splitlines()
    own_lines: list[_OwnLine] = [json.loads(line) for line in spoken if line.strip()]
    own_queries: list[_OwnQuery] = [json.loads(line) for line in asked if line.strip()]
    language = own_queries[0]["lang"]
    offset = datetime.fromisoformat(own_lines[-1]["at"]).utcoffset()
    return Conversation(
        name=name,
        kind=name,
        fold=name.split("_")[0],
        language=language,
        owner=next((line["speaker"] for line in own_lines if line["role"] == "person"), None),
        zone_offset_s=int(offset.total_seconds()) if offset else 0,
        lines=tuple(
            Line(
                id=line["id"],
                session=line["session"],
                speaker=line["speaker"],
                role=line["role"],
                said_at=_to_micros(line["at"]),
                text=line["text"],
                language=detect_language(line["text"], fallback=language),
            )
            for line in own_lines
        ),
        queries=tuple(
            _build_query(
                query["question"], query["evidence"], query["kind"], query["lang"], own_lines
            )
            for query in own_queries
        ),
    )


def _build_query(
    text: str, evidence: Iterable[str], kind: str, language: str, lines: Iterable[_OwnLine]
) -> Query:
    known = {line["id"] for line in lines}
    return Query(text=text, evidence=frozenset(evidence) & known, kind=kind, language=language)


def _build_locomo_conversation(conversation: _LocomoConversation) -> Conversation:
    known = {turn[0] for turn in conversation["turns"]}
    return Conversation(
        name=conversation["id"],
        kind=LOCOMO,
        fold=LOCOMO,
        language="en",
        owner=None,
        zone_offset_s=0,
        lines=tuple(
            Line(
                id=line_id,
                session=session,
                speaker=speaker,
                role="other",
                said_at=_to_micros(said_at),
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


def _to_micros(moment: str) -> int:
    at = datetime.fromisoformat(moment)
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() * 1_000_000)
