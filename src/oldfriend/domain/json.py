"""JSON values: their type, and the conversion of domain objects to JSON objects."""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"


def to_json_object(value: object) -> dict[str, object]:
    """Convert a dataclass or mapping to a dict for JSON; shallow, unlike ``asdict``."""
    if is_dataclass(value):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    assert isinstance(value, Mapping)
    return dict(value)
