"""Authentication: browser sessions (cookie plus CSRF header) and bearer tokens.

The session cookie is HttpOnly and SameSite=Strict. Browsers send it to every port of this host, so
a session also needs the secret that the page sends as `X-CSRF-Token`. A program sends its bearer
token with every request and is limited to that token's scope; a cookie beside a token is ignored.
"""

import re
import secrets
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from types import MappingProxyType
from typing import Annotated, Final, Literal

from fastapi import Depends, Query, Request, Response

from oldfriend.api.connections import ConnectionHub
from oldfriend.api.problem_json import ApiError
from oldfriend.api.security_middleware import SAFE_METHODS, has_bearer_token
from oldfriend.db.database import Database
from oldfriend.domain.clock import MINUTE, SECOND, Clock, Micros
from oldfriend.domain.errors import StoreError
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import Person
from oldfriend.inbound.passkey_sign_in import RelyingParty
from oldfriend.lang.language_pack import list_languages
from oldfriend.memory.credentials import find_principal_by_token, record_token_use
from oldfriend.memory.web_sessions import (
    LAST_USED_RESOLUTION,
    SESSION_TTL,
    Principal,
    check_attempt_limit,
    find_web_session,
    generate_secret,
    hash_secret,
    record_failed_sign_in,
    record_session_use,
)

CSRF_HEADER: Final = "x-csrf-token"
MAX_SECRET_CHARS: Final = 200
WEIGHT: Final = re.compile(r"[01](?:\.\d{0,3})?")
"""How much a language is liked, in `Accept-Language`."""
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
FRESH_LOGIN_FOR: Final = 10 * MINUTE
"""How long after signing in a user may create new credentials."""


async def get_hub(request: Request) -> ConnectionHub:
    """Return the connection hub of this process; async, to run on the event loop."""
    hub = request.app.state.room
    assert isinstance(hub, ConnectionHub)
    return hub


HubDep = Annotated[ConnectionHub, Depends(get_hub)]


async def authenticate(request: Request, hub: HubDep) -> Principal:
    """Return the user who sends the request, by session or bearer token. Raises ApiError."""
    if has_bearer_token(request.headers):
        me = await authenticate_token(request, hub.app.db, hub.app.clock)
    else:
        found = await find_session(request, hub)
        if found is None:
            raise build_not_signed_in()
        me = await touch_session(found, hub.app.db, hub.app.clock)
    return replace(me, language=choose_reader_language(request.headers, me.person))


def choose_reader_language(headers: Mapping[str, str], person: Person) -> str:
    """Return the language a request likes best that beliefs are told in, else the person's."""
    accepted = headers.get("accept-language", "")[:MAX_SECRET_CHARS].split(",")
    weighed = [parse_accepted_language(each) for each in accepted]
    told = list_languages("wording")
    liked = sorted(weighed, key=itemgetter(1), reverse=True)  # equals stay in their order
    return next(
        (code for code, weight in liked if weight > 0 and code in told), person.language or ""
    )


def parse_accepted_language(entry: str) -> tuple[str, float]:
    """Return the language of an entry of `Accept-Language`, and its weight; 0 if unreadable."""
    tag, _, parameter = entry.partition(";")
    name, _, weight = parameter.partition("=")
    code = tag.strip().partition("-")[0].lower()
    if name.strip().lower() != "q":
        return code, 1.0
    found = WEIGHT.fullmatch(weight.strip())
    return code, float(found.group()) if found else 0.0


async def find_session(request: Request, hub: ConnectionHub) -> Principal | None:
    """Return the session whose cookie and CSRF secret both match, or None."""
    found = await find_cookie_session(request, hub)
    csrf_digest = hash_secret(request.headers.get(CSRF_HEADER, "")[:MAX_SECRET_CHARS])
    if found is None or not secrets.compare_digest(csrf_digest, found.page_digest):
        return None
    return found


async def find_cookie_session(request: Request, hub: ConnectionHub) -> Principal | None:
    """Return the session of the request's cookie, or None; other ports of this host get it too."""
    secret = request.cookies.get(get_cookie_name(request, hub), "")[:MAX_SECRET_CHARS]
    async with hub.app.db.begin_read() as tx:
        return await find_web_session(tx, hash_secret(secret), now=hub.app.clock())


async def authenticate_worker(request: Request, hub: HubDep) -> Principal:
    """Return the session of the cookie alone, for a service worker, which has no CSRF secret.

    A route that takes it must ask for another secret of that browser. Raises ApiError.
    """
    found = await find_cookie_session(request, hub)
    if found is None:
        raise build_not_signed_in()
    return found


WorkerUser = Annotated[Principal, Depends(authenticate_worker)]


