"""Datetimes: resolves days and hours named in a statement, relative to the day it was said.

Past dates are read by ``search.date_parser``; this module adds future ones.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final, TypeVar

from oldfriend.domain.clock import SECOND, Micros, TimeGrain, from_micros, to_micros
from oldfriend.domain.lazy_patterns import LazyPattern
from oldfriend.domain.messages import MAX_SENTENCE_CHARS, Message
from oldfriend.lang.chinese_variants import to_simplified
from oldfriend.lang.named_days import Granularity
from oldfriend.learning.rule_extraction.rule_loader import RelativeTime, RuleBook, Unit
from oldfriend.prompts.locale_phrases import load_phrases
from oldfriend.search.date_parser import DateSpan, parse_date_spans

Named = TypeVar("Named")

_HAN_DAY = re.compile("([二三]?十)?([一二三四五六七八九])?(?=[日号])")
_HAN_DIGITS = "〇一二三四五六七八九"
_TIME = "\N{WATCH}"
"""Stands where words named a time."""
_GAP = re.compile(r"[\s,，]*")
_HOURS = 24
_LATEST_AFTERNOON = 6
"""An hour up to this one, said without its half of the day, is one of the afternoon."""
_SOON = 2
"""Days ahead; a weekday as near as this has names that are shorter than "next Thursday"."""
_WEEK = 7
_LONGEST_WAIT = 62
"""Days until there has been one of each number."""
_FARTHEST = 400
"""Units that somebody counts ahead or back; more is not meant as a date."""


_GRAINS: Final[Mapping[Granularity, TimeGrain]] = {"month": "month", "year": "year"}
"""The granularities that a belief keeps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Days:
    """Days from `first` up to and without `end`."""

    first: date
    end: date
    grain: Granularity


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """From a moment until another."""

    begins: Micros
    ends: Micros
    grain: TimeGrain = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """When something is to happen at the latest, and how that is written."""

    at: Micros
    text: str
    begins: Micros  # of the days that were named
    grain: TimeGrain = ""


def past_in(words: str, message: Message, book: RuleBook) -> Period | None:
    """The time that has been which the words name, if any."""
    local = from_micros(message.at, message.zone)
    days = _told(words, message, book, is_past=True)
    if days is None or days.first > local.date():
        return None
    begins, end = _midnight(days.first, local), _midnight(days.end, local)
    return Period(begins=begins, ends=end - 1, grain=_GRAINS.get(days.grain, ""))


def due_in(words: str, message: Message, book: RuleBook) -> Due | None:
    """The time to come which the words name, if any: the last moment that still fits."""
    local = from_micros(message.at, message.zone)
    days = _told(words, message, book, is_past=False)
    if days is None or days.end <= local.date():
        return None
    at = _midnight(days.end, local) - SECOND
    if days.grain == "day" and (hour := _clock(words, book)):
        at = to_micros(datetime.combine(days.first, hour, local.tzinfo))
    begins = _midnight(days.first, local)
    if at <= message.at:
        return None
    return Due(at=at, text=_written(days, book), begins=begins, grain=_GRAINS.get(days.grain, ""))


def day_written(at: Micros, zone: str, book: RuleBook) -> str:
    """The day of a moment, as a text names it."""
    return _written(_one_day(from_micros(at, zone).date()), book)


def without_times(words: str, book: RuleBook) -> str:
    """The words without those that name a time: "Friday 4 December" from its date, "下周六" whole.

    With a time goes what hangs on it: "by Sunday" leaves no "by".
    """
    counted = (known.said for known in book.times)
    for said in (book.named_day, *book.weekdays, book.clock, *counted):
        words = said.sub(f" {_TIME} ", words)[:MAX_SENTENCE_CHARS]
    words = book.bounds.deadline.sub(" ", " ".join(words.split())).replace(_TIME, " ")
    return " ".join(words.split()).strip(" ,，、")


