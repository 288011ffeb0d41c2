"""Calendar routes: conversations, events and due dates by month and day."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Annotated, Final, Literal, Self

from fastapi import APIRouter, Path

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.day_plans import PlannedItemSchema, get_day_start, load_plans
from oldfriend.api.problem_json import ApiError
from oldfriend.db.database import Transaction
from oldfriend.domain.belief_times import get_told_zone
from oldfriend.domain.clock import DAY, Micros, from_micros
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import StoredBelief, Summary
from oldfriend.lang.detection import detect_language
from oldfriend.learning.validation.text_quality import is_prose
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
from oldfriend.memory.chat_history import list_messages_after, list_messages_with_audio
from oldfriend.memory.groups import list_group_chats
from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.presenters.belief_sentences import tell_belief
from oldfriend.presenters.message_schemas import MessageSchema

MAX_EVENTS: Final = 3
MAX_DAY_MESSAGES: Final = 200
MAX_SEQ: Final = 2**62


@dataclass(frozen=True, slots=True, kw_only=True)
class DayEventSchema(Schema):
    """An event, in brief."""

    id: str
    text: str
    text_language: str = field(metadata=describe("The language of the text."))
    impact: int = field(metadata=describe("The emotional impact, from −10 to +10."))

    @classmethod
    def from_domain(cls, event: StoredBelief, language: str) -> Self:
        """Present an event in a language."""
        told = tell_belief(event, language=language)
        return cls(id=event.id, text=told.text, text_language=told.language, impact=event.impact)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueItemSchema(Schema):
    """A commitment or an expectation for a day."""

    id: str
    kind: str = field(metadata=describe(examples=["commitment"]))
    text: str
    text_language: str
    status: str = field(metadata=describe("`fulfilled`, `expired`, or the status of the belief."))

    @classmethod
    def from_domain(cls, belief: StoredBelief, language: str) -> Self:
        """Present a commitment or an expectation in a language."""
        told = tell_belief(belief, language=language)
        return cls(
            id=belief.id,
            kind=belief.kind,
            text=told.text,
            text_language=told.language,
            status=belief.status,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DayOverviewSchema(Schema):
    """A day with messages, events or due items."""

    day: str = field(metadata=describe(examples=["2026-11-17"]))
    messages: int
    happened: tuple[DayEventSchema, ...] = field(
        metadata=describe("The most important events first, at most three.")
    )
    more: int = field(metadata=describe("The number of further events."))
    due: tuple[DueItemSchema, ...] = field(
        metadata=describe("Commitments and expectations for the day.")
    )
    planned: tuple[PlannedItemSchema, ...] = field(metadata=describe("Tasks and goals due then."))

    @classmethod
    def from_domain(
        cls,
        day: date,
        messages: int,
        happened: Sequence[StoredBelief],
        due: Sequence[StoredBelief],
        planned: Sequence[PlannedItemSchema],
        language: str,
    ) -> Self:
        """Present a day: the first MAX_EVENTS events, and everything that is due."""
        return cls(
            day=day.isoformat(),
            messages=messages,
            happened=tuple(
                DayEventSchema.from_domain(each, language) for each in happened[:MAX_EVENTS]
            ),
            more=max(len(happened) - MAX_EVENTS, 0),
            due=tuple(DueItemSchema.from_domain(each, language) for each in due),
            planned=tuple(planned),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthSchema(Schema):
    """A month, day by day. Days of which nothing is known are left out."""

    month: str = field(metadata=describe(examples=["2026-11"]))
    today: str
    first: str | None = field(
        metadata=describe("The month of the earliest message; null if there are none.")
    )
    last: str = field(metadata=describe("The current month, or the last with something due."))
    days: tuple[DayOverviewSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class YearMonthSchema(Schema):
    """How much there is of a month."""

    month: str = field(metadata=describe(examples=["2026-11"]))
    messages: int
    happened: int = field(metadata=describe("The number of events."))


@dataclass(frozen=True, slots=True, kw_only=True)
class YearSchema(Schema):
    """A year, month by month. Months of which nothing is known are left out."""

    year: int
    first: int | None = field(
        metadata=describe("The year of the earliest message; null if there are none.")
    )
    last: int = field(metadata=describe("The current year, or the last with something due."))
    latest: str | None = field(
        metadata=describe("The last month of this year in which something was said or happened.")
    )
    months: tuple[YearMonthSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DayMessagesSchema(Schema):
    """What was said on a day, oldest first."""

    items: tuple[MessageSchema, ...]
    has_more: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySessionSchema(Schema):
    """A conversation on a day."""

    session: str
    channel: str
    title: str = field(metadata=describe("The title of the chat."))
    first: str = field(metadata=describe("The id of its first message on that day."))
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
class DaySummarySchema(Schema):
    """A summary of a conversation or of several."""

    id: str
    level: int = field(
        metadata=describe("1 for one segment; each further level summarizes the level below.")
    )
    text: str
    text_language: str
    began_at: str
    ended_at: str

    @classmethod
    def from_domain(cls, summary: Summary, *, zone: str) -> Self:
        """Present a summary."""
        return cls(
            id=summary.id,
            level=summary.level,
            text=summary.text,
            text_language=detect_language(summary.text, fallback=summary.language),
            began_at=format_time(summary.from_at, zone),
            ended_at=format_time(summary.until_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySchema(Schema):
    """A day: its conversations, events, due items and summaries."""

    day: str
    talks: tuple[DaySessionSchema, ...]
    happened: tuple[DayEventSchema, ...]
    due: tuple[DueItemSchema, ...] = field(
        metadata=describe("Commitments and expectations for the day.")
    )
    planned: tuple[PlannedItemSchema, ...] = field(metadata=describe("Tasks and goals due then."))
    summaries: tuple[DaySummarySchema, ...] = field(
        metadata=describe("Summaries of its conversations in sentences, without overlaps.")
    )
    told: tuple[DaySummarySchema, ...] = field(
        metadata=describe("The former name of `summaries`.", deprecated=True)
    )
    before: str | None = field(metadata=describe("The previous day with messages."))
    after: str | None = field(metadata=describe("The next day with messages."))


def list_days(
    said: Mapping[date, int],
    happened: Mapping[date, Sequence[StoredBelief]],
    due: Mapping[date, Sequence[StoredBelief]],
    planned: Mapping[date, Sequence[PlannedItemSchema]],
    language: str,
) -> tuple[DayOverviewSchema, ...]:
    """Return the days with messages, events, due dates or plans, in order."""
    return tuple(
        DayOverviewSchema.from_domain(
            day,
            said.get(day, 0),
            happened.get(day, ()),
            due.get(day, ()),
            planned.get(day, ()),
            language,
        )
        for day in sorted({*said, *happened, *due, *planned})
    )


SEARCH_DAYS = 400
"""Days before and after within which the nearest day with messages is searched."""

router = APIRouter(prefix="/days", tags=["days"])
YearParam = Annotated[int, Path(ge=1900, le=9000, examples=[2026])]
MonthParam = Annotated[str, Path(pattern=r"^\d{4}-\d{2}$", examples=["2026-11"])]
DayParam = Annotated[str, Path(pattern=r"^\d{4}-\d{2}-\d{2}$", examples=["2026-11-17"])]


@router.get("/months/{month}", summary="Show a month, day by day")
async def show_month(month: MonthParam, me: CurrentUser, hub: HubDep) -> MonthSchema:
    """Return for each day the number of messages, the most important events, and what is due."""
    zone, days = me.person.zone, (first := parse_day(f"{month}-01"), get_next_month(first))
    since, until = (get_day_start(each, zone) for each in days)
    async with hub.app.db.begin_read() as tx:
        said = await count_messages_by_quarter_hour(tx, me.person.id, since=since, until=until)
        events, due = await list_dated_beliefs(tx, me.person.id, since, until)
        plans = await load_plans(tx, me.person)
        earliest = await find_first_message_time(tx, me.person.id)
        latest = await find_last_due_time(tx, me.person.id)
    now = hub.app.clock()
    return MonthSchema(
        month=month,
        today=from_micros(now, zone).date().isoformat(),
        first=None if earliest is None else format_month(earliest, zone),
        last=format_month(max(now, latest or now, *plans.list_times(after=until)), zone),
        days=list_days(
            count_by_day(said, zone),
            group_by_day(events, "happened_at", zone, within=days),
            group_by_day(due, "due_at", zone, within=days),
            plans.group_by_day(since, until),
            me.language,
        ),
    )


@router.get("/years/{year}", summary="Show a year, month by month")
async def show_year(year: YearParam, me: CurrentUser, hub: HubDep) -> YearSchema:
    """Return for each month the number of messages and of events."""
    zone, days = me.person.zone, (date(year, 1, 1), date(year + 1, 1, 1))
    since, until = (get_day_start(each, zone) for each in days)
    async with hub.app.db.begin_read() as tx:
        said = await count_messages_by_quarter_hour(tx, me.person.id, since=since, until=until)
        events = await list_events_between(tx, me.person.id, since=since, until=until)
        plans = await load_plans(tx, me.person)
        earliest = await find_first_message_time(tx, me.person.id)
        latest = await find_last_due_time(tx, me.person.id)
    messages: Counter[str] = Counter()
    for day, count in count_by_day(said, zone).items():
        messages[f"{day:%Y-%m}"] += count
    happened = Counter[str]()
    for day, found in group_by_day(events, "happened_at", zone, within=days).items():
        happened[f"{day:%Y-%m}"] += len(found)
    months = sorted({*messages, *happened})
    latest = max(hub.app.clock(), latest or 0, *plans.list_times(after=until))
    return YearSchema(
        year=year,
        first=None if earliest is None else from_micros(earliest, zone).year,
        last=from_micros(latest, zone).year,
        latest=months[-1] if months else None,
        months=tuple(
            YearMonthSchema(month=each, messages=messages[each], happened=happened[each])
            for each in months
        ),
    )


@router.get("/{day}/messages", summary="List what was said on a day")
async def list_day_messages(day: DayParam, me: CurrentUser, hub: HubDep) -> DayMessagesSchema:
    """Return the messages of a day, oldest first, at most 200."""
    target = parse_day(day)
    until = get_day_start(target + timedelta(days=1), me.person.zone)
    before = Micros(get_day_start(target, me.person.zone) - 1)
    async with hub.app.db.begin_read() as tx:
        found = await list_messages_after(
            tx, me.person.id, at=before, seq=MAX_SEQ, limit=MAX_DAY_MESSAGES + 1
        )
        said = [each for each in found if each.at < until]
        with_audio = await list_messages_with_audio(tx, me.person.id, [each.id for each in said])
        groups = await list_group_chats(tx, me.person.id)
    return DayMessagesSchema(
        items=tuple(
            MessageSchema.from_domain(each, with_audio=with_audio, groups=groups)
            for each in said[:MAX_DAY_MESSAGES]
        ),
        has_more=len(said) > MAX_DAY_MESSAGES,
    )


@router.get("/{day}", summary="Show a day")
async def show_day(day: DayParam, me: CurrentUser, hub: HubDep) -> DaySchema:
    """Return a day's conversations, events, due items, and summaries."""
    zone, target = me.person.zone, parse_day(day)
    days = (target, target + timedelta(days=1))
    since, until = (get_day_start(each, zone) for each in days)
    async with hub.app.db.begin_read() as tx:
        talks = await list_session_spans(tx, me.person.id, since=since, until=until)
        events, due = await list_dated_beliefs(tx, me.person.id, since, until)
        plans = await load_plans(tx, me.person)
        summaries = await list_summaries_between(tx, me.person.id, since=since, until=until)
        counts = await count_messages_by_quarter_hour(
            tx,
            me.person.id,
            since=Micros(since - SEARCH_DAYS * DAY),
            until=Micros(until + SEARCH_DAYS * DAY),
        )
    said_days = sorted(count_by_day(counts, zone))
    before, after = (
        [each for each in said_days if each < target],
        [each for each in said_days if each > target],
    )
    happened = group_by_day(events, "happened_at", zone, within=days).get(target, ())
    awaited = group_by_day(due, "due_at", zone, within=days).get(target, ())
    presented = tuple(
        DaySummarySchema.from_domain(each, zone=zone) for each in summaries if is_prose(each.text)
    )
    return DaySchema(
        day=day,
        talks=tuple(DaySessionSchema.from_domain(each, zone=zone) for each in talks),
        happened=tuple(DayEventSchema.from_domain(each, me.language) for each in happened),
        due=tuple(DueItemSchema.from_domain(each, me.language) for each in awaited),
        planned=tuple(plans.group_by_day(since, until).get(target, ())),
        summaries=presented,
        told=presented,
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


def format_month(at: Micros, zone: str) -> str:
    """Format the month of a time as YYYY-MM."""
    return f"{from_micros(at, zone):%Y-%m}"


def count_by_day(said: Mapping[Micros, int], zone: str) -> dict[date, int]:
    """Sum message counts by day in a zone."""
    counts: Counter[date] = Counter()
    for at, count in said.items():
        counts[from_micros(at, zone).date()] += count
    return dict(counts)


async def list_dated_beliefs(
    tx: Transaction, person: PersonId, since: Micros, until: Micros
) -> tuple[list[StoredBelief], list[StoredBelief]]:
    """List the events and due items of a span, and of what may be its days in other time zones."""
    since, until = Micros(since - DAY), Micros(until + DAY)
    return (
        await list_events_between(tx, person, since=since, until=until),
        await list_due_between(tx, person, since=since, until=until),
    )


def group_by_day(
    beliefs: Iterable[StoredBelief],
    field: Literal["happened_at", "due_at"],
    zone: str,
    *,
    within: tuple[date, date],
) -> dict[date, list[StoredBelief]]:
    """Group beliefs by the day of a time field as it was said, from one day until before another.

    Beliefs without a time are left out.
    """
    days: defaultdict[date, list[StoredBelief]] = defaultdict(list)
    for each in beliefs:
        at = each.happened_at if field == "happened_at" else each.due_at
        if at is not None:
            days[from_micros(at, get_told_zone(each, zone)).date()].append(each)
    return {day: each for day, each in days.items() if within[0] <= day < within[1]}
