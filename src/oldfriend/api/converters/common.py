"""Shared converters: times in a zone, optional values and evidence."""

from oldfriend.api.schemas.common import WordsShape
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence


def format_time(at: Micros, zone: str) -> str:
    """Format a time as ISO 8601 with the offset of a zone, to the second."""
    return from_micros(at, zone).isoformat(timespec="seconds")


def format_optional_time(at: Micros | None, zone: str) -> str | None:
    """Format a time as ISO 8601 with the offset of a zone, or return None."""
    return None if at is None else format_time(at, zone)


def to_optional_text(value: JsonValue) -> str | None:
    """Return the value if it is a string, else None."""
    return value if isinstance(value, str) else None


def to_optional_int(value: JsonValue) -> int | None:
    """Return the value if it is an integer, else None."""
    return value if isinstance(value, int) else None


def to_words_shape(evidence: Evidence) -> WordsShape:
    """Convert evidence for or against a belief."""
    return WordsShape(
        message=evidence.message,
        quote=evidence.quote,
        role=evidence.role,
        speaker=evidence.speaker,
        trust=evidence.trust,
        supports=evidence.stance == "supports",
        at=format_time(evidence.said_at, evidence.zone),
        channel=evidence.channel or None,
    )
