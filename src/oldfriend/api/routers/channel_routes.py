"""Channel routes: the owner connects a bot; each person links with a code."""

import asyncio
from contextlib import suppress
from typing import Annotated, Final

import segno
from fastapi import APIRouter, Depends, Request, Response

from oldfriend.api.auth import AdminScopeUser, CurrentUser, FreshUser, HubDep, OwnerUser
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import BotToken
from oldfriend.api.settings_reload import SettingsWriterDep
from oldfriend.channels.channel import ChannelSpec
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.keys import delete_key, store_key
from oldfriend.config.provider_resolution import find_channel_token
from oldfriend.config.settings import Settings
from oldfriend.domain.errors import NotFound, PlatformRejected, PlatformUnavailable
from oldfriend.domain.i18n_messages import localizable
from oldfriend.inbound.account_linking import create_code_for, unlink_channel
from oldfriend.memory.identities import CODE_TTL, list_linked_people
from oldfriend.memory.people import get_person
from oldfriend.presenters.base_schema import SayingShape, format_time
from oldfriend.presenters.configuration_schemas import Bot, ChannelShape, Code, Paired
from oldfriend.runtime.bot_connections import register_bot

API_TIMEOUT_S: Final = 5.0


router = APIRouter()
"""The routes of one channel, under its name."""


def get_channel(request: Request) -> ChannelSpec:
    """Return the channel whose routes are asked: /api/v1/NAME/…."""
    return CHANNELS[request.url.path.split("/")[3]]


ChannelDep = Annotated[ChannelSpec, Depends(get_channel)]


@router.get("", summary="How people talk on a channel")
async def show(spec: ChannelDep, me: CurrentUser, hub: HubDep) -> ChannelShape:
    """Whether a bot is connected and knows you; for the owner, whom else it knows."""
    app = hub.app
    token = await asyncio.to_thread(find_channel_token, app.settings, spec.name)
    async with app.db.begin_read() as tx:
        linked = await list_linked_people(tx, spec.name)
    sees_all = me.person.is_owner and me.scope == "admin"
    return ChannelShape(
        is_connected=token is not None,
        bot=await find_bot_name(spec, app.settings),
        is_mine=any(person.id == me.person.id for person, _ in linked),
        token_in=SayingShape.from_domain(token.source) if token and sees_all else None,
        people=tuple(
            [Paired(name=each.name, addresses=count) for each, count in linked] if sees_all else []
        ),
    )


@router.put("/token", summary="Connect a bot")
async def connect(
    spec: ChannelDep, given: BotToken, _: OwnerUser, hub: HubDep, writer: SettingsWriterDep
) -> Bot:
    """Ask the platform whose token it is, keep it, and be there from now on."""
    token = given.token.strip()
    name = await register_bot(spec, token, hub.app.settings)
    token_source = await writer.apply(
        hub,
        lambda settings: store_key(
            spec.name, token, data=settings.data, address=settings.channels[spec.name].base_url
        ),
    )
    return Bot(name=name, token_in=token_source)


@router.delete("/token", status_code=204, summary="Let the bot go")
async def disconnect(
    spec: ChannelDep, _: OwnerUser, hub: HubDep, writer: SettingsWriterDep
) -> Response:
    """Remove its token; who was known there stays known."""

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


@router.post("/code", status_code=201, summary="Get a code to send to the bot")
async def new_code(spec: ChannelDep, me: FreshUser, hub: HubDep) -> Code:
    """Good once, for ten minutes: who sends it to the bot is you there. An earlier one is not."""
    app = hub.app
    bot = await find_bot_name(spec, app.settings)
    code = await create_code_for(app.db, app.clock, me.person)
    link = None if bot is None else spec.code_link.format(bot=bot, code=code)
    qr, size = (None, 0) if link is None else build_qr_path(link)
    return Code(
        code=code,
        expires_at=format_time(app.clock() + CODE_TTL, me.person.zone),
        link=link,
        qr=qr,
        qr_size=size,
    )


@router.delete("/mine", status_code=204, summary="Be known there no more")
async def leave(spec: ChannelDep, me: AdminScopeUser, hub: HubDep) -> Response:
    """What was said stays."""
    if not await unlink_channel(hub.app.db, me.person, spec.name):
        raise NotFound(
            localizable(
                "you_not_on_channel", f"You are not known on {spec.title}.", title=spec.title
            )
        )
    return Response(status_code=204)


@router.delete("/people/{name}", status_code=204, summary="Let somebody talk there no more")
async def remove(spec: ChannelDep, name: str, _: OwnerUser, hub: HubDep) -> Response:
    """What was said stays."""
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
    return Response(status_code=204)


async def find_bot_name(spec: ChannelSpec, settings: Settings) -> str | None:
    """Return the bot's name; None if none is connected or the platform does not answer in time."""
    token = await asyncio.to_thread(find_channel_token, settings, spec.name)
    if token is None:
        return None
    with suppress(PlatformRejected, PlatformUnavailable, TimeoutError):
        async with asyncio.timeout(API_TIMEOUT_S):
            return await register_bot(spec, token.value, settings)
    return None


def build_qr_path(text: str) -> tuple[str, int]:
    """Return a text as the SVG path of a QR code with its quiet zone, and its width in modules."""
    rows = [*segno.make(text, error="m").matrix_iter(border=4)]
    dark = [(x, y) for y, row in enumerate(rows) for x, bit in enumerate(row) if bit]
    return "".join(f"M{x} {y}h1v1h-1z" for x, y in dark), len(rows)
