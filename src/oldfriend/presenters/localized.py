"""Localized texts: English sentences with the code and values to translate them by."""

from dataclasses import dataclass, field
from typing import Self

from oldfriend.domain.i18n_messages import LocalizedText, MessageCode
from oldfriend.presenters.schema import Schema, describe


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
