"""Signing in: people, sessions, tokens, passkeys and invitations."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from pydantic import JsonValue

from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import Person
from oldfriend.memory.credentials import ApiToken, Passkey
from oldfriend.memory.web_sessions import Invitation, Principal, Scope, SignInMethod, WebSession
from oldfriend.presenters.base_schema import Schema, describe, format_time


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInSchema(Schema):
    """The person that this browser is signed in as."""

    id: str = field(
        metadata=describe("The person's id, by which the page keeps unsent messages apart.")
    )
    name: str = field(metadata=describe("The person's name.", examples=["owner"]))
    is_owner: bool = field(metadata=describe("Whether they own this installation."))
    language: str | None = field(
        metadata=describe("The language of their latest message, such as en.")
    )
    zone: str = field(metadata=describe("The time zone in which times are shown to them."))
    token: str = field(
        metadata=describe(
            "The token to send as X-CSRF-Token with every request, beside the cookie. "
            "It is returned once, on signing in, and empty otherwise. Programs need "
            "none."
        )
    )
    expires_at: str = field(metadata=describe("When this browser's session expires."))

    @classmethod
    def from_domain(cls, me: Principal, token: str = "") -> Self:
        """Present who asks; ``token`` is set only right after signing in."""
        return cls(
            id=me.person.id,
            name=me.person.name,
            is_owner=me.person.is_owner,
            language=me.person.language,
            zone=me.person.zone,
            token=token,
            expires_at=format_time(me.expires_at, me.person.zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSchema(Schema):
    """A new ticket."""

    ticket: str = field(
        metadata=describe("The value to pass as `ticket`, beside the session's cookie.")
    )
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSessionSchema(Schema):
    """A signed-in browser."""

    id: str
    is_this: bool = field(metadata=describe("Whether it is the current session."))
    opened_with: SignInMethod
    browser: str = field(metadata=describe(examples=["Firefox on Linux"]))
    made_at: str
    used_at: str = field(metadata=describe("When it was last used, to within five minutes."))
    expires_at: str

    @classmethod
    def from_domain(cls, web_session: WebSession, *, current: str, zone: str) -> Self:
        """Present a web session; ``current`` is the digest of the one that asks."""
        return cls(
            id=web_session.digest,
            is_this=web_session.digest == current,
            opened_with=web_session.opened_with,
            browser=web_session.browser,
            made_at=format_time(web_session.made_at, zone),
            used_at=format_time(web_session.used_at, zone),
            expires_at=format_time(web_session.expires_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSessionListSchema(Schema):
    """The person's sessions."""

    items: tuple[WebSessionSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedSessionsSchema(Schema):
    """The number of sessions that were ended."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSchema(Schema):
    """A token, without its secret."""

    id: str
    name: str
    scope: Scope
    made_at: str
    expires_at: str
    is_over: bool
    used_at: str | None = field(
        metadata=describe("When it was last used, to within five minutes; null if never.")
    )
    is_hosted: bool = field(
        default=False,
        metadata=describe("Whether a hosted program has it, which renews it by itself."),
    )

    @classmethod
    def from_domain(cls, token: ApiToken, *, now: Micros, zone: str) -> Self:
        """Present an API token, without its secret."""
        return cls(**build_token_fields(token, now, zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedTokenSchema(TokenSchema):
    """A new token with its secret, which is shown only here."""

    token: str = field(metadata=describe("The secret to send as `Authorization: Bearer …`."))

    @classmethod
    def from_secret(cls, token: ApiToken, secret: str, *, now: Micros, zone: str) -> Self:
        """Present a new API token, with its secret."""
        return cls(**build_token_fields(token, now, zone), token=secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenListSchema(Schema):
    """The person's tokens."""

    items: tuple[TokenSchema, ...]


def build_token_fields(token: ApiToken, now: Micros, zone: str) -> dict[str, Any]:
    """Return the fields of ``TokenSchema``."""
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "made_at": format_time(token.made_at, zone),
        "is_hosted": token.is_hosted,
        "expires_at": format_time(token.expires_at, zone),
        "is_over": token.expires_at <= now,
        "used_at": format_time(token.used_at, zone),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyOptionsSchema(Schema):
    """The WebAuthn options to pass to a device."""

    options: dict[str, JsonValue] = field(metadata=describe("In WebAuthn's JSON format."))


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeySchema(Schema):
    """A passkey."""

    id: str
    name: str
    made_at: str
    used_at: str | None

    @classmethod
    def from_domain(cls, passkey: Passkey, *, zone: str) -> Self:
        """Present a passkey."""
        return cls(
            id=passkey.id,
            name=passkey.name,
            made_at=format_time(passkey.made_at, zone),
            used_at=format_time(passkey.used_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyListSchema(Schema):
    """The person's passkeys."""

    items: tuple[PasskeySchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationSchema(Schema):
    """An open invitation."""

    id: str
    name: str = field(metadata=describe("Whom the invitation is for."))
    made_at: str
    expires_at: str

    @classmethod
    def from_domain(cls, invitation: Invitation, *, zone: str) -> Self:
        """Present an invitation that waits."""
        return cls(
            id=invitation.id,
            name=invitation.person.name,
            made_at=format_time(invitation.made_at, zone),
            expires_at=format_time(invitation.expires_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedInvitationSchema(Schema):
    """A new invitation."""

    id: str
    name: str
    link: str = field(
        metadata=describe("The link, which works once, within a week. It is shown only here.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSchema(Schema):
    """A person with a memory on this installation."""

    name: str
    is_owner: bool

    @classmethod
    def from_domain(cls, person: Person) -> Self:
        """Present a person."""
        return cls(name=person.name, is_owner=person.is_owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class HouseholdSchema(Schema):
    """The people on this installation, and open invitations."""

    people: tuple[PersonSchema, ...]
    invitations: tuple[InvitationSchema, ...]

    @classmethod
    def from_domain(
        cls, people: Iterable[Person], invitations: Iterable[Invitation], *, zone: str
    ) -> Self:
        """Present who is here, and who is invited."""
        return cls(
            people=tuple(PersonSchema.from_domain(each) for each in people),
            invitations=tuple(
                InvitationSchema.from_domain(each, zone=zone) for each in invitations
            ),
        )
