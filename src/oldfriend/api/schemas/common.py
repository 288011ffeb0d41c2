"""Shared schemas: the base model, localized texts and evidence."""

from pydantic import BaseModel, ConfigDict, Field

from oldfriend.domain.i18n_messages import LocalizedText, MessageCode
from oldfriend.domain.trust import Role, TrustClass


class ApiModel(BaseModel):
    """Values that do not change, and nothing beside what is named."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SayingShape(ApiModel):
    """Something that the house says; a page that knows its code may say it in its language."""

    text: str = Field(description="In English, and whole.")
    code: MessageCode | None = Field(description="What is said; null: there is only the text.")
    values: "dict[str, str | int | float | SayingShape]" = Field(
        description="What stands in it, by name; also what another saying says."
    )


def to_saying_shape(text: str) -> SayingShape:
    """Convert a text, with its code and values if it is localized."""
    if not isinstance(text, LocalizedText):
        return SayingShape(text=text, code=None, values={})
    values = {
        name: to_saying_shape(value) if isinstance(value, LocalizedText) else value
        for name, value in text.values.items()
    }
    return SayingShape(text=str(text), code=text.code, values=values)


class WordsShape(ApiModel):
    """Words that a belief rests on, or that speak against it."""

    message: str
    quote: str
    role: Role = Field(description="Who has said it, whatever they were called then.")
    speaker: str
    trust: TrustClass
    supports: bool
    at: str
    channel: str | None = Field(default=None, description="Where it was said, where that is told.")
