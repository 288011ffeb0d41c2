"""What is brought in from elsewhere, and what is taken away? Old chats in; everything out."""

from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from oldfriend.app.allowance import allowances
from oldfriend.app.believing.undoing import undo_import
from oldfriend.app.catching_up import pause, resume, waiting_of
from oldfriend.app.forming.rereading import likely_tokens, plan_rereading, what_rules_read
from oldfriend.app.house import House
from oldfriend.app.parcels import Parcel
from oldfriend.app.wiring import likely_cost
from oldfriend.domain.clock import from_micros, zone_named
from oldfriend.domain.sayings import saying
from oldfriend.ledger.spending import DOLLAR
from oldfriend.memory.batches import Batch, list_batches, overlapping, unknown_import
from oldfriend.memory.sign_in import SignedIn
from oldfriend.web.handing_out import HandedOut
from oldfriend.web.problems import Refused
from oldfriend.web.shapes.bringing import (
    Imports,
    LikelyCost,
    OldTalk,
    Parcels,
    ParcelShape,
    Undone,
    Wanted,
)
from oldfriend.web.showing.bringing import import_shape, parcel_shape
from oldfriend.web.signing import Here, Me, holder, owner

router = APIRouter(tags=["bring and take"])


@router.post("/bring/files", status_code=201, summary="Hand a file over")
async def hand_over(
    me: Me, room: Here, request: Request,
    x_file_name: Annotated[str, Header(
        max_length=1000, description="Its name, percent-encoded.", examples=["chat.zip"],
    )],
) -> ParcelShape:  # fmt: skip
    """Its bytes are the body, as they are; what is in it is checked before anything is written."""
    parcel = await room.porter.receive(
        me.person.id, unquote(x_file_name), request.stream(), zone=me.person.zone,
        now=room.house.clock(),
    )  # fmt: skip
    return parcel_shape(parcel, likely_cost=None)


@router.get("/bring/files", summary="What was handed over, and how far it is")
async def list_files(me: Me, room: Here) -> Parcels:
    """All that is not put away."""
    parcels = room.porter.list_of(me.person.id)
    return Parcels(items=[await shown(room.house, each) for each in parcels])


@router.get("/bring/files/{file}", summary="How far is it?")
async def show_file(file: str, me: Me, room: Here) -> ParcelShape:
    """One file, what is in it, and how far it has come."""
    return await shown(room.house, room.porter.get(me.person.id, file))


@router.post("/bring/files/{file}/import", status_code=202, summary="Bring it in, or go on")
async def bring(file: str, wanted: Wanted, me: Me, room: Here) -> ParcelShape:
    """In the background, resumably; asked for again while it is under way, nothing happens."""
    porter = room.porter
    parcel = porter.get(me.person.id, file)
    zone = wanted.zone or me.person.zone
    zone_named(zone)
    if not parcel.is_under_way and parcel.stage not in {"waiting", "done"}:
        porter.bring(parcel, me=wanted.me, zone=zone, now=room.house.clock())
    return await shown(room.house, parcel)


@router.post("/bring/files/{file}/pause", summary="Leave it where it is")
async def pause_file(file: str, me: Me, room: Here) -> ParcelShape:
    """What is written stays; importing it again goes on from there."""
    porter = room.porter
    parcel = porter.get(me.person.id, file)
    porter.pause(parcel, now=room.house.clock())
    await parcel.left()
    return await shown(room.house, parcel)


@router.delete("/bring/files/{file}", status_code=204, summary="Put it away")
async def put_away(file: str, me: Me, room: Here) -> Response:
    """The file goes; what was brought in stays."""
    porter = room.porter
    await porter.put_away(porter.get(me.person.id, file))
    return Response(status_code=204)


@router.get("/bring/imports", summary="What was imported")
async def list_imports(me: Me, room: Here) -> Imports:
    """The latest first."""
    async with room.house.db.reading() as tx:
        batches = await list_batches(tx, me.person.id)
    return Imports(
        items=[import_shape(each, zone=me.person.zone) for each in reversed(batches)]
    )  # fmt: skip


@router.post("/bring/imports/{number}/undo", summary="Take an import out again")
async def undo(number: int, me: Me, room: Here) -> Undone:
    """What it added goes, what it changed reads as before, and what rested on it alone ends."""
    house = room.house
    named(await batches_of(house, me), number)
    undone = await undo_import(house, me.person, number)
    house.waking.ring()
    later = overlapping(await batches_of(house, me), number)
    return Undone(
        messages=undone.messages, beliefs=undone.beliefs,
        overlapping=[each.number for each in later],
    )  # fmt: skip


