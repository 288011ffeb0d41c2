"""Timestamps: times in the notations of exports, parsed to datetimes."""

from datetime import UTC, datetime, timedelta, timezone

from oldfriend.domain.clock import EPOCH
from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import localizable
from oldfriend.transfer.formats.json_values import to_text

MAX_UTC_OFFSET = timedelta(hours=15)
ISO_TIME_EXAMPLE = "an ISO 8601 time such as 2024-05-03T18:30:00+02:00"


def parse_epoch(value: object, *, line: int, what: str) -> datetime:
    """Parse seconds since 1970, given as a number or as digits. Raises ImportRefused."""
    try:
        return EPOCH + timedelta(seconds=float(to_text(value)))
    except (ValueError, OverflowError) as error:
        raise build_time_error(
            value, line=line, what=what, expected="seconds since 1970"
        ) from error


def parse_iso(value: object, *, line: int, what: str) -> datetime:
    """Parse an ISO 8601 time, with its offset if it has one. Raises ImportRefused."""
    try:
        return datetime.fromisoformat(to_text(value).strip())
    except ValueError as error:
        raise build_time_error(value, line=line, what=what, expected=ISO_TIME_EXAMPLE) from error


def build_time_error(value: object, *, line: int, what: str, expected: str) -> ImportRefused:
    """Build the error for a value that is not a time."""
    text = localizable(
        "import_time_unreadable",
        f"{what} is {format_value(value)}.",
        what=what,
        value=format_value(value),
    )
    return ImportRefused(text, line=line, expected=expected)


def format_value(value: object) -> str:
    """Format a value for an error message."""
    return "missing" if value is None else repr(str(value)[:40])


def with_local_offset(moment: datetime, local_time: datetime) -> datetime:
    """Return a time with the offset of the local time given for it, where that is plausible."""
    offset = local_time.replace(tzinfo=UTC) - moment
    minutes = timedelta(minutes=round(offset.total_seconds() / 60))
    if abs(minutes) > MAX_UTC_OFFSET or local_time.tzinfo is not None:
        return moment
    try:
        return moment.astimezone(timezone(minutes))
    except OverflowError:
        return moment
