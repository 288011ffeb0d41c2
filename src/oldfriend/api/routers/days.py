"""Calendar routes: conversations, events and due dates by month and day."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Path

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.problem_json import ApiError
from oldfriend.domain.clock import DAY, Micros, from_micros, parse_timestamp
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.memories import Memory
from oldfriend.memory.calendar_days import (
    count_messages_by_quarter_hour,
    find_first_message_time,
    find_last_due_time,
    list_due_between,
    list_events_between,
    list_session_spans,
    list_summaries_between,
)
from oldfriend.presenters.days import (
    DueShape,
    HappenedShape,
    MonthShape,
    TalkShape,
    ToldShape,
    WholeDay,
    list_days,
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
            localizable("day_unknown", f"{text} is none. Give YYYY-MM-DD.", text=text),
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
