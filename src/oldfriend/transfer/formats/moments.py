"""When was that? Times as exports write them, as datetimes."""

from datetime import UTC, datetime, timedelta, timezone

from oldfriend.domain.clock import EPOCH
from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.sayings import saying
from oldfriend.transfer.formats.json_values import text_in

FARTHEST_OFFSET = timedelta(hours=15)
ISO_TIME = "an ISO 8601 time such as 2024-05-03T18:30:00+02:00"


def moment_of_epoch(value: object, *, line: int, what: str) -> datetime:
    """Seconds since 1970, as a number or digits. Raises ImportRefused."""
    try:
        return EPOCH + timedelta(seconds=float(text_in(value)))
    except (ValueError, OverflowError) as error:
        raise unreadable(value, line=line, what=what, expected="seconds since 1970") from error


def moment_of_iso(value: object, *, line: int, what: str) -> datetime:
    """An ISO 8601 time, with its offset if it has one. Raises ImportRefused."""
    try:
        return datetime.fromisoformat(text_in(value).strip())
    except ValueError as error:
        raise unreadable(value, line=line, what=what, expected=ISO_TIME) from error


def unreadable(value: object, *, line: int, what: str, expected: str) -> ImportRefused:
    """That a value is no time."""
    told = saying(
        "import_time_unreadable", f"{what} is {shown(value)}.", what=what, value=shown(value),
    )  # fmt: skip
    return ImportRefused(told, line=line, expected=expected)


def shown(value: object) -> str:
    """A value as a message about it shows it."""
    return "missing" if value is None else repr(str(value)[:40])


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
