"""Time phrases: resolves the times that a request names, or says what must be asked."""

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import Final

from dateutil.relativedelta import relativedelta

from oldfriend.domain.clock import HOUR, SECOND, Micros, from_micros, to_micros
from oldfriend.tasks.day_parts import (
    HALF,
    HOURS,
    LATEST_NIGHT,
    find_month_end,
    format_minutes,
    place_in_part,
)
from oldfriend.tasks.event_times import resolve_before, resolve_offset
from oldfriend.tasks.holidays import find_holiday
from oldfriend.tasks.recurrence import to_utc
from oldfriend.tasks.series_phrases import (
    DAY_HOUR,
    PART_HOURS,
    find_hours,
    fix,
    name_hours,
    resolve_series,
)
from oldfriend.tasks.time_words import PartOfDay, TimeBook, TimeWord
from oldfriend.tasks.told_time import Ambiguous, Resolved, Told, encode_guess
from oldfriend.tasks.zone_words import resolve_elsewhere

LATEST_AFTERNOON: Final = 5
"""An hour up to this one, said without its half of the day, is one of the afternoon."""
LATEST_NAP: Final = 17
NEAR_HOURS: Final = 5
FAR_HOURS: Final = 7
BUSINESS_HOURS: Final = (9, 10, 11)
"""On another day, and without the half of the day, these are hours of the morning."""
SOON: Final = 2
"""Days ahead; a weekday as near as this has names that are shorter than "next Thursday"."""
WEEK: Final = 7
MAX_YEARS: Final = 50


