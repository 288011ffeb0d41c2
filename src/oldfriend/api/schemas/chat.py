"""Schemas for messages and receipts."""

from typing import Annotated

from pydantic import Field

from oldfriend.api.schemas.common import ApiModel, WordsShape
from oldfriend.domain.messages import MAX_TEXT_CHARS
from oldfriend.domain.trust import Role, TrustClass
from oldfriend.replies.retry_reply import UnansweredReason
from oldfriend.search import ReasonCause

MAX_KEY_CHARS = 200


class Said(ApiModel):
    """Something to say."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4 * MAX_TEXT_CHARS,
            examples=["My sister Ana was born in Porto."],
        ),
    ]
    zone: str | None = Field(
        default=None,
        max_length=100,
        description="Where it is said: an IANA time zone.",
        examples=["Europe/Lisbon"],
    )


class Edited(ApiModel):
    """Other words for something that was said."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4 * MAX_TEXT_CHARS,
            examples=["My sister Ana was born in Braga."],
        ),
    ]


class MessageShape(ApiModel):
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


class UnansweredShape(ApiModel):
    """That something said has no answer."""

    turn: str
    ending: UnansweredReason = Field(
        description="All but a turn that waits can be asked for again."
    )


class Messages(ApiModel):
    """A page of what was said, oldest first."""

    items: list[MessageShape]
    earlier: str | None = Field(description="The cursor of the page before; None: there is none.")
    later: str | None = Field(description="The cursor of the page after; None: this is the newest.")
    unanswered: list[UnansweredShape]
    position: str = Field(description="For /events?after=: nothing that follows is missed.")


class FoundMessages(ApiModel):
    """A page of what was sought in the talk, the newest first."""

    items: list[MessageShape]
    next: str | None = Field(description="The cursor of the next page; None: this is the last.")


class ReasonShape(ApiModel):
    """Why something came to mind."""

    cause: ReasonCause
    words: list[str] = Field(description="That it holds.")
    name: str = Field(description="Of whom or what it speaks; empty: of nobody.")
    text: str = Field(description="All of it as a phrase.", examples=["it holds “boat”"])


class Ground(ApiModel):
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


class SectionShape(ApiModel):
    """A part of what a model was told."""

    name: str = Field(examples=["rules", "recent", "facts"])
    tokens: int
    dropped: int = Field(description="How much did not fit in: messages and beliefs.")


class ReceiptShape(ApiModel):
    """Why a reply was given."""

    id: str
    asked: MessageShape
    reply: MessageShape
    intent: str = Field(description="What the message was taken for, in a sentence.")
    stood_on: list[Ground] = Field(description="What the reply used, the surest first.")
    is_written: bool = Field(description="Whether it told what the person wrote about themselves.")
    also_shown: list[Ground] = Field(description="What a model had in view besides.")
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
    missing: list[str] = Field(description="What of the memory it lacked, in its language.")
    as_text: str = Field(description="All of it to read, as `oldfriend why` prints it.")
