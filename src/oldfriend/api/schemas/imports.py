"""Schemas for uploads, imports and the reading backlog."""

from typing import Literal

from pydantic import Field

from oldfriend.api.requests import RequestModel as ApiModel
from oldfriend.domain.trust import Role
from oldfriend.presenters.localized import SayingShape
from oldfriend.transfer.uploads import Stage


class SpeakerShape(ApiModel):
    """Somebody who speaks in a file."""

    name: str = Field(examples=["Nora"])
    role: Role
    messages: int


class LikelyCost(ApiModel):
    """What it would take to have a model read it; rules read it for nothing."""

    model: str = Field(examples=["anthropic:claude-haiku-4-5"])
    tokens: int = Field(description="About so many, in and out.")
    cost_usd: float | None = Field(description="About so much; None: the price is not known.")
    left_today_usd: float | None = Field(description="Of the background's cap; None: no cap.")


class Contents(ApiModel):
    """What a file holds; all of it was checked."""

    format: str = Field(description="Where it comes from, or what it is.", examples=["whatsapp"])
    messages: int
    talks: int = Field(description="In so many sessions.")
    chats: int
    first: str = Field(description="When its earliest words were said.")
    last: str
    speakers: list[SpeakerShape] = Field(description="Those who speak most first.")
    others: int = Field(description="So many speakers are not listed.")
    me: list[str] = Field(description="The speakers who are the person.")
    is_clear: bool = Field(description="Whether it is known which words are the person's.")
    notices: list[SayingShape]
    takes_s: float = Field(description="About how long bringing it in takes, in seconds.")
    likely_cost: LikelyCost | None = Field(description="None: no model is connected.")


class BroughtShape(ApiModel):
    """What came of a file."""

    number: int | None = Field(description="By which it can be undone; None: nothing was new.")
    added: int
    known: int = Field(description="Were here already.")
    forgotten: int = Field(description="Were forgotten here, and stay out.")
    changed: int = Field(description="Read otherwise now.")


class ParcelShape(ApiModel):
    """A file that was handed over, and how far it has come."""

    id: str
    name: str = Field(examples=["WhatsApp Chat with Ana.zip"])
    bytes: int
    stage: Stage
    done: int = Field(description="Of `total`, in the stage that it is in; 0: not known.")
    total: int
    left_s: float | None = Field(description="About so many seconds are left of the stage.")
    why: SayingShape | None = Field(
        description="Why it could not be brought in; null: nothing is wrong."
    )
    me: str | None = Field(description="The speaker who was said to be the person.")
    zone: str = Field(description="Of times that name none.")
    contents: Contents | None = Field(description="None: it is still being checked.")
    brought: BroughtShape | None


class Parcels(ApiModel):
    """All files that were handed over and are not put away."""

    items: list[ParcelShape]


class Wanted(ApiModel):
    """That a file is to be brought in, and how it is to be read."""

    me: str | None = Field(
        default=None,
        max_length=200,
        examples=["Nora"],
        description="The speaker who is the person; None: nobody, or as the file tells.",
    )
    zone: str | None = Field(
        default=None,
        max_length=100,
        examples=["Europe/Lisbon"],
        description="Of times that name none; None: the person's.",
    )


class ImportShape(ApiModel):
    """One import of one file."""

    number: int
    file: str
    format: str
    at: str
    status: Literal["running", "done", "undone"]
    added: int
    known: int


class Imports(ApiModel):
    """Everything that was imported, the latest first."""

    items: list[ImportShape]


class Undone(ApiModel):
    """What an undo took away."""

    messages: int
    beliefs: int = Field(description="Ended with them, or hold again as before.")
    overlapping: list[int] = Field(
        description="Later imports that had left messages to this one; undo and repeat these to "
        "have them back."
    )


class OldTalk(ApiModel):
    """What of old talk is still to be read, and what a model could read better."""

    waiting: int = Field(description="So many stretches of talk wait to be read.")
    is_paused: bool
    failed: int
    by_rules: int = Field(description="So many were read by rules alone.")
    likely_cost: LikelyCost | None = Field(description="None: no model, or nothing to read.")
