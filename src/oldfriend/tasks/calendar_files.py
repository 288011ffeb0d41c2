"""Calendar files: tasks as iCalendar (RFC 5545), and what such a file asks to be reminded of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from importlib import import_module
from itertools import islice, takewhile
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from oldfriend.domain.clock import (
    SECOND,
    Micros,
    from_micros,
    get_zone,
    is_representable,
    to_micros,
)
from oldfriend.domain.errors import InvalidInput
from oldfriend.tasks.calendar_editions import (
    clean_uid,
    group_moved,
    keep_newest,
    normalize_uid,
    read_moment,
    read_sequence,
    read_stamp,
    read_uid,
)
from oldfriend.tasks.recurrence import (
    add_exceptions,
    find_next,
    iterate_times,
    list_exceptions,
    split_exceptions,
    to_utc,
    validate_rule,
)
from oldfriend.tasks.series_phrases import DAY_HOUR
from oldfriend.tasks.task import Task

if TYPE_CHECKING:
    from icalendar import Calendar, Component, vDDDTypes, vRecur

MAX_FILE_BYTES: Final = 4_000_000
MAX_ENTRIES: Final = 500
MAX_ENDED_ENTRIES: Final = 2_000
"""So many entries are looked up that are over."""
MAX_TEXT_CHARS: Final = 300
MAX_PAST_TIMES: Final = 2_000
"""So often a monthly or yearly series may have come before; others are found without counting."""
DAY_S: Final = 86_400
MAX_DURATION_S: Final = 366 * DAY_S
"""What lasts longer is told by its beginning only."""
PRODUCT: Final = "-//Oldfriend//Tasks//EN"
OWN_UID_SUFFIX: Final = "@oldfriend"
"""Ends the ids of tasks in our own calendars."""

Ending: TypeAlias = Literal["", "cancelled", "done", "past"]
"""How an entry is over: by its calendar's word, or because its time has passed."""
OVER: Final = "it is over"
UNTITLED: Final = "Without a title"
ENDINGS: Final[Mapping[str, Ending]] = {"CANCELLED": "cancelled", "COMPLETED": "done"}
"""What an entry's status says of its end (RFC 5545, 3.8.1.11)."""
ENDING_NAMES: Final[tuple[Ending, ...]] = get_args(Ending)


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEntry:
    """What a calendar file asks to be reminded of; without a time, a to-do."""

    text: str
    due_at: Micros | None = None
    is_date_only: bool = False  # it is of whole days
    duration_s: int | None = None  # of whole days, if only days are told; None: without an end
    rrule: str | None = None
    starts_at: Micros | None = None  # from which a series counts
    zone: str | None = None  # of a series; None: that of the person
    uid: str = ""  # the entry's own id in the calendar, the same when it moves
    stamped_at: Micros | None = None  # when it was made or changed last
    ending: Ending = ""  # of what is over: kept, as it may be on the list still
    sequence: int | None = None  # which edition of the entry this is, by its calendar
    series: str = ""  # the id of the series of which it is one time that is moved or cancelled
    replaces_at: Micros | None = None  # which time of the series

    @property
    def refusal(self) -> str:
        """The line about an entry that is over."""
        return f"{self.text or UNTITLED}: {OVER}"


def load_library() -> ModuleType:
    """Import the library that reads and writes calendars. Raises InvalidInput without the extra."""
    try:
        return import_module("icalendar")
    except ImportError as error:
        raise InvalidInput(
            "Calendars need the extra: pip install 'oldfriend[calendar]'."
        ) from error


def write_calendar(tasks: Sequence[Task]) -> bytes:
    """Return tasks as a calendar: reminders as events with an alarm, to-dos as such."""
    library = load_library()
    calendar: Calendar = library.Calendar()
    calendar.add("prodid", PRODUCT)
    calendar.add("version", "2.0")
    for task in tasks:
        calendar.add_component(build_component(library, task))
    calendar.add_missing_timezones()
    return bytes(calendar.to_ical())


