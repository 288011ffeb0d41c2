"""Reflections: when it thought, what it was shown and answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from typing_extensions import override

from oldfriend.domain.ids import shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.memory.reflection_log import ReflectionKind, ReflectionRecord, ReflectionTrigger
from oldfriend.presenters.formatting import format_datetime, format_time
from oldfriend.presenters.schema import Schema, describe


@dataclass(frozen=True, slots=True, kw_only=True)
class TickShape(Schema):
    """One time of thinking."""

    id: str
    kind: ReflectionKind
    why: ReflectionTrigger = field(metadata=describe("Why it thought just then."))
    at: str
    tokens_in: int
    tokens_out: int
    learned: int = field(metadata=describe("So much came of it that is believed."))
    rejected: int = field(metadata=describe("So much was thought, and not believed."))
    error: str | None = field(metadata=describe("Why nothing of it could be read."))

    @classmethod
    def from_domain(cls, record: ReflectionRecord, *, zone: str) -> Self:
        """Present a reflection in short."""
        return cls(**build_tick_fields(record, zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticks(Schema):
    """Times of thinking, the last first."""

    items: tuple[TickShape, ...]
    next: str | None = field(metadata=describe("The cursor of the next page."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought(TickShape):
    """One time of thinking, with what was shown and said in it."""

    shown: tuple[str, ...]
    answered: tuple[str, ...]

    @classmethod
    @override
    def from_domain(cls, record: ReflectionRecord, *, zone: str) -> Self:
        """Present a reflection with its transcript."""
        transcript = record.transcript
        return cls(
            **build_tick_fields(record, zone),
            shown=() if transcript is None else tuple(transcript.shown),
            answered=() if transcript is None else tuple(transcript.answered),
        )


def build_tick_fields(record: ReflectionRecord, zone: str) -> dict[str, Any]:
    """Return the fields of ``TickShape``."""
    return {
        "id": record.id,
        "kind": record.kind,
        "why": record.why,
        "at": format_time(record.ran_at, zone),
        "tokens_in": record.tokens_in,
        "tokens_out": record.tokens_out,
        "learned": sum_outcome(record.outcome, "learned"),
        "rejected": sum_outcome(record.outcome, "rejected"),
        "error": record.error,
    }


def sum_outcome(outcome: Mapping[str, JsonValue], key: str) -> int:
    """Sum one outcome over all kinds."""
    counts = outcome.get(key)
    found = counts.values() if isinstance(counts, dict) else ()
    return sum(count for count in found if isinstance(count, int))


def reflection_as_json(record: ReflectionRecord, zone: str) -> dict[str, JsonValue]:
    """Return a reflection as JSON, with its transcript."""
    transcript = record.transcript
    return {
        "id": record.id,
        "kind": record.kind,
        "why": record.why,
        "ran_at": format_time(record.ran_at, zone),
        "tokens_in": record.tokens_in,
        "tokens_out": record.tokens_out,
        "outcome": dict(record.outcome),
        "error": record.error,
        "shown": [] if transcript is None else list(transcript.shown),
        "answered": [] if transcript is None else list(transcript.answered),
    }


def format_reflection(record: ReflectionRecord, zone: str) -> str:
    """Format a reflection as one line."""
    results = ", ".join(
        f"{kind}: {counts}"
        for kind, each in record.outcome.items()
        if isinstance(each, dict)
        and (counts := ", ".join(f"{count} {name}" for name, count in each.items()))
    )
    outcome = "in vain: it could not be read" if record.error else results or "nothing to think"
    tokens = f"{record.tokens_in:,} + {record.tokens_out:,} tokens"
    when = format_datetime(record.ran_at, zone)
    return f"{shorten_id(record.id)}  {when}  {record.kind} ({record.why}), {tokens}  {outcome}"
