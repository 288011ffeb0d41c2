"""JSON values: narrows parsed values to the expected types."""

from collections.abc import Mapping

from oldfriend.domain.errors import ImportRefused

Fields = Mapping[str, object]


def parse_object(value: object, *, line: int, expected: str) -> Fields:
    """Return a value that must be an object. Raises ImportRefused."""
    if not isinstance(value, dict):
        raise ImportRefused(f"this is {describe_kind(value)}.", line=line, expected=expected)
    return value


def parse_objects(value: object, *, line: int, expected: str) -> list[Fields]:
    """Return a value that must be a list of objects. Raises ImportRefused."""
    if not isinstance(value, list):
        raise ImportRefused(f"this is {describe_kind(value)}.", line=line, expected=expected)
    return [parse_object(item, line=line, expected=expected) for item in value]


def list_objects(value: object) -> list[Fields]:
    """Return the objects in a list; empty if it is not a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def to_object(value: object) -> Fields:
    """Return an object; an empty one if the value is not an object."""
    return value if isinstance(value, dict) else {}


def to_text(value: object) -> str:
    """Return a text or number as text; empty if the value is neither."""
    if isinstance(value, bool):
        return ""
    return str(value) if isinstance(value, str | int | float) else ""


def describe_kind(value: object) -> str:
    """Describe the type of a JSON value for people."""
    match value:
        case None:
            return "empty (null)"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case _:
            return "an object"
