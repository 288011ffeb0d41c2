"""Tickets: short-lived substitutes for the CSRF header in downloads and audio requests."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final, Literal

from fastapi import Depends, Query, Request

from oldfriend.api.auth import HubDep, authenticate, find_cookie_session
from oldfriend.api.connections import ConnectionHub
from oldfriend.api.problem_json import ApiError
from oldfriend.domain.clock import MINUTE, Micros
from oldfriend.domain.i18n_messages import localizable
from oldfriend.memory.web_sessions import Principal, generate_secret

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
    Query(max_length=200, description="Of a page, in place of its header: POST /session/tickets."),
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
            "This ticket is over",
            localizable("ticket_over", "It was used, or is too old. Try it again from the page."),
        )
    return found


ExportUser = Annotated[Principal, Depends(build_ticket_auth("export"))]
AudioUser = Annotated[Principal, Depends(build_ticket_auth("sound"))]
