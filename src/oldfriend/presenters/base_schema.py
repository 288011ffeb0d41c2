"""Base schema: of everything that is shown, with localized texts and the API document's fields.

These are plain dataclasses, which the API reads as Pydantic models: commands and programs use the
same classes without the tenth of a second that loading Pydantic takes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from oldfriend.domain.i18n_messages import LocalizedText, MessageCode
from oldfriend.domain.json import JsonValue


class Schema:
    """The base of a frozen dataclass that the API returns; nothing is sent but what it names."""

    __slots__ = ()
    __pydantic_config__: ClassVar = {"extra": "forbid"}


def describe(text: str | None = None, **more: JsonValue) -> Mapping[str, JsonValue]:
    """Return the metadata of a field for the API document: its description, examples, limits."""
    return more if text is None else {"description": text, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class SayingShape(Schema):
    """Something that the house says; a page that knows its code may say it in its language."""

    text: str = field(metadata=describe("In English, and whole."))
    code: MessageCode | None = field(
        metadata=describe("What is said; null: there is only the text.")
    )
    values: "dict[str, str | int | float | SayingShape]" = field(
        metadata=describe("What stands in it, by name; also what another saying says.")
    )

    @classmethod
    def from_domain(cls, text: str) -> Self:
        """Present a text, with its code and values if it is localized."""
        if not isinstance(text, LocalizedText):
            return cls(text=text, code=None, values={})
        values: dict[str, str | int | float | SayingShape] = {
            name: cls.from_domain(value) if isinstance(value, LocalizedText) else value
            for name, value in text.values.items()
        }
        return cls(text=str(text), code=text.code, values=values)
