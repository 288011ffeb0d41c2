"""Who is it that asks? A browser with a session, which was opened by a one-time link.

The session is a cookie that no script can read and no other site can send; what changes something
needs a token besides, which only the page itself is told.
"""

import hashlib
import secrets
from typing import Annotated, Final

from fastapi import Depends, Request, Response

from oldfriend.domain.clock import SECOND
from oldfriend.memory.sign_in import (
    SESSION_GOOD_FOR,
    SignedIn,
    find_web_session,
    print_of,
)
from oldfriend.web.guarding import SAFE
from oldfriend.web.problems import Refused
from oldfriend.web.room import Room

TOKEN_HEADER: Final = "x-csrf-token"


def room_of(request: Request) -> Room:
    """What the pages of this process share."""
    room = request.app.state.room
    assert isinstance(room, Room)
    return room


Here = Annotated[Room, Depends(room_of)]


async def signed_in(request: Request, room: Here) -> SignedIn:
    """Who asks. Raises Refused."""
    secret = request.cookies.get(cookie_name(request, room), "")
    async with room.house.db.reading() as tx:
        found = await find_web_session(tx, print_of(secret), now=room.house.clock())
    if found is None:
        raise Refused(
            401, "Not signed in", "Open a new link: run `oldfriend link` where Oldfriend runs."
        )
    if request.method not in SAFE:
        shown = request.headers.get(TOKEN_HEADER, "")
        if not secrets.compare_digest(shown.encode(), token_of(secret).encode()):
            raise Refused(403, "Not from this page", "Load the page again, then try once more.")
    return found


Me = Annotated[SignedIn, Depends(signed_in)]


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
