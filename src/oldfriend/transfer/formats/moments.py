"""When was that? Times as exports write them, as datetimes."""

from datetime import UTC, datetime, timedelta, timezone

from oldfriend.domain.clock import EPOCH
from oldfriend.domain.errors import ImportRefused

FARTHEST_OFFSET = timedelta(hours=15)
ISO_TIME = "an ISO 8601 time such as 2024-05-03T18:30:00+02:00"


def moment_of_epoch(value: object, *, line: int, what: str) -> datetime:
    """Seconds since 1970, as a number or digits. Raises ImportRefused."""
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError(what)
        return EPOCH + timedelta(seconds=float(value))
    except (ValueError, OverflowError) as error:
        raise ImportRefused(
            f"{what} is {str(value)[:40]!r}.", line=line, expected="seconds since 1970"
        ) from error


def moment_of_iso(value: object, *, line: int, what: str) -> datetime:
    """An ISO 8601 time, with its offset if it has one. Raises ImportRefused."""
    try:
        if not isinstance(value, str):
            raise TypeError(what)
        return datetime.fromisoformat(value.strip())
    except (ValueError, TypeError) as error:
        raise ImportRefused(
            f"{what} is {str(value)[:40]!r}.", line=line, expected=ISO_TIME
        ) from error


def placed_by_clock(moment: datetime, clock: datetime) -> datetime:
    """A moment with the offset of the wall clock that showed it, where that is a likely one."""
    offset = clock.replace(tzinfo=UTC) - moment
    minutes = timedelta(minutes=round(offset.total_seconds() / 60))
    if abs(minutes) > FARTHEST_OFFSET or clock.tzinfo is not None:
        return moment
    try:
        return moment.astimezone(timezone(minutes))
    except OverflowError:
        return moment
