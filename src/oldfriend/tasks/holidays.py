"""Holidays: the day of a feast in a year, by its rule.

A rule is a date ("12-24"), a weekday of a month ("11-TH4", "05-MO-1"), days from Easter
("easter-2") or the days of a feast of the moon, one a year ("2027-02-06 2028-01-26").
"""

import re
from datetime import date, timedelta
from typing import Final

from dateutil.easter import easter

DAY_NAMES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
WEEK: Final = 7
_WEEKDAY_RULE: Final = re.compile(r"(\d\d)-([A-Z]{2})(-?\d)")


def find_holiday(rule: str, after: date) -> date:
    """Return the first day of a feast that is not before a day. Raises ValueError for none."""
    for year in (after.year, after.year + 1):
        for day in list_days(rule, year):
            if day >= after:
                return day
    raise ValueError(rule)


def list_days(rule: str, year: int) -> list[date]:
    """Return the days of a feast in a year."""
    if rule.startswith("easter"):
        return [easter(year) + timedelta(days=int(rule.removeprefix("easter") or 0))]
    if match := _WEEKDAY_RULE.fullmatch(rule):
        return [find_weekday(year, int(match[1]), DAY_NAMES.index(match[2]), int(match[3]))]
    if " " in rule:
        return [day for each in rule.split() if (day := date.fromisoformat(each)).year == year]
    month, day_of_month = rule.split("-")
    return [date(year, int(month), int(day_of_month))]


def find_weekday(year: int, month: int, weekday: int, place: int) -> date:
    """Return the day that is the first, second … or, with -1, the last such weekday of a month."""
    if place > 0:
        first = date(year, month, 1)
        ahead = (weekday - first.weekday()) % WEEK
        return first + timedelta(days=ahead + WEEK * (place - 1))
    last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
    return last - timedelta(days=(last.weekday() - weekday) % WEEK)
