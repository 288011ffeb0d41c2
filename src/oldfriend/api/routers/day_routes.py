"""Calendar routes: conversations, events and due dates by month and day."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Annotated, Final, Literal, Self

from fastapi import APIRouter, Path

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.problem_json import ApiError
from oldfriend.domain.clock import DAY, Micros, from_micros, parse_timestamp
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.memories import Memory, Summary
from oldfriend.memory.calendar_days import (
    SessionSpan,
    count_messages_by_quarter_hour,
    find_first_message_time,
    find_last_due_time,
    list_due_between,
    list_events_between,
    list_session_spans,
    list_summaries_between,
)
from oldfriend.presenters.base_schema import Schema, describe, format_time

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
        metadata=describe("1: of one segment; each further level: of summaries of the level below.")
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


SEARCH_DAYS = 400
"""Days before and after within which the nearest day with messages is searched."""

router = APIRouter(prefix="/days", tags=["days"])
MonthParam = Annotated[str, Path(pattern=r"^\d{4}-\d{2}$", examples=["2026-11"])]
DayParam = Annotated[str, Path(pattern=r"^\d{4}-\d{2}-\d{2}$", examples=["2026-11-17"])]


@router.get("/months/{month}", summary="A month, day by day")
async def show_month(month: MonthParam, me: CurrentUser, hub: HubDep) -> MonthShape:
    """How much was said on each day, the weightiest of what happened, and what is due."""
    zone, first = me.person.zone, parse_day(f"{month}-01")
    since, until = get_day_start(first, zone), get_day_start(get_next_month(first), zone)
    async with hub.app.db.begin_read() as tx:
        said = await count_messages_by_quarter_hour(tx, me.person.id, since=since, until=until)
        events = await list_events_between(tx, me.person.id, since=since, until=until)
        due = await list_due_between(tx, me.person.id, since=since, until=until)
        earliest = await find_first_message_time(tx, me.person.id)
        latest = await find_last_due_time(tx, me.person.id)
    now = hub.app.clock()
    return MonthShape(
        month=month,
        today=from_micros(now, zone).date().isoformat(),
        first=None if earliest is None else format_month(earliest, zone),
        last=format_month(max(now, latest or now), zone),
        days=list_days(
            count_by_day(said, zone),
            group_by_day(events, "happened_at", zone),
            group_by_day(due, "due_at", zone),
        ),
    )


@router.get("/{day}", summary="A day")
async def show_day(day: DayParam, me: CurrentUser, hub: HubDep) -> WholeDay:
    """Its talks, what happened on it or is due, and what was said in short."""
    zone, target = me.person.zone, parse_day(day)
    since, until = get_day_start(target, zone), get_day_start(target + timedelta(days=1), zone)
    async with hub.app.db.begin_read() as tx:
        talks = await list_session_spans(tx, me.person.id, since=since, until=until)
        events = await list_events_between(tx, me.person.id, since=since, until=until)
        due = await list_due_between(tx, me.person.id, since=since, until=until)
        summaries = await list_summaries_between(tx, me.person.id, since=since, until=until)
        counts = await count_messages_by_quarter_hour(
            tx,
            me.person.id,
            since=Micros(since - SEARCH_DAYS * DAY),
            until=Micros(until + SEARCH_DAYS * DAY),
        )
    days = sorted(count_by_day(counts, zone))
    before, after = (
        [each for each in days if each < target],
        [each for each in days if each > target],
    )
    return WholeDay(
        day=day,
        talks=tuple(TalkShape.from_domain(each, zone=zone) for each in talks),
        happened=tuple(HappenedShape.from_domain(each) for each in events),
        due=tuple(DueShape.from_domain(each) for each in due),
        told=tuple(ToldShape.from_domain(each, zone=zone) for each in summaries),
        before=before[-1].isoformat() if before else None,
        after=after[0].isoformat() if after else None,
    )


def parse_day(text: str) -> date:
    """Parse an ISO date. Raises ApiError."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ApiError(
            422,
            "There is no such day",
            localizable("day_unknown", f"{text} is not a day. Write YYYY-MM-DD.", text=text),
        ) from error


def get_next_month(first: date) -> date:
    """Return the first day of the next month. Raises ApiError."""
    try:
        return (first + timedelta(days=31)).replace(day=1)
    except OverflowError as error:
        raise ApiError(
            422, "There is no such day", localizable("calendar_ends", "The calendar ends there.")
        ) from error


def get_day_start(day: date, zone: str) -> Micros:
    """Return the start of a day in a zone."""
    at, _ = parse_timestamp(day.isoformat(), zone)
    return at


def format_month(at: Micros, zone: str) -> str:
    """Format the month of a time as YYYY-MM."""
    return f"{from_micros(at, zone):%Y-%m}"


def count_by_day(said: Mapping[Micros, int], zone: str) -> dict[date, int]:
    """Sum message counts by day in a zone."""
    counts: Counter[date] = Counter()
    for at, count in said.items():
        counts[from_micros(at, zone).date()] += count
    return dict(counts)


def group_by_day(
    beliefs: Iterable[Memory], field: Literal["happened_at", "due_at"], zone: str
) -> dict[date, list[Memory]]:
    """Group beliefs by the day of a time field, leaving out those without one."""
    days: defaultdict[date, list[Memory]] = defaultdict(list)
    for each in beliefs:
        at = each.happened_at if field == "happened_at" else each.due_at
        if at is not None:
            days[from_micros(at, zone).date()].append(each)
    return dict(days)
