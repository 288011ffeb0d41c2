"""Calendar files: tasks as iCalendar (RFC 5545), and what such a file asks to be reminded of."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from importlib import import_module
from itertools import islice, takewhile
from types import ModuleType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from oldfriend.domain.clock import Micros, from_micros, get_zone, is_representable, to_micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.tasks.recurrence import find_next, iterate_times, to_utc, validate_rule
from oldfriend.tasks.series_phrases import DAY_HOUR
from oldfriend.tasks.task import Task

if TYPE_CHECKING:
    from icalendar import Calendar, Component, vDDDTypes, vRecur

MAX_FILE_BYTES: Final = 4_000_000
MAX_ENTRIES: Final = 500
MAX_TEXT_CHARS: Final = 300
MAX_PAST_TIMES: Final = 2_000
"""So often a monthly or yearly series may have come before; others are found without counting."""
MAX_UID_CHARS: Final = 300
DAY_S: Final = 86_400
MAX_DURATION_S: Final = 366 * DAY_S
"""What lasts longer is told by its beginning only."""
PRODUCT: Final = "-//Oldfriend//Tasks//EN"
OWN_UID_SUFFIX: Final = "@oldfriend"
"""Ends the ids of tasks in our own calendars."""

Ending: TypeAlias = Literal["", "cancelled", "done", "past"]
"""How an entry is over: by its calendar's word, or because its time has passed."""
OVER: Final = "it is over"
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

    @property
    def refusal(self) -> str:
        """The line about an entry that is over."""
        return f"{self.text}: {OVER}"


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
    alarm = library.Alarm()
    alarm.add("action", "DISPLAY")
    alarm.add("description", task.text)
    alarm["TRIGGER"] = "PT9H" if task.is_date_only else "PT0S"
    component.add_component(alarm)
    return component


def find_begin(task: Task) -> Micros | None:
    """Return when a task begins: one that comes so many times counts from the first on."""
    is_counted = task.rrule is not None and "COUNT=" in task.rrule
    return (task.starts_at if is_counted else None) or task.due_at


def find_standard_rule(task: Task) -> str:
    """Return the rule of a task as the standard has it: the end of one that counts in UTC."""
    assert task.rrule is not None
    parts = task.rrule.split(";")
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
    library = load_library()
    check_calendar_size(content)
    try:
        calendar = library.Calendar.from_ical(content)
        components = [each for each in calendar.walk() if each.name in {"VEVENT", "VTODO"}]
    except (ValueError, KeyError, IndexError, UnicodeDecodeError) as error:
        raise InvalidInput("That is no calendar file (.ics).") from error
    moved = {str(each.get("UID")) for each in components if each.get("RECURRENCE-ID")}
    entries: list[CalendarEntry] = []
    refused: list[str] = []
    to_come = series = 0
    for component in components:
        text = " ".join(str(component.get("SUMMARY", "")).split())[:MAX_TEXT_CHARS]
        series += int(component.get("RRULE") is not None)
        try:
            check_room(max(to_come + 1, series))
            entry = read_component(component, text, moved, zone=zone, now=now)
            entry = replace(entry, uid=read_uid(component), stamped_at=read_stamp(component))
            if entry.ending and not entry.uid:
                refused.append(entry.refusal)
                continue
            entries.append(entry)
            to_come += int(not entry.ending)
        except (InvalidInput, ValueError, TypeError, AttributeError, OverflowError) as error:
            reason = str(error) if isinstance(error, InvalidInput) else "it cannot be read"
            refused.append(f"{text or 'Without a title'}: {reason}")
    return entries, refused


def read_uid(component: "Component") -> str:
    """Return the id of an entry; a moved day of a series has one of its own."""
    uid, day = str(component.get("UID") or ""), component.get("RECURRENCE-ID")
    name = uid if day is None or not uid else f"{uid}/{day.dt.isoformat()}"
    return " ".join(name.split())[:MAX_UID_CHARS]


def read_stamp(component: "Component") -> Micros | None:
    """Return when an entry was made or changed last; None if it does not say."""
    stated = [component.get(each) for each in ("DTSTAMP", "LAST-MODIFIED")]
    times = [each.dt for each in stated if isinstance(getattr(each, "dt", None), datetime)]
    return max((to_micros(to_utc(to_local(each, "UTC"), "UTC")) for each in times), default=None)


def check_calendar_size(content: bytes) -> None:
    """Raise InvalidInput for a calendar that is too large to be read."""
    if len(content) > MAX_FILE_BYTES:
        raise InvalidInput("That calendar is too large: 4 MB at most.")


def check_room(number: int) -> None:
    """Raise InvalidInput for an entry after as many as are read."""
    if number > MAX_ENTRIES:
        raise InvalidInput(f"there are more than {MAX_ENTRIES}")


def check_exceptions(component: "Component", moved: Set[str]) -> None:
    """Raise InvalidInput for a series with times that its rule does not tell."""
    if component.get("RRULE") is None and component.get("RDATE") is None:
        return
    is_moved = str(component.get("UID")) in moved and not component.get("RECURRENCE-ID")
    is_several = isinstance(component.get("RRULE"), list)
    if is_moved or is_several or component.get("EXDATE") or component.get("RDATE"):
        raise InvalidInput("a series with exceptions or added days cannot be kept")


def read_component(
    component: "Component", text: str, moved: Set[str], *, zone: str, now: Micros
) -> CalendarEntry:
    """Return what an event or a to-do asks to be reminded of.

    Raises InvalidInput if it cannot be used. A series goes on in its own zone.
    """
    if not text:
        raise InvalidInput("it says nothing")
    ending = ENDINGS.get(str(component.get("STATUS", "")).upper())
    if ending is not None:
        return CalendarEntry(text=text, ending=ending)
    check_exceptions(component, moved)
    stated = component.get("DTSTART") or component.get("DUE")
    if stated is None and component.name == "VTODO":
        return CalendarEntry(text=text)
    if stated is None:
        raise InvalidInput("it has no time")
    check_zone(stated)
    is_date_only = not isinstance(stated.dt, datetime)
    duration_s = read_duration(component, zone)
    rule = component.get("RRULE")
    if rule is None:
        due_at = to_micros(to_local(stated.dt, zone).replace(tzinfo=get_zone(zone)))
        check_years(due_at)
        return CalendarEntry(
            text=text,
            due_at=due_at,
            is_date_only=is_date_only,
            duration_s=duration_s,
            ending="past" if due_at <= now else "",
        )
    own_zone = find_own_zone(stated.dt, zone)
    local = to_local(stated.dt, own_zone)
    rrule = validate_rule(write_rule(rule, own_zone), local)
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


def read_duration(component: "Component", zone: str) -> int | None:
    """Return how long an event lasts in seconds, whole days at least one; None if it has no end."""
    if component.name != "VEVENT":
        return None
    start, end, length = (component.get(each) for each in ("DTSTART", "DTEND", "DURATION"))
    is_date_only = not isinstance(start.dt, datetime)
    lasts = timedelta() if length is None else length.dt
    if end is not None and isinstance(end.dt, datetime) != is_date_only:
        check_zone(end)
        lasts = (
            end.dt - start.dt
            if is_date_only
            else to_utc(to_local(end.dt, zone), zone) - to_utc(to_local(start.dt, zone), zone)
        )
    if is_date_only:
        lasts = max(timedelta(days=lasts.days), timedelta(days=1))
    seconds = int(lasts.total_seconds())
    return seconds if 0 < seconds <= MAX_DURATION_S else None


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
