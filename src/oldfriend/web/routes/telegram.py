"""How do people come to talk on Telegram? The owner connects a bot; everybody shows it a code."""

import asyncio
from contextlib import suppress
from typing import Final

import segno
from fastapi import APIRouter, Response

from oldfriend.app.choices.keys import forget_key, keep_key
from oldfriend.app.choices.reaching import token_of
from oldfriend.app.choices.settings import Settings
from oldfriend.app.house import House
from oldfriend.app.pairing import let_go, show_code_of
from oldfriend.app.wiring import name_of_bot
from oldfriend.domain.errors import NotFound, PlatformRefused, PlatformUnavailable
from oldfriend.domain.sayings import saying
from oldfriend.memory.identities import GOOD_FOR, list_paired
from oldfriend.memory.people import get_person
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.common import saying_shape
from oldfriend.web.shapes.settings import Bot, BotToken, Code, Paired, TelegramShape
from oldfriend.web.showing.common import in_zone
from oldfriend.web.signing import Here, Holder, Me, Owner
from oldfriend.web.taking_over import AtDesk

CHANNEL: Final = "telegram"
ANSWERS_S: Final = 5.0

router = APIRouter(prefix="/telegram", tags=["telegram"])


@router.get("", summary="How people talk on Telegram")
async def show(me: Me, room: Here) -> TelegramShape:
    """Whether a bot is connected and knows you; for the owner, whom else it knows."""
    house = room.house
    token = await asyncio.to_thread(token_of, house.settings, CHANNEL)
    async with house.db.reading() as tx:
        paired = await list_paired(tx, CHANNEL)
    sees_all = me.person.is_owner and me.scope == "admin"
    return TelegramShape(
        is_connected=token is not None, bot=await bot_of(house),
        is_mine=any(person.id == me.person.id for person, _ in paired),
        token_in=saying_shape(token.where) if token and sees_all else None,
        people=[Paired(name=each.name, addresses=count) for each, count in paired]
        if sees_all else [],
    )  # fmt: skip


@router.put("/token", summary="Connect a bot")
async def connect(given: BotToken, _: Owner, room: Here, desk: AtDesk) -> Bot:
    """Ask Telegram whose token it is, keep it, and be there from now on."""
    token = given.token.strip()
    name = await name_of_bot(room.house.settings, token)
    where = await desk.take_over(
        room, lambda settings: keep_key(CHANNEL, token, data=settings.data)
    )
    return Bot(name=name, token_in=where)


@router.delete("/token", status_code=204, summary="Let the bot go")
async def disconnect(_: Owner, room: Here, desk: AtDesk) -> Response:
    """Remove its token; who was known there stays known."""

    def forget(settings: Settings) -> bool:
        return forget_key(CHANNEL, data=settings.data)

    if not await desk.take_over(room, forget):
        raise NotFound(saying(
            "bot_token_not_kept", "No token is kept here. One in a variable is taken out there.",
        ))  # fmt: skip
    return Response(status_code=204)


@router.post("/code", status_code=201, summary="Get a code to send to the bot")
async def new_code(me: Holder, room: Here) -> Code:
    """Good once, for ten minutes: who sends it to the bot is you there. An earlier one is not."""
    house = room.house
    bot = await bot_of(house)
    code = await show_code_of(house, me.person)
    link = None if bot is None else f"https://t.me/{bot}?start={code}"
    qr, size = (None, 0) if link is None else qr_path(link)
    return Code(
        code=code, expires_at=in_zone(house.clock() + GOOD_FOR, me.person.zone), link=link, qr=qr,
        qr_size=size,
    )  # fmt: skip


@router.delete("/mine", status_code=204, summary="Be known there no more")
async def leave(me: Holder, room: Here) -> Response:
    """What was said stays."""
    if not await let_go(room.house, me.person, CHANNEL):
        raise NotFound(saying("you_not_on_telegram", "You are not known on Telegram."))
    return Response(status_code=204)


@router.delete("/people/{name}", status_code=204, summary="Let somebody talk there no more")
async def remove(name: str, _: Owner, room: Here) -> Response:
    """What was said stays."""
    async with room.house.db.reading() as tx:
        person = await get_person(tx, name)
    if not await let_go(room.house, person, CHANNEL):
        raise Refused(
            404,
            "Not there",
            saying(
                "other_not_on_telegram",
                f"{person.name} is not known on Telegram.",
                name=person.name,
            ),
        )
    return Response(status_code=204)


async def bot_of(house: House) -> str | None:
    """What the bot is called, where there is one and Telegram can be asked."""
    token = await asyncio.to_thread(token_of, house.settings, CHANNEL)
    if token is None:
        return None
    with suppress(PlatformRefused, PlatformUnavailable, TimeoutError):
        async with asyncio.timeout(ANSWERS_S):
            return await name_of_bot(house.settings, token.value)
    return None


def qr_path(text: str) -> tuple[str, int]:
    """A text as the path of a QR code, with its quiet border, and how many units it is wide."""
    rows = [*segno.make(text, error="m").matrix_iter(border=4)]
    dark = [(x, y) for y, row in enumerate(rows) for x, bit in enumerate(row) if bit]
    return "".join(f"M{x} {y}h1v1h-1z" for x, y in dark), len(rows)
