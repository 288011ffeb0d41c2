"""Who is it that asks? A browser with a session, or a program with a token.

A session is a cookie that no script can read and no other site can send; what changes something
needs a token besides, which only the page itself is told. A program shows its own token with each
thing it asks, and may do as much as that token's scope allows; a cookie beside it counts nothing.
"""

import hashlib
import secrets
from contextlib import suppress
from typing import Annotated, Final

from fastapi import Depends, Request, Response

from oldfriend.app.house import House
from oldfriend.app.passkeys import Place
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import StoreError
from oldfriend.domain.sayings import saying
from oldfriend.memory.sign_in import (
    SEEN_EVERY,
    SESSION_GOOD_FOR,
    SignedIn,
    find_web_session,
    note_attempt,
    note_use_of_session,
    print_of,
    refuse_guessing,
)
from oldfriend.memory.tokens import find_by_token, note_use_of_token
from oldfriend.web.guarding import SAFE, shows_token
from oldfriend.web.problems import Refused
from oldfriend.web.room import Room

TOKEN_HEADER: Final = "x-csrf-token"
LONGEST_SECRET: Final = 200


async def room_of(request: Request) -> Room:
    """What the pages of this process share; awaited, for others are called in a thread."""
    room = request.app.state.room
    assert isinstance(room, Room)
    return room


Here = Annotated[Room, Depends(room_of)]


async def signed_in(request: Request, room: Here) -> SignedIn:
    """Who asks. Raises Refused."""
    if shows_token(request.headers):
        return await program(request, room.house)
    secret = request.cookies.get(cookie_name(request, room), "")[:LONGEST_SECRET]
    now = room.house.clock()
    async with room.house.db.reading() as tx:
        found = await find_web_session(tx, print_of(secret), now=now)
    if found is None:
        raise Refused(
            401,
            "Not signed in",
            saying("not_signed_in", "Open a new link: run `oldfriend link` where Oldfriend runs."),
        )
    if request.method not in SAFE:
        shown = request.headers.get(TOKEN_HEADER, "")
        if not secrets.compare_digest(shown.encode(), token_of(secret).encode()):
            raise Refused(
                403,
                "Not from this page",
                saying("page_is_old", "Load the page again, then try once more."),
            )
    if was_long_ago(found, now):
        with suppress(StoreError):  # who can only be read is read
            async with room.house.db.writing() as tx:
                await note_use_of_session(tx, found.person.id, found.print, now=now)
    return found


async def program(request: Request, house: House) -> SignedIn:
    """The program that asks. Raises Refused, TooManyAttempts."""
    secret = request.headers["authorization"][len("bearer ") :].strip()[:LONGEST_SECRET]
    now, came_from = house.clock(), address_of(request)
    async with house.db.reading() as tx:
        found = await find_by_token(tx, print_of(secret), now=now)
        if found is None:
            await refuse_guessing(tx, came_from, now=now)
    if found is None:
        async with house.db.writing() as tx:
            await note_attempt(tx, came_from, now=now)
        raise Refused(
            401, "No such token", "It is over, was ended, or never was. Make a new one in Settings."
        )
    if found.scope == "read" and request.method not in SAFE:
        raise Refused(403, "Only for reading", "This token may read. Make one that may write.")
    if was_long_ago(found, now):
        with suppress(StoreError):
            async with house.db.writing() as tx:
                await note_use_of_token(tx, found.person.id, found.print, now=now)
    return found


Me = Annotated[SignedIn, Depends(signed_in)]


async def holder(me: Me) -> SignedIn:
    """Who asks about how they sign in; a program needs the scope for it. Raises Refused."""
    if me.scope != "admin":
        raise Refused(403, "Not with this token", "That takes a token with the scope admin.")
    return me


Holder = Annotated[SignedIn, Depends(holder)]
"""A person who may decide about their own ways in."""


async def owner(me: Holder) -> SignedIn:
    """The owner, who asks about the whole install. Raises Refused."""
    if not me.person.is_owner:
        raise Refused(
            403, "Only for the owner", saying("owner_only", "Ask whoever runs this Oldfriend.")
        )
    return me


Owner = Annotated[SignedIn, Depends(owner)]


async def by_session(me: Me) -> SignedIn:
    """A browser that has a session. Raises Refused for a program."""
    if me.is_program:
        raise Refused(
            409, "No session", "A token has none. It ends in Settings, or when it is due."
        )
    return me


InBrowser = Annotated[SignedIn, Depends(by_session)]


def was_long_ago(me: SignedIn, now: Micros) -> bool:
    """Whether it is to be noted that something is in use."""
    return me.used_at is None or now - me.used_at >= SEEN_EVERY


def address_of(request: Request) -> str:
    """From where it is asked."""
    return "" if request.client is None else request.client.host


def place_of(request: Request) -> Place:
    """Where the page is, as the browser sees it; the door has checked that we are there."""
    return Place(
        host=request.url.hostname or "", origin=f"{request.url.scheme}://{request.url.netloc}"
    )


def cookie_name(request: Request, room: Room) -> str:
    """The cookie of this install; browsers do not tell ports apart, so its name does."""
    name = f"oldfriend-{room.port}"
    return f"__Host-{name}" if request.url.scheme == "https" else name


def token_of(secret: str) -> str:
    """What a page must show beside its session to change something."""
    return hashlib.sha256(f"token for {secret}".encode()).hexdigest()


def hand_over(request: Request, response: Response, room: Room, secret: str) -> None:
    """Give a browser its session."""
    response.set_cookie(
        cookie_name(request, room), secret, max_age=SESSION_GOOD_FOR // SECOND, path="/",
        secure=request.url.scheme == "https", httponly=True, samesite="strict",
    )  # fmt: skip


def take_back(request: Request, response: Response, room: Room) -> None:
    """Have a browser drop its session."""
    response.delete_cookie(
        cookie_name(request, room), path="/", secure=request.url.scheme == "https",
        httponly=True, samesite="strict",
    )  # fmt: skip
