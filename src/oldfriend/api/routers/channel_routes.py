"""Channel routes: the owner connects a bot; each person links apps with codes."""

import asyncio
from contextlib import suppress
from typing import Annotated, Final

import segno
from fastapi import APIRouter, Depends, Query, Request, Response

from oldfriend.api.auth import AdminScopeUser, CurrentUser, FreshOwner, FreshUser, HubDep, OwnerUser
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import BotCredentialsRequest, GivenCodeRequest, OwnAddressRequest
from oldfriend.api.settings_reload import SettingsWriterDep
from oldfriend.channels.channel import WEB_CHANNEL, ChannelSpec, Sender
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.keys import delete_key
from oldfriend.config.provider_resolution import (
    build_credentials,
    find_channel_credentials,
    store_channel_credentials,
)
from oldfriend.config.settings import Settings
from oldfriend.config.settings_catalog import allow_address
from oldfriend.db.merge_record import list_merges
from oldfriend.domain.errors import InvalidInput, NotFound, PlatformRejected, PlatformUnavailable
from oldfriend.domain.i18n_messages import localizable
from oldfriend.inbound.account_linking import (
    create_code_for,
    label_account,
    link_own_address,
    unlink_channel,
)
from oldfriend.inbound.link_commands import confirm_given_code, preview_given_code
from oldfriend.inbound.person_merge import undo_merge
from oldfriend.memory.credentials import list_front_end_names
from oldfriend.memory.identities import (
    CODE_TTL,
    list_identities,
    list_linked_people,
    remove_identity,
)
from oldfriend.memory.people import get_person
from oldfriend.presenters.base_schema import LocalizedTextSchema, format_time
from oldfriend.presenters.configuration_schemas import (
    AccountLinkCodeSchema,
    BotSchema,
    ChannelCredentialSchema,
    ChannelSchema,
    ContradictionSchema,
    LinkCodeSchema,
    LinkedAccountSchema,
    LinkedAccountsSchema,
    LinkedPersonSchema,
    MergePreviewSchema,
    PersonMergeSchema,
)
from oldfriend.presenters.state_schemas import FindingSchema, HealthSchema
from oldfriend.queues.outages import find_outage_start
from oldfriend.runtime.bot_connections import diagnose_bot, register_bot

API_TIMEOUT_S: Final = 5.0


router = APIRouter()
"""The routes of one channel, under its name."""
linked_accounts_router = APIRouter(prefix="/linked-accounts", tags=["linked accounts"])
"""The accounts by which somebody is known, on whatever channel."""


def get_channel(request: Request) -> ChannelSpec:
    """Return the channel whose routes are asked: /api/v1/NAME/…."""
    return CHANNELS[request.url.path.split("/")[3]]


ChannelDep = Annotated[ChannelSpec, Depends(get_channel)]


@router.get("", summary="Show a channel")
async def show_channel(spec: ChannelDep, me: CurrentUser, hub: HubDep) -> ChannelSchema:
    """Return whether a bot is connected and linked to you; for the owner, who else is linked."""
    app = hub.app
    known = await asyncio.to_thread(find_channel_credentials, app.settings, spec)
    async with app.db.begin_read() as tx:
        linked = await list_linked_people(tx, spec.name)
        away_since = await find_outage_start(tx, spec.name, now=app.clock())
    sees_all = me.person.is_owner and me.scope == "admin"
    return ChannelSchema(
        is_connected=known is not None,
        unreachable_since=format_time(away_since, me.person.zone),
        bot=await find_bot_name(spec, app.settings),
        pairs_by_code=spec.pairs_by_code,
        is_mine=any(person.id == me.person.id for person, _ in linked),
        token_in=LocalizedTextSchema.from_domain(known.source) if known and sees_all else None,
        credentials=tuple(
            ChannelCredentialSchema(
                name=each.name, is_secret=each.is_secret, default=each.default or None
            )
            for each in spec.credentials
        ),
        needed_setting=None
        if spec.needed_setting is None
        else f"{spec.name}.{spec.needed_setting.name}",
        listen_port=app.settings.channels[spec.name].listen_port,
        make_link=spec.make_link,
        people=tuple(
            [LinkedPersonSchema(name=each.name, addresses=count) for each, count in linked]
            if sees_all
            else []
        ),
    )


@router.get("/check", summary="Check a channel with its platform")
async def check_bot(spec: ChannelDep, _: OwnerUser, hub: HubDep) -> HealthSchema:
    """Return what the platform says of the bot; nothing if none is connected."""
    settings = hub.app.settings
    credentials = await asyncio.to_thread(find_channel_credentials, settings, spec)
    if credentials is None:
        return HealthSchema(findings=())
    diagnosis = await diagnose_bot(spec, credentials, settings)
    if isinstance(diagnosis, str):
        return HealthSchema(findings=(FindingSchema.from_check(diagnosis, is_well=False),))
    return HealthSchema(
        findings=tuple(
            FindingSchema.from_check(each.text, is_well=not each.is_problem)
            for each in diagnosis.findings
        )
    )


