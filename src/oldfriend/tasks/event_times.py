"""Event times: when a reminder comes before or after something whose time is told beside it."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from dateutil.relativedelta import relativedelta

from oldfriend.domain.clock import HOUR, from_micros
from oldfriend.tasks.recurrence import find_next
from oldfriend.tasks.series_phrases import DAY_NAMES, SHORT_STEPS, DayResolver, resolve_series
from oldfriend.tasks.time_words import TimeWord
from oldfriend.tasks.told_time import Ambiguous, Resolved, Told

NEAR_EVENT: Final = 7
"""Hours before an event in which an hour of either half of the day is the one that is meant."""


def resolve_before(
    days: DayResolver, told: Told, clock_time: TimeWord, event: Told
) -> Resolved | Ambiguous | None:
    """Return the last time that an hour may mean before an event.

    None if the event says nothing about it.
    """
    if len(told.clocks) > 1:
        return Ambiguous(question="several")
    is_own = told.day is not None
    if event.day is None:
        event = replace(event, day=told.day, days=told.days)
    at = days.resolve_once(replace(event, event=None))
    if isinstance(at, Ambiguous):
        if is_own or not (event.day or event.amount):
            return None
        is_half = at.question == "half" and days.is_open_hour(clock_time, None)
        return days.ask_half(clock_time) if is_half else at
    day = from_micros(at.due_at, days.zone).date()
    if is_own and days.resolve_day(told) != day:
        return None
    times = days.list_halves(clock_time, told.part.entry["part"] if told.part else None)
    moments = [days.to_micros(days.combine(day, each)) for each in times]
    before = [each for each in moments if days.now < each < at.due_at]
    if before and (len(times) == 1 or at.due_at - before[-1] <= NEAR_EVENT * HOUR):
        return Resolved(due_at=before[-1])
    is_today = event.amount is None and (event.day is None or event.day.entry.get("ahead") == 0)
    is_clear = len(times) == 1 and (is_own or is_today)
    return None if is_clear else Ambiguous(question="several")


def resolve_offset(days: DayResolver, told: Told, offset: TimeWord) -> Resolved | Ambiguous:
    """Return the time some minutes, hours, days or weeks before or after a time that is told."""
    rest = replace(told, offset=None)
    if not rest.words or rest.vague is not None:
        return Ambiguous(question="when")
    if "day" in offset.groups:
        return resolve_weekday_before(days, rest, offset)
    units = offset.units or {"day": 1}
    is_short = bool(set(units) & {"minute", "hour"})
    found = resolve_event(days, rest, offset, is_short=is_short)
    if isinstance(found, Ambiguous):
        return found
    ahead = relativedelta(
        minutes=round(60 * units.get("hour", 0) + units.get("minute", 0)),
        days=round(units.get("day", 0) + len(DAY_NAMES) * units.get("week", 0)),
        months=round(units.get("month", 0)),
    )
    if "after" in offset.entry:
        ahead = -ahead
    if rest.every is not None:
        return move_series(days, found, ahead)
    local = from_micros(found.due_at, days.zone).replace(tzinfo=None) - ahead
    due_at = days.to_micros(local)
    if due_at <= days.now:
        return Ambiguous(question="past", options=(f"{local:%H:%M}",))
    return replace(found, due_at=due_at)


def resolve_event(
    days: DayResolver, rest: Told, offset: TimeWord, *, is_short: bool
) -> Resolved | Ambiguous:
    """Return the time of what a reminder comes some time before."""
    is_dated = bool(rest.day or rest.amount or rest.every)
    if not is_short and not is_dated:
        return Ambiguous(question="when")  # "the day before at eight", of no day
    if "part" in offset.entry and is_dated:  # "the evening before"
        rest = replace(rest, clock=None, part=replace(offset, kind="part"))
    every = rest.every
    found = days.resolve_once(rest) if every is None else resolve_series(days, rest, every)
    is_hourless = isinstance(found, Resolved) and is_short and found.is_date_only
    return Ambiguous(question="when") if is_hourless else found


def resolve_weekday_before(days: DayResolver, rest: Told, offset: TimeWord) -> Resolved | Ambiguous:
    """Return the time on the last such weekday before a day, "the Saturday before"."""
    if rest.day is None or rest.every is not None:
        return Ambiguous(question="when")
    day = days.resolve_day(rest)
    if isinstance(day, Ambiguous):
        return day
    weekday = days.book.read_weekday(offset.groups["day"])
    day -= timedelta(days=(day.weekday() - weekday - 1) % len(DAY_NAMES) + 1)
    return days.resolve_at(day, replace(rest, day=None, days=()))


def move_series(days: DayResolver, found: Resolved, ahead: relativedelta) -> Resolved | Ambiguous:
    """Return a series that comes as long before each time of another one, if a rule can say so."""
    local = from_micros(found.due_at, days.zone).replace(tzinfo=None)
    earlier: datetime = local - ahead
    rule = move_rule(found.rrule or "", (local.date() - earlier.date()).days)
    if rule is None:
        return Ambiguous(question="several")
    due_at = days.to_micros(earlier)
    if due_at <= days.now:
        later = find_next(rule, earlier, days.zone, after=days.now)
        if later is None or "COUNT=" in rule:
            return Ambiguous(question="past", options=(f"{earlier:%H:%M}",))
        due_at = later
    return replace(found, due_at=due_at, rrule=rule)


def move_rule(rule: str, days_before: int) -> str | None:
    """Return a rule whose days are some days earlier; None if a rule cannot say so."""
    parts = dict(part.split("=") for part in rule.split(";"))
    if parts["FREQ"] in SHORT_STEPS or "BYHOUR" in parts:
        return None
    if days_before < 0:
        return None
    if days_before == 0 or (parts["FREQ"] == "DAILY" and "BYDAY" not in parts):
        return rule
    if parts["FREQ"] == "WEEKLY" and "BYDAY" in parts:
        places = [DAY_NAMES.index(each) - days_before for each in parts["BYDAY"].split(",")]
        weeks = {each // len(DAY_NAMES) for each in places}
        if len(weeks) > 1 and "INTERVAL" in parts:
            return None  # one day would come a week before another one
        parts["BYDAY"] = ",".join(DAY_NAMES[each % len(DAY_NAMES)] for each in places)
    elif parts["FREQ"] == "MONTHLY" and parts.get("BYMONTHDAY", "").isdecimal():
        day = int(parts["BYMONTHDAY"]) - days_before
        if day < 0:
            return None
        parts["BYMONTHDAY"] = str(day or -1)
    else:
        return None
    return ";".join(f"{name}={value}" for name, value in parts.items())
