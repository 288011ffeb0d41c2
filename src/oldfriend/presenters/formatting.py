"""Formatting of times, counts, money and one-line texts."""

from typing import overload

from oldfriend.domain.clock import Micros, TimeGrain, format_grain, from_micros
from oldfriend.usage.costs import MICRODOLLARS

CENT = MICRODOLLARS // 100
MAX_LINE_CHARS = 160


@overload
def format_time(at: Micros, zone: str) -> str: ...
@overload
def format_time(at: Micros | None, zone: str) -> str | None: ...
def format_time(at: Micros | None, zone: str) -> str | None:
    """Format a time as ISO 8601 with the offset of a zone, to the second; None stays None."""
    return None if at is None else from_micros(at, zone).isoformat(timespec="seconds")


@overload
def format_exact_time(at: Micros, zone: str) -> str: ...
@overload
def format_exact_time(at: Micros | None, zone: str) -> str | None: ...
def format_exact_time(at: Micros | None, zone: str) -> str | None:
    """Format a time as ISO 8601 with the offset of a zone, to the microsecond; None stays None."""
    return None if at is None else from_micros(at, zone).isoformat()


def format_datetime(at: Micros, zone: str) -> str:
    """Format a date and time for people, to the minute."""
    return from_micros(at, zone).strftime("%Y-%m-%d %H:%M")


def format_date(at: Micros, zone: str, grain: TimeGrain = "") -> str:
    """Format a date, or only its month or year."""
    return format_grain(from_micros(at, zone).date(), grain)


def to_one_line(text: str) -> str:
    """Return a text on one line, truncated if it is long."""
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_LINE_CHARS else f"{flat[: MAX_LINE_CHARS - 1]}…"


def format_count(count: int, one: str, many: str = "") -> str:
    """Format a count with its noun."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def format_money(cost: int) -> str:
    """Format an amount in dollars, with four decimals below ten cents."""
    if cost and cost < 10 * CENT:
        return f"${cost / MICRODOLLARS:.4f}"
    return f"${cost / MICRODOLLARS:,.2f}"
