"""Moods: how the companion feels, and felt."""

from dataclasses import dataclass, field
from typing import Self

from oldfriend.domain.memories import Mood, MoodSignal
from oldfriend.memory.mood import TimedMood
from oldfriend.presenters.formatting import format_time
from oldfriend.presenters.schema import Schema, describe


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
