"""Journal and reflections: what was learned lately, what changed, and what was thought."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Self

from typing_extensions import override

from oldfriend.beliefs.belief_pages import BeliefChange
from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, JournalEntry, JournalOp
from oldfriend.memory.journal import ChangeEffect, DayChanges
from oldfriend.memory.reflection_log import ReflectionKind, ReflectionRecord, ReflectionTrigger
from oldfriend.presenters.base_schema import Schema, describe, format_datetime, format_time
from oldfriend.presenters.belief_schemas import BeliefShape, name_belief
from oldfriend.presenters.history_schemas import format_author

SOURCES: Final[Mapping[str, Literal["reflection", "slow tick"]]] = {
    "reflect": "reflection",
    "tick": "slow tick",
}
"""Sources that derive beliefs without a message, by author prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided(Schema):
    """A decision about something believed, and how it stands."""

    seq: int
    op: JournalOp
    by: str = field(metadata=describe("Who has decided.", examples=["rules", "a model", "you"]))
    source: Literal["reflection", "slow tick"] | None = field(
        metadata=describe("Of a thought: what it came from.")
    )
    at: str
    belief: BeliefShape

    @classmethod
    def from_domain(cls, entry: JournalEntry, evidence: Sequence[Evidence], *, zone: str) -> Self:
        """Present a journal entry, with the belief as it was decided."""
        return cls(
            seq=entry.seq,
            op=entry.op,
            by=format_author(entry.author),
            source=SOURCES.get(entry.author.partition("/")[0]),
            at=format_time(entry.decided_at, zone),
            belief=BeliefShape.from_domain(
                BeliefDetails(content=entry.after, evidence=tuple(evidence), base=entry.seq),
                zone=zone,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned(Schema):
    """What was learned, the latest first."""

    items: tuple[Decided, ...]
    earlier: str | None = field(metadata=describe("The cursor of what was learned before."))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadNow(Schema):
    """What came of reading what was said."""

    read: int = field(metadata=describe("How many segments of conversation were read."))
    waiting: int = field(
        metadata=describe("How many are waiting, because a model takes its time or is paused.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DayShape(Schema):
    """How much was decided on a day, by the clocks of the person."""

    day: str = field(metadata=describe(examples=["2026-03-14"]))
    added: int
    changed: int
    ended: int

    @classmethod
    def from_domain(cls, changes: DayChanges) -> Self:
        """Present the number of changes on a day."""
        return cls(
            day=changes.day.isoformat(),
            added=changes.added,
            changed=changes.changed,
            ended=changes.ended,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysShape(Schema):
    """The days on which something was decided, oldest first."""

    items: tuple[DayShape, ...]
    today: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnedShape(Schema):
    """Something that is not believed on two days alike."""

    turn: ChangeEffect
    op: JournalOp = field(metadata=describe("What was decided about it last."))
    by: str
    at: str
    belief: BeliefShape
    before: str | None = field(
        metadata=describe("How it read on the earlier day, if it was believed.")
    )

    @classmethod
    def from_domain(cls, change: BeliefChange, evidence: Sequence[Evidence], *, zone: str) -> Self:
        """Present a difference between two days."""
        decided = Decided.from_domain(change.change, evidence, zone=zone)
        return cls(
            turn=change.effect,
            op=decided.op,
            by=decided.by,
            at=decided.at,
            belief=decided.belief,
            before=None if change.previous is None else name_belief(change.previous),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BetweenShape(Schema):
    """A page of what has changed between two days, the newest first."""

    items: tuple[TurnedShape, ...]
    counts: dict[ChangeEffect, int]
    next: str | None = field(
        metadata=describe("The cursor of the next page; None: this is the last.")
    )


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