class TimeResolver:
    """Resolves the parts of a time for one person at one moment."""

    def __init__(self, book: TimeBook, now: Micros, zone: str) -> None:
        """Take the language, the moment and the zone."""
        self.book = book
        self.now = now
        self.zone = zone
        self.local = from_micros(now, zone).replace(tzinfo=None)
        self.today = self.local.date()

    def resolve(self, told: Told | None) -> Resolved | Ambiguous:
        """Return the time, or what must be asked."""
        if told is None or told.refused is not None:
            return Ambiguous(question=(told and told.refused) or "several")
        if told.vague is not None or not told.words:
            return Ambiguous(question="when")
        if told.zone is not None:
            return resolve_elsewhere(self, TimeResolver(self.book, self.now, told.zone.name), told)
        try:
            found = self.resolve_parts(told)
        except (ValueError, OverflowError):
            return Ambiguous(question="no_such_day")
        if told.doubt is None or isinstance(found, Ambiguous):
            return found
        options = (encode_guess(found, self.zone),) if told.doubt == "guess" else ()
        return Ambiguous(question=told.doubt, options=options)

    def resolve_parts(self, told: Told) -> Resolved | Ambiguous:
        """Return the time that the parts tell together."""
        if told.offset is not None:
            return resolve_offset(self, told, told.offset)
        if told.every is not None:
            return resolve_series(self, told, told.every)
        return self.resolve_once(told)

    def resolve_once(self, told: Told) -> Resolved | Ambiguous:
        """Return the time of something that is due once."""
        if told.until is not None:
            return Ambiguous(question="when")
        if told.amount is not None:
            return self.resolve_ahead(told, told.amount)
        if told.event is not None and told.clock is not None:
            found_before = resolve_before(self, told, told.clock, told.event)
            if found_before is not None:
                return found_before
        day: date | None = None
        if told.day is not None:
            found = self.resolve_only_day(told)
            if isinstance(found, Ambiguous):
                return found
            day = found
        if len(told.clocks) > 1:
            return self.resolve_clocks(day, told)
        return self.resolve_at(day, told)

    def resolve_only_day(self, told: Told) -> date | Ambiguous:
        """Return the day of something that is due once.

        Before dawn "tomorrow" may be today, for who has not slept yet.
        """
        day = self.resolve_day(told)
        is_tomorrow = told.day is not None and told.day.entry.get("ahead") == 1
        if not is_tomorrow or isinstance(day, Ambiguous) or self.local.hour >= LATEST_NIGHT:
            return day
        return Ambiguous(question="week", options=(self.today.isoformat(), day.isoformat()))

    def resolve_ahead(self, told: Told, amount: TimeWord) -> Resolved | Ambiguous:
        """Return the time an amount from now, or at an hour of the day that is so far ahead."""
        if told.day is not None and told.day.entry.get("ahead") != 0:
            return self.resolve_day_in_weeks(told, amount)
        if set(amount.units) & {"minute", "hour"}:
            if told.clock or told.part:
                return Ambiguous(question="several")
            return self.resolve_amount(amount)
        if len(told.clocks) > 1:
            return self.resolve_clocks(self.add_amount(amount), told)
        return self.resolve_at(self.add_amount(amount), replace(told, day=None, days=()))

    def resolve_day_in_weeks(self, told: Told, amount: TimeWord) -> Resolved | Ambiguous:
        """Return the time on a weekday of the week in some weeks, "in two weeks on Monday"."""
        assert told.day is not None
        if told.days or set(amount.units) & {"minute", "hour"}:
            return Ambiguous(question="several")
        ahead = self.add_amount(amount)
        if "day" in told.day.groups and "mode" not in told.day.entry:
            weekday = self.book.read_weekday(told.day.groups["day"])
            day = ahead + timedelta(days=weekday - ahead.weekday())
            is_exact = set(amount.units) == {"week"} or day == ahead
            return self.resolve_at(day, told) if is_exact else Ambiguous(question="several")
        named = self.resolve_day(told)
        return self.resolve_at(ahead, told) if named == ahead else Ambiguous(question="several")

    def list_halves(self, clock_time: TimeWord, part: PartOfDay | None) -> list[int]:
        """Return the minutes of the day that a clock's words may mean in either half of it."""
        times = self.list_times(clock_time, part)
        if not self.is_open_hour(clock_time, clock_time.entry.get("part", part)):
            return times
        half = 60 * HALF
        return sorted({each % half for each in times} | {each % half + half for each in times})

    def resolve_clocks(self, day: date | None, told: Told) -> Resolved | Ambiguous:
        """Return the times of one day, "at eight, twelve and four", as a series that ends there."""
        hours = find_hours(self, told.clocks)
        steps = {later - one for one, later in pairwise(hours)}
        is_even = len(steps) == 1 or len({each % 60 for each in hours}) == 1
        if not hours or not is_even:
            return Ambiguous(question="several")
        first = self.resolve_at(day, replace(told, clock=fix(hours[0]), clocks=(), part=None))
        if isinstance(first, Ambiguous):
            return first
        if len({each % 60 for each in hours}) == 1:
            return replace(first, rrule=f"FREQ=DAILY;{name_hours(hours)};COUNT={len(hours)}")
        return replace(first, rrule=f"FREQ=MINUTELY;INTERVAL={steps.pop()};COUNT={len(hours)}")

    def resolve_amount(self, amount: TimeWord) -> Resolved | Ambiguous:
        """Return the time some minutes or hours from now."""
        minutes = round(60 * amount.units.get("hour", 0) + amount.units.get("minute", 0))
        ahead = timedelta(minutes=minutes, days=round(amount.units.get("day", 0)))
        if not timedelta() < ahead < timedelta(days=366 * MAX_YEARS):
            return Ambiguous(question="when")
        return Resolved(due_at=self.now + round(ahead.total_seconds() * SECOND))

    def add_amount(self, amount: TimeWord) -> date:
        """Return the day some days, weeks, months or years from today."""
        units = amount.units
        days = round(units.get("day", 0) + WEEK * units.get("week", 0))
        months = round(units.get("month", 0) + 12 * units.get("year", 0))
        if months > 12 * MAX_YEARS or days > 366 * MAX_YEARS:
            raise ValueError(months)
        ahead: date = self.today + relativedelta(days=days, months=months)
        return ahead

    def resolve_at(self, day: date | None, told: Told) -> Resolved | Ambiguous:
        """Return the time on a day, if one is known."""
        part: PartOfDay | None = told.part.entry["part"] if told.part else None
        part = part or (told.day.entry.get("part") if told.day else None)
        if told.clock is None:
            if part is None:
                assert day is not None
                return self.check(day, time(DAY_HOUR), is_date_only=True)
            default = told.day.entry.get("hour") if told.day else None
            return self.check(day, time(default or PART_HOURS[part]))
        if part is None and self.is_early(day, told):
            part = "am"
        times = self.list_times(told.clock, part)
        if not times:
            return Ambiguous(question="when")
        if day is None:
            return self.resolve_next(told.clock, part, times)
        if day == self.today:
            is_night = part == "night" and not (told.day and "hour" in told.day.entry)
            return self.resolve_today(told.clock, times, is_night=is_night)
        times = self.choose_morning(told.clock, times)
        if len(times) > 1:
            return self.ask_half(told.clock)
        return self.refuse_past_time(self.combine(day, times[0]))

    def is_early(self, day: date | None, told: Told) -> bool:
        """Whether who wants to be woken at an hour means one of the morning."""
        clock = told.clock
        if clock is None or told.wakes_from is None or "fixed" in clock.entry:
            return False
        if "ap" in clock.groups or not told.wakes_from <= self.read_hour(clock) < HALF:
            return False
        is_later = day is not None and day > self.today
        return is_later or self.local.hour >= LATEST_NAP or self.local.hour <= LATEST_NIGHT

    def list_coming(self, times: list[int]) -> list[Micros]:
        """Return those of some minutes of the day that are to come today."""
        moments = (self.to_micros(self.combine(self.today, minutes)) for minutes in times)
        return [each for each in moments if each > self.now]

    def is_soon(self, coming: list[Micros]) -> bool:
        """Whether the first of two times is so near that it is the one that is meant."""
        return bool(coming) and coming[0] - self.now <= NEAR_HOURS * HOUR

    def is_late(self, clock_time: TimeWord, times: list[int], coming: list[Micros]) -> bool:
        """Whether an hour of the morning has passed, and that of the evening is far and late."""
        is_business = len(times) > 1 and self.read_hour(clock_time) in BUSINESS_HOURS
        return is_business and bool(coming) and coming[0] - self.now > FAR_HOURS * HOUR

    def resolve_next(
        self, clock_time: TimeWord, part: PartOfDay | None, times: list[int]
    ) -> Resolved | Ambiguous:
        """Return the next time that a clock's words may mean, unless two are as near."""
        coming = self.list_coming(times)
        if self.is_late(clock_time, times, coming):
            return self.ask_half(clock_time)
        if len(coming) == 1 or self.is_soon(coming):
            return Resolved(due_at=coming[0])
        if len(times) > 1 or (not coming and self.is_open_hour(clock_time, part)):
            return self.ask_half(clock_time)
        return self.refuse_past_time(self.combine(self.today + timedelta(days=1), times[0]))

    def resolve_today(
        self, clock_time: TimeWord, times: list[int], *, is_night: bool
    ) -> Resolved | Ambiguous:
        """Return the time that a clock's words may still mean today, or in the night that comes."""
        coming = self.list_coming(times)
        if len(coming) == 1 or self.is_soon(coming):
            return Resolved(due_at=coming[0])
        if coming:
            return self.ask_half(clock_time)
        if is_night and times[0] < 60 * LATEST_NIGHT < 60 * self.local.hour:
            return Resolved(due_at=self.to_micros(self.combine(self.today, times[0] + 60 * HOURS)))
        return Ambiguous(question="past", options=(format_minutes(times[0]),))

    def resolve_hour_near(self, due_at: Micros | None, told: Told) -> Resolved | None:
        """Return another hour on the day of a time; of two, the one nearer to it."""
        if due_at is None or told.clock is None:
            return None
        day = from_micros(due_at, self.zone).date()
        part = told.part.entry["part"] if told.part else None
        times = self.list_times(told.clock, part)
        moments = [self.to_micros(self.combine(day, each)) for each in times]
        coming = [each for each in moments if each > self.now]
        nearest = min(coming, key=lambda each: abs(each - due_at), default=None)
        return None if nearest is None else Resolved(due_at=nearest)

    def refuse_past_time(self, moment: datetime) -> Resolved | Ambiguous:
        """Return a local time, unless it has passed."""
        if self.to_micros(moment) <= self.now:
            return Ambiguous(question="past", options=(f"{moment:%H:%M}",))
        return Resolved(due_at=self.to_micros(moment))

    def check(
        self, day: date | None, at: time, *, is_date_only: bool = False
    ) -> Resolved | Ambiguous:
        """Return a time on a day, or on the next one possible."""
        moment = datetime.combine(day or self.today, at)
        if self.to_micros(moment) > self.now:
            return Resolved(due_at=self.to_micros(moment), is_date_only=is_date_only)
        if day is None:
            return Resolved(due_at=self.to_micros(moment + timedelta(days=1)))
        return Ambiguous(question="past" if day < self.today else "when")

    def is_open_hour(self, clock_time: TimeWord, part: PartOfDay | None) -> bool:
        """Whether an hour may be one of the morning or of the afternoon."""
        if part is not None or "ap" in clock_time.groups or "fixed" in clock_time.entry:
            return False
        hour = self.read_hour(clock_time)
        is_written_so = clock_time.groups["h"].startswith("0") or hour >= HALF or hour == 0
        is_formal = clock_time.entry.get("style") == "formal" and hour > LATEST_NIGHT
        return not (is_written_so or is_formal)

    def read_hour(self, clock_time: TimeWord) -> int:
        """Return the hour that a clock's words name."""
        return self.book.read_number(clock_time.groups["h"])

    def list_times(self, clock_time: TimeWord, part: PartOfDay | None) -> list[int]:
        """Return the minutes of the day that a clock's words may mean."""
        part = clock_time.entry.get("part", part)
        if "fixed" in clock_time.entry:
            return [int(clock_time.entry["fixed"])]
        hour = self.read_hour(clock_time)
        minutes = int(clock_time.groups.get("m", 0)) + int(clock_time.entry.get("add", 0))
        if "sign" in clock_time.entry:
            minutes += int(clock_time.entry["sign"]) * self.book.read_number(clock_time.groups["n"])
        if "ap" in clock_time.groups:
            part = "am" if clock_time.groups["ap"].lower().startswith("a") else "pm"
        hours = self.list_hours(clock_time, hour, part)
        found = [60 * each + minutes for each in hours]
        return [each if each >= 0 else each + 60 * HOURS for each in found if each <= 60 * HOURS]

    def list_hours(self, clock_time: TimeWord, hour: int, part: PartOfDay | None) -> list[int]:
        """Return the hours that an hour may mean."""
        if hour > HALF or hour == 0 or (part is None and clock_time.groups["h"].startswith("0")):
            return [hour]
        if part is not None:
            placed = place_in_part(hour, part)
            return [] if placed is None else [placed]
        if hour == HALF:
            is_before = int(clock_time.entry.get("add", clock_time.entry.get("sign", 0))) < 0
            return [HALF, HOURS] if is_before else [HALF]
        if clock_time.entry.get("style") == "formal":
            return [hour] if hour > LATEST_NIGHT else [hour, hour + HALF]
        return [hour + HALF] if hour <= LATEST_AFTERNOON else [hour, hour + HALF]

    def choose_morning(self, clock_time: TimeWord, times: list[int]) -> list[int]:
        """Return the morning's of two times of another day, if few would mean the evening's."""
        is_business = len(times) > 1 and self.read_hour(clock_time) in BUSINESS_HOURS
        return times[:1] if is_business else times

    def ask_half(self, clock_time: TimeWord) -> Ambiguous:
        """Ask which half of the day an hour is in."""
        hour = self.read_hour(clock_time) % HALF
        minutes = int(clock_time.groups.get("m", 0)) + int(clock_time.entry.get("add", 0))
        if "sign" in clock_time.entry:
            minutes += int(clock_time.entry["sign"]) * self.book.read_number(clock_time.groups["n"])
        total = 60 * hour + minutes
        return Ambiguous(
            question="half",
            options=(format_minutes(total), format_minutes(total + 60 * HALF)),
        )

    def combine(self, day: date, minutes: int) -> datetime:
        """Return the local time some minutes after the midnight of a day."""
        return datetime.combine(day, time()) + timedelta(minutes=minutes)

    def to_micros(self, moment: datetime) -> Micros:
        """Return the moment of a local time."""
        return to_micros(to_utc(moment, self.zone))

    def resolve_day(self, told: Told) -> date | Ambiguous:
        """Return the day that words name, if all of them name one."""
        assert told.day is not None
        if told.days:
            return self.resolve_days_alike(told)
        word, entry, groups = told.day, told.day.entry, told.day.groups
        if "ask" in entry:
            return Ambiguous(question=entry["ask"])
        if "follows" in entry:
            before = self.resolve_day(replace(told, day=entry["follows"]))
            return before if isinstance(before, Ambiguous) else before + timedelta(days=1)
        if "dom" in entry:
            return self.check_weekday(word, self.resolve_day_of_month(word, told))
        counted = self.count_days(word)
        if counted is not None:
            return counted
        if "day" in groups:
            return self.resolve_weekday(word, told)
        if "mo" in groups or "month" in groups or "iso" in entry:
            return self.check_weekday(word, self.resolve_date(word))
        return self.resolve_day_of_month(word, told)

    def count_days(self, word: TimeWord) -> date | None:
        """Return a day that is counted from today, ends a month or is a holiday; else None."""
        entry, groups = word.entry, word.groups
        if "ahead" in entry:
            return self.today + timedelta(days=int(entry["ahead"]))
        if "n_ahead" in entry:  # "a week from tomorrow"
            weeks = self.book.read_number(groups["n"]) if "n" in groups else 1
            return self.today + timedelta(days=int(entry["n_ahead"]) + WEEK * weeks)
        if "month_end" in entry:
            return find_month_end(self.today + relativedelta(months=int(entry["month_end"])))
        if "month_last" in entry:
            month = self.book.read_month(groups["month"])
            is_now = month == self.today.month
            return find_month_end(self.today if is_now else self.next_date(month, 1))
        return find_holiday(entry["holiday"], self.today) if "holiday" in entry else None

    def check_weekday(self, word: TimeWord, day: date | Ambiguous) -> date | Ambiguous:
        """Return the day that a number or date names, if it falls on the weekday told with it."""
        weekday = word.groups.get("dow") or word.groups.get("day")
        if isinstance(day, Ambiguous) or weekday is None:
            return day
        is_same = self.book.read_weekday(weekday) == day.weekday()
        return day if is_same else Ambiguous(question="several")

    def resolve_days_alike(self, told: Told) -> date | Ambiguous:
        """Return the day that several words name, "Friday the 27th"."""
        main = told.day
        assert main is not None
        weeks = [each for each in told.days if "ask" in each.entry]
        if any("weeks" not in each.entry for each in weeks) and "day" in main.groups:
            return Ambiguous(question="several")
        if weeks and "weeks" in weeks[0].entry and "day" in main.groups:
            main = replace(main, entry={"mode": "week", "weeks": weeks[0].entry["weeks"]})
        names = [each for each in told.days if "ask" not in each.entry]
        plain = replace(told, day=main, days=())
        day = self.resolve_day(plain)
        if isinstance(day, Ambiguous):
            return day
        for each in names:
            is_weekday = "day" in each.groups and "mode" not in each.entry
            other = self.resolve_day(replace(plain, day=each))
            if is_weekday and self.book.read_weekday(each.groups["day"]) == day.weekday():
                continue
            if other != day:
                return Ambiguous(question="several")
        return day

    def resolve_weekday(self, word: TimeWord, told: Told) -> date | Ambiguous:
        """Return the day that a weekday's name means."""
        weekday = self.book.read_weekday(word.groups["day"])
        nearest = (weekday - self.today.weekday() - 1) % WEEK + 1
        mode = word.entry.get("mode", "near")
        if mode == "week":
            weeks = (
                int(word.entry["weeks"])
                if "weeks" in word.entry
                else (self.book.read_number(word.groups["n"]))
            )
            monday = self.today - timedelta(days=self.today.weekday())
            return monday + timedelta(days=WEEK * weeks + weekday)
        if mode == "after":
            weeks = self.book.read_number(word.groups["n"]) if "n" in word.groups else 1
            return self.today + timedelta(days=nearest + WEEK * weeks)
        if mode == "next":
            is_soonest = bool(word.entry.get("soonest"))
            return self.resolve_next_weekday(nearest, is_soonest=is_soonest)
        if nearest == WEEK and mode == "near":  # it is that day today
            return self.resolve_same_day(told)
        return self.today + timedelta(days=nearest)

    def resolve_same_day(self, told: Told) -> date | Ambiguous:
        """Return today or the day in a week, for the name of today's weekday."""
        later = self.today + timedelta(days=WEEK)
        if told.clock is not None and told.every is None:
            part = told.part.entry["part"] if told.part else None
            times = self.list_times(told.clock, part)
            moments = [self.to_micros(self.combine(self.today, each)) for each in times]
            if times and all(each <= self.now for each in moments):
                return later
        return Ambiguous(question="week", options=(self.today.isoformat(), later.isoformat()))

    def resolve_next_weekday(self, nearest: int, *, is_soonest: bool) -> date | Ambiguous:
        """Return the day of "next Thursday".

        Some mean the nearest and some the one of the next week, which is asked about unless they
        are the same, or the nearest is so soon after the weekend that nobody means another.
        """
        is_this_week = self.today.weekday() + nearest < WEEK
        near, far = (self.today + timedelta(days=nearest + each) for each in (0, WEEK))
        is_same = nearest == WEEK or nearest <= SOON or is_soonest
        if is_same and not is_this_week:
            return near
        return Ambiguous(question="week", options=(near.isoformat(), far.isoformat()))

    def resolve_date(self, word: TimeWord) -> date | Ambiguous:
        """Return the day of a date; without a year, the next one."""
        groups = word.groups
        if "month" in groups:
            month = self.book.read_month(groups["month"])
            day = self.book.read_ordinal(groups["ord"] if "ord" in groups else groups["d"])
        else:
            month, day = int(groups["mo"]), int(groups["d"])
            if word.entry.get("order") == "ask" and month != day <= HALF:
                return Ambiguous(question="order")
        if "y" in groups:
            return self.refuse_past(date(int(groups["y"]), month, day))
        return self.next_date(month, day)

    def next_date(self, month: int, day: int) -> date:
        """Return the next day of this month and number, today included."""
        for year in range(self.today.year, self.today.year + 9):
            try:
                found = date(year, month, day)
            except ValueError:
                if not (month == 2 and day == 29):
                    raise
                continue
            if found >= self.today:
                return found
        raise ValueError(day)

    def refuse_past(self, day: date) -> date | Ambiguous:
        """Return a day, unless it has passed."""
        return day if day >= self.today else Ambiguous(question="past")

    def resolve_day_of_month(self, word: TimeWord, told: Told) -> date | Ambiguous:
        """Return the day with a number in this month, the next or a later one."""
        groups = word.groups
        number = self.book.read_ordinal(groups["ord"] if "ord" in groups else groups["d"])
        first = self.today.replace(day=1)
        if "shift" in word.entry:
            day = (first + relativedelta(months=int(word.entry["shift"]))).replace(day=number)
            return self.refuse_past(day)
        if number == self.today.day:
            later = first + relativedelta(months=1)
            if told.clock is None:
                options = (self.today.isoformat(), later.replace(day=number).isoformat())
                return Ambiguous(question="week", options=options)
            return self.today
        for months in range(4):
            month: date = first + relativedelta(months=months)
            try:
                day = month.replace(day=number)
            except ValueError:
                continue
            if day > self.today:
                return day
        raise ValueError(number)
