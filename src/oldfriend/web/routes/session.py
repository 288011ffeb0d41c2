"""Who is signed in, where, and how are things? Signing in, by a link or a passkey, and out."""

from typing import Annotated, Final

from fastapi import APIRouter, Depends, Request, Response

from oldfriend import __version__
from oldfriend.app.forming.progress import find_progress
from oldfriend.app.house import House
from oldfriend.app.passkeys import ask_to_sign, signed_by
from oldfriend.app.persona.naming import change_person
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import Person
from oldfriend.domain.sayings import saying
from oldfriend.memory.core_blocks import list_blocks
from oldfriend.memory.days import find_first_said
from oldfriend.memory.log import list_messages
from oldfriend.memory.moods import find_mood
from oldfriend.memory.people import ensure_companion, get_companion
from oldfriend.memory.segments import list_uncut
from oldfriend.memory.sign_in import (
    SESSION_GOOD_FOR,
    OpenedWith,
    SignedIn,
    end_other_sessions,
    end_web_session,
    find_web_session,
    list_web_sessions,
    new_secret,
    note_attempt,
    open_web_session,
    print_of,
    prolong_web_session,
    refuse_guessing,
    use_link,
)
from oldfriend.web.matching import IfMatch, refuse_changed, stale_is_412, tag_of
from oldfriend.web.problems import Refused
from oldfriend.web.room import Room
from oldfriend.web.shapes.common import saying_shape
from oldfriend.web.shapes.keys import Answered, Asked
from oldfriend.web.shapes.session import (
    Ended,
    PersonEdited,
    Sessions,
    Signed,
    SignIn,
    State,
)
from oldfriend.web.showing.common import in_zone
from oldfriend.web.showing.keys import browser_named, session_shape
from oldfriend.web.showing.session import mood_shape, progress_shape
from oldfriend.web.signing import (
    Here,
    Holder,
    InBrowser,
    Me,
    address_of,
    cookie_name,
    hand_over,
    place_of,
    take_back,
    token_of,
)

router = APIRouter(tags=["session"])
LATELY: Final = 500
"""Among so many messages it is looked for what is not read: what is older was read long ago."""


async def list_troubles(request: Request) -> list[str]:
    """Why not all work is done here; the site knows whom to ask."""
    told: list[str] = request.app.state.troubles()
    return told


@router.post("/session", summary="Sign in with a one-time link")
async def sign_in(given: SignIn, request: Request, response: Response, room: Here) -> Signed:
    """Use the link, or the invitation, up and open a session; its cookie comes with the answer."""
    house = room.house
    async with house.db.writing() as tx:
        now = house.clock()
        await refuse_guessing(tx, address_of(request), now=now)
        opened = await use_link(tx, given.link, now=now)
        if opened is None:
            await note_attempt(tx, address_of(request), now=now)
    if opened is None:
        raise Refused(
            401, "This link is no longer good",
            saying(
                "link_spent",
                "It opens once, within ten minutes. Run `oldfriend link` for a new one.",
            ),
        )  # fmt: skip
    return await begin(request, response, room, *opened)


@router.post("/session/passkey/options", summary="Begin to sign in with a passkey")
async def ask_for_passkey(request: Request, room: Here) -> Asked:
    """What the browser is to ask a device; good once, for five minutes."""
    async with room.house.db.reading() as tx:
        await refuse_guessing(tx, address_of(request), now=room.house.clock())
    options = await ask_to_sign(room.house, place_of(request))
    assert isinstance(options, dict)
    return Asked(options=options)


@router.post("/session/passkey", summary="Sign in with a passkey")
async def sign_in_with_passkey(
    answered: Answered, request: Request, response: Response, room: Here
) -> Signed:
    """Verify what the device has signed, and open a session as whose passkey it is."""
    house, came_from = room.house, address_of(request)
    async with house.db.reading() as tx:
        await refuse_guessing(tx, came_from, now=house.clock())
    try:
        person = await signed_by(house, place_of(request), answered.credential)
    except InvalidInput:
        await tried_in_vain(house, came_from)
        raise
    if person is None:
        await tried_in_vain(house, came_from)
        raise Refused(
            401, "This passkey is not known here",
            saying(
                "passkey_unknown",
                "It may have been taken away. Run `oldfriend link`, and add it again in Settings.",
            ),
        )  # fmt: skip
    return await begin(request, response, room, person, "passkey")


async def tried_in_vain(house: House, came_from: str) -> None:
    """Note that somebody could not sign in."""
    async with house.db.writing() as tx:
        await note_attempt(tx, came_from, now=house.clock())


async def begin(
    request: Request, response: Response, room: Room, person: PersonId, opened_with: OpenedWith
) -> Signed:
    """Open a session, always a new one; the one that this browser had before ends."""
    house, secret = room.house, new_secret()
    before = request.cookies.get(cookie_name(request, room))
    async with house.db.writing() as tx:
        now = house.clock()
        await ensure_companion(tx, now=now)
        earlier = await find_web_session(tx, print_of(before), now=now) if before else None
        if earlier is not None:
            await end_web_session(tx, earlier.person.id, earlier.print)
        await open_web_session(
            tx, person, secret, now=now, opened_with=opened_with,
            browser=browser_named(request.headers.get("user-agent", "")),
        )  # fmt: skip
        me = await find_web_session(tx, print_of(secret), now=now)
    if earlier is not None:
        room.note_ending(earlier.person.id)
    assert me is not None  # it was just opened
    hand_over(request, response, room, secret)
    return signed(me, secret)


