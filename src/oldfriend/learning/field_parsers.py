"""Field parsers: read one field of a model's JSON as its required type, or raise ValueError.

Optional fields have a default; an unknown value of a closed set is an error, and an invalid date
counts as missing. Knows no claims.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Final, TypeAlias, TypeVar

from oldfriend.domain.clock import (
    Micros,
    TimeGrain,
    get_start_of_day,
    parse_period,
    parse_timestamp,
)
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import sanitize_text

Fields: TypeAlias = Mapping[str, JsonValue]
Word = TypeVar("Word", bound=str)

DATE_LENGTH: Final = len("2024-05-03")
MAX_SAFE_INTEGER: Final = 1 << 53
"""Largest integer that all JSON readers represent exactly."""


def parse_object(value: JsonValue, what: str) -> Fields:
    """Return a value that has to be an object. Raises ValueError."""
    match value:
        case dict():
            return value
        case _:
            raise ValueError(f"{what} must be an object.")


def parse_list(fields: Fields, name: str) -> Sequence[JsonValue]:
    """Return a list; empty if missing or empty in another form. Raises ValueError."""
    match fields.get(name):
        case None | "":
            return ()
        case dict() as empty if not empty:
            return ()
        case list() as values:
            return values
        case _:
            raise ValueError(f'"{name}" must be a list.')


def parse_text(fields: Fields, name: str) -> str:
    """Return a text on one line; empty if missing. Raises ValueError."""
    match fields.get(name):
        case None:
            return ""
        case str(text):
            return clean_text(text)
        case _:
            raise ValueError(f'"{name}" must be a text.')


def parse_texts(fields: Fields, name: str) -> tuple[str, ...]:
    """Return a list of distinct texts. Raises ValueError."""
    texts = [clean_text(text) for text in parse_list(fields, name) if isinstance(text, str)]
    return tuple(dict.fromkeys(text for text in texts if text))


def parse_optional_text(fields: Fields, name: str) -> str:
    """Return a text on one line; empty if it is none, for fields that nothing depends on."""
    text = fields.get(name)
    return clean_text(text) if isinstance(text, str) else ""


def parse_optional_texts(fields: Fields, name: str) -> tuple[str, ...]:
    """Return a list of distinct texts, or the only one; empty if it is neither."""
    if text := parse_optional_text(fields, name):
        return (text,)
    return parse_texts(fields, name) if isinstance(fields.get(name), list) else ()


def parse_scalar(fields: Fields, name: str) -> str:
    """Return a text, or a number as text; empty if missing. Raises ValueError."""
    match fields.get(name):
        case bool():
            raise ValueError(f'"{name}" must be a text.')
        case int() | float() as number:
            return str(number)
        case _:
            return parse_text(fields, name)


def parse_choice(fields: Fields, name: str, allowed: Sequence[Word], default: Word) -> Word:
    """Return a word of a closed set; the default if missing. Raises ValueError."""
    given = parse_text(fields, name)
    found = next((word for word in allowed if word == given), None)
    if given and found is None:
        raise ValueError(f'"{name}" must be one of {", ".join(allowed)}, not {given[:40]}.')
    return found or default


def parse_fraction(fields: Fields, name: str, default: float) -> float:
    """Return a number from 0 to 1; the default if missing or empty. Raises ValueError."""
    match fields.get(name):
        case None | "":
            return default
        case bool():
            raise ValueError(f'"{name}" must be a number.')
        case int() | float() as share if 0 <= share <= 1:
            return float(share)
        case _:
            raise ValueError(f'"{name}" must be a number from 0 to 1.')


def parse_int(fields: Fields, name: str, default: int) -> int:
    """Return a whole number (neither 3.5 nor true); the default if missing or empty.

    Raises ValueError.
    """
    match fields.get(name):
        case None | "":
            return default
        case bool():
            raise ValueError(f'"{name}" must be a whole number.')
        case int(number) if abs(number) < MAX_SAFE_INTEGER:
            return number
        case _:
            raise ValueError(f'"{name}" must be a whole number.')


def parse_start(fields: Fields, name: str, zone: str) -> Micros | None:
    """Return a timestamp, or the start of a date, month or year; None if it is not a time."""
    text = fields.get(name)
    if not isinstance(text, str):
        return None
    if (period := parse_period(text, zone)) is not None:
        return period[0]
    try:
        return parse_timestamp(text, zone)[0]
    except InvalidInput:
        return None


def parse_end(fields: Fields, name: str, zone: str) -> Micros | None:
    """Return a timestamp, or the end of a date, month or year; None if it is not a time."""
    at, text = parse_start(fields, name, zone), fields.get(name)
    if at is None or not isinstance(text, str):
        return at
    if (period := parse_period(text, zone)) is not None:
        return period[1]
    return get_start_of_day(at, zone, days_back=-1) - 1 if is_date_only(text.strip()) else at


def parse_grain(fields: Fields, names: Sequence[str], zone: str) -> TimeGrain:
    """Return how precise the least precise of some times is."""
    texts = (text for name in names if isinstance(text := fields.get(name), str))
    grains = {period[2] for text in texts if (period := parse_period(text, zone)) is not None}
    return "year" if "year" in grains else "month" if grains else ""


def is_date_only(text: str) -> bool:
    """Return whether an ISO 8601 time is a date without a time of day."""
    try:
        return len(text) <= DATE_LENGTH and bool(date.fromisoformat(text))
    except ValueError:
        return False


def clean_text(text: str) -> str:
    """Return a text on one line, in a form that can be stored."""
    return " ".join(sanitize_text(text).split())
