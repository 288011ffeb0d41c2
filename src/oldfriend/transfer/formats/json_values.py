"""What kind of thing stands here? Values from JSON, narrowed to what was expected."""

from collections.abc import Mapping

from oldfriend.domain.errors import ImportRefused

Fields = Mapping[str, object]


def as_object(value: object, *, line: int, expected: str) -> Fields:
    """A value that has to be an object. Raises ImportRefused."""
    if not isinstance(value, dict):
        raise ImportRefused(f"this is {kind_of(value)}.", line=line, expected=expected)
    return value


def as_objects(value: object, *, line: int, expected: str) -> list[Fields]:
    """A value that has to be a list of objects. Raises ImportRefused."""
    if not isinstance(value, list):
        raise ImportRefused(f"this is {kind_of(value)}.", line=line, expected=expected)
    return [as_object(item, line=line, expected=expected) for item in value]


def objects_in(value: object) -> list[Fields]:
    """The objects in a list; nothing where there is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def object_in(value: object) -> Fields:
    """An object, or an empty one where there is none."""
    return value if isinstance(value, dict) else {}


def text_in(value: object) -> str:
    """A text or number as text; nothing where there is neither."""
    if isinstance(value, bool):
        return ""
    return str(value) if isinstance(value, str | int | float) else ""


def kind_of(value: object) -> str:
    """What a JSON value is, for people."""
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
