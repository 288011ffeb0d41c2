"""Credential routes: passkeys, API tokens and invitations."""

from fastapi import APIRouter, Request, Response

from oldfriend.api.auth import (
    AdminScopeUser,
    FreshOwner,
    FreshUser,
    HubDep,
    OwnerUser,
    get_relying_party,
    parse_user_agent,
)
from oldfriend.api.idempotency import IdempotencyDep, OptionalIdempotencyKey
from oldfriend.api.requests import Guest, PasskeyMade, TokenWanted
from oldfriend.inbound.account_linking import cancel_invitation, create_invitation
from oldfriend.inbound.passkey_sign_in import build_registration_options, register_passkey
from oldfriend.memory.credentials import (
    delete_passkey,
    generate_api_token,
    list_api_tokens,
    list_passkeys,
    revoke_api_token,
    save_api_token,
)
from oldfriend.memory.people import list_people
from oldfriend.memory.web_sessions import list_invitations
from oldfriend.presenters.sign_in_schemas import (
    Asked,
    Household,
    InvitationMade,
    Passkeys,
    PasskeyShape,
    TokenMade,
    Tokens,
    TokenShape,
)

router = APIRouter(tags=["signing in"])


@router.get("/passkeys", summary="Your passkeys")
async def show_passkeys(me: AdminScopeUser, hub: HubDep) -> Passkeys:
    """The oldest first; what is kept of them opens nothing."""
    async with hub.app.db.begin_read() as tx:
        found = await list_passkeys(tx, me.person.id)
    return Passkeys(
        items=tuple(PasskeyShape.from_domain(each, zone=me.person.zone) for each in found)
    )


@router.post("/passkeys/options", summary="Begin to add a passkey")
async def ask_for_new(me: FreshUser, request: Request, hub: HubDep) -> Asked:
    """What the browser is to ask a device; good once, for five minutes."""
    options = await build_registration_options(
        hub.app.db, hub.app.clock, me.person, get_relying_party(request)
    )
    assert isinstance(options, dict)
    return Asked(options=options)


@router.post("/passkeys", status_code=201, summary="Add a passkey")
async def add_passkey(
    made: PasskeyMade, me: FreshUser, request: Request, hub: HubDep
) -> PasskeyShape:
    """Verify what the device has made, and keep its public half."""
    name = made.name.strip() or parse_user_agent(request.headers.get("user-agent", ""))
    passkey = await register_passkey(
        hub.app.db, hub.app.clock, me.person, get_relying_party(request), made.credential, name=name
    )
    return PasskeyShape.from_domain(passkey, zone=me.person.zone)


@router.delete("/passkeys/{passkey}", status_code=204, summary="Take a passkey away")
async def drop_passkey(passkey: str, me: AdminScopeUser, hub: HubDep) -> Response:
    """It opens nothing any more; sessions that it has opened go on until they are ended."""
    async with hub.app.db.begin_write() as tx:
        await delete_passkey(tx, me.person.id, passkey)
    return Response(status_code=204)


@router.get("/tokens", summary="Your programs' tokens")
async def show_tokens(me: AdminScopeUser, hub: HubDep) -> Tokens:
    """The newest first, without what they consist of."""
    app = hub.app
    async with app.db.begin_read() as tx:
        found = await list_api_tokens(tx, me.person.id)
    now, zone = app.clock(), me.person.zone
    return Tokens(items=tuple(TokenShape.from_domain(each, now=now, zone=zone) for each in found))


@router.post("/tokens", status_code=201, summary="Make a token for a program")
async def make_token(
    wanted: TokenWanted,
    me: FreshUser,
    hub: HubDep,
    idempotency: IdempotencyDep,
    idempotency_key: OptionalIdempotencyKey = None,
) -> TokenMade:
    """What it consists of is in the answer, this once."""
    app = hub.app
    now = app.clock()

    async def make() -> TokenMade:
        secret = generate_api_token()
        async with app.db.begin_write() as tx:
            token = await save_api_token(
                tx,
                me.person.id,
                secret,
                name=wanted.name,
                scope=wanted.scope,
                days=wanted.days,
                now=now,
            )
        return TokenMade.from_secret(token, secret, now=now, zone=me.person.zone)

    return await idempotency.run_once(
        me.person.id, idempotency_key, wanted, make, TokenMade, now=now
    )


@router.delete("/tokens/{token}", status_code=204, summary="End a token")
async def drop_token(token: str, me: AdminScopeUser, hub: HubDep) -> Response:
    """It opens nothing any more, at once."""
    async with hub.app.db.begin_write() as tx:
        await revoke_api_token(tx, me.person.id, token)
    hub.note_sign_out(me.person.id)
    return Response(status_code=204)


@router.get("/household", summary="Who is here, and who is invited")
async def show_household(me: OwnerUser, hub: HubDep) -> Household:
    """For the owner: names only, nothing that is theirs."""
    app = hub.app
    async with app.db.begin_read() as tx:
        people = await list_people(tx)
        invited = await list_invitations(tx, now=app.clock())
    return Household.from_domain(people, invited, zone=me.person.zone)


@router.post("/invitations", status_code=201, summary="Invite somebody")
async def invite_somebody(
    guest: Guest,
    me: FreshOwner,
    hub: HubDep,
    idempotency: IdempotencyDep,
    idempotency_key: OptionalIdempotencyKey = None,
) -> InvitationMade:
    """A link for them, good once, for a week; they see only what is theirs, and so do you.

    422: they have a memory here already, or a way in. An earlier link of theirs is good no more.
    """

    async def make() -> InvitationMade:
        made = await create_invitation(
            hub.app.db, hub.app.clock, hub.app.settings, guest.name, port=hub.port
        )
        return InvitationMade(id=made.id, name=made.person.name, link=made.link)

    now = hub.app.clock()
    return await idempotency.run_once(
        me.person.id, idempotency_key, guest, make, InvitationMade, now=now
    )


@router.delete("/invitations/{invitation}", status_code=204, summary="End an invitation")
async def end_one(invitation: str, _: OwnerUser, hub: HubDep) -> Response:
    """Its link opens nothing any more."""
    await cancel_invitation(hub.app.db, invitation)
    return Response(status_code=204)
