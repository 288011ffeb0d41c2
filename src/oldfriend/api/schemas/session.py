"""Schemas for sign-in, sessions and the state of the companion."""

from typing import Literal

from pydantic import Field

from oldfriend.api.requests import RequestModel as ApiModel
from oldfriend.memory.web_sessions import SignInMethod


class SignIn(ApiModel):
    """How a browser comes to a session."""

    link: str = Field(
        max_length=200,
        description="What stands behind # in the one-time link.",
        examples=["d1YQm6vJ0cM2oTj4sX8bEo5w3rUu7nKk9aZhLqFtGyI"],
    )
    person: str | None = Field(
        default=None,
        max_length=64,
        description="Where it was asked whether to go on (409): "
        "`person` of that answer, whose page it opens …",
    )
    instead_of: str | None = Field(
        default=None, max_length=64, description="… and its `instead_of`, whose session ends."
    )


class Signed(ApiModel):
    """Who this browser is signed in as."""

    id: str = Field(description="By which the page keeps unsent words apart from another's.")
    name: str = Field(description="The person's name.", examples=["owner"])
    is_owner: bool = Field(description="Whether this install is theirs.")
    language: str | None = Field(description="The language they last spoke, such as en.")
    zone: str = Field(description="The time zone by whose clocks they are told when.")
    token: str = Field(
        description="To be sent as X-CSRF-Token with everything, beside the cookie; told once, to "
        "who signs in, and empty elsewhere. Programs need none."
    )
    expires_at: str = Field(description="Until when this browser is signed in.")


class TicketWanted(ApiModel):
    """What a ticket is to be for."""

    purpose: Literal["export", "sound"] = Field(examples=["export"])


class TicketMade(ApiModel):
    """A ticket that was just made."""

    ticket: str = Field(description="To be given as `ticket`, beside the session's cookie.")
    expires_at: str


class PersonEdited(ApiModel):
    """What somebody changes about themselves; what is left out stays."""

    name: str | None = Field(default=None, max_length=200, examples=["Ana"])
    zone: str | None = Field(default=None, max_length=100, examples=["Europe/Lisbon"])


class SessionShape(ApiModel):
    """A browser that is signed in."""

    id: str
    is_this: bool = Field(description="Whether it is the one that asks.")
    opened_with: SignInMethod
    browser: str = Field(examples=["Firefox on Linux"])
    made_at: str
    used_at: str = Field(description="When it was used last, to five minutes.")
    expires_at: str


class Sessions(ApiModel):
    """Where somebody is signed in."""

    items: list[SessionShape]


class Ended(ApiModel):
    """How many were ended."""

    count: int