async def touch_session(me: Principal, db: Database, clock: Clock) -> Principal:
    """Record that a session was used, at most once per LAST_USED_RESOLUTION."""
    now = clock()
    if is_touch_due(me, now):
        with suppress(StoreError):  # a read-only store still serves reads
            async with db.begin_write() as tx:
                await record_session_use(tx, me.person.id, me.digest, now=now)
    return me


def build_not_signed_in() -> ApiError:
    """Build the 401 error for a missing session or CSRF secret."""
    return ApiError(
        401,
        "Not signed in",
        localizable("not_signed_in", "Open a new link: run `oldfriend link` where Oldfriend runs."),
    )


async def authenticate_token(request: Request, db: Database, clock: Clock) -> Principal:
    """Return the program that sends the request. Raises ApiError, TooManyAttempts."""
    secret = request.headers["authorization"][len("bearer ") :].strip()[:MAX_SECRET_CHARS]
    now, address = clock(), get_client_address(request)
    async with db.begin_read() as tx:
        found = await find_principal_by_token(tx, hash_secret(secret), now=now)
        if found is None:
            await check_attempt_limit(tx, address, "token", now=now)
    if found is None:
        async with db.begin_write() as tx:
            await record_failed_sign_in(tx, address, "token", now=now)
        raise ApiError(
            401,
            "No such token",
            "It has expired, was revoked, or never existed. Create a new one in Settings.",
        )
    if found.scope == "read" and request.method not in SAFE_METHODS:
        raise ApiError(
            403, "Read-only token", "This token may only read. Create one with the scope write."
        )
    if is_touch_due(found, now):
        with suppress(StoreError):  # a read-only store still serves reads
            async with db.begin_write() as tx:
                await record_token_use(tx, found.person.id, found.digest, now=now)
    return found


CurrentUser = Annotated[Principal, Depends(authenticate)]


async def require_admin_scope(me: CurrentUser) -> Principal:
    """Require the admin scope; browser sessions always have it. Raises ApiError."""
    if me.scope != "admin":
        raise ApiError(403, "Not with this token", "This requires a token with the scope admin.")
    return me


AdminScopeUser = Annotated[Principal, Depends(require_admin_scope)]
"""A user who may manage their own credentials."""


async def require_owner(me: AdminScopeUser) -> Principal:
    """Require the owner of the install. Raises ApiError."""
    if not me.person.is_owner:
        raise ApiError(
            403, "Only for the owner", localizable("owner_only", "Ask whoever runs this Oldfriend.")
        )
    return me


OwnerUser = Annotated[Principal, Depends(require_owner)]


async def require_fresh_login(me: AdminScopeUser, hub: HubDep) -> Principal:
    """Require a program token or a sign-in within FRESH_LOGIN_FOR. Raises ApiError.

    New credentials outlive the session that creates them, so a session left open must not be
    enough.
    """
    is_fresh = me.made_at is not None and hub.app.clock() - me.made_at < FRESH_LOGIN_FOR
    if not me.is_program and not is_fresh:
        raise ApiError(
            403,
            "Sign in again",
            localizable(
                "sign_in_again",
                "This creates a new way to sign in, so you must have signed in just before: with "
                "a passkey, or with a new link (oldfriend link).",
            ),
        )
    return me


FreshUser = Annotated[Principal, Depends(require_fresh_login)]
"""A user who may manage their own credentials and signed in within minutes."""


async def require_fresh_owner(me: FreshUser) -> Principal:
    """Require the owner, with a recent sign-in. Raises ApiError."""
    return await require_owner(me)


FreshOwner = Annotated[Principal, Depends(require_fresh_owner)]


async def require_browser(me: CurrentUser) -> Principal:
    """Require a browser session. Raises ApiError for a program."""
    if me.is_program:
        raise ApiError(
            409, "No session", "A token has no session. Revoke it in Settings, or let it expire."
        )
    return me


BrowserUser = Annotated[Principal, Depends(require_browser)]


def is_touch_due(me: Principal, now: Micros) -> bool:
    """Tell whether the last use is old enough to be recorded again."""
    return me.used_at is None or now - me.used_at >= LAST_USED_RESOLUTION


def get_client_address(request: Request) -> str:
    """Return the client's IP address, or an empty string."""
    return "" if request.client is None else request.client.host


def parse_user_agent(user_agent: str) -> str:
    """Summarize a user agent in a few words, such as Firefox on Linux; the rest is not stored."""
    browser = next((name for sign, name in BROWSERS if sign in user_agent), "")
    system = next((name for sign, name in SYSTEMS if sign in user_agent), "")
    own = re.sub(r"[^\w./ -]", "", user_agent.split("/")[0])[:MAX_BROWSER_CHARS]
    return " on ".join(part for part in (browser, system) if part) or own