def build_component(library: ModuleType, task: Task) -> "Component":
    """Return a task as a part of a calendar."""
    component: Component = library.Todo() if task.due_at is None else library.Event()
    component.add("uid", f"{task.id}{OWN_UID_SUFFIX}")
    component.add("summary", task.text)
    component.add("dtstamp", from_micros(task.changed_at))
    if task.due_at is None:
        return component
    begin = from_micros(find_begin(task) or task.due_at, task.zone)
    component.add("dtstart", begin.date() if task.is_date_only else begin)
    if task.duration_s is not None:
        first = begin.date() if task.is_date_only else begin.astimezone(UTC)
        end = first + timedelta(seconds=task.duration_s)
        component.add("dtend", end.astimezone(begin.tzinfo) if isinstance(end, datetime) else end)
    if task.rrule is not None:
        component.add("rrule", library.vRecur.from_ical(find_standard_rule(task)))
        if left_out := [find_left_out(task, each, begin) for each in list_exceptions(task.rrule)]:
            component.add("exdate", left_out)
    alarm = library.Alarm()
    alarm.add("action", "DISPLAY")
    alarm.add("description", task.text)
    alarm["TRIGGER"] = "PT9H" if task.is_date_only else "PT0S"
    component.add_component(alarm)
    return component


def find_begin(task: Task) -> Micros | None:
    """Return when a task begins: one that comes so many times counts from the first on."""
    is_counted = task.rrule is not None and "COUNT=" in task.rrule
    return (task.starts_at if is_counted else None) or task.begins_at


def find_left_out(task: Task, day: str, begin: datetime) -> date | datetime:
    """Return a day or time that a series leaves out as the standard has it: like its start."""
    stated = datetime.fromisoformat(day)
    if task.is_date_only:
        return stated.date()
    local = stated if "T" in day else datetime.combine(stated, begin.time())
    return local.replace(tzinfo=begin.tzinfo)


def find_standard_rule(task: Task) -> str:
    """Return the rule of a task as the standard has it: the end of one that counts in UTC."""
    assert task.rrule is not None
    parts = split_exceptions(task.rrule)[0].split(";")
    for place, each in enumerate(parts):
        name, _, value = each.partition("=")
        if name == "UNTIL" and "T" in value and not task.is_date_only:
            end = to_utc(datetime.fromisoformat(value), task.zone)
            parts[place] = f"UNTIL={end:%Y%m%dT%H%M%SZ}"
        elif name == "UNTIL":
            parts[place] = f"UNTIL={value[:8]}"
    return ";".join(parts)


def read_calendar(
    content: bytes, *, zone: str, now: Micros
) -> tuple[list[CalendarEntry], list[str]]:
    """Return what a calendar file tells, and a line for each entry that is not used.

    What is over comes with its id only, as it may be on the list. Raises InvalidInput for what is
    no calendar.
    """
    is_cancelled, components = parse_calendar(content)
    moved = group_moved(components)
    entries: list[CalendarEntry] = []
    refused: list[str] = []
    to_come = series = ended = 0
    for component in components:
        text = " ".join(str(component.get("SUMMARY", "")).split())[:MAX_TEXT_CHARS]
        ending = "cancelled" if is_cancelled else read_status(component)
        series += int(component.get("RRULE") is not None and not ending)
        try:
            check_room(series, MAX_ENTRIES)
            entry = read_component(component, text, ending, moved, zone=zone, now=now)
            entry = identify_entry(component, entry, zone=zone)
            if entry.ending and not entry.uid:
                refused.append(entry.refusal)
                continue
            to_come, ended = to_come + int(not entry.ending), ended + int(bool(entry.ending))
            check_room(to_come, MAX_ENTRIES)
            check_room(ended, MAX_ENDED_ENTRIES)
            entries.append(entry)
        except (InvalidInput, ValueError, TypeError, AttributeError, OverflowError) as error:
            reason = str(error) if isinstance(error, InvalidInput) else "it cannot be read"
            refused.append(f"{text or UNTITLED}: {reason}")
    return entries, refused


def parse_calendar(content: bytes) -> tuple[bool, list["Component"]]:
    """Return whether a calendar cancels what it tells, and its newest entries.

    Raises InvalidInput for what is no calendar.
    """
    library = load_library()
    check_calendar_size(content)
    try:
        calendar = library.Calendar.from_ical(content)
        components = [each for each in calendar.walk() if each.name in {"VEVENT", "VTODO"}]
    except (ValueError, KeyError, IndexError, UnicodeDecodeError) as error:
        raise InvalidInput("That is no calendar file (.ics).") from error
    return str(calendar.get("METHOD", "")).upper() == "CANCEL", keep_newest(components)


