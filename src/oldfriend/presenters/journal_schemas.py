"""Journal and reflections: what was learned lately, what changed, and what was thought."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, Literal, Self

from typing_extensions import override

from oldfriend.beliefs.belief_pages import BeliefChange
from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.ids import shorten_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Evidence, JournalEntry, JournalOp, ObjectKind
from oldfriend.memory.journal import ChangeEffect, DayChanges
from oldfriend.memory.reflection_log import ReflectionKind, ReflectionRecord, ReflectionTrigger
from oldfriend.presenters.base_schema import Schema, describe, format_datetime, format_time
from oldfriend.presenters.belief_schemas import BeliefSchema, name_belief
from oldfriend.presenters.history_schemas import format_author

SOURCES: Final[Mapping[str, Literal["reflection", "slow tick"]]] = {
    "reflect": "reflection",
    "tick": "slow tick",
}
"""Sources that derive beliefs without a message, by author prefix."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalEntrySchema(Schema):
    """A decision about a belief, and the belief as it was decided."""

    seq: int
    op: JournalOp
    by: str = field(metadata=describe("Who decided it.", examples=["rules", "a model", "you"]))
    source: Literal["reflection", "slow tick"] | None = field(
        metadata=describe("Where a thought came from.")
    )
    at: str
    belief: BeliefSchema

    @classmethod
    def from_domain(
        cls, entry: JournalEntry, evidence: Sequence[Evidence], *, zone: str, language: str = ""
    ) -> Self:
        """Present a journal entry, with the belief as it was decided."""
        return cls(
            seq=entry.seq,
            op=entry.op,
            by=format_author(entry.author),
            source=SOURCES.get(entry.author.partition("/")[0]),
            at=format_time(entry.decided_at, zone),
            belief=BeliefSchema.from_domain(
                BeliefDetails(content=entry.after, evidence=tuple(evidence), base=entry.seq),
                zone=zone,
                now=entry.decided_at,
                language=language,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalPageSchema(Schema):
    """A page of what was learned, the latest first."""

    items: tuple[JournalEntrySchema, ...]
    earlier: str | None = field(metadata=describe("The cursor of the page before."))


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnNowSchema(Schema):
    """The result of reading new messages."""

    read: int = field(metadata=describe("The number of conversation segments that were read."))
    waiting: int = field(
        metadata=describe("The number still waiting, because a model is slow or paused.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCountsSchema(Schema):
    """The number of belief changes on a day, in the person's time zone."""

    day: str = field(metadata=describe(examples=["2026-03-14"]))
    added: int
    changed: int
    ended: int
    kinds: dict[ObjectKind, int] = field(
        default_factory=dict, metadata=describe("What was first said then, by kind.")
    )

    @classmethod
    def from_counts(cls, day: date, kinds: dict[ObjectKind, int]) -> Self:
        """Present what was first said on a day."""
        return cls(day=day.isoformat(), added=sum(kinds.values()), changed=0, ended=0, kinds=kinds)

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
class DayCountsListSchema(Schema):
    """The days on which beliefs changed, oldest first."""

    items: tuple[DayCountsSchema, ...]
    today: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefChangeSchema(Schema):
    """A belief that differs between two days."""

    turn: ChangeEffect
    op: JournalOp = field(metadata=describe("The latest decision about it."))
    by: str
    at: str
    belief: BeliefSchema
    before: str | None = field(
        metadata=describe("Its text on the earlier day, if it was believed then.")
    )

    @classmethod
    def from_domain(cls, change: BeliefChange, evidence: Sequence[Evidence], *, zone: str) -> Self:
        """Present a difference between two days."""
        decided = JournalEntrySchema.from_domain(change.change, evidence, zone=zone)
        return cls(
            turn=change.effect,
            op=decided.op,
            by=decided.by,
            at=decided.at,
            belief=decided.belief,
            before=None if change.previous is None else name_belief(change.previous),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefChangePageSchema(Schema):
    """A page of changes between two days, the newest first."""

    items: tuple[BeliefChangeSchema, ...]
    counts: dict[ChangeEffect, int]
    next: str | None = field(
        metadata=describe("The cursor of the next page; null on the last page.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionSchema(Schema):
    """A reflection."""

    id: str
    kind: ReflectionKind
    why: ReflectionTrigger = field(metadata=describe("Why the reflection was started."))
    at: str
    tokens_in: int
    tokens_out: int
    learned: int = field(metadata=describe("The number of beliefs that came of it."))
    rejected: int = field(metadata=describe("The number of thoughts that were rejected."))
    error: str | None = field(metadata=describe("Why its answer could not be read."))

    @classmethod
    def from_domain(cls, record: ReflectionRecord, *, zone: str) -> Self:
        """Present a reflection in short."""
        return cls(**build_tick_fields(record, zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionPageSchema(Schema):
    """A page of reflections, the latest first."""

    items: tuple[ReflectionSchema, ...]
    next: str | None = field(
        metadata=describe("The cursor of the next page; null on the last page.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionDetailsSchema(ReflectionSchema):
    """A reflection, with what the model was shown and answered."""

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
    """Return the fields of ``ReflectionSchema``."""
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
