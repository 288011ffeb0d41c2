"""What time is it? The only clock; everything else is told the time.

Moments are UTC microseconds since 1970 (``Micros``) in the database and between modules, and
aware datetimes at the border. A zone is an IANA name ("Europe/Madrid") or an offset ("+02:00").
What comes in lies in the years 2 to 9998, so that no zone pushes it off the calendar.
"""

import time as machine
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import saying

Micros = int
Clock = Callable[[], Micros]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR


def system_clock() -> Micros:
    """Now, by the machine."""
    return to_micros(datetime.now(UTC))


_GOES_ON: Final[int | None] = getattr(
    machine, "CLOCK_BOOTTIME", getattr(machine, "CLOCK_MONOTONIC", None)
)
"""A clock that nobody sets and that goes on while the machine sleeps; Windows' own does."""


def uptime_s() -> float:
    """Seconds since some moment of this machine's, those in which it slept too; never set back."""
    return machine.monotonic() if _GOES_ON is None else machine.clock_gettime(_GOES_ON)


def to_micros(moment: datetime) -> Micros:
    """An aware datetime as UTC microseconds; exact."""
    return (moment - EPOCH) // timedelta(microseconds=1)


EARLIEST = to_micros(datetime(2, 1, 1, tzinfo=UTC))
LATEST = to_micros(datetime(9999, 1, 1, tzinfo=UTC)) - 1


def is_representable(at: Micros) -> bool:
    """Whether a moment is on the calendar in every zone."""
    return EARLIEST <= at <= LATEST


def from_micros(at: Micros, zone: str = "UTC") -> datetime:
    """UTC microseconds as a datetime in a zone. Whatever was stored can be shown.

    A moment off the calendar becomes the nearest on it; a zone unknown to this machine, UTC.
    """
    moment = EPOCH + timedelta(microseconds=min(max(at, EARLIEST), LATEST))
    try:
        return moment.astimezone(zone_named(zone))
    except InvalidInput:
        return moment


def start_of_day(at: Micros, zone: str, *, days_back: int = 0) -> Micros:
    """The midnight before a moment by the clocks of a zone, or one so many days earlier."""
    moment = from_micros(at, zone)
    day = moment.date() - timedelta(days=days_back)
    return to_micros(datetime.combine(day, time(), moment.tzinfo))


def zone_named(zone: str) -> tzinfo:
    """The zone for an IANA name or an offset such as "+02:00"; raises InvalidInput."""
    if zone in {"UTC", "Z", ""}:
        return UTC
    try:
        if zone[0] in "+-":
            offset = datetime.strptime(zone, "%z").utcoffset()
            return timezone(offset or timedelta())
        return ZoneInfo(zone)
    except (ValueError, OSError, KeyError) as error:
        raise InvalidInput(saying(
            "zone_unknown",
            f"{zone!r} is not a time zone. Use a name such as Europe/Madrid or an offset (+02:00).",
            zone=zone,
        )) from error  # fmt: skip


def days_between(first: Micros, last: Micros, zone: str) -> tuple[date, date]:
    """The first and the last day of a span, as the clocks of a zone name their middles.

    Days that were whole where something happened may begin on another one here.
    """
    half = min(DAY, last - first) // 2
    return from_micros(first + half, zone).date(), from_micros(last - half, zone).date()


def parse_moment(text: str, zone: str) -> tuple[Micros, str]:
    """An ISO 8601 time as (µs, zone); a time without offset is taken in the given zone.

    Raises InvalidInput.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise InvalidInput(saying(
            "time_unreadable", f"{text!r} is not a time. Use ISO 8601, such as 2024-05-03T18:30.",
            text=text,
        )) from error  # fmt: skip
    return place_in_zone(moment, zone)


def place_in_zone(moment: datetime, zone: str) -> tuple[Micros, str]:
    """A datetime as (µs, zone): its own offset where it has one, else the given zone's.

    Raises InvalidInput.
    """
    is_naive = moment.utcoffset() is None
    at = to_micros(moment.replace(tzinfo=zone_named(zone)) if is_naive else moment)
    if not is_representable(at):
        raise InvalidInput(saying(
            "time_outside", f"{moment.isoformat()} lies outside the years 2 to 9998.",
            moment=moment.isoformat(),
        ))  # fmt: skip
    return at, zone if is_naive else offset_name(moment)


def offset_name(moment: datetime) -> str:
    """The offset of an aware datetime as "+02:00", or "UTC" for zero; to the minute."""
    minutes = round((moment.utcoffset() or timedelta()).total_seconds() / 60)
    if minutes == 0:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"{'-' if minutes < 0 else '+'}{hours:02d}:{rest:02d}"