def read_status(component: "Component") -> Ending:
    """Return how an entry is over by its calendar's word; empty if it is not."""
    return ENDINGS.get(str(component.get("STATUS", "")).upper(), "")


def identify_entry(component: "Component", entry: CalendarEntry, *, zone: str) -> CalendarEntry:
    """Return an entry with its id, its edition, and the time of a series that it replaces.

    Raises InvalidInput if that time cannot be read.
    """
    day = read_moment(component, "RECURRENCE-ID")
    if day is None and component.get("RECURRENCE-ID") is not None:
        raise InvalidInput("it cannot be read")
    replaces_at = None if day is None else to_micros(to_utc(to_local(day, zone), zone))
    return replace(
        entry,
        uid=normalize_uid(read_uid(component), zone),
        stamped_at=read_stamp(component),
        sequence=read_sequence(component),
        series="" if day is None else clean_uid(str(component.get("UID") or "")),
        replaces_at=replaces_at,
    )


def check_calendar_size(content: bytes) -> None:
    """Raise InvalidInput for a calendar that is too large to be read."""
    if len(content) > MAX_FILE_BYTES:
        raise InvalidInput("That calendar is too large: 4 MB at most.")


def check_room(number: int, limit: int) -> None:
    """Raise InvalidInput for an entry after as many as are read."""
    if number > limit:
        raise InvalidInput(f"there are more than {limit}")


def list_left_out(component: "Component", moved: Sequence["vDDDTypes"], zone: str) -> set[datetime]:
    """List the local times that a series leaves out, as they are excepted or told on their own.

    Raises InvalidInput for a series with times that no rule of ours tells.
    """
    if component.get("RDATE"):
        raise InvalidInput("a series with added days cannot be kept")
    if isinstance(component.get("RRULE"), list):
        raise InvalidInput("a series with several rules cannot be kept")
    if any(each.params.get("RANGE") for each in moved):
        raise InvalidInput("a series of which all later times change at once cannot be kept")
    stated = component.get("EXDATE") or []
    lists = stated if isinstance(stated, list) else [stated]
    excepted = [each for one in lists for each in one.dts]
    return {to_local(each.dt, zone) for each in (*excepted, *moved)}


def read_component(
    component: "Component",
    text: str,
    ending: Ending,
    moved: Mapping[str, Sequence["vDDDTypes"]],
    *,
    zone: str,
    now: Micros,
) -> CalendarEntry:
    """Return what an event or a to-do asks to be reminded of.

    Raises InvalidInput if it cannot be used. A series goes on in its own zone.
    """
    if ending:
        return CalendarEntry(text=text, ending=ending)
    if not text:
        raise InvalidInput("it says nothing")
    stated = component.get("DTSTART") or component.get("DUE")
    if stated is None and component.name == "VTODO":
        return CalendarEntry(text=text)
    if stated is None:
        raise InvalidInput("it has no time")
    check_zone(stated)
    is_date_only = not isinstance(stated.dt, datetime)
    duration_s = read_duration(component, zone)
    rule = component.get("RRULE")
    if rule is None and component.get("RDATE"):
        raise InvalidInput("a series with added days cannot be kept")
    if rule is None:
        due_at = to_micros(to_local(stated.dt, zone).replace(tzinfo=get_zone(zone)))
        check_years(due_at)
        days_zone = zone if is_date_only else None
        return CalendarEntry(
            text=text,
            due_at=due_at,
            is_date_only=is_date_only,
            duration_s=duration_s,
            ending="past" if find_entry_end(due_at, duration_s, days_zone) <= now else "",
        )
    own_zone = find_own_zone(stated.dt, zone)
    local = to_local(stated.dt, own_zone)
    own_days = moved.get(str(component.get("UID")), ())
    left_out = list_left_out(component, own_days, own_zone)
    rrule = add_exceptions(validate_rule(write_rule(rule, own_zone), local), left_out)
    check_past(rrule, local, own_zone, now=now)
    following = find_next(rrule, local, own_zone, after=now)
    if following is not None:
        check_years(following)
    return CalendarEntry(
        text=text,
        due_at=following,
        is_date_only=is_date_only,
        duration_s=duration_s,
        ending="past" if following is None else "",
        rrule=rrule,
        starts_at=to_micros(to_utc(local, own_zone)),
        zone=own_zone,
    )


