"""Days: what was said, happened or is due, by month and day."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Final, Self

from oldfriend.domain.memories import Memory, Summary
from oldfriend.memory.calendar_days import SessionSpan
from oldfriend.presenters.formatting import format_time
from oldfriend.presenters.schema import Schema, describe

MAX_EVENTS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class HappenedShape(Schema):
    """Something that happened, in short."""

    id: str
    text: str
    impact: int = field(metadata=describe("−10 to +10."))

    @classmethod
    def from_domain(cls, event: Memory) -> Self:
        """Present an event."""
        return cls(id=event.id, text=event.text, impact=event.impact)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueShape(Schema):
    """What was promised or expected for a day."""

    id: str
    kind: str = field(metadata=describe(examples=["commitment"]))
    text: str
    status: str = field(metadata=describe("`fulfilled`, `expired`, or how far it is believed."))

    @classmethod
    def from_domain(cls, belief: Memory) -> Self:
        """Present a commitment or an expectation."""
        return cls(id=belief.id, kind=belief.kind, text=belief.text, status=belief.status)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayInShort(Schema):
    """A day on which something was said, happened, or is due."""

    day: str = field(metadata=describe(examples=["2026-11-17"]))
    messages: int
    happened: tuple[HappenedShape, ...] = field(
        metadata=describe("The weightiest first, at most three.")
    )
    more: int = field(metadata=describe("So much more happened."))
    due: tuple[DueShape, ...] = field(metadata=describe("What was promised or expected for it."))

    @classmethod
    def from_domain(
        cls, day: date, messages: int, happened: Sequence[Memory], due: Sequence[Memory]
    ) -> Self:
        """Present a day: the first MAX_EVENTS events, and everything that is due."""
        return cls(
            day=day.isoformat(),
            messages=messages,
            happened=tuple(HappenedShape.from_domain(each) for each in happened[:MAX_EVENTS]),
            more=max(len(happened) - MAX_EVENTS, 0),
            due=tuple(DueShape.from_domain(each) for each in due),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthShape(Schema):
    """A month, day by day; days of which nothing is known are left out."""

    month: str = field(metadata=describe(examples=["2026-11"]))
    today: str
    first: str | None = field(
        metadata=describe("The month of the earliest words; None: there are none.")
    )
    last: str = field(metadata=describe("This one, or the last for which something is promised."))
    days: tuple[DayInShort, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TalkShape(Schema):
    """A talk of a day."""

    session: str
    channel: str
    title: str = field(metadata=describe("What the chat is called."))
    first: str = field(metadata=describe("The message with which it begins on that day."))
    began_at: str
    ended_at: str
    messages: int

    @classmethod
    def from_domain(cls, span: SessionSpan, *, zone: str) -> Self:
        """Present the part of a session that falls on a day."""
        return cls(
            session=span.session,
            channel=span.channel,
            title=span.title,
            first=span.first_message,
            began_at=format_time(span.began_at, zone),
            ended_at=format_time(span.ended_at, zone),
            messages=span.messages,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldShape(Schema):
    """What was said, in short."""

    id: str
    level: int = field(
        metadata=describe("1: of a stretch of talk; each further one: of such below.")
    )
    text: str
    began_at: str
    ended_at: str

    @classmethod
    def from_domain(cls, summary: Summary, *, zone: str) -> Self:
        """Present a summary."""
        return cls(
            id=summary.id,
            level=summary.level,
            text=summary.text,
            began_at=format_time(summary.from_at, zone),
            ended_at=format_time(summary.until_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeDay(Schema):
    """A day: what was said, in short and where to read it, and what happened."""

    day: str
    talks: tuple[TalkShape, ...]
    happened: tuple[HappenedShape, ...]
    due: tuple[DueShape, ...] = field(metadata=describe("What was promised or expected for it."))
    told: tuple[ToldShape, ...] = field(
        metadata=describe("What was said on it in short; nothing twice.")
    )
    before: str | None = field(metadata=describe("The day before on which something was said."))
    after: str | None = field(metadata=describe("The next day on which something was said."))


def list_days(
    said: Mapping[date, int],
    happened: Mapping[date, Sequence[Memory]],
    due: Mapping[date, Sequence[Memory]],
) -> tuple[DayInShort, ...]:
    """Return the days with messages, events or due dates, in order."""
    return tuple(
        DayInShort.from_domain(day, said.get(day, 0), happened.get(day, ()), due.get(day, ()))
        for day in sorted({*said, *happened, *due})
    )