def behind_times(words: str, place: int, book: RuleBook) -> int:
    """Where words go on that begin with a time to come: "tomorrow at three I have …"."""
    coming = [known.said for known in book.times if not known.is_past]
    ways = (*book.weekdays, book.named_day, book.clock, *coming)
    found = next((each for said in ways if (each := said.match(words, place))), None)
    while found is not None and found.end() > place:
        gap = _GAP.match(words, found.end())
        place = gap.end() if gap else found.end()
        found = next((each for said in ways if (each := said.match(words, place))), None)
    return place


def _told(words: str, message: Message, book: RuleBook, *, is_past: bool) -> Days | None:
    """The days that words name: counted from today, by name, or by both ("June next year")."""
    today = from_micros(message.at, message.zone).date()
    counted = _counted(words, today, book, is_past=is_past)
    named = _named(words, message, is_past=is_past) if counted is None or not is_past else None
    if counted is None or (named is not None and _is_day_of(named, words, book)):
        return named
    if counted.grain == "year":
        span = next((each for each in _spans(words, message) if each.is_any_year), None)
        if span is not None:
            days = Days(first=span.first, end=span.end, grain=span.granularity)
            return _years_on(days, counted.first.year - span.first.year)
    return counted


def _is_day_of(named: Days, words: str, book: RuleBook) -> bool:
    """Whether words name a date, and a weekday besides that falls on it ("Friday 14 March")."""
    return named.grain == "day" and any(
        named.first.weekday() == day and said.search(words)
        for day, said in enumerate(book.weekdays)
    )


def _counted(words: str, today: date, book: RuleBook, *, is_past: bool) -> Days | None:
    """The days counted from today; of several that are named, the first."""
    weekday = _first(enumerate(book.weekdays), words)
    unit = _first(((known, known.said) for known in book.times if known.is_past == is_past), words)
    if unit is not None and (weekday is None or not _goes_before(weekday[1], unit)):
        known, found = unit
        ahead = _units_ahead(known, found, book)
        day = weekday and weekday[0]
        return None if ahead is None else _from_unit(today, known.unit, ahead, day)
    if weekday is None:
        return None
    day = weekday[0]
    if is_past:
        return _one_day(today - timedelta(days=(today.weekday() - day - 1) % 7 + 1))
    nearest = (day - today.weekday() - 1) % _WEEK + 1
    if book.next_day.search(weekday[1].group()):
        ahead = _days_to_next(today, nearest)
        return None if ahead is None else _one_day(today + timedelta(days=ahead))
    return _one_day(today + timedelta(days=nearest))


def _days_to_next(today: date, nearest: int) -> int | None:
    """How far ahead "next Thursday" is; nothing where some mean the nearest and some the one after.

    It is that of the next week, from Monday, if the nearest is so soon that it has a shorter name.
    """
    is_this_week = today.weekday() + nearest < _WEEK
    if nearest <= _SOON:
        return nearest + _WEEK if is_this_week else None
    return None if is_this_week else nearest


def _first(
    ways: Iterable[tuple[Named, LazyPattern]], words: str
) -> tuple[Named, re.Match[str]] | None:
    """What is named first, with where; of those that begin there, the first in the book."""
    found = [(named, match) for named, said in ways if (match := said.search(words))]
    return min(found, key=lambda each: each[1].start(), default=None)


def _goes_before(weekday: re.Match[str], unit: tuple[RelativeTime, re.Match[str]]) -> bool:
    """Whether a weekday was named before another day; not if it is one of that week."""
    known, found = unit
    return known.unit == "day" and weekday.end() <= found.start()


def _units_ahead(known: RelativeTime, found: re.Match[str], book: RuleBook) -> int | None:
    """How many units from today; nothing if the number is no number."""
    if known.ahead is not None:
        return known.ahead
    count = found["count"].lower()
    is_number = count.isdecimal() and len(count) <= len(str(_FARTHEST))
    number = int(count) if is_number else book.counts.get(count, 0)
    if not 0 < number <= _FARTHEST:
        return None
    return -number if known.is_past else number


