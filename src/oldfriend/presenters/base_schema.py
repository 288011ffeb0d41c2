"""Base schema: of everything that is shown, with localized texts and formats of times and counts.

These are plain dataclasses, which the API reads as Pydantic models: commands and programs use the
same classes without the tenth of a second that loading Pydantic takes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self, overload

from oldfriend.domain.clock import Micros, TimeGrain, format_grain, from_micros
from oldfriend.domain.i18n_messages import LocalizedText, MessageCode
from oldfriend.domain.json import JsonValue
from oldfriend.usage.costs import MICRODOLLARS


class Schema:
    """The base of a frozen dataclass that the API returns; nothing is sent but what it names."""

    __slots__ = ()
    __pydantic_config__: ClassVar = {"extra": "forbid"}


def describe(text: str | None = None, **more: JsonValue) -> Mapping[str, JsonValue]:
    """Return the metadata of a field for the API document: its description, examples, limits."""
    return more if text is None else {"description": text, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalizedTextSchema(Schema):
    """A text of the program's own, with a code by which a page can translate it."""

    text: str = field(metadata=describe("The whole text, in English."))
    code: MessageCode | None = field(
        metadata=describe("The code of the text; null if it has none.")
    )
    values: "dict[str, str | int | float | LocalizedTextSchema]" = field(
        metadata=describe("The values in the text, by name; each may be a localized text itself.")
    )

    @classmethod
    def from_domain(cls, text: str) -> Self:
        """Present a text, with its code and values if it is localized."""
        if not isinstance(text, LocalizedText):
            return cls(text=text, code=None, values={})
        values: dict[str, str | int | float | LocalizedTextSchema] = {
            name: cls.from_domain(value) if isinstance(value, LocalizedText) else value
            for name, value in text.values.items()
        }
        return cls(text=str(text), code=text.code, values=values)


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


def to_optional_text(value: JsonValue) -> str | None:
    """Return the value if it is a string, else None."""
    return value if isinstance(value, str) else None


def to_optional_int(value: JsonValue) -> int | None:
    """Return the value if it is an integer, else None."""
    return value if isinstance(value, int) else None
