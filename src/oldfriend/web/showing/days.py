"""How is a day shown?"""

from collections.abc import Mapping, Sequence
from datetime import date

from oldfriend.domain.memories import Memory, Summary
from oldfriend.memory.days import Talk
from oldfriend.web.shapes.days import DayInShort, DueShape, HappenedShape, TalkShape, ToldShape
from oldfriend.web.showing.common import in_zone

MOST_HAPPENED = 3


def days_in_short(
    said: Mapping[date, int], happened: Mapping[date, Sequence[Memory]],
    due: Mapping[date, Sequence[Memory]],
) -> list[DayInShort]:  # fmt: skip
    """Days on which something was said, happened or is due, in their order."""
    return [
        DayInShort(
            day=day.isoformat(), messages=said.get(day, 0),
            happened=[happened_shape(each) for each in happened.get(day, ())[:MOST_HAPPENED]],
            more=max(len(happened.get(day, ())) - MOST_HAPPENED, 0),
            due=[due_shape(each) for each in due.get(day, ())],
        )
        for day in sorted({*said, *happened, *due})
    ]  # fmt: skip


def happened_shape(event: Memory) -> HappenedShape:
    """Something that happened."""
    return HappenedShape(id=event.id, text=event.text, impact=event.impact)


def due_shape(plan: Memory) -> DueShape:
    """Something that was promised or expected."""
    return DueShape(id=plan.id, kind=plan.kind, text=plan.text, status=plan.status)


def talk_shape(talk: Talk, *, zone: str) -> TalkShape:
    """A talk."""
    return TalkShape(
        session=talk.session, channel=talk.channel, title=talk.title, first=talk.first,
        began_at=in_zone(talk.began_at, zone), ended_at=in_zone(talk.ended_at, zone),
        messages=talk.messages,
    )  # fmt: skip


def told_shape(summary: Summary, *, zone: str) -> ToldShape:
    """A summary."""
    return ToldShape(
        id=summary.id, level=summary.level, text=summary.text,
        began_at=in_zone(summary.from_at, zone), ended_at=in_zone(summary.until_at, zone),
    )  # fmt: skip
