"""JSON fields: read what a platform sends field by field, without assuming that it is valid."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from oldfriend.domain.clock import SECOND, Micros, is_representable
from oldfriend.domain.json import JsonValue

JsonFields: TypeAlias = Mapping[str, JsonValue]
MAX_ID: Final = 1 << 53
"""The longest numbers of chats on any platform fit into this many bits."""


def get_json_object(raw: JsonFields, name: str) -> JsonFields:
    """Return a required object. Raises ValueError."""
    match raw.get(name):
        case dict() as value:
            return value
        case _:
            raise ValueError(f'"{name}" is no object.')


def find_json_object(raw: JsonFields, name: str) -> JsonFields | None:
    """Return an optional object."""
    match raw.get(name):
        case dict() as value:
            return value
        case _:
            return None


def find_fields(raw: JsonFields, name: str) -> JsonFields:
    """Return the fields of an optional object; none if there is no object."""
    return find_json_object(raw, name) or {}


def list_json_objects(raw: JsonFields, name: str) -> list[JsonFields]:
    """Return the objects of an optional list."""
    match raw.get(name):
        case list() as values:
            return [each for each in values if isinstance(each, dict)]
        case _:
            return []


def find_text(raw: JsonFields, name: str) -> str:
    """Return an optional text; "" if there is none."""
    value = raw.get(name)
    return value if isinstance(value, str) else ""


def get_text(raw: JsonFields, name: str) -> str:
    """Return a required text. Raises ValueError."""
    if not (text := find_text(raw, name)):
        raise ValueError(f'"{name}" is missing.')
    return text


def get_int(raw: JsonFields, name: str) -> int:
    """Return a required integer. Raises ValueError."""
    if (value := find_int(raw, name)) is None:
        raise ValueError(f'"{name}" is no whole number.')
    return value


def find_int(raw: JsonFields, name: str) -> int | None:
    """Return an optional integer within the range of ids."""
    match raw.get(name):
        case bool():
            return None
        case int(value) if abs(value) < MAX_ID:
            return value
        case _:
            return None


def get_time(raw: JsonFields, name: str) -> Micros:
    """Return a required time. Raises ValueError."""
    at = SECOND * get_int(raw, name)
    if not is_representable(at):
        raise ValueError(f'"{name}" is no date.')
    return at
