"""What do all forms share?"""

from pydantic import BaseModel, ConfigDict, Field

from oldfriend.domain.trust import Role, TrustClass


class Shape(BaseModel):
    """Values that do not change, and nothing beside what is named."""

    model_config = ConfigDict(frozen=True, extra="forbid")


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
