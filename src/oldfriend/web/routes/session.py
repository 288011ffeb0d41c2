"""Who is signed in, and how are things? Signing in by a one-time link, and out."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from oldfriend import __version__
from oldfriend.app.house import House
from oldfriend.domain.clock import DAY
from oldfriend.memory.moods import find_mood
from oldfriend.memory.people import ensure_companion, get_companion
from oldfriend.memory.sign_in import (
    SESSION_GOOD_FOR,
    SignedIn,
    end_web_session,
    find_web_session,
    new_secret,
    open_web_session,
    print_of,
    prolong_web_session,
    use_link,
)
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.session import Signed, SignIn, State
from oldfriend.web.showing.common import in_zone
from oldfriend.web.showing.session import mood_shape
from oldfriend.web.signing import Here, Me, cookie_name, hand_over, take_back, token_of

router = APIRouter(tags=["session"])


def list_troubles() -> list[str]:
    """Why not all work is done here; the site knows whom to ask."""
    return []


@router.post("/session", summary="Sign in with a one-time link")
async def sign_in(given: SignIn, request: Request, response: Response, room: Here) -> Signed:
    """Use the link up and open a session; its cookie comes with the answer."""
    secret = new_secret()
    me = await opened_by(room.house, given.link, secret)
    if me is None:
        raise Refused(
            401, "This link is no longer good",
            "It opens once, within ten minutes. Run `oldfriend link` for a new one.",
        )  # fmt: skip
    hand_over(request, response, room, secret)
    return signed(me, secret)


async def opened_by(house: House, link: str, secret: str) -> SignedIn | None:
    """The session that a link opens; None: it is not good. Raises InvalidInput."""
    async with house.db.writing() as tx:
        now = house.clock()
        person = await use_link(tx, link, now=now)
        if person is None:
            return None
        await ensure_companion(tx, now=now)
        await open_web_session(tx, person, secret, now=now)
        return await find_web_session(tx, print_of(secret), now=now)


@router.get("/session", summary="Who is signed in")
async def who(request: Request, response: Response, me: Me, room: Here) -> Signed:
    """This browser's person, and the token for what changes something; renewed once a day."""
    house = room.house
    secret = request.cookies[cookie_name(request, room)]
    if me.expires_at - house.clock() < SESSION_GOOD_FOR - DAY:
        async with house.db.writing() as tx:
            await prolong_web_session(tx, me.person.id, me.print, now=house.clock())
        hand_over(request, response, room, secret)
    return signed(me, secret)


@router.delete("/session", status_code=204, summary="Sign out")
async def sign_out(request: Request, me: Me, room: Here) -> Response:
    """End this browser's session."""
    async with room.house.db.writing() as tx:
        await end_web_session(tx, me.person.id, me.print)
    response = Response(status_code=204)
    take_back(request, response, room)
    return response


@router.get("/state", summary="How things are now")
async def state(
    me: Me, room: Here, troubles: Annotated[list[str], Depends(list_troubles)]
) -> State:
    """Who answers, in which mood, and whether all is well."""
    house = room.house
    async with house.db.reading() as tx:
        companion = await get_companion(tx)
        mood = await find_mood(tx, me.person.id, at=house.clock())
    model = house.models.get("main")
    return State(
        companion=companion.name, mood=mood_shape(mood), troubles=troubles, version=__version__,
        model=None if model is None else model.name,
    )  # fmt: skip


def signed(me: SignedIn, secret: str) -> Signed:
    """Who this browser is signed in as."""
    return Signed(
        name=me.person.name, is_owner=me.person.is_owner, language=me.person.language,
        token=token_of(secret), expires_at=in_zone(me.expires_at, me.person.zone),
    )  # fmt: skip
