"""Credential routes: passkeys, API tokens and invitations."""

from typing import Final

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
from oldfriend.api.requests import InvitationRequest, PasskeyCreationRequest, TokenRequest
from oldfriend.domain.clock import SECOND
from oldfriend.inbound.account_linking import cancel_invitation, create_invitation
from oldfriend.inbound.passkey_sign_in import build_registration_options, register_passkey
from oldfriend.memory.credentials import (
    delete_passkey,
    generate_api_token,
    list_api_tokens,
    list_passkeys,
    renew_api_token,
    revoke_api_token,
    save_api_token,
)
from oldfriend.memory.people import list_people
from oldfriend.memory.web_sessions import list_invitations
from oldfriend.presenters.sign_in_schemas import (
    CreatedInvitationSchema,
    CreatedTokenSchema,
    HouseholdSchema,
    PasskeyListSchema,
    PasskeyOptionsSchema,
    PasskeySchema,
    TokenListSchema,
    TokenSchema,
)

SAME_TIME: Final = 10 * SECOND
"""Renewals of a token that are closer are one, sent several times."""
router = APIRouter(tags=["signing in"])


@router.get("/passkeys", summary="List your passkeys")
async def show_passkeys(me: AdminScopeUser, hub: HubDep) -> PasskeyListSchema:
    """List your passkeys, the oldest first. Only their public halves are stored."""
    async with hub.app.db.begin_read() as tx:
        found = await list_passkeys(tx, me.person.id)
    return PasskeyListSchema(
        items=tuple(PasskeySchema.from_domain(each, zone=me.person.zone) for each in found)
    )


@router.post("/passkeys/options", summary="Start adding a passkey")
async def create_passkey_options(
    me: FreshUser, request: Request, hub: HubDep
) -> PasskeyOptionsSchema:
    """Return the WebAuthn options to pass to the device. They work once, for five minutes."""
    options = await build_registration_options(
        hub.app.db, hub.app.clock, me.person, get_relying_party(request)
    )
    assert isinstance(options, dict)
    return PasskeyOptionsSchema(options=options)


@router.post("/passkeys", status_code=201, summary="Add a passkey")
async def add_passkey(
    made: PasskeyCreationRequest, me: FreshUser, request: Request, hub: HubDep
) -> PasskeySchema:
    """Verify the passkey that the device created, and store its public half."""
    name = made.name.strip() or parse_user_agent(request.headers.get("user-agent", ""))
    passkey = await register_passkey(
        hub.app.db, hub.app.clock, me.person, get_relying_party(request), made.credential, name=name
    )
    return PasskeySchema.from_domain(passkey, zone=me.person.zone)


@router.delete("/passkeys/{passkey}", status_code=204, summary="Remove a passkey")
async def remove_passkey(passkey: str, me: AdminScopeUser, hub: HubDep) -> Response:
    """Remove a passkey. Sessions that were opened with it last until they are ended."""
    async with hub.app.db.begin_write() as tx:
        await delete_passkey(tx, me.person.id, passkey)
    return Response(status_code=204)


@router.get("/tokens", summary="List your programs' tokens")
async def show_tokens(me: AdminScopeUser, hub: HubDep) -> TokenListSchema:
    """List your tokens, the newest first, without their secrets."""
    app = hub.app
    async with app.db.begin_read() as tx:
        found = await list_api_tokens(tx, me.person.id)
    now, zone = app.clock(), me.person.zone
    return TokenListSchema(
        items=tuple(TokenSchema.from_domain(each, now=now, zone=zone) for each in found)
    )


@router.post("/tokens", status_code=201, summary="Create a token for a program")
async def create_api_token(
    wanted: TokenRequest,
    me: FreshUser,
    hub: HubDep,
    idempotency: IdempotencyDep,
    idempotency_key: OptionalIdempotencyKey = None,
) -> CreatedTokenSchema:
    """Create a token. Only this response contains its secret."""
    app = hub.app
    now = app.clock()

    async def make() -> CreatedTokenSchema:
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
        return CreatedTokenSchema.from_secret(token, secret, now=now, zone=me.person.zone)

    return await idempotency.run_once(
        me.person.id, idempotency_key, wanted, make, CreatedTokenSchema, now=now
    )


@router.post("/tokens/{token}/renew", summary="Renew a token")
async def renew_token(token: str, me: FreshUser, hub: HubDep) -> CreatedTokenSchema:
    """Give a token a new secret, which only this response contains, and as many days as it had.

    The old secret no longer works. The users of a chat front end stay who they are.

    409: another request of the same time has renewed it, whose secret works.
    """
    now, secret = hub.app.clock(), generate_api_token()
    async with hub.app.db.begin_write() as tx:
        renewed = await renew_api_token(
            tx, me.person.id, token, secret, unless_since=now - SAME_TIME, now=now
        )
    hub.note_sign_out(me.person.id)
    return CreatedTokenSchema.from_secret(renewed, secret, now=now, zone=me.person.zone)


@router.delete("/tokens/{token}", status_code=204, summary="Revoke a token")
async def revoke_token(token: str, me: AdminScopeUser, hub: HubDep) -> Response:
    """Revoke a token at once."""
    async with hub.app.db.begin_write() as tx:
        await revoke_api_token(tx, me.person.id, token)
    hub.note_sign_out(me.person.id)
    return Response(status_code=204)


@router.get("/household", summary="List people and invitations")
async def show_household(me: OwnerUser, hub: HubDep) -> HouseholdSchema:
    """List the people on this installation and open invitations, by name only. For the owner."""
    app = hub.app
    async with app.db.begin_read() as tx:
        people = await list_people(tx)
        invited = await list_invitations(tx, now=app.clock())
    return HouseholdSchema.from_domain(people, invited, zone=me.person.zone)


@router.post("/invitations", status_code=201, summary="Invite somebody")
async def invite_person(
    guest: InvitationRequest,
    me: FreshOwner,
    hub: HubDep,
    idempotency: IdempotencyDep,
    idempotency_key: OptionalIdempotencyKey = None,
) -> CreatedInvitationSchema:
    """Create an invitation link that works once, within a week.

    Each person sees only their own memory.

    422: the person already has a memory or an invitation here. An earlier link stops working.
    """

    async def make() -> CreatedInvitationSchema:
        made = await create_invitation(
            hub.app.db, hub.app.clock, hub.app.settings, guest.name, port=hub.port
        )
        return CreatedInvitationSchema(id=made.id, name=made.person.name, link=made.link)

    now = hub.app.clock()
    return await idempotency.run_once(
        me.person.id, idempotency_key, guest, make, CreatedInvitationSchema, now=now
    )


@router.delete("/invitations/{invitation}", status_code=204, summary="End an invitation")
async def revoke_invitation(invitation: str, _: OwnerUser, hub: HubDep) -> Response:
    """Revoke an invitation; its link stops working."""
    await cancel_invitation(hub.app.db, invitation)
    return Response(status_code=204)