@router.put("/token", summary="Connect a bot")
async def connect_bot(
    spec: ChannelDep,
    given: BotCredentialsRequest,
    _: OwnerUser,
    hub: HubDep,
    writer: SettingsWriterDep,
) -> BotSchema:
    """Check what opens the bot with the platform, store it, and start answering there."""
    credentials = build_credentials(
        spec, {name: value.strip() for name, value in given.list_values().items()}
    )
    if credentials is None:
        missing = ", ".join(each.name for each in spec.credentials if not each.default)
        raise InvalidInput(f"{spec.title} needs: {missing}.")
    name = await register_bot(spec, credentials, hub.app.settings)
    token_source = await writer.apply(
        hub, lambda settings: store_channel_credentials(settings, spec, credentials)
    )
    return BotSchema(name=name, token_in=token_source)


@router.delete("/token", status_code=204, summary="Disconnect the bot")
async def disconnect_bot(
    spec: ChannelDep, _: OwnerUser, hub: HubDep, writer: SettingsWriterDep
) -> Response:
    """Remove the bot's token. Linked accounts stay linked."""

    def forget(settings: Settings) -> bool:
        return delete_key(spec.name, data=settings.data)

    if not await writer.apply(hub, forget):
        raise NotFound(
            localizable(
                "bot_token_not_kept",
                "No token is stored here. If it is set in an environment variable, remove it "
                "there.",
            )
        )
    return Response(status_code=204)


@router.post("/code", status_code=201, summary="Create a code to link your account")
async def create_link_code(spec: ChannelDep, me: FreshUser, hub: HubDep) -> LinkCodeSchema:
    """Create a code that links the account that sends it to the bot to you.

    It works once, for ten minutes, and replaces earlier codes.
    """
    app = hub.app
    bot = await find_bot_name(spec, app.settings)
    code = await create_code_for(app.db, app.clock, me.person)
    link = None if bot is None else spec.code_link.format(bot=bot, code=code)
    qr, size = (None, 0) if link is None else build_qr_path(link)
    return LinkCodeSchema(
        code=code,
        expires_at=format_time(app.clock() + CODE_TTL, me.person.zone),
        link=link,
        qr=qr,
        qr_size=size,
    )


@router.post("/mine", status_code=204, summary="Link an address of your own")
async def link_my_address(
    spec: ChannelDep,
    given: OwnAddressRequest,
    _: FreshOwner,
    hub: HubDep,
    writer: SettingsWriterDep,
) -> Response:
    """Link your address on a channel on which nobody sends a code, and let it in."""
    if spec.pairs_by_code:
        raise InvalidInput(
            localizable(
                "linked_by_code",
                f"Link yourself on {spec.title} by a code, which you send there.",
                title=spec.title,
            )
        )
    address = await writer.apply(
        hub, lambda settings: allow_address(settings, spec.name, given.address)
    )
    app, sender = hub.app, Sender(address=address, name="")
    await link_own_address(app.db, app.clock, app.settings, sender, None, channel=spec.name)
    app.notifier.notify()
    return Response(status_code=204)


@router.delete("/mine", status_code=204, summary="Unlink your account")
async def unlink_me(spec: ChannelDep, me: AdminScopeUser, hub: HubDep) -> Response:
    """Unlink the account. Messages stay."""
    if not await unlink_channel(hub.app.db, me.person, spec.name):
        raise NotFound(
            localizable(
                "you_not_on_channel", f"You are not known on {spec.title}.", title=spec.title
            )
        )
    hub.app.notifier.notify()
    return Response(status_code=204)


@router.delete("/people/{name}", status_code=204, summary="Unlink somebody's account")
async def unlink_person(spec: ChannelDep, name: str, _: OwnerUser, hub: HubDep) -> Response:
    """Unlink the account. Messages stay."""
    async with hub.app.db.begin_read() as tx:
        person = await get_person(tx, name)
    if not await unlink_channel(hub.app.db, person, spec.name):
        raise ApiError(
            404,
            "Not there",
            localizable(
                "other_not_on_channel",
                f"{person.name} is not known on {spec.title}.",
                name=person.name,
                title=spec.title,
            ),
        )
    hub.app.notifier.notify()
    return Response(status_code=204)


