"""What do the fields of an update hold? Each read by its name, and nothing taken for granted."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from oldfriend.domain.clock import SECOND, Micros, is_representable
from oldfriend.domain.json import JsonValue

Fields: TypeAlias = Mapping[str, JsonValue]
LARGEST: Final = 1 << 53
"""Of an id: all fit into so many bits."""


def fields_in(fields: Fields, name: str) -> Fields:
    """An object that has to be there. Raises ValueError."""
    match fields.get(name):
        case dict() as value:
            return value
        case _:
            raise ValueError(f'"{name}" is no object.')


def optional_in(fields: Fields, name: str) -> Fields | None:
    """An object that may be there."""
    match fields.get(name):
        case dict() as value:
            return value
        case _:
            return None


def objects_in(fields: Fields, name: str) -> list[Fields]:
    """The objects of a list that may be there."""
    match fields.get(name):
        case list() as values:
            return [each for each in values if isinstance(each, dict)]
        case _:
            return []


def text_in(fields: Fields, name: str) -> str:
    """A text; empty where there is none."""
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def needed_in(fields: Fields, name: str) -> str:
    """A text that has to be there. Raises ValueError."""
    if not (text := text_in(fields, name)):
        raise ValueError(f'"{name}" is missing.')
    return text


def whole_in(fields: Fields, name: str) -> int:
    """A whole number that has to be there. Raises ValueError."""
    if (value := count_in(fields, name)) is None:
        raise ValueError(f'"{name}" is no whole number.')
    return value


def count_in(fields: Fields, name: str) -> int | None:
    """A whole number that may be there, as large as Telegram's are."""
    match fields.get(name):
        case bool():
            return None
        case int(value) if abs(value) < LARGEST:
            return value
        case _:
            return None


def moment_in(fields: Fields, name: str) -> Micros:
    """A moment that has to be there. Raises ValueError."""
    at = SECOND * whole_in(fields, name)
    if not is_representable(at):
        raise ValueError(f'"{name}" is no date.')
    return at
