"""What is said, and why? The forms for it."""

from typing import Annotated

from pydantic import Field

from oldfriend.domain.messages import MAX_TEXT
from oldfriend.domain.trust import Role, TrustClass
from oldfriend.web.shapes.common import Shape, WordsShape

LONGEST_KEY = 200


class Said(Shape):
    """Something to say."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]
    zone: str | None = Field(
        default=None, max_length=100, description="Where it is said: an IANA time zone.",
        examples=["Europe/Lisbon"],
    )  # fmt: skip


class Edited(Shape):
    """Other words for something that was said."""

    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT)]


class MessageShape(Shape):
    """A message as it reads now."""

    id: str
    version: int = Field(description="From 1; more: it was edited.")
    role: Role
    speaker: str
    trust: TrustClass
    channel: str = Field(description="Where it was said.", examples=["web", "telegram"])
    session: str = Field(description="The stretch of talk that it belongs to.")
    turn: str | None = Field(description="What was said and what was replied share it.")
    text: str
    at: str


class Messages(Shape):
    """A page of what was said, oldest first."""

    items: list[MessageShape]
    earlier: str | None = Field(description="The cursor of the page before; None: there is none.")
    position: str = Field(description="For /events?after=: nothing that follows is missed.")


class Ground(Shape):
    """One thing that a reply stood on, or that was considered for it."""

    kind: str
    id: str
    text: str | None = Field(description="None: it was taken out since.")
    speaker: str | None
    channel: str | None
    at: str | None
    score: float
    why: list[str]
    words: list[WordsShape]


class ReceiptShape(Shape):
    """Why a reply was given."""

    id: str
    asked: MessageShape
    reply: MessageShape
    intent: str = Field(description="What the message was taken for, in a sentence.")
    stood_on: list[Ground]
    left_out: list[Ground]
    only_shown: list[MessageShape] = Field(description="What a model saw of the talk besides.")
    model: str | None
    prompt: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    answerable: float | None = Field(description="How likely it seemed that it answers, 0 to 1.")
    as_text: str = Field(description="All of it to read, as `oldfriend why` prints it.")
