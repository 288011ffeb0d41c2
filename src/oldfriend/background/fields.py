"""How is one field of a model's answer read? As the type it has to have, or ValueError.

What may be left out has a value for that; an unknown word of a closed set is a fault, a date that
is none is as if it were not there. Knows no claim.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from html import unescape
from typing import Final, TypeAlias, TypeVar

from oldfriend.domain.clock import Micros, parse_moment, start_of_day
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import storable

Fields: TypeAlias = Mapping[str, JsonValue]
Word = TypeVar("Word", bound=str)

DATE_LENGTH: Final = len("2024-05-03")


def object_from(value: JsonValue, what: str) -> Fields:
    """A value that has to be an object."""
    match value:
        case dict():
            return value
        case _:
            raise ValueError(f"{what} must be an object.")


def list_in(fields: Fields, name: str) -> Sequence[JsonValue]:
    """A list; empty where there is none."""
    match fields.get(name):
        case None:
            return ()
        case list() as values:
            return values
        case _:
            raise ValueError(f'"{name}" must be a list.')


def text_in(fields: Fields, name: str) -> str:
    """A text on one line; empty where there is none."""
    match fields.get(name):
        case None:
            return ""
        case str(text):
            return clean(text)
        case _:
            raise ValueError(f'"{name}" must be a text.')


def words_in(fields: Fields, name: str) -> tuple[str, ...]:
    """A list of texts, each once."""
    texts = [clean(text) for text in list_in(fields, name) if isinstance(text, str)]
    return tuple(dict.fromkeys(text for text in texts if text))


def value_in(fields: Fields, name: str) -> str:
    """A text, or a number as text; empty where there is neither."""
    match fields.get(name):
        case bool():
            raise ValueError(f'"{name}" must be a text.')
        case int() | float() as number:
            return str(number)
        case _:
            return text_in(fields, name)


def choice_in(fields: Fields, name: str, closed_set: Sequence[Word], usual: Word) -> Word:
    """A word of a closed set; the usual one where there is none."""
    given = text_in(fields, name)
    found = next((word for word in closed_set if word == given), None)
    if given and found is None:
        raise ValueError(f'"{name}" must be one of {", ".join(closed_set)}, not {given[:40]}.')
    return found or usual


def share_in(fields: Fields, name: str, usual: float) -> float:
    """A number from 0 to 1; the usual one where there is none."""
    match fields.get(name):
        case None:
            return usual
        case bool():
            raise ValueError(f'"{name}" must be a number.')
        case int() | float() as share if 0 <= share <= 1:
            return float(share)
        case _:
            raise ValueError(f'"{name}" must be a number from 0 to 1.')


def whole_in(fields: Fields, name: str, usual: int) -> int:
    """A whole number: neither 3.5 nor true."""
    match fields.get(name):
        case None:
            return usual
        case bool():
            raise ValueError(f'"{name}" must be a whole number.')
        case int(number):
            return number
        case _:
            raise ValueError(f'"{name}" must be a whole number.')


def begin_in(fields: Fields, name: str, zone: str) -> Micros | None:
    """The moment that a time names, or at which a day begins; none where it is no time."""
    text = fields.get(name)
    if not isinstance(text, str):
        return None
    try:
        return parse_moment(text, zone)[0]
    except InvalidInput:
        return None


def end_in(fields: Fields, name: str, zone: str) -> Micros | None:
    """The moment that a time names, or at which a day ends; none where it is no time."""
    at, text = begin_in(fields, name, zone), fields.get(name)
    if at is None or not isinstance(text, str) or not is_day(text.strip()):
        return at
    return start_of_day(at, zone, days_back=-1) - 1


def is_day(text: str) -> bool:
    """Whether a time in ISO 8601 names a day and no hour."""
    try:
        return len(text) <= DATE_LENGTH and bool(date.fromisoformat(text))
    except ValueError:
        return False


def clean(text: str) -> str:
    """A text on one line, as it can be stored.

    Models copy the escapes of the labels that they were shown.
    """
    return " ".join(unescape(storable(text)).split())