def _from_unit(today: date, unit: Unit, ahead: int, weekday: int | None) -> Days | None:
    monday = today - timedelta(days=today.weekday())
    if unit == "day":
        return _one_day(today + timedelta(days=ahead))
    if unit == "day_of_month":
        return next((_one_day(day) for day in _days_from(today) if day.day == ahead), None)
    if unit == "weekend":
        saturday = monday + timedelta(days=7 * ahead + 5)
        return Days(first=saturday, end=saturday + timedelta(days=2), grain="week")
    if unit == "week":
        first = monday + timedelta(days=7 * ahead)
        if weekday is not None:
            return _one_day(first + timedelta(days=weekday))
        return Days(first=first, end=first + timedelta(days=7), grain="week")
    if unit == "month":
        return _month(today.year * 12 + today.month - 1 + ahead)
    year = min(max(today.year + ahead, 2), 9997)
    return Days(first=date(year, 1, 1), end=date(year + 1, 1, 1), grain="year")


def _days_from(today: date) -> Iterator[date]:
    return (today + timedelta(days=ahead) for ahead in range(_LONGEST_WAIT))


def _named(words: str, message: Message, *, is_past: bool) -> Days | None:
    local = from_micros(message.at, message.zone)
    for span in _spans(words, message):
        days = Days(first=span.first, end=span.end, grain=span.granularity)
        if not span.is_any_year:
            return days
        if is_past and days.first > local.date():
            return _years_on(days, -1)
        return _years_on(days, 1) if not is_past and days.end <= local.date() else days
    return None


def _spans(words: str, message: Message) -> tuple[DateSpan, ...]:
    offset = from_micros(message.at, message.zone).utcoffset() or timedelta()
    words = _HAN_DAY.sub(_in_digits, to_simplified(words))
    return parse_date_spans(words, asked_at=message.at, zone_offset_s=round(offset.total_seconds()))


def _in_digits(day: re.Match[str]) -> str:
    """The day of a month, which the search reads in digits only."""
    tens, ones = day[1] or "", _HAN_DIGITS.find(day[2] or "〇")
    if not day[0]:
        return ""
    return str((_HAN_DIGITS.find(tens[0]) if len(tens) == 2 else len(tens)) * 10 + ones)


def _years_on(days: Days, years: int) -> Days | None:
    try:
        first = days.first.replace(year=days.first.year + years)
    except ValueError:  # the 29th of February
        return None
    if days.grain == "month":
        return _month(first.year * 12 + first.month - 1)
    return Days(first=first, end=first + (days.end - days.first), grain=days.grain)


def _clock(words: str, book: RuleBook) -> time | None:
    found = book.clock.search(words)
    if not found:
        return None
    said = found["hour"].lower()
    hour = int(said) if said.isdecimal() else book.counts.get(said, _HOURS)
    minute = 30 if found.groupdict().get("half") else int(found["minute"] or 0)
    is_bare = hour <= _LATEST_AFTERNOON and not said.startswith("0")
    if hour < 12 and (
        book.after_noon.search(words) or (is_bare and not book.before_noon.search(words))
    ):
        hour += 12
    return time(hour, minute) if hour < _HOURS and minute < 60 else None


def _one_day(day: date) -> Days:
    return Days(first=day, end=day + timedelta(days=1), grain="day")


def _month(months: int) -> Days:
    following = months + 1
    return Days(
        first=date(months // 12, months % 12 + 1, 1),
        end=date(following // 12, following % 12 + 1, 1),
        grain="month",
    )


def _midnight(day: date, local: datetime) -> Micros:
    return to_micros(datetime.combine(day, time(), local.tzinfo))


def _written(days: Days, book: RuleBook) -> str:
    wording = load_phrases(book.language).date_formats
    shape = {"week": book.week_text, "month": book.month_text, "year": "{year}"}
    day = days.first
    parts = {
        "day": day.day,
        "number": day.month,
        "month": wording.months[day.month - 1],
        "year": day.year,
    }
    date_text = wording.date.format(**parts)
    return shape.get(days.grain, "{date}").format(date=date_text, **parts)