def get_relying_party(request: Request) -> RelyingParty:
    """Return the WebAuthn relying party of the request's URL; the middleware checked the origin."""
    return RelyingParty(
        host=request.url.hostname or "", origin=f"{request.url.scheme}://{request.url.netloc}"
    )


def get_cookie_name(request: Request, hub: ConnectionHub) -> str:
    """Return the cookie's name, with the port in it: browsers do not separate cookies by port."""
    name = f"oldfriend-{hub.port}"
    return f"__Host-{name}" if request.url.scheme == "https" else name


def set_session_cookie(
    request: Request, response: Response, hub: ConnectionHub, secret: str
) -> None:
    """Set the session cookie."""
    response.set_cookie(
        get_cookie_name(request, hub),
        secret,
        max_age=SESSION_TTL // SECOND,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def clear_session_cookie(request: Request, response: Response, hub: ConnectionHub) -> None:
    """Delete the session cookie."""
    response.delete_cookie(
        get_cookie_name(request, hub),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


Purpose = Literal["export", "sound"]

LIFETIMES: Final[Mapping[Purpose, Micros]] = MappingProxyType(
    {
        "export": MINUTE,
        "sound": 10 * MINUTE,
    }
)
SINGLE_USE: Final[frozenset[Purpose]] = frozenset({"export"})
"""Purposes whose ticket works once; audio is loaded in several range requests."""
MAX_PER_SESSION: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticket:
    """A short-lived secret that replaces the CSRF header for one session and purpose."""

    secret: str
    purpose: Purpose
    expires_at: Micros


class TicketStore:
    """Valid tickets of this process by session."""

    def __init__(self) -> None:
        """Start empty."""
        self._by_session: dict[str, dict[str, Ticket]] = {}

    def issue(self, session: str, purpose: Purpose, *, now: Micros) -> Ticket:
        """Issue a ticket to a session, dropping its oldest beyond MAX_PER_SESSION."""
        self._drop_expired(now)
        ticket = Ticket(
            secret=generate_secret(), purpose=purpose, expires_at=now + LIFETIMES[purpose]
        )
        tickets = self._by_session.setdefault(session, {})
        tickets[ticket.secret] = ticket
        while len(tickets) > MAX_PER_SESSION:
            del tickets[next(iter(tickets))]
        return ticket

    def redeem(self, session: str, secret: str, purpose: Purpose, *, now: Micros) -> bool:
        """Tell whether a ticket is valid for a session and purpose; consumes a single-use one."""
        tickets = self._by_session.get(session, {})
        ticket = tickets.get(secret)
        if ticket is None or ticket.purpose != purpose or ticket.expires_at <= now:
            return False
        if purpose in SINGLE_USE:
            del tickets[secret]
        return True

    def _drop_expired(self, now: Micros) -> None:
        for session, tickets in list(self._by_session.items()):
            valid = {secret: each for secret, each in tickets.items() if each.expires_at > now}
            if valid:
                self._by_session[session] = valid
            else:
                del self._by_session[session]


async def get_ticket_store(request: Request) -> TicketStore:
    """Return the ticket store of this process."""
    tickets = request.app.state.tickets
    assert isinstance(tickets, TicketStore)
    return tickets


TicketStoreDep = Annotated[TicketStore, Depends(get_ticket_store)]
TicketParam = Annotated[
    str | None,
    Query(
        max_length=200,
        description="A ticket from POST /session/tickets, for a page that cannot send a header.",
    ),
]


def build_ticket_auth(purpose: Purpose) -> Callable[..., Awaitable[Principal]]:
    """Build a dependency that authenticates as usual, or by a ticket beside the cookie."""

    async def holder_of_ticket(
        request: Request, room: HubDep, tickets: TicketStoreDep, ticket: TicketParam = None
    ) -> Principal:
        if ticket is None:
            return await authenticate(request, room)
        return await authenticate_ticket(request, room, tickets, ticket, purpose)

    return holder_of_ticket


async def authenticate_ticket(
    request: Request, hub: ConnectionHub, tickets: TicketStore, ticket: str, purpose: Purpose
) -> Principal:
    """Return the session that holds a ticket. Raises ApiError."""
    found = await find_cookie_session(request, hub)
    now = hub.app.clock()
    if found is None or not tickets.redeem(found.digest, ticket, purpose, now=now):
        raise ApiError(
            401,
            "This ticket is no longer valid",
            localizable(
                "ticket_over", "It was already used, or is too old. Try again from the page."
            ),
        )
    return found


ExportUser = Annotated[Principal, Depends(build_ticket_auth("export"))]
AudioUser = Annotated[Principal, Depends(build_ticket_auth("sound"))]
