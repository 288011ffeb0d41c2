"""Clock: the only source of the current time, and conversions of times and time zones.

Times are UTC microseconds since 1970 (``Micros``) in the database and between modules, and aware
datetimes at the edges. A zone is an IANA name ("Europe/Madrid") or an offset ("+02:00"). Accepted
times lie in the years 2 to 9998, so that no zone moves them outside the calendar.
"""

import re
import time as machine
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Final, Literal
from zoneinfo import ZoneInfo

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable

Micros = int
TimeGrain = Literal["", "month", "year"]
"""How precisely a time is known, if not to the day or better."""
Clock = Callable[[], Micros]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
PERIOD: Final = re.compile(r"(?P<year>\d{4})(?:-(?P<month>\d{2}))?")
MIN_YEAR, MAX_YEAR, MONTHS = 3, 9998, 12
GRAIN_LENGTHS: Final[dict[TimeGrain, int]] = {"year": 4, "month": 7, "": 10}
"""Characters of an ISO 8601 date that say no more than is known."""
MAX_CLOCK_SKEW: Final = MINUTE
"""A timestamp further in the future than this was written by a wrong clock."""


def is_misdated(at: Micros, now: Micros) -> bool:
    """Return whether a time of saying lies so far ahead that it is wrong in every time zone."""
    return at > now + DAY


def get_credible_time(at: Micros, now: Micros) -> Micros:
    """Return a time of saying; a misdated one counts as a day old, older than all of today."""
    return now - DAY if is_misdated(at, now) else at


def system_clock() -> Micros:
    """Return the machine's current time."""
    return to_micros(datetime.now(UTC))


_BOOTTIME_CLOCK: Final[int | None] = getattr(
    machine, "CLOCK_BOOTTIME", getattr(machine, "CLOCK_MONOTONIC", None)
)
"""A monotonic clock that goes on during sleep; on Windows time.monotonic does so."""


def uptime_s() -> float:
    """Return seconds since an arbitrary moment, including sleep; never goes backwards."""
    return (
        machine.monotonic() if _BOOTTIME_CLOCK is None else machine.clock_gettime(_BOOTTIME_CLOCK)
    )


def to_micros(moment: datetime) -> Micros:
    """Convert an aware datetime to UTC microseconds, exactly."""
    return (moment - EPOCH) // timedelta(microseconds=1)


MIN_TIME = to_micros(datetime(2, 1, 1, tzinfo=UTC))
MAX_TIME = to_micros(datetime(9999, 1, 1, tzinfo=UTC)) - 1


def is_representable(at: Micros) -> bool:
    """Return whether a time is within the calendar in every zone."""
    return MIN_TIME <= at <= MAX_TIME


def from_micros(at: Micros, zone: str = "UTC") -> datetime:
    """Convert UTC microseconds to a datetime in a zone; works for any stored value.

    A time outside the calendar becomes the nearest one within; an unknown zone becomes UTC.
    """
    moment = EPOCH + timedelta(microseconds=min(max(at, MIN_TIME), MAX_TIME))
    try:
        return moment.astimezone(get_zone(zone))
    except InvalidInput:
        return moment


def get_start_of_day(at: Micros, zone: str, *, days_back: int = 0) -> Micros:
    """Return the midnight before a time in a zone, or the one ``days_back`` days earlier."""
    moment = from_micros(at, zone)
    day = moment.date() - timedelta(days=days_back)
    return to_micros(datetime.combine(day, time(), moment.tzinfo))


def get_zone(zone: str) -> tzinfo:
    """Return the zone for an IANA name or an offset such as "+02:00". Raises InvalidInput."""
    if zone in {"UTC", "Z", ""}:
        return UTC
    try:
        if zone[0] in "+-":
            offset = datetime.strptime(zone, "%z").utcoffset()
            return timezone(offset or timedelta())
        return ZoneInfo(zone)
    except (ValueError, OSError, KeyError) as error:
        raise InvalidInput(
            localizable(
                "zone_unknown",
                f"{zone!r} is not a time zone. Use a name such as Europe/Madrid or an offset "
                "(+02:00).",
                zone=zone,
            )
        ) from error


def get_day_range(first: Micros, last: Micros, zone: str) -> tuple[date, date]:
    """Return the first and last day of a time span, as the days in a zone that contain their
    middles.

    Days that are whole in the zone of an event may begin on another date in this zone.
    """
    half = min(DAY, last - first) // 2
    return from_micros(first + half, zone).date(), from_micros(last - half, zone).date()


def parse_timestamp(text: str, zone: str) -> tuple[Micros, str]:
    """Parse an ISO 8601 time as (µs, zone); a time without offset is in the given zone.

    Raises InvalidInput.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidInput(
            localizable(
                "time_unreadable",
                f"{text!r} is not a time. Use ISO 8601, such as 2024-05-03T18:30.",
                text=text,
            )
        ) from error
    return to_micros_with_zone(moment, zone)


def parse_period(text: str, zone: str) -> tuple[Micros, Micros, TimeGrain] | None:
    """Parse a month ("2024-05") or a year as its first and last µs and its grain; else None."""
    found = PERIOD.fullmatch(text.strip())
    if found is None:
        return None
    year, month = int(found["year"]), int(found["month"] or 1)
    grain: TimeGrain = "month" if found["month"] else "year"
    if not MIN_YEAR <= year < MAX_YEAR or not 1 <= month <= MONTHS:
        return None
    following = (year + 1, 1) if grain == "year" or month == MONTHS else (year, month + 1)
    begin, end = (
        to_micros(datetime(*each, 1, tzinfo=get_zone(zone))) for each in ((year, month), following)
    )
    return begin, end - 1, grain


def get_coarser(one: TimeGrain, other: TimeGrain) -> TimeGrain:
    """Return the less precise of two grains."""
    return min(one, other, key=lambda each: GRAIN_LENGTHS[each])


def format_grain(day: date, grain: TimeGrain) -> str:
    """Format a day in ISO 8601 as precisely as it is known."""
    return day.isoformat()[: GRAIN_LENGTHS[grain]]


def to_micros_with_zone(moment: datetime, zone: str) -> tuple[Micros, str]:
    """Convert a datetime to (µs, zone): with its own offset if it has one, else the given zone.

    Raises InvalidInput.
    """
    is_naive = moment.utcoffset() is None
    at = to_micros(moment.replace(tzinfo=get_zone(zone)) if is_naive else moment)
    if not is_representable(at):
        raise InvalidInput(
            localizable(
                "time_outside",
                f"{moment.isoformat()} lies outside the years 2 to 9998.",
                moment=moment.isoformat(),
            )
        )
    return at, zone if is_naive else format_offset(moment)


def format_offset(moment: datetime) -> str:
    """Return the offset of an aware datetime as "+02:00", or "UTC" for zero; to the minute."""
    minutes = round((moment.utcoffset() or timedelta()).total_seconds() / 60)
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"
