"""Converters for sessions, tokens, passkeys and invitations."""

import re
from typing import Final

from oldfriend.api.schemas.credentials import InvitationShape, PasskeyShape, TokenMade, TokenShape
from oldfriend.api.schemas.session import SessionShape
from oldfriend.domain.clock import Micros
from oldfriend.memory.api_tokens import ApiToken
from oldfriend.memory.passkeys import Passkey
from oldfriend.memory.web_sessions import Invitation, WebSession
from oldfriend.presenters.formatting import format_time

BROWSERS: Final = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
)
"""User-agent tokens, most specific first: most browsers also claim to be others."""
SYSTEMS: Final = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "Mac"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
MAX_BROWSER_CHARS: Final = 40


def parse_user_agent(user_agent: str) -> str:
    """Summarize a user agent in a few words, such as Firefox on Linux; the rest is not stored."""
    browser = next((name for sign, name in BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in SYSTEMS if sign in user_agent), "")
    own = re.sub(r"[^\w./ -]", "", user_agent.split("/")[0])[:MAX_BROWSER_CHARS]
    return " on ".join(part for part in (browser, system) if part) or own


def to_session_shape(session: WebSession, *, current: str, zone: str) -> SessionShape:
    """Convert a web session."""
    return SessionShape(
        id=session.digest,
        is_this=session.digest == current,
        opened_with=session.opened_with,
        browser=session.browser,
        made_at=format_time(session.made_at, zone),
        used_at=format_time(session.used_at, zone),
        expires_at=format_time(session.expires_at, zone),
    )


def to_token_shape(token: ApiToken, *, now: Micros, zone: str) -> TokenShape:
    """Convert an API token, without its secret."""
    return TokenShape(
        id=token.id,
        name=token.name,
        scope=token.scope,
        made_at=format_time(token.made_at, zone),
        expires_at=format_time(token.expires_at, zone),
        is_over=token.expires_at <= now,
        used_at=format_time(token.used_at, zone),
    )


def to_token_made(token: ApiToken, secret: str, *, now: Micros, zone: str) -> TokenMade:
    """Convert a new API token, with its secret."""
    return TokenMade(**to_token_shape(token, now=now, zone=zone).model_dump(), token=secret)


def to_passkey_shape(passkey: Passkey, *, zone: str) -> PasskeyShape:
    """Convert a passkey."""
    return PasskeyShape(
        id=passkey.id,
        name=passkey.name,
        made_at=format_time(passkey.made_at, zone),
        used_at=format_time(passkey.used_at, zone),
    )


def to_invitation_shape(invitation: Invitation, *, zone: str) -> InvitationShape:
    """Convert an invitation."""
    return InvitationShape(
        id=invitation.id,
        name=invitation.person.name,
        made_at=format_time(invitation.made_at, zone),
        expires_at=format_time(invitation.expires_at, zone),
    )
