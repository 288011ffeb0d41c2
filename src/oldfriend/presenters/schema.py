"""Schema: the base of everything that is shown, and how the API document describes its fields.

These are plain dataclasses, which the API reads as Pydantic models: commands and programs use the
same classes without the tenth of a second that loading Pydantic takes.
"""

from collections.abc import Mapping
from typing import ClassVar

from oldfriend.domain.json import JsonValue


class Schema:
    """The base of a frozen dataclass that the API returns; nothing is sent but what it names."""

    __slots__ = ()
    __pydantic_config__: ClassVar = {"extra": "forbid"}


def describe(text: str | None = None, **more: JsonValue) -> Mapping[str, JsonValue]:
    """Return the metadata of a field for the API document: its description, examples, limits."""
    return more if text is None else {"description": text, **more}
