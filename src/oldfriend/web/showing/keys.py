"""How is it shown by what somebody comes in?"""

import re
from typing import Final

from oldfriend.domain.clock import Micros
from oldfriend.memory.passkeys import Passkey
from oldfriend.memory.sign_in import Invitation, Session
from oldfriend.memory.tokens import Token
from oldfriend.web.shapes.keys import InvitationShape, PasskeyShape, TokenMade, TokenShape
from oldfriend.web.shapes.session import SessionShape
from oldfriend.web.showing.common import at_or_none, in_zone

BROWSERS: Final = (
    ("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"),
    ("Safari/", "Safari"), ("curl/", "curl"),
)  # fmt: skip
"""What tells a browser, the more telling first: most say that they are several."""
SYSTEMS: Final = (
    ("Android", "Android"), ("iPhone", "iPhone"), ("iPad", "iPad"), ("Windows", "Windows"),
    ("Mac OS X", "Mac"), ("CrOS", "ChromeOS"), ("Linux", "Linux"),
)  # fmt: skip
LONGEST_BROWSER: Final = 40


def browser_named(agent: str) -> str:
    """A browser in a few words, from what it says of itself; nothing else of that is kept."""
    browser = next((name for sign, name in BROWSERS if sign in agent), "")
    system = next((name for sign, name in SYSTEMS if sign in agent), "")
    own = re.sub(r"[^\w./ -]", "", agent.split("/")[0])[:LONGEST_BROWSER]
    return " on ".join(part for part in (browser, system) if part) or own


def session_shape(session: Session, *, this: str, zone: str) -> SessionShape:
    """A browser that is signed in."""
    return SessionShape(
        id=session.print, is_this=session.print == this, opened_with=session.opened_with,
        browser=session.browser, made_at=in_zone(session.made_at, zone),
        used_at=in_zone(session.used_at, zone), expires_at=in_zone(session.expires_at, zone),
    )  # fmt: skip


def token_shape(token: Token, *, now: Micros, zone: str) -> TokenShape:
    """A token in a list."""
    return TokenShape(
        id=token.id, name=token.name, scope=token.scope, made_at=in_zone(token.made_at, zone),
        expires_at=in_zone(token.expires_at, zone), is_over=token.expires_at <= now,
        used_at=at_or_none(token.used_at, zone),
    )  # fmt: skip


def token_made(token: Token, secret: str, *, now: Micros, zone: str) -> TokenMade:
    """A token, this once with what it consists of."""
    return TokenMade(**token_shape(token, now=now, zone=zone).model_dump(), token=secret)


def passkey_shape(passkey: Passkey, *, zone: str) -> PasskeyShape:
    """A passkey in a list."""
    return PasskeyShape(
        id=passkey.id, name=passkey.name, made_at=in_zone(passkey.made_at, zone),
        used_at=at_or_none(passkey.used_at, zone),
    )  # fmt: skip


def invitation_shape(invitation: Invitation, *, zone: str) -> InvitationShape:
    """An invitation in a list."""
    return InvitationShape(
        id=invitation.id, name=invitation.person.name, made_at=in_zone(invitation.made_at, zone),
        expires_at=in_zone(invitation.expires_at, zone),
    )  # fmt: skip
