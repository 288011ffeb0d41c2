"""What is said, and why? The forms for it."""

from typing import Annotated

from pydantic import Field

from oldfriend.app.asking_again import Ending
from oldfriend.domain.messages import MAX_TEXT
from oldfriend.domain.trust import Role, TrustClass
from oldfriend.memory.search import Cause
from oldfriend.web.shapes.common import Shape, WordsShape

LONGEST_KEY = 200


class Said(Shape):
    """Something to say."""

    text: Annotated[str, Field(
        min_length=1, max_length=4 * MAX_TEXT, examples=["My sister Ana was born in Porto."]
    )]  # fmt: skip
    zone: str | None = Field(
        default=None, max_length=100, description="Where it is said: an IANA time zone.",
        examples=["Europe/Lisbon"],
    )  # fmt: skip


class Edited(Shape):
    """Other words for something that was said."""

    text: Annotated[str, Field(
        min_length=1, max_length=4 * MAX_TEXT, examples=["My sister Ana was born in Braga."]
    )]  # fmt: skip


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
    is_aloud: bool = Field(description="Said aloud; the text is what was heard.")
    has_sound: bool = Field(description="It can be listened to: GET …/sound.")


class UnansweredShape(Shape):
    """That something said has no answer."""

    turn: str
    ending: Ending = Field(description="All but a turn that waits can be asked for again.")


class Messages(Shape):
    """A page of what was said, oldest first."""

    items: list[MessageShape]
    earlier: str | None = Field(description="The cursor of the page before; None: there is none.")
    later: str | None = Field(description="The cursor of the page after; None: this is the newest.")
    unanswered: list[UnansweredShape]
    position: str = Field(description="For /events?after=: nothing that follows is missed.")


class FoundMessages(Shape):
    """A page of what was sought in the talk, the newest first."""

    items: list[MessageShape]
    next: str | None = Field(description="The cursor of the next page; None: this is the last.")


class ReasonShape(Shape):
    """Why something came to mind."""

    cause: Cause
    words: list[str] = Field(description="That it holds.")
    name: str = Field(description="Of whom or what it speaks; empty: of nobody.")
    text: str = Field(description="All of it as a phrase.", examples=["it holds “boat”"])


class Ground(Shape):
    """One thing that a reply stood on, or that was considered for it."""

    kind: str
    id: str
    text: str | None = Field(description="None: it was taken out since.")
    role: Role | None = Field(description="Of a message: who has said it.")
    speaker: str | None
    channel: str | None
    at: str | None
    score: float
    why: list[ReasonShape] = Field(description="The strongest first.")
    words: list[WordsShape]


class SectionShape(Shape):
    """A part of what a model was told."""

    name: str = Field(examples=["rules", "recent", "facts"])
    tokens: int
    dropped: int = Field(description="How much did not fit in: messages and beliefs.")


class ReceiptShape(Shape):
    """Why a reply was given."""

    id: str
    asked: MessageShape
    reply: MessageShape
    intent: str = Field(description="What the message was taken for, in a sentence.")
    stood_on: list[Ground] = Field(description="Of a model's reply: what can be heard in it.")
    is_written: bool = Field(description="Whether it told what the person wrote about themselves.")
    also_shown: list[Ground] = Field(description="What a model was shown besides.")
    left_out: list[Ground]
    only_shown: list[MessageShape] = Field(description="What a model saw of the talk besides.")
    model: str | None
    prompt: str | None
    tokens_in: int | None
    tokens_out: int | None
    cost_usd: float | None
    seconds: float | None = Field(description="How long it was in the making, from the question.")
    sections: list[SectionShape] = Field(description="What a model was told; empty: none was.")
    answerable: float | None = Field(description="How likely it seemed that it answers, 0 to 1.")
    as_text: str = Field(description="All of it to read, as `oldfriend why` prints it.")
