"""Schemas for calendar months and days."""

from pydantic import Field

from oldfriend.api.requests import RequestModel as ApiModel


class HappenedShape(ApiModel):
    """Something that happened, in short."""

    id: str
    text: str
    impact: int = Field(description="−10 to +10.")


class DueShape(ApiModel):
    """What was promised or expected for a day."""

    id: str
    kind: str = Field(examples=["commitment"])
    text: str
    status: str = Field(description="`fulfilled`, `expired`, or how far it is believed.")


class DayInShort(ApiModel):
    """A day on which something was said, happened, or is due."""

    day: str = Field(examples=["2026-11-17"])
    messages: int
    happened: list[HappenedShape] = Field(description="The weightiest first, at most three.")
    more: int = Field(description="So much more happened.")
    due: list[DueShape] = Field(description="What was promised or expected for it.")


class MonthShape(ApiModel):
    """A month, day by day; days of which nothing is known are left out."""

    month: str = Field(examples=["2026-11"])
    today: str
    first: str | None = Field(description="The month of the earliest words; None: there are none.")
    last: str = Field(description="This one, or the last for which something is promised.")
    days: list[DayInShort]


class TalkShape(ApiModel):
    """A talk of a day."""

    session: str
    channel: str
    title: str = Field(description="What the chat is called.")
    first: str = Field(description="The message with which it begins on that day.")
    began_at: str
    ended_at: str
    messages: int


class ToldShape(ApiModel):
    """What was said, in short."""

    id: str
    level: int = Field(description="1: of a stretch of talk; each further one: of such below.")
    text: str
    began_at: str
    ended_at: str


class WholeDay(ApiModel):
    """A day: what was said, in short and where to read it, and what happened."""

    day: str
    talks: list[TalkShape]
    happened: list[HappenedShape]
    due: list[DueShape] = Field(description="What was promised or expected for it.")
    told: list[ToldShape] = Field(description="What was said on it in short; nothing twice.")
    before: str | None = Field(description="The day before on which something was said.")
    after: str | None = Field(description="The next day on which something was said.")
