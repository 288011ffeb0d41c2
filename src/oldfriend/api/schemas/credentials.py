"""Schemas for tokens, passkeys and invitations."""

from pydantic import ConfigDict, Field, JsonValue

from oldfriend.api.requests import RequestModel as ApiModel
from oldfriend.memory.web_sessions import Scope


class TokenWanted(ApiModel):
    """A token that is to be made."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "backup script", "scope": "read", "days": 90}]}
    )
    name: str = Field(min_length=1, max_length=80, description="What it is for.")
    scope: Scope = Field(
        description="read: look; write: also talk and set right; admin: also everything about "
        "signing in and, for the owner, about this install."
    )
    days: int = Field(default=90, ge=1, le=366, description="How long it is good.")


class TokenShape(ApiModel):
    """A token, without what it consists of."""

    id: str
    name: str
    scope: Scope
    made_at: str
    expires_at: str
    is_over: bool
    used_at: str | None = Field(description="When it was used last, to five minutes; None: never.")


class TokenMade(TokenShape):
    """A token that was just made, with what it consists of; that is shown this once."""

    token: str = Field(description="To be sent as `Authorization: Bearer …`.")


class Tokens(ApiModel):
    """Somebody's tokens."""

    items: list[TokenShape]


class Asked(ApiModel):
    """What the browser is to ask a device."""

    options: dict[str, JsonValue] = Field(description="As WebAuthn's JSON forms have it.")


class Answered(ApiModel):
    """What the device has answered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "credential": {
                        "id": "qzY0",
                        "rawId": "qzY0",
                        "type": "public-key",
                        "response": {},
                    },
                }
            ]
        }
    )
    credential: dict[str, JsonValue] = Field(description="As WebAuthn's JSON forms have it.")


class PasskeyMade(Answered):
    """A passkey that a device has made."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "credential": {
                        "id": "qzY0",
                        "rawId": "qzY0",
                        "type": "public-key",
                        "response": {},
                    },
                    "name": "My laptop",
                }
            ]
        }
    )
    name: str = Field(
        default="",
        max_length=80,
        description="How it is called in the list; else as the browser is.",
    )


class PasskeyShape(ApiModel):
    """A passkey."""

    id: str
    name: str
    made_at: str
    used_at: str | None


class Passkeys(ApiModel):
    """Somebody's passkeys."""

    items: list[PasskeyShape]


class Guest(ApiModel):
    """Who is to be invited."""

    name: str = Field(min_length=1, max_length=200, examples=["Ana"])


class InvitationShape(ApiModel):
    """An invitation that waits."""

    id: str
    name: str = Field(description="Whom it is for.")
    made_at: str
    expires_at: str


class InvitationMade(ApiModel):
    """An invitation that was just made."""

    id: str
    name: str
    link: str = Field(description="Opens once, within a week; it is shown this once.")


class PersonShape(ApiModel):
    """Somebody with a memory here."""

    name: str
    is_owner: bool


class Household(ApiModel):
    """Who is here, and who is invited."""

    people: list[PersonShape]
    invitations: list[InvitationShape]