def find_entry_end(begins: Micros, duration_s: int | None, days_zone: str | None) -> Micros:
    """Return when an entry is over; one of whole days, in a zone, when its last day is."""
    if days_zone is None:
        return begins + (duration_s or 0) * SECOND
    last = from_micros(begins, days_zone).date() + timedelta(seconds=max(duration_s or 0, DAY_S))
    return to_micros(datetime.combine(last, time(), get_zone(days_zone)))


def read_duration(component: "Component", zone: str) -> int | None:
    """Return how long an event lasts in seconds, whole days at least one.

    None if it has no end that can be read: its beginning is told all the same.
    """
    if component.name != "VEVENT":
        return None
    try:
        seconds = int(measure_length(component, zone).total_seconds())
    except (InvalidInput, ValueError, TypeError, AttributeError, OverflowError):
        return None
    return seconds if 0 < seconds <= MAX_DURATION_S else None


def measure_length(component: "Component", zone: str) -> timedelta:
    """Return how long an event lasts by its end, or by its length. Raises what reading raises."""
    start, end, length = (component.get(each) for each in ("DTSTART", "DTEND", "DURATION"))
    is_date_only = not isinstance(start.dt, datetime)
    lasts: timedelta = timedelta() if length is None else length.dt
    if end is not None and isinstance(end.dt, datetime) != is_date_only:
        check_zone(end)
        lasts = (
            end.dt - start.dt
            if is_date_only
            else to_utc(to_local(end.dt, zone), zone) - to_utc(to_local(start.dt, zone), zone)
        )
    if is_date_only:
        return max(timedelta(days=lasts.days), timedelta(days=1))
    return lasts


def check_zone(stated: "vDDDTypes") -> None:
    """Raise InvalidInput for a time in a zone that neither the file nor anybody knows."""
    is_unzoned = isinstance(stated.dt, datetime) and stated.dt.tzinfo is None
    if is_unzoned and stated.params.get("TZID"):
        raise InvalidInput("its time zone is not known")


def check_years(at: Micros) -> None:
    """Raise InvalidInput for a time that no calendar of ours holds."""
    if not is_representable(at):
        raise InvalidInput("its day is outside the years 2 to 9998")


def check_past(rule: str, start: datetime, zone: str, *, now: Micros) -> None:
    """Raise InvalidInput for a series that has come so often that each next time is far to seek."""
    if not {"FREQ=MONTHLY", "FREQ=YEARLY"} & set(rule.split(";")):
        return
    today = from_micros(now, zone).replace(tzinfo=None)
    past = takewhile(lambda each: each <= today, iterate_times(rule, start, since=today))
    if sum(1 for _ in islice(past, MAX_PAST_TIMES)) == MAX_PAST_TIMES:
        raise InvalidInput("it began too long ago")


def write_rule(rule: "vRecur", zone: str) -> str:
    """Return a rule whose end is a local time of its zone; a day is meant to its end."""
    (until, *_) = rule.get("UNTIL", [None])
    content: bytes = rule.to_ical()
    written = content.decode()
    if until is None:
        return written
    end = (
        to_local(until, zone)
        if isinstance(until, datetime)
        else datetime.combine(until, time(23, 59, 59))
    )
    kept = [each for each in written.split(";") if not each.upper().startswith("UNTIL=")]
    return ";".join([*kept, f"UNTIL={end:%Y%m%dT%H%M%S}"])


def find_own_zone(value: date | datetime, zone: str) -> str:
    """Return the zone in which a calendar tells a time; that of the person if in none.

    Raises InvalidInput for one that is not known.
    """
    if not isinstance(value, datetime) or value.tzinfo is None:
        return zone
    if value.tzinfo is UTC or value.tzname() == "UTC":
        return "UTC"
    key = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
    if not key:
        raise InvalidInput("its time zone is not known")
    get_zone(str(key))
    return str(key)


def to_local(value: date | datetime, zone: str) -> datetime:
    """Return a date or time of a calendar as a local time without zone."""
    if not isinstance(value, datetime):
        return datetime.combine(value, time(DAY_HOUR))
    if value.tzinfo is None:
        return value
    return value.astimezone(get_zone(zone)).replace(tzinfo=None)
