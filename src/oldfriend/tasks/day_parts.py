"""Parts of the day: the hour that is meant in one, and the last day of a month."""

from datetime import date
from typing import Final

from dateutil.relativedelta import relativedelta

from oldfriend.tasks.time_words import PartOfDay

HALF, HOURS = 12, 24
LATEST_NIGHT: Final = 5
LATEST_EVENING: Final = 9
"""Spanish says "las nueve de la tarde"."""


def find_month_end(day: date) -> date:
    """Return the last day of the month of a day."""
    last: date = day.replace(day=1) + relativedelta(months=1, days=-1)
    return last


def place_in_part(hour: int, part: PartOfDay) -> int | None:
    """Return the hour of the day for an hour up to twelve in a part of the day."""
    if part in {"am", "early"}:
        return hour % HALF
    if part == "pm":
        return hour % HALF + HALF
    if part == "morning":
        return hour if hour < HALF else None
    if part == "noon":
        return hour if hour >= 10 else hour + HALF if hour <= 2 else None
    if part == "afternoon":
        return hour % HALF + HALF if hour % HALF <= LATEST_EVENING else None
    if hour == HALF:
        return HOURS
    if part == "evening":
        return hour + HALF if hour >= 4 else None
    return hour + HALF if hour > LATEST_NIGHT else None if hour == LATEST_NIGHT else hour


def format_minutes(minutes: int) -> str:
    """Format minutes after midnight as a time of day."""
    return f"{minutes // 60 % HOURS:02d}:{minutes % 60:02d}"
