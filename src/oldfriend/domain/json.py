"""What can be written as JSON, and how are our values?"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"


def fields_of(value: object) -> dict[str, object]:
    """A value of ours as JSON takes it; not copied all the way down, as ``asdict`` does."""
    if is_dataclass(value):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    assert isinstance(value, Mapping)
    return dict(value)