async def find_bot_name(spec: ChannelSpec, settings: Settings) -> str | None:
    """Return the bot's name; None if none is connected or the platform does not answer in time."""
    credentials = await asyncio.to_thread(find_channel_credentials, settings, spec)
    if credentials is None:
        return None
    with suppress(PlatformRejected, PlatformUnavailable, TimeoutError):
        async with asyncio.timeout(API_TIMEOUT_S):
            return await register_bot(spec, credentials, settings)
    return None


def build_qr_path(text: str) -> tuple[str, int]:
    """Return a text as the SVG path of a QR code with its quiet zone, and its width in modules."""
    rows = [*segno.make(text, error="m").matrix_iter(border=4)]
    dark = [(x, y) for y, row in enumerate(rows) for x, bit in enumerate(row) if bit]
    return "".join(f"M{x} {y}h1v1h-1z" for x, y in dark), len(rows)


@linked_accounts_router.get("", summary="List your linked accounts")
async def show_places(me: AdminScopeUser, hub: HubDep) -> LinkedAccountsSchema:
    """Return the addresses by which you are known, and which merges can be undone."""
    zone, now = me.person.zone, hub.app.clock()
    async with hub.app.db.begin_read() as tx:
        identities = await list_identities(tx, me.person.id)
        merges = await list_merges(tx, me.person.id, now=now)
        front_ends = await list_front_end_names(tx)
    return LinkedAccountsSchema(
        items=tuple(
            LinkedAccountSchema(
                channel=each.channel,
                address=each.address,
                label=label_account(each, front_ends),
                linked_at=format_time(each.created_at, zone),
            )
            for each in identities
        ),
        merges=tuple(
            PersonMergeSchema(
                id=each.id,
                name=each.name,
                merged_at=format_time(each.merged_at, zone),
                undo_until=format_time(each.undo_until, zone),
            )
            for each in merges
        ),
    )


@linked_accounts_router.post("/code", status_code=201, summary="Create a code for another app")
async def create_place_code(me: FreshUser, hub: HubDep) -> AccountLinkCodeSchema:
    """Create a code: whoever sends it to the companion within ten minutes is you."""
    code = await create_code_for(hub.app.db, hub.app.clock, me.person)
    expires_at = format_time(hub.app.clock() + CODE_TTL, me.person.zone)
    return AccountLinkCodeSchema(code=code, expires_at=expires_at)


@linked_accounts_router.post("/preview", summary="Preview joining with another app")
async def preview_place(given: GivenCodeRequest, me: FreshUser, hub: HubDep) -> MergePreviewSchema:
    """Return what would come together with whoever was shown a code. Nothing is changed."""
    preview = await preview_given_code(hub.app, WEB_CHANNEL, me.person, given.code)
    return MergePreviewSchema(
        name=preview.kept.name,
        former=preview.former.name,
        counts=preview.counts,
        contradictions=tuple(
            ContradictionSchema(older=older, newer=newer) for older, newer in preview.contradictions
        ),
        ends_oura=preview.ends_oura,
    )


@linked_accounts_router.post("/join", status_code=204, summary="Join with another app")
async def join_place(given: GivenCodeRequest, me: FreshUser, hub: HubDep) -> Response:
    """Make one person of you and whoever was shown a code. It can be undone for 30 days.

    The preview comes first. Whoever is joined to the owner is signed out everywhere.
    """
    if await confirm_given_code(hub.app, WEB_CHANNEL, me.person, given.code) != "joined":
        raise InvalidInput(
            localizable("merge_busy", "I am still at work for you. Try again in a moment.")
        )
    hub.note_sign_out(me.person.id)
    return Response(status_code=204)


@linked_accounts_router.post("/merges/{merge_id}/undo", status_code=204, summary="Undo a merge")
async def undo_join(merge_id: str, me: FreshUser, hub: HubDep) -> Response:
    """Make two people again. What came since stays with you; every sign-in since then ends."""
    await undo_merge(hub.app.db, hub.app.clock, hub.app.settings, me.person.id, merge_id)
    hub.note_sign_out(me.person.id)
    return Response(status_code=204)


@linked_accounts_router.delete("", status_code=204, summary="Unlink one of your accounts")
async def unlink_place(
    channel: Annotated[str, Query(description="The name of the channel.", examples=["web"])],
    address: Annotated[str, Query(description="Your address there.", examples=["7"])],
    me: AdminScopeUser,
    hub: HubDep,
) -> Response:
    """Make an address a stranger's again. Messages stay."""
    async with hub.app.db.begin_write() as tx:
        if not await remove_identity(tx, me.person.id, channel=channel, address=address):
            raise NotFound(
                localizable("you_not_on_channel", f"You are not known on {channel}.", title=channel)
            )
        await tx.notify()
    hub.app.notifier.notify()
    return Response(status_code=204)
