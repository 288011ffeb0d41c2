"""Evidence: the words that a belief rests on, or that speak against it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from oldfriend.domain.clock import from_micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence
from oldfriend.domain.messages import Role, TrustClass
from oldfriend.presenters.formatting import format_time, to_one_line
from oldfriend.presenters.schema import Schema, describe


@dataclass(frozen=True, slots=True, kw_only=True)
class WordsShape(Schema):
    """Words that a belief rests on, or that speak against it."""

    message: str
    quote: str
    role: Role = field(metadata=describe("Who has said it, whatever they were called then."))
    speaker: str
    trust: TrustClass
    supports: bool
    at: str
    channel: str | None = field(
        default=None, metadata=describe("Where it was said, where that is told.")
    )

    @classmethod
    def from_domain(cls, evidence: Evidence) -> Self:
        """Present a piece of evidence to the API."""
        return cls(
            message=evidence.message,
            quote=evidence.quote,
            role=evidence.role,
            speaker=evidence.speaker,
            trust=evidence.trust,
            supports=evidence.stance == "supports",
            at=format_time(evidence.said_at, evidence.zone),
            channel=evidence.channel or None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A quote for or against a belief."""

    message: str  # id of the message, as in ``Words``
    text: str
    speaker: str
    at: datetime
    supports: bool

    @classmethod
    def from_domain(cls, evidence: Evidence) -> Self:
        """Present a piece of evidence to a program."""
        return cls(
            message=evidence.message,
            text=evidence.quote,
            speaker=evidence.speaker,
            at=from_micros(evidence.said_at, evidence.zone),
            supports=evidence.stance == "supports",
        )


def evidence_as_json(evidence: Evidence) -> dict[str, JsonValue]:
    """Return one piece of evidence as JSON."""
    return {
        "message": evidence.message,
        "version": evidence.version,
        "quote": evidence.quote,
        "speaker": evidence.speaker,
        "trust": evidence.trust,
        "signal": evidence.signal,
        "stance": evidence.stance,
        "confidence": evidence.confidence,
        "found_by": evidence.extractor,
        "at": format_time(evidence.said_at, evidence.zone),
    }


def evidence_as_text(evidence: Evidence) -> str:
    """Format one piece of evidence."""
    who = "you" if evidence.trust == "person" else evidence.speaker
    said = "said" if evidence.stance == "supports" else "said against it"
    at = from_micros(evidence.said_at, evidence.zone).isoformat(timespec="minutes")
    return f"{who} {said}, {at}: “{to_one_line(evidence.quote)}”"
