"""Converters for calendar days."""

from collections.abc import Mapping, Sequence
from datetime import date

from oldfriend.api.schemas.days import DayInShort, DueShape, HappenedShape, TalkShape, ToldShape
from oldfriend.domain.memories import Memory, Summary
from oldfriend.memory.calendar_days import SessionSpan
from oldfriend.presenters.formatting import format_time

MAX_EVENTS = 3


def to_day_shapes(
    said: Mapping[date, int],
    happened: Mapping[date, Sequence[Memory]],
    due: Mapping[date, Sequence[Memory]],
) -> list[DayInShort]:
    """Convert days with messages, events or due dates, in order."""
    return [
        DayInShort(
            day=day.isoformat(),
            messages=said.get(day, 0),
            happened=[to_happened_shape(each) for each in happened.get(day, ())[:MAX_EVENTS]],
            more=max(len(happened.get(day, ())) - MAX_EVENTS, 0),
            due=[to_due_shape(each) for each in due.get(day, ())],
        )
        for day in sorted({*said, *happened, *due})
    ]


def to_happened_shape(event: Memory) -> HappenedShape:
    """Convert an event."""
    return HappenedShape(id=event.id, text=event.text, impact=event.impact)


def to_due_shape(belief: Memory) -> DueShape:
    """Convert a commitment or an expectation."""
    return DueShape(id=belief.id, kind=belief.kind, text=belief.text, status=belief.status)


def to_session_shape(talk: SessionSpan, *, zone: str) -> TalkShape:
    """Convert a session of a day."""
    return TalkShape(
        session=talk.session,
        channel=talk.channel,
        title=talk.title,
        first=talk.first_message,
        began_at=format_time(talk.began_at, zone),
        ended_at=format_time(talk.ended_at, zone),
        messages=talk.messages,
    )


def to_summary_shape(summary: Summary, *, zone: str) -> ToldShape:
    """Convert a summary."""
    return ToldShape(
        id=summary.id,
        level=summary.level,
        text=summary.text,
        began_at=format_time(summary.from_at, zone),
        ended_at=format_time(summary.until_at, zone),
    )
