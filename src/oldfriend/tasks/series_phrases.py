"""Series phrases: turns words such as "every other Friday" into a rule and its first time."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import Any, Final, Protocol

from dateutil.relativedelta import relativedelta

from oldfriend.domain.clock import MINUTE, Micros, from_micros
from oldfriend.tasks.recurrence import find_next
from oldfriend.tasks.time_words import PartOfDay, TimeBook, TimeWord, Unit
from oldfriend.tasks.told_time import Ambiguous, Resolved, Told, collect

Rule = dict[str, Any]

DAY_HOUR: Final = 9
"""When something is due of which only the day was told."""
PART_HOURS: Final[dict[PartOfDay, int]] = {
    "early": 7,
    "morning": 9,
    "am": 9,
    "noon": 12,
    "afternoon": 15,
    "pm": 15,
    "evening": 19,
    "night": 21,
}
EARLIEST_OF_SEVERAL: Final = 6
"""The first of several hours is one of the morning from this one on."""
SHORT_STEPS: Final = frozenset({"HOURLY", "MINUTELY"})
MIN_REPEAT_MINUTES: Final = 5
MAX_PLACE: Final = 5
LAST_DAY_OF_ALL_MONTHS: Final = 28
DAY_NAMES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
FREQUENCIES: Final[dict[Unit, str]] = {
    "minute": "MINUTELY",
    "hour": "HOURLY",
    "day": "DAILY",
    "week": "WEEKLY",
    "month": "MONTHLY",
    "year": "YEARLY",
}


class DayResolver(Protocol):
    """What a series needs to know of days and hours."""

    book: TimeBook
    now: Micros
    zone: str
    today: date

    def resolve_day(self, told: Told) -> date | Ambiguous:
        """Return the day that words name."""

    def resolve_once(self, told: Told) -> Resolved | Ambiguous:
        """Return the time of something that is due once."""

    def resolve_at(self, day: date | None, told: Told) -> Resolved | Ambiguous:
        """Return the time on a day, if one is known."""

    def list_times(self, clock_time: TimeWord, part: PartOfDay | None) -> list[int]:
        """Return the minutes of the day that a clock's words may mean."""

    def list_halves(self, clock_time: TimeWord, part: PartOfDay | None) -> list[int]:
        """Return the minutes of the day that a clock's words may mean in either half of it."""

    def choose_morning(self, clock_time: TimeWord, times: list[int]) -> list[int]:
        """Return the morning's of two times, if few would mean the evening's."""

    def is_open_hour(self, clock_time: TimeWord, part: PartOfDay | None) -> bool:
        """Whether an hour may be one of the morning or of the afternoon."""

    def combine(self, day: date, minutes: int) -> datetime:
        """Return the local time some minutes after the midnight of a day."""

    def read_hour(self, clock_time: TimeWord) -> int:
        """Return the hour that a clock's words name."""

    def ask_half(self, clock_time: TimeWord) -> Ambiguous:
        """Ask which half of the day an hour is in."""

    def to_micros(self, moment: datetime) -> Micros:
        """Return the moment of a local time."""