@router.get("/bring/reading", summary="What of old talk is to be read")
async def show_reading(me: Me, room: Here) -> OldTalk:
    """What waits, and what only rules have read."""
    house = room.house
    waiting = await waiting_of(house, me.person.id)
    rereading = await what_rules_read(house, me.person.id)
    tokens = rereading.tokens_in, rereading.tokens_out
    return OldTalk(
        waiting=waiting.waiting, is_paused=waiting.is_paused, failed=waiting.failed,
        by_rules=len(rereading.segments),
        likely_cost=await cost_of(house, *tokens) if rereading.segments else None,
    )  # fmt: skip


@router.post("/bring/reading/model", summary="Have a model read what rules have read")
async def read_with_model(me: Me, room: Here) -> OldTalk:
    """In the background, within the day's cap; what rules have found stands until then."""
    if "small" not in room.house.models:
        raise Refused(
            409,
            "No model is connected",
            saying("no_model", "Connect one first: see Settings, Models."),
        )
    await plan_rereading(room.house, await what_rules_read(room.house, me.person.id))
    return await show_reading(me, room)


@router.post("/bring/reading/pause", summary="Read no more of old talk for now")
async def pause_reading(me: Me, room: Here) -> OldTalk:
    """Until it is resumed; what is said now is read all the same."""
    await pause(room.house, me.person.id)
    return await show_reading(me, room)


@router.post("/bring/reading/resume", summary="Go on reading old talk")
async def resume_reading(me: Me, room: Here) -> OldTalk:
    """Also what was set aside is tried once more."""
    await resume(room.house, me.person.id)
    room.house.waking.ring()
    return await show_reading(me, room)


@router.get(
    "/take/export", summary="Take everything with you", response_class=StreamingResponse,
    responses={200: {"content": {"application/jsonl": {}}}},
)  # fmt: skip
async def take(
    me: Me, room: Here,
    everybody: Annotated[
        bool, Query(description="Of everybody on this install; for its owner, with scope admin.")
    ] = False,
) -> HandedOut:  # fmt: skip
    """All that is kept, as typed lines of JSON; `oldfriend import` brings it back.

    409: it is being taken already.
    """
    if everybody:
        await owner(await holder(me))
    if room.packer.is_at_it_for(me.person.id):
        raise Refused(409, "One at a time", "You are taking it already. Wait until that has ended.")
    now = room.house.clock()
    packed = await room.packer.pack(
        room.house.db, asker=me.person.id, person=None if everybody else me.person.id, now=now
    )
    name = "everybody" if everybody else me.person.name
    day = f"{from_micros(now, me.person.zone):%Y-%m-%d}"
    return HandedOut(packed, f"oldfriend {name} {day}.jsonl")


async def shown(house: House, parcel: Parcel) -> ParcelShape:
    """A file, and what it would cost to have a model read it."""
    preview = parcel.contents
    if preview is None:
        return parcel_shape(parcel, likely_cost=None)
    tokens = likely_tokens(
        preview.tokens, stretches=preview.sessions, passes=house.settings.memory.passes
    )
    return parcel_shape(parcel, likely_cost=await cost_of(house, *tokens))


async def cost_of(house: House, tokens_in: int, tokens_out: int) -> LikelyCost | None:
    """What reading with the small model would cost; None: there is none."""
    model = house.models.get("small")
    if model is None:
        return None
    async with house.db.reading() as tx:
        background, _ = await allowances(tx, house.settings, now=house.clock())
    cost = likely_cost(house.settings, model.name, tokens_in=tokens_in, tokens_out=tokens_out)
    left = background.money_left
    return LikelyCost(
        model=model.name, tokens=tokens_in + tokens_out,
        cost_usd=None if cost is None else cost / DOLLAR,
        left_today_usd=None if left is None else left / DOLLAR,
    )  # fmt: skip


async def batches_of(house: House, me: SignedIn) -> list[Batch]:
    """A person's imports."""
    async with house.db.reading() as tx:
        return await list_batches(tx, me.person.id)


def named(batches: list[Batch], number: int) -> Batch:
    """The import with a number. Raises NotFound."""
    for batch in batches:
        if batch.number == number:
            return batch
    raise unknown_import(number)
