"""State: how things are and how it felt, what goes on behind the talk, and whether all is sound."""

from dataclasses import dataclass, field
from typing import Self

from oldfriend.domain.memories import Mood, MoodSignal
from oldfriend.learning.learning_progress import LearningProgress
from oldfriend.memory.mood import TimedMood
from oldfriend.presenters.formatting import format_time
from oldfriend.presenters.localized import SayingShape
from oldfriend.presenters.schema import Schema, describe
from oldfriend.usage.costs import MICRODOLLARS


@dataclass(frozen=True, slots=True, kw_only=True)
class MoodShape(Schema):
    """How the companion feels just now."""

    phrase: str = field(metadata=describe(examples=["calm and glad to hear from you"]))
    energy: int = field(metadata=describe(ge=0, le=10))
    signal: MoodSignal | None = field(metadata=describe("How the person seemed."))

    @classmethod
    def from_domain(cls, mood: Mood) -> Self:
        """Present a mood."""
        return cls(phrase=mood.phrase, energy=mood.energy, signal=mood.signal)


@dataclass(frozen=True, slots=True, kw_only=True)
class FeltShape(Schema):
    """How the companion felt at the end of a talk."""

    at: str
    phrase: str
    energy: int = field(metadata=describe("0 to 10."))
    signal: MoodSignal | None = field(metadata=describe("How the person seemed."))

    @classmethod
    def from_domain(cls, felt: TimedMood, *, zone: str) -> Self:
        """Present a mood with its time."""
        return cls(
            at=format_time(felt.at, zone),
            phrase=felt.mood.phrase,
            energy=felt.mood.energy,
            signal=felt.mood.signal,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Moods(Schema):
    """Moods, oldest first."""

    items: tuple[FeltShape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressShape(Schema):
    """What goes on behind the talk."""

    read: int = field(metadata=describe("Stretches of talk that were read, of those to be read."))
    of: int
    since: str | None = field(
        metadata=describe("When the first was said that is still to be read …")
    )
    until: str | None = field(metadata=describe("… and the last."))
    cost_usd: float = field(metadata=describe("Of it so far, as far as it is known."))
    waits_until: str | None = field(metadata=describe("It goes on then; None: it is at it."))
    reflects: bool = field(metadata=describe("It thinks about what it has read."))

    @classmethod
    def from_domain(cls, progress: LearningProgress, *, zone: str) -> Self:
        """Present the learning progress."""
        return cls(
            read=progress.read,
            of=progress.total,
            since=format_time(progress.first_at, zone),
            until=format_time(progress.last_at, zone),
            cost_usd=progress.cost / MICRODOLLARS,
            waits_until=format_time(progress.resumes_at, zone),
            reflects=progress.is_reflecting,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class State(Schema):
    """How things are now."""

    companion: str = field(metadata=describe(examples=["Oldfriend"]))
    is_new: bool = field(
        metadata=describe("Nothing was said yet, and nobody has written who is who.")
    )
    mood: MoodShape | None = field(metadata=describe("None: neutral."))
    forms: bool = field(metadata=describe("Whether memory forms of what is said."))
    has_unread: bool = field(metadata=describe("Something was said that memory has not read yet."))
    model: str | None = field(metadata=describe("Which model answers; None: it is offline."))
    troubles: tuple[SayingShape, ...] = field(
        metadata=describe("Why not all of its work is done; empty: all is well.")
    )
    version: str
    hears: bool = field(metadata=describe("Whether somebody listens to what is said aloud."))
    progress: ProgressShape | None = field(
        metadata=describe("What goes on behind the talk, if anything.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingShape(Schema):
    """One thing that was looked at."""

    is_well: bool
    told: SayingShape


@dataclass(frozen=True, slots=True, kw_only=True)
class Health(Schema):
    """Whether everything is sound."""

    findings: tuple[FindingShape, ...]