def resolve_series(days: DayResolver, told: Told, every: TimeWord) -> Resolved | Ambiguous:
    """Return the first time of a series, with its rule."""
    if told.amount is not None:
        return Ambiguous(question="several")
    start, told = split_days(told)
    read = read_rule(days, told, every)
    if isinstance(read, Ambiguous):
        return read
    rule, is_day_used = read
    if len(told.clocks) > 1:
        hours = find_hours(days, told.clocks)
        if len({each % 60 for each in hours}) != 1 or rule["FREQ"] in SHORT_STEPS:
            return Ambiguous(question="several")
        rule |= {"BYHOUR": ",".join(str(each // 60) for each in hours), "BYMINUTE": hours[0] % 60}
        told = replace(told, clock=fix(hours[0]), part=None)
    begun = start or (None if is_day_used else told.day)
    if begun is not None and "BYMONTHDAY" in rule and names_other_day(days.book, rule, begun):
        return Ambiguous(question="several")
    day = days.today if begun is None else find_start(days, replace(told, day=begun))
    return day if isinstance(day, Ambiguous) else resolve_rule(days, rule, told, day)


def resolve_rule(days: DayResolver, rule: Rule, told: Told, day: date) -> Resolved | Ambiguous:
    """Return the first time of a series with a rule, from a day on, and its end."""
    end = "" if told.until is None else read_end(days, rule, told.until)
    if isinstance(end, Ambiguous):
        return end
    text = ";".join(f"{name}={value}" for name, value in rule.items()) + end
    if rule["FREQ"] in SHORT_STEPS:
        return resolve_short_series(days, text, rule, told, day)
    return resolve_days(days, text, rule, told, day)


def names_other_day(book: TimeBook, rule: Rule, begun: TimeWord) -> bool:
    """Whether a bare number is another day than that of a monthly series."""
    number = begun.groups.get("ord") or begun.groups.get("d")
    if number is None or {"month", "mo"} & set(begun.groups):
        return False
    return str(book.read_ordinal(number)) not in str(rule["BYMONTHDAY"]).split(",")


def split_days(told: Told) -> tuple[TimeWord | None, Told]:
    """Return the day from which a series comes, and the rest: "on Mondays from next week"."""
    words = [*([told.day] if told.day else []), *told.days]
    named = [each for each in words if "day" in each.groups and "mode" not in each.entry]
    starts = [each for each in words if each not in named]
    if len(named) != 1 or len(starts) != 1 or {"d", "ord"} & set(named[0].groups):
        return None, told
    return starts[0], replace(told, day=named[0], days=())


def find_start(days: DayResolver, told: Told) -> date | Ambiguous:
    """Return the first day that a series may have."""
    assert told.day is not None
    if "ask" in told.day.entry and "weeks" in told.day.entry:
        weeks = int(told.day.entry["weeks"])
        monday = days.today - timedelta(days=days.today.weekday())
        return max(days.today, monday + timedelta(days=7 * weeks))
    return days.resolve_day(replace(told, every=None))


def resolve_days(
    days: DayResolver, text: str, rule: Rule, told: Told, day: date
) -> Resolved | Ambiguous:
    """Return the first time of a series of days, weeks, months or years from a day on."""
    assert told.every is not None
    part: PartOfDay | None = told.part.entry["part"] if told.part else told.every.entry.get("part")
    minutes = 60 * (DAY_HOUR if part is None else PART_HOURS[part])
    if told.clock is not None:
        times = days.choose_morning(told.clock, days.list_times(told.clock, part))
        if told.event is not None:
            times = choose_before(days, told.clock, part, told.event)
            if not times:
                return Ambiguous(question="several")
        if len(times) != 1:
            return days.ask_half(told.clock) if times else Ambiguous(question="when")
        minutes = times[0]
    start = datetime.combine(day, time()) + timedelta(minutes=minutes)
    is_date_only = told.clock is None and part is None
    # The first day is the next one that the rule allows, whatever its interval.
    plain = ";".join(f"{name}={value}" for name, value in rule.items() if name != "INTERVAL")
    first = find_next(plain, start, days.zone, after=max(days.now, days.to_micros(start) - 1))
    if first is None:
        return Ambiguous(question="no_such_day")
    return Resolved(due_at=first, is_date_only=is_date_only, rrule=text)


def choose_before(
    days: DayResolver, clock_time: TimeWord, part: PartOfDay | None, event: Told
) -> list[int]:
    """Return the last time of the day that an hour may mean before that of an event.

    It is empty if the event's own hour is in doubt, or the reminder's is not before it.
    """
    assert event.clock is not None
    of_event: PartOfDay | None = event.part.entry["part"] if event.part else None
    ends = days.choose_morning(event.clock, days.list_times(event.clock, of_event))
    if len(ends) != 1:
        return []
    return [each for each in days.list_halves(clock_time, part) if each < ends[0]][-1:]


def resolve_short_series(
    days: DayResolver, text: str, rule: Rule, told: Told, day: date
) -> Resolved | Ambiguous:
    """Return the first time of a series of hours or minutes: one step from now, or as told."""
    step = int(rule.get("INTERVAL", 1)) * (60 if rule["FREQ"] == "HOURLY" else 1)
    if step < MIN_REPEAT_MINUTES or (told.part is not None and told.clock is None):
        return Ambiguous(question="when")
    if told.clock is None:
        return Resolved(due_at=days.now + step * MINUTE, rrule=text)
    ends = () if told.until is None else told.until.entry.get("ends", ())
    once = replace(told, every=None, until=None)
    if not ends or any(each.kind == "day" for each in ends):
        begun = days.resolve_at(day if told.day else None, once)
        return begun if isinstance(begun, Ambiguous) else replace(begun, rrule=text)
    windows = list_windows(days, told, ends)
    if not windows:
        return Ambiguous(question="when")
    if len({start for start, _ in windows}) == 1:
        found = place_window(days, windows[0], step, day if told.day else None)
    else:
        found = choose_window(days, windows, day if told.day else None, once)
    if isinstance(found, Ambiguous):
        return found
    first, last = found
    return Resolved(
        due_at=first, rrule=f"{text.partition(';UNTIL=')[0]};UNTIL={last:%Y%m%dT%H%M%S}"
    )


def list_windows(days: DayResolver, told: Told, ends: Sequence[TimeWord]) -> list[tuple[int, int]]:
    """Return the shortest spans in minutes of the day from one hour to another, on one day first.

    From 9 to 17 is of the day; from 23 to 5 goes on into the next one.
    """
    end = collect(ends) or Told()
    if told.clock is None or end.clock is None:
        return []
    part, end_part = (each.part.entry["part"] if each.part else None for each in (told, end))
    starts, stops = days.list_times(told.clock, part), days.list_halves(end.clock, end_part)
    spans = [(start, stop) for start in starts for stop in stops if start < stop]
    spans = spans or [(start, stop + 24 * 60) for start in starts for stop in stops]
    least = min((stop - start for start, stop in spans), default=0)
    return [(start, stop) for start, stop in spans if stop - start == least]


def place_window(
    days: DayResolver, window: tuple[int, int], step: int, day: date | None
) -> tuple[Micros, datetime] | Ambiguous:
    """Return the first time to come of a series in a window, and the local time of its end.

    Without a day it is today's while a step of it is to come, then tomorrow's.
    """
    start, stop = window
    tried = [days.today, days.today + timedelta(days=1)] if day is None else [day]
    for each in tried:
        steps = (days.to_micros(days.combine(each, at)) for at in range(start, stop + 1, step))
        first = next((at for at in steps if at > days.now), None)
        if first is not None:
            return first, days.combine(each, stop)
    return Ambiguous(question="past", options=(f"{days.combine(tried[-1], stop):%H:%M}",))


def choose_window(
    days: DayResolver, windows: Sequence[tuple[int, int]], day: date | None, once: Told
) -> tuple[Micros, datetime] | Ambiguous:
    """Return the beginning and end of the window that begins when its first hour is meant."""
    begun = days.resolve_at(day, once)
    if isinstance(begun, Ambiguous):
        return begun
    first = from_micros(begun.due_at, days.zone).replace(tzinfo=None)
    minutes = first.hour * 60 + first.minute
    last = next((stop for start, stop in windows if start == minutes), None)
    if last is None:
        return Ambiguous(question="when")
    return begun.due_at, days.combine(first.date(), last)


def read_end(days: DayResolver, rule: Rule, until: TimeWord) -> str | Ambiguous:
    """Return the part of a rule that says how often a series comes, or until when."""
    book = days.book
    if "ends" in until.entry:
        return read_last_day(days, until.entry["ends"])
    if "length" in until.entry:
        return read_length(days, rule, until.entry["length"])
    if "n" in until.groups or until.entry.get("open"):
        number = book.read_number(until.groups["n"]) if "n" in until.groups else 1
        if "unit" in until.groups:
            return read_length(days, rule, {book.read_unit(until.groups["unit"]): number})
        return Ambiguous(question="when") if until.entry.get("open") else f";COUNT={number}"
    return Ambiguous(question="when")


def read_length(days: DayResolver, rule: Rule, units: Mapping[Unit, float]) -> str | Ambiguous:
    """Return the end of a series that goes on for some days, weeks, months or years."""
    count = units.get("day", 0) + 7 * units.get("week", 0)
    months = units.get("month", 0) + 12 * units.get("year", 0)
    if rule["FREQ"] == "DAILY" and "INTERVAL" not in rule and not months:
        hours = len(str(rule.get("BYHOUR", "")).split(","))
        return f";COUNT={round(count) * hours}"
    if rule["FREQ"] == "WEEKLY" and not months and not count % 7:
        weeks, names = round(count) // 7, len(str(rule.get("BYDAY", "")).split(","))
        step = int(rule.get("INTERVAL", 1))
        return f";COUNT={-(-weeks // step) * names}"
    last = days.today + relativedelta(days=round(count), months=round(months))
    return f";UNTIL={last:%Y%m%dT235959}"


def read_last_day(days: DayResolver, ends: Sequence[TimeWord]) -> str | Ambiguous:
    """Return the end of a series at a day or an hour that words tell."""
    told = collect(ends) or Told()
    day: date | Ambiguous = days.today if told.day is None else days.resolve_day(told)
    if isinstance(day, Ambiguous):
        return day
    if told.clock is None:
        return f";UNTIL={day:%Y%m%dT235959}"
    part: PartOfDay | None = told.part.entry["part"] if told.part else None
    times = days.list_times(told.clock, part)
    return f";UNTIL={day:%Y%m%d}T{times[-1] // 60 % 24:02}{times[-1] % 60:02}00" if times else ""


def find_hours(days: DayResolver, clocks: Sequence[TimeWord]) -> list[int]:
    """Return the minutes of the day of several hours in order; none where one is in doubt."""
    found: list[int] = []
    for each in clocks:
        times = [each_time for each_time in days.list_times(each, None) if each_time < 24 * 60]
        later = [each_time for each_time in times if not found or each_time > found[-1]]
        if not later:
            return []
        is_first_open = not found and len(times) > 1 and days.read_hour(each) < EARLIEST_OF_SEVERAL
        found.append(later[-1] if is_first_open else later[0])
    return found


def name_hours(hours: Sequence[int]) -> str:
    """Return the part of a rule that names hours of the day, of minutes after midnight."""
    return f"BYHOUR={','.join(str(each // 60) for each in hours)};BYMINUTE={hours[0] % 60}"


def fix(minutes: int) -> TimeWord:
    """Return a clock's words for minutes after midnight."""
    return TimeWord(start=0, end=0, kind="clock", entry={"fixed": minutes})


def read_rule(days: DayResolver, told: Told, every: TimeWord) -> tuple[Rule, bool] | Ambiguous:
    """Return the parts of the rule of a series, and whether the day told beside belongs to it."""
    entry, groups = every.entry, every.groups
    if "ask" in entry:
        return Ambiguous(question=entry["ask"])
    rule: Rule = {"FREQ": entry.get("freq", "WEEKLY")}
    if "unit" in groups and "freq" not in entry:
        rule["FREQ"] = FREQUENCIES[days.book.read_unit(groups["unit"])]
    interval = int(entry.get("interval", 1))
    if "n" in groups:
        interval = days.book.read_number(groups["n"])
    if interval == 0:
        return Ambiguous(question="when")
    if interval > 1:
        rule["INTERVAL"] = interval
    by_day = read_days(days.book, rule["FREQ"], entry, groups)
    if by_day is not None:
        return {**rule, **by_day}, False
    if rule["FREQ"] in {"WEEKLY", "MONTHLY", "YEARLY"}:
        return read_rule_day(days, rule, told)
    return rule, False


def read_days(
    book: TimeBook, frequency: str, entry: Mapping[str, Any], groups: Mapping[str, str]
) -> Rule | None:
    """Return the days that the words of a series name, if they do."""
    if "byday" in entry:
        setpos = {"BYSETPOS": entry["setpos"]} if "setpos" in entry else {}
        return {"BYDAY": entry["byday"], **setpos}
    if "days" in groups:
        return {"BYDAY": ",".join(DAY_NAMES[day] for day in book.read_weekdays(groups["days"]))}
    if "day" in groups:
        name = DAY_NAMES[book.read_weekday(groups["day"])]
        place = read_place(book, entry, groups) if frequency == "MONTHLY" else ""
        return {"BYDAY": f"{place}{name}"}
    if entry.get("month_end"):
        return {"BYMONTHDAY": -1}
    number = groups.get("ord") or groups.get("d")
    return None if number is None else read_date(book, book.read_ordinal(number), groups)


def read_place(book: TimeBook, entry: Mapping[str, Any], groups: Mapping[str, str]) -> int:
    """Return which of a weekday's days in a month is meant; -1 is the last."""
    place = int(entry["setpos"]) if "setpos" in entry else book.read_ordinal(groups["ord"])
    if place > MAX_PLACE:
        raise ValueError(place)
    return place


def read_date(book: TimeBook, day: int, groups: Mapping[str, str]) -> Rule:
    """Return the days that the number of a day means, with its month or without."""
    if "month" in groups:
        return {"BYMONTH": book.read_month(groups["month"]), "BYMONTHDAY": day}
    if "mo" in groups:
        return {"BYMONTH": int(groups["mo"]), "BYMONTHDAY": day}
    return place_in_month(day)


def read_rule_day(days: DayResolver, rule: Rule, told: Told) -> tuple[Rule, bool] | Ambiguous:
    """Return a weekly, monthly or yearly rule with the day that is told beside it."""
    if told.day is None:
        return Ambiguous(question="day")
    groups = told.day.groups
    if rule["FREQ"] == "WEEKLY" and "day" in groups and "mode" not in told.day.entry:
        name = DAY_NAMES[days.book.read_weekday(groups["day"])]
        return {**rule, "BYDAY": name}, True
    found = days.resolve_day(told)
    if isinstance(found, Ambiguous):
        return found
    if rule["FREQ"] == "WEEKLY":
        by_day: Rule = {"BYDAY": DAY_NAMES[found.weekday()]}
    elif rule["FREQ"] == "MONTHLY":
        is_end = "month_end" in told.day.entry
        by_day = {"BYMONTHDAY": -1} if is_end else place_in_month(found.day)
    else:
        by_day = {"BYMONTH": found.month, "BYMONTHDAY": found.day}
    is_begun = rule["FREQ"] == "MONTHLY" and bool({"month", "mo"} & set(groups))
    return {**rule, **by_day}, ("d" in groups or "ord" in groups) and not is_begun


def place_in_month(number: int) -> Rule:
    """Return the parts of a monthly rule; a month that is too short has it on its last day."""
    if number <= LAST_DAY_OF_ALL_MONTHS:
        return {"BYMONTHDAY": number}
    places = range(LAST_DAY_OF_ALL_MONTHS, number + 1)
    return {"BYMONTHDAY": ",".join(map(str, places)), "BYSETPOS": -1}
