"""What was on which day? A calendar of talks, events and promises; each day opens its words."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Path

from oldfriend.domain.clock import DAY, Micros, from_micros, parse_moment
from oldfriend.domain.memories import Memory
from oldfriend.domain.sayings import saying
from oldfriend.memory.days import (
    count_said,
    find_first_said,
    find_last_due,
    list_due_in,
    list_events_in,
    list_summaries_of,
    list_talks,
)
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.days import MonthShape, WholeDay
from oldfriend.web.showing.days import (
    days_in_short,
    due_shape,
    happened_shape,
    talk_shape,
    told_shape,
)
from oldfriend.web.signing import Here, Me

AROUND = 400
"""Days in which the next day with words is looked for."""

router = APIRouter(prefix="/days", tags=["days"])
Month = Annotated[str, Path(pattern=r"^\d{4}-\d{2}$", examples=["2026-11"])]
Day = Annotated[str, Path(pattern=r"^\d{4}-\d{2}-\d{2}$", examples=["2026-11-17"])]


@router.get("/months/{month}", summary="A month, day by day")
async def show_month(month: Month, me: Me, room: Here) -> MonthShape:
    """How much was said on each day, the weightiest of what happened, and what is due."""
    zone, first = me.person.zone, day_named(f"{month}-01")
    since, until = start_of(first, zone), start_of(month_after(first), zone)
    async with room.house.db.reading() as tx:
        said = await count_said(tx, me.person.id, since=since, until=until)
        events = await list_events_in(tx, me.person.id, since=since, until=until)
        due = await list_due_in(tx, me.person.id, since=since, until=until)
        earliest = await find_first_said(tx, me.person.id)
        latest = await find_last_due(tx, me.person.id)
    now = room.house.clock()
    return MonthShape(
        month=month, today=from_micros(now, zone).date().isoformat(),
        first=None if earliest is None else month_of(earliest, zone),
        last=month_of(max(now, latest or now), zone),
        days=days_in_short(
            by_day(said, zone), on_days(events, "happened_at", zone), on_days(due, "due_at", zone)
        ),
    )  # fmt: skip


@router.get("/{day}", summary="A day")
async def show_day(day: Day, me: Me, room: Here) -> WholeDay:
    """Its talks, what happened on it or is due, and what was said in short."""
    zone, that = me.person.zone, day_named(day)
    since, until = start_of(that, zone), start_of(that + timedelta(days=1), zone)
    async with room.house.db.reading() as tx:
        talks = await list_talks(tx, me.person.id, since=since, until=until)
        events = await list_events_in(tx, me.person.id, since=since, until=until)
        due = await list_due_in(tx, me.person.id, since=since, until=until)
        told = await list_summaries_of(tx, me.person.id, since=since, until=until)
        around = await count_said(
            tx, me.person.id, since=Micros(since - AROUND * DAY), until=Micros(until + AROUND * DAY)
        )
    days = sorted(by_day(around, zone))
    before, after = [each for each in days if each < that], [each for each in days if each > that]
    return WholeDay(
        day=day, talks=[talk_shape(each, zone=zone) for each in talks],
        happened=[happened_shape(each) for each in events],
        due=[due_shape(each) for each in due],
        told=[told_shape(each, zone=zone) for each in told],
        before=before[-1].isoformat() if before else None,
        after=after[0].isoformat() if after else None,
    )  # fmt: skip


def day_named(text: str) -> date:
    """A day as it is written. Raises Refused."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Refused(
            422,
            "There is no such day",
            saying("day_unknown", f"{text} is none. Give YYYY-MM-DD.", text=text),
        ) from error


def month_after(first: date) -> date:
    """The first day of the next month. Raises Refused."""
    try:
        return (first + timedelta(days=31)).replace(day=1)
    except OverflowError as error:
        raise Refused(
            422, "There is no such day", saying("calendar_ends", "The calendar ends there.")
        ) from error


def start_of(day: date, zone: str) -> Micros:
    """When a day begins there."""
    at, _ = parse_moment(day.isoformat(), zone)
    return at


def month_of(at: Micros, zone: str) -> str:
    """The month of a moment, as it is written."""
    return f"{from_micros(at, zone):%Y-%m}"


def by_day(said: Mapping[Micros, int], zone: str) -> dict[date, int]:
    """How many messages there are on each day."""
    counts: Counter[date] = Counter()
    for at, count in said.items():
        counts[from_micros(at, zone).date()] += count
    return dict(counts)


def on_days(
    beliefs: Iterable[Memory], when: Literal["happened_at", "due_at"], zone: str
) -> dict[date, list[Memory]]:
    """What happened or is due, by its day."""
    days: defaultdict[date, list[Memory]] = defaultdict(list)
    for each in beliefs:
        at = each.happened_at if when == "happened_at" else each.due_at
        if at is not None:
            days[from_micros(at, zone).date()].append(each)
    return dict(days)
