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
class Signed(Schema):
    """Who this browser is signed in as."""

    id: str = field(metadata=describe("By which the page keeps unsent words apart from another's."))
    name: str = field(metadata=describe("The person's name.", examples=["owner"]))
    is_owner: bool = field(metadata=describe("Whether this install is theirs."))
    language: str | None = field(metadata=describe("The language they last spoke, such as en."))
    zone: str = field(metadata=describe("The time zone by whose clocks they are told when."))
    token: str = field(
        metadata=describe(
            "To be sent as X-CSRF-Token with everything, beside the cookie; told once, to "
            "who signs in, and empty elsewhere. Programs need none."
        )
    )
    expires_at: str = field(metadata=describe("Until when this browser is signed in."))

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
class TicketMade(Schema):
    """A ticket that was just made."""

    ticket: str = field(metadata=describe("To be given as `ticket`, beside the session's cookie."))
    expires_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionShape(Schema):
    """A browser that is signed in."""

    id: str
    is_this: bool = field(metadata=describe("Whether it is the one that asks."))
    opened_with: SignInMethod
    browser: str = field(metadata=describe(examples=["Firefox on Linux"]))
    made_at: str
    used_at: str = field(metadata=describe("When it was used last, to five minutes."))
    expires_at: str

    @classmethod
    def from_domain(cls, session: WebSession, *, current: str, zone: str) -> Self:
        """Present a web session; ``current`` is the digest of the one that asks."""
        return cls(
            id=session.digest,
            is_this=session.digest == current,
            opened_with=session.opened_with,
            browser=session.browser,
            made_at=format_time(session.made_at, zone),
            used_at=format_time(session.used_at, zone),
            expires_at=format_time(session.expires_at, zone),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions(Schema):
    """Where somebody is signed in."""

    items: tuple[SessionShape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Schema):
    """How many were ended."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenShape(Schema):
    """A token, without what it consists of."""

    id: str
    name: str
    scope: Scope
    made_at: str
    expires_at: str
    is_over: bool
    used_at: str | None = field(
        metadata=describe("When it was used last, to five minutes; None: never.")
    )

    @classmethod
    def from_domain(cls, token: ApiToken, *, now: Micros, zone: str) -> Self:
        """Present an API token, without its secret."""
        return cls(**build_token_fields(token, now, zone))


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenMade(TokenShape):
    """A token that was just made, with what it consists of; that is shown this once."""

    token: str = field(metadata=describe("To be sent as `Authorization: Bearer …`."))

    @classmethod
    def from_secret(cls, token: ApiToken, secret: str, *, now: Micros, zone: str) -> Self:
        """Present a new API token, with its secret."""
        return cls(**build_token_fields(token, now, zone), token=secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tokens(Schema):
    """Somebody's tokens."""

    items: tuple[TokenShape, ...]


def build_token_fields(token: ApiToken, now: Micros, zone: str) -> dict[str, Any]:
    """Return the fields of ``TokenShape``."""
    return {
        "id": token.id,
        "name": token.name,
        "scope": token.scope,
        "made_at": format_time(token.made_at, zone),
        "expires_at": format_time(token.expires_at, zone),
        "is_over": token.expires_at <= now,
        "used_at": format_time(token.used_at, zone),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Schema):
    """What the browser is to ask a device."""

    options: dict[str, JsonValue] = field(metadata=describe("As WebAuthn's JSON forms have it."))


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyShape(Schema):
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
class Passkeys(Schema):
    """Somebody's passkeys."""

    items: tuple[PasskeyShape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InvitationShape(Schema):
    """An invitation that waits."""

    id: str
    name: str = field(metadata=describe("Whom it is for."))
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
class InvitationMade(Schema):
    """An invitation that was just made."""

    id: str
    name: str
    link: str = field(metadata=describe("Opens once, within a week; it is shown this once."))


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonShape(Schema):
    """Somebody with a memory here."""

    name: str
    is_owner: bool

    @classmethod
    def from_domain(cls, person: Person) -> Self:
        """Present a person."""
        return cls(name=person.name, is_owner=person.is_owner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Household(Schema):
    """Who is here, and who is invited."""

    people: tuple[PersonShape, ...]
    invitations: tuple[InvitationShape, ...]

    @classmethod
    def from_domain(
        cls, people: Iterable[Person], invitations: Iterable[Invitation], *, zone: str
    ) -> Self:
        """Present who is here, and who is invited."""
        return cls(
            people=tuple(PersonShape.from_domain(each) for each in people),
            invitations=tuple(InvitationShape.from_domain(each, zone=zone) for each in invitations),
        )
