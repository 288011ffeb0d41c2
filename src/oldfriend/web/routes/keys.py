"""By what does somebody come in? Passkeys of devices, tokens of programs, invitations."""

from fastapi import APIRouter, Request, Response

from oldfriend.app.inviting import invite, uninvite
from oldfriend.app.passkeys import add_made, ask_to_make
from oldfriend.memory.passkeys import list_passkeys, take_passkey
from oldfriend.memory.people import list_people
from oldfriend.memory.sign_in import list_invitations
from oldfriend.memory.tokens import end_token, list_tokens, new_token, write_token
from oldfriend.web.repeating import MaybeKey, Once
from oldfriend.web.shapes.keys import (
    Asked,
    Guest,
    Household,
    InvitationMade,
    PasskeyMade,
    Passkeys,
    PasskeyShape,
    PersonShape,
    TokenMade,
    Tokens,
    TokenWanted,
)
from oldfriend.web.showing.keys import (
    browser_named,
    invitation_shape,
    passkey_shape,
    token_made,
    token_shape,
)
from oldfriend.web.signing import Here, Holder, Owner, place_of

router = APIRouter(tags=["signing in"])


@router.get("/passkeys", summary="Your passkeys")
async def show_passkeys(me: Holder, room: Here) -> Passkeys:
    """The oldest first; what is kept of them opens nothing."""
    async with room.house.db.reading() as tx:
        found = await list_passkeys(tx, me.person.id)
    return Passkeys(items=[passkey_shape(each, zone=me.person.zone) for each in found])


@router.post("/passkeys/options", summary="Begin to add a passkey")
async def ask_for_new(me: Holder, request: Request, room: Here) -> Asked:
    """What the browser is to ask a device; good once, for five minutes."""
    options = await ask_to_make(room.house, me.person, place_of(request))
    assert isinstance(options, dict)
    return Asked(options=options)


@router.post("/passkeys", status_code=201, summary="Add a passkey")
async def add_passkey(made: PasskeyMade, me: Holder, request: Request, room: Here) -> PasskeyShape:
    """Verify what the device has made, and keep its public half."""
    name = made.name.strip() or browser_named(request.headers.get("user-agent", ""))
    passkey = await add_made(room.house, me.person, place_of(request), made.credential, name=name)
    return passkey_shape(passkey, zone=me.person.zone)


@router.delete("/passkeys/{passkey}", status_code=204, summary="Take a passkey away")
async def drop_passkey(passkey: str, me: Holder, room: Here) -> Response:
    """It opens nothing any more; sessions that it has opened go on until they are ended."""
    async with room.house.db.writing() as tx:
        await take_passkey(tx, me.person.id, passkey)
    return Response(status_code=204)


@router.get("/tokens", summary="Your programs' tokens")
async def show_tokens(me: Holder, room: Here) -> Tokens:
    """The newest first, without what they consist of."""
    house = room.house
    async with house.db.reading() as tx:
        found = await list_tokens(tx, me.person.id)
    now, zone = house.clock(), me.person.zone
    return Tokens(items=[token_shape(each, now=now, zone=zone) for each in found])


@router.post("/tokens", status_code=201, summary="Make a token for a program")
async def make_token(
    wanted: TokenWanted, me: Holder, room: Here, deeds: Once, idempotency_key: MaybeKey = None
) -> TokenMade:
    """What it consists of is in the answer, this once."""
    house = room.house
    now = house.clock()

    async def make() -> TokenMade:
        secret = new_token()
        async with house.db.writing() as tx:
            token = await write_token(
                tx, me.person.id, secret, name=wanted.name, scope=wanted.scope, days=wanted.days,
                now=now,
            )  # fmt: skip
        return token_made(token, secret, now=now, zone=me.person.zone)

    return await deeds.once(me.person.id, idempotency_key, wanted, make, TokenMade, now=now)


@router.delete("/tokens/{token}", status_code=204, summary="End a token")
async def drop_token(token: str, me: Holder, room: Here) -> Response:
    """It opens nothing any more, at once."""
    async with room.house.db.writing() as tx:
        await end_token(tx, me.person.id, token)
    room.note_ending(me.person.id)
    return Response(status_code=204)


@router.get("/household", summary="Who is here, and who is invited")
async def show_household(me: Owner, room: Here) -> Household:
    """For the owner: names only, nothing that is theirs."""
    house = room.house
    async with house.db.reading() as tx:
        people = await list_people(tx)
        invited = await list_invitations(tx, now=house.clock())
    return Household(
        people=[PersonShape(name=each.name, is_owner=each.is_owner) for each in people],
        invitations=[invitation_shape(each, zone=me.person.zone) for each in invited],
    )


@router.post("/invitations", status_code=201, summary="Invite somebody")
async def invite_somebody(
    guest: Guest, me: Owner, room: Here, deeds: Once, idempotency_key: MaybeKey = None
) -> InvitationMade:
    """A link for them, good once, for a week; they see only what is theirs, and so do you.

    422: they have a memory here already, or a way in. An earlier link of theirs is good no more.
    """

    async def make() -> InvitationMade:
        made = await invite(room.house, guest.name, port=room.port)
        return InvitationMade(id=made.id, name=made.person.name, link=made.link)

    now = room.house.clock()
    return await deeds.once(me.person.id, idempotency_key, guest, make, InvitationMade, now=now)


@router.delete("/invitations/{invitation}", status_code=204, summary="End an invitation")
async def end_one(invitation: str, _: Owner, room: Here) -> Response:
    """Its link opens nothing any more."""
    await uninvite(room.house, invitation)
    return Response(status_code=204)
