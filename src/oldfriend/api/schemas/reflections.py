"""Schemas for reflection records."""

from pydantic import Field

from oldfriend.api.requests import RequestModel as ApiModel
from oldfriend.memory.reflection_log import ReflectionKind, ReflectionTrigger


class TickShape(ApiModel):
    """One time of thinking."""

    id: str
    kind: ReflectionKind
    why: ReflectionTrigger = Field(description="Why it thought just then.")
    at: str
    tokens_in: int
    tokens_out: int
    learned: int = Field(description="So much came of it that is believed.")
    rejected: int = Field(description="So much was thought, and not believed.")
    error: str | None = Field(description="Why nothing of it could be read.")


class Ticks(ApiModel):
    """Times of thinking, the last first."""

    items: list[TickShape]
    next: str | None = Field(description="The cursor of the next page.")


class Thought(TickShape):
    """One time of thinking, with what was shown and said in it."""

    shown: list[str]
    answered: list[str]
