"""Journal: what was learned lately, what changed between two days, and how much on each day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Self

from oldfriend.beliefs.belief_pages import BeliefChange
from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.domain.memories import Evidence, JournalEntry, JournalOp
from oldfriend.memory.journal import ChangeEffect, DayChanges
from oldfriend.presenters.beliefs import BeliefShape, name_belief
from oldfriend.presenters.formatting import format_time
from oldfriend.presenters.history import format_author
from oldfriend.presenters.schema import Schema, describe

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

    read: int = field(metadata=describe("So many stretches of talk were read."))
    waiting: int = field(metadata=describe("So many wait, as a model takes its time or is paused."))


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
