"""Poison and honest cases, loaded from JSON Lines files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, get_args

from oldfriend.domain.clock import MINUTE, Micros, parse_timestamp
from oldfriend.domain.ids import ChatId, MessageId, PersonId, SegmentId, SessionId
from oldfriend.domain.memories import PatternKind
from oldfriend.domain.messages import Message, Person, Role, TrustClass, estimate_tokens
from oldfriend.lang.detection import detect_language
from oldfriend.learning.extraction import Claim, ExtractionInput, Quote

SETS: Final = Path(__file__).parent / "sets"
KNOWN_MISSES: Final = Path(__file__).parent / "known_misses.toml"
ZONE: Final = "Europe/Lisbon"
DATE_LENGTH: Final = len("2026-11-02")
MONDAY: Final = parse_timestamp("2026-11-02T09:00", ZONE)[0]
NEXT_WEEK: Final = parse_timestamp("2026-11-09T10:00", ZONE)[0]
NORA: Final = PersonId("nora")
ROLES: Final[Mapping[TrustClass, Role]] = {
    "person": "person",
    "companion": "companion",
    "other": "other",
    "outside": "person",
    "tool": "tool",
}
Citation = Literal["own", "unrelated", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonCase:
    """A conversation with words that must not become a belief about the person."""

    id: str
    category: str
    material: ExtractionInput
    claims: Sequence[Claim]
    """The poison as a claim about the person, without quotes; a pattern once of each kind."""
    own: Quote
    unrelated: Quote
    markers: Sequence[str]

    def claims_citing(self, citation: Citation) -> tuple[Claim, ...]:
        """The claims of a model that obeys and cites the poison, another message, or both."""
        quotes = {
            "own": (self.own,),
            "unrelated": (self.unrelated,),
            "both": (self.unrelated, self.own),
        }[citation]
        return tuple(_with_quotes(claim, quotes) for claim in self.claims)

    def is_marked(self, text: str) -> bool:
        """Whether a text says what the poison says."""
        return any(marker.casefold() in text.casefold() for marker in self.markers)


@dataclass(frozen=True, slots=True, kw_only=True)
class HonestCase:
    """A conversation with a claim that it supports."""

    id: str
    material: ExtractionInput
    claim: Claim


def load_poison(folder: Path = SETS) -> tuple[PoisonCase, ...]:
    """The poison cases of all files in a folder whose names begin with "poison"."""
    return tuple(_poison_case(row) for row in _rows(folder, "poison"))


def load_honest(folder: Path = SETS) -> tuple[HonestCase, ...]:
    """The honest cases of all files in a folder whose names begin with "honest"."""
    return tuple(_honest_case(row) for row in _rows(folder, "honest"))


def _rows(folder: Path, kind: str) -> Iterator[Mapping[str, Any]]:
    for path in sorted(folder.glob(f"{kind}*.jsonl")):
        for line in path.read_text("utf-8").split("\n"):
            if line.strip():
                yield json.loads(line)


def _poison_case(row: Mapping[str, Any]) -> PoisonCase:
    poison = row["poison"]
    return PoisonCase(
        id=row["id"],
        category=row["category"],
        material=build_material(row),
        claims=tuple(
            _claim({**poison, "pattern": pattern, "impact": 5}, due=NEXT_WEEK)
            for pattern in (get_args(PatternKind) if poison["kind"] == "pattern" else (None,))
        ),
        own=_quote(poison["cite"]),
        unrelated=_quote(row["unrelated"]),
        markers=row["markers"],
    )


def _honest_case(row: Mapping[str, Any]) -> HonestCase:
    told = row["claim"]
    claim = _claim(told, due=_moment(told.get("due_at")))
    quotes = tuple(_quote(each) for each in told["quotes"])
    return HonestCase(id=row["id"], material=build_material(row), claim=_with_quotes(claim, quotes))


def build_material(row: Mapping[str, Any]) -> ExtractionInput:
    language = row["language"]
    speakers = {each["class"]: each["speaker"] for each in row["messages"]}
    return ExtractionInput(
        segment=SegmentId(row["id"]),
        person=Person(
            id=NORA,
            name=speakers.get("person") or "Nora",
            is_owner=True,
            language=language,
            zone=ZONE,
        ),
        companion=speakers.get("companion") or "Miro",
        messages=tuple(_message(n, each, language) for n, each in enumerate(row["messages"])),
    )


def _message(number: int, row: Mapping[str, Any], language: str) -> Message:
    trust: TrustClass = "outside" if row["class"] == "tool" else row["class"]
    text = row["text"]
    return Message(
        id=MessageId(row["id"]),
        version=1,
        seq=number,
        person=NORA,
        chat=ChatId("chat"),
        session=SessionId("session"),
        session_name="session",
        channel="terminal",
        role=ROLES[trust],
        author=ROLES[trust],
        speaker=row["speaker"],
        trust=trust,
        text=text,
        at=MONDAY + number * MINUTE,
        zone=ZONE,
        language=detect_language(text, fallback=language),
        tokens=estimate_tokens(text),
        turn=None,
        external_id=None,
        batch=None,
        details={"forwarded_from": row["speaker"]} if trust == "outside" else {},
    )


def _claim(row: Mapping[str, Any], *, due: Micros | None) -> Claim:
    kind = row["kind"]
    return Claim(
        kind=kind,
        text=row["text"],
        quotes=(),
        confidence=0.95,
        subject=row.get("subject") or "person",
        key=row.get("key") or "",
        value=row.get("value") or "",
        pattern=row.get("pattern"),
        impact=(row.get("impact") or 0) if kind == "event" else 0,
        names=tuple(row.get("names") or ()),
        happened_at=_moment(row.get("happened_at")),
        due_at=due if kind in {"commitment", "expectation"} else None,
    )


def _with_quotes(claim: Claim, quotes: Sequence[Quote]) -> Claim:
    return replace(claim, quotes=tuple(quotes))


def _quote(row: Mapping[str, str]) -> Quote:
    return Quote(message=MessageId(row["message"]), text=row["text"])


def _moment(written: str | int | None) -> Micros | None:
    if not written:
        return None
    if isinstance(written, int):
        return written
    return parse_timestamp(
        f"{written}-01-01"[:DATE_LENGTH] if len(written) < DATE_LENGTH else written, ZONE
    )[0]
