"""What do all forms share?"""

from pydantic import BaseModel, ConfigDict, Field

from oldfriend.domain.sayings import Code, Saying
from oldfriend.domain.trust import Role, TrustClass


class Shape(BaseModel):
    """Values that do not change, and nothing beside what is named."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SayingShape(Shape):
    """Something that the house says; a page that knows its code may say it in its language."""

    text: str = Field(description="In English, and whole.")
    code: Code | None = Field(description="What is said; null: there is only the text.")
    values: "dict[str, str | int | float | SayingShape]" = Field(
        description="What stands in it, by name; also what another saying says."
    )


def saying_shape(said: str) -> SayingShape:
    """Something that the house says, with what it takes to say it in another language."""
    if not isinstance(said, Saying):
        return SayingShape(text=said, code=None, values={})
    values = {
        name: saying_shape(value) if isinstance(value, Saying) else value
        for name, value in said.values.items()
    }
    return SayingShape(text=str(said), code=said.code, values=values)


class WordsShape(Shape):
    """Words that a belief rests on, or that speak against it."""

    message: str
    quote: str
    role: Role = Field(description="Who has said it, whatever they were called then.")
    speaker: str
    trust: TrustClass
    supports: bool
    at: str
    channel: str | None = Field(default=None, description="Where it was said, where that is told.")