@router.get("/session", summary="Who is signed in")
async def who(request: Request, response: Response, me: Me, room: Here) -> Signed:
    """The person who asks, and the token for what changes something; renewed once a day.

    Its ETag is for changing your name or time zone.
    """
    response.headers["ETag"] = tag_of_person(me.person)
    if me.is_program:
        return signed(me, "")
    house = room.house
    secret = request.cookies[cookie_name(request, room)]
    if me.expires_at - house.clock() < SESSION_GOOD_FOR - DAY:
        async with house.db.writing() as tx:
            await prolong_web_session(tx, me.person.id, me.print, now=house.clock())
        hand_over(request, response, room, secret)
    return signed(me, secret)


@router.delete("/session", status_code=204, summary="Sign out")
async def sign_out(request: Request, me: InBrowser, room: Here) -> Response:
    """End this browser's session."""
    async with room.house.db.writing() as tx:
        await end_web_session(tx, me.person.id, me.print)
    room.note_ending(me.person.id)
    response = Response(status_code=204)
    take_back(request, response, room)
    return response


@router.get("/sessions", summary="Where you are signed in")
async def list_sessions(me: Holder, room: Here) -> Sessions:
    """Every browser, used last first."""
    async with room.house.db.reading() as tx:
        found = await list_web_sessions(tx, me.person.id, now=room.house.clock())
    return Sessions(
        items=[session_shape(each, this=me.print, zone=me.person.zone) for each in found]
    )


@router.delete("/sessions", summary="Sign out everywhere else")
async def end_others(me: Holder, room: Here) -> Ended:
    """End every session but the one that asks."""
    async with room.house.db.writing() as tx:
        count = await end_other_sessions(tx, me.person.id, me.print)
    room.note_ending(me.person.id)
    return Ended(count=count)


@router.delete("/sessions/{session}", status_code=204, summary="Sign a browser out")
async def end_session(session: str, me: Holder, room: Here) -> Response:
    """End one session of yours, also this one."""
    async with room.house.db.writing() as tx:
        if not await end_web_session(tx, me.person.id, session):
            raise NotFound(
                saying("session_over", "There is no such session; it may have ended already.")
            )
    room.note_ending(me.person.id)
    return Response(status_code=204)


@router.patch("/me", summary="Change your name or time zone")
async def change_me(
    edited: PersonEdited, me: Me, room: Here, response: Response, if_match: IfMatch = None
) -> Signed:
    """Of whoever asks; what was said stays signed as it was."""
    refuse_changed(if_match, tag_of_person(me.person))
    base = None if if_match is None else me.person
    with stale_is_412():
        person = await change_person(
            room.house, me.person.id, name=edited.name, zone=edited.zone, base=base
        )
    response.headers["ETag"] = tag_of_person(person)
    changed = SignedIn(
        person=person, print=me.print, expires_at=me.expires_at, is_program=me.is_program
    )
    return signed(changed, "")


def tag_of_person(person: Person) -> str:
    """By what it is known how somebody is called, and where they live."""
    return tag_of(PersonEdited(name=person.name, zone=person.zone))


@router.get("/state", summary="How things are now")
async def state(
    me: Me, room: Here, troubles: Annotated[list[str], Depends(list_troubles)]
) -> State:
    """Who answers, in which mood, and whether all is well."""
    house = room.house
    async with house.db.reading() as tx:
        companion = await get_companion(tx)
        is_new = not (
            await list_blocks(tx, me.person.id) or await find_first_said(tx, me.person.id)
        )
        has_unread = house.settings.memory.forms and await is_unread(tx, me.person.id)
        mood = await find_mood(tx, me.person.id, at=house.clock())
        progress = await find_progress(tx, me.person.id, now=house.clock())
    model = house.models.get("main")
    return State(
        companion=companion.name, is_new=is_new, mood=mood_shape(mood),
        troubles=[saying_shape(each) for each in troubles],
        version=__version__, forms=house.settings.memory.forms, has_unread=has_unread,
        model=None if model is None else model.name, hears=house.transcriber is not None,
        progress=progress_shape(progress, zone=me.person.zone),
    )  # fmt: skip


async def is_unread(tx: Transaction, person: PersonId) -> bool:
    """Whether the person has said something lately that is in no segment yet."""
    newest = await list_messages(tx, person, limit=1)
    if not newest:
        return False
    return any(each.turns for each in await list_uncut(tx, person, after=newest[0].seq - LATELY))


def signed(me: SignedIn, secret: str) -> Signed:
    """Who asks; without a secret, no token goes with it."""
    return Signed(
        id=me.person.id, name=me.person.name, is_owner=me.person.is_owner,
        language=me.person.language, zone=me.person.zone, token=token_of(secret) if secret else "",
        expires_at=in_zone(me.expires_at, me.person.zone),
    )  # fmt: skip
