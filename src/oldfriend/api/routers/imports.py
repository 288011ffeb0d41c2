"""Import and export routes."""

from typing import Annotated
from urllib.parse import unquote

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import StreamingResponse

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import Wanted
from oldfriend.api.sign_in_tickets import ExportUser
from oldfriend.api.streaming_download import ExportResponse
from oldfriend.app.app_context import AppContext
from oldfriend.app.spend_limits import load_allowances
from oldfriend.beliefs.correct import undo_import
from oldfriend.db.database import Database
from oldfriend.domain.clock import from_micros, get_zone
from oldfriend.domain.i18n_messages import localizable
from oldfriend.learning.re_extraction import (
    estimate_extraction_tokens,
    estimate_import_calls,
    plan_reextraction,
    schedule_reextraction,
)
from oldfriend.memory.import_batches import (
    ImportBatch,
    build_import_not_found_error,
    list_batches,
    list_overlapping_batches,
)
from oldfriend.memory.web_sessions import Principal
from oldfriend.presenters.imports import Imports, ImportShape, OldTalk, Parcels, ParcelShape, Undone
from oldfriend.presenters.usage import LikelyCost, to_dollars
from oldfriend.runtime.learn_now import load_backlog, pause_learning, resume_learning
from oldfriend.runtime.wiring import estimate_cost
from oldfriend.transfer.uploads import Upload

router = APIRouter(tags=["bring and take"])


@router.post("/bring/files", status_code=201, summary="Hand a file over")
async def hand_over(
    me: CurrentUser,
    hub: HubDep,
    request: Request,
    x_file_name: Annotated[
        str,
        Header(
            max_length=1000,
            description="Its name, percent-encoded.",
            examples=["chat.zip"],
        ),
    ],
) -> ParcelShape:
    """Its bytes are the body, as they are; what is in it is checked before anything is written."""
    upload = await hub.import_worker.receive(
        me.person.id,
        unquote(x_file_name),
        request.stream(),
        zone=me.person.zone,
        now=hub.app.clock(),
    )
    return ParcelShape.from_domain(upload, likely_cost=None)


@router.get("/bring/files", summary="What was handed over, and how far it is")
async def list_files(me: CurrentUser, hub: HubDep) -> Parcels:
    """All that is not put away."""
    uploads = hub.import_worker.list_uploads(me.person.id)
    return Parcels(items=tuple([await build_upload(hub.app, each) for each in uploads]))


@router.get("/bring/files/{file}", summary="How far is it?")
async def show_file(file: str, me: CurrentUser, hub: HubDep) -> ParcelShape:
    """One file, what is in it, and how far it has come."""
    return await build_upload(hub.app, hub.import_worker.get(me.person.id, file))


@router.post("/bring/files/{file}/import", status_code=202, summary="Bring it in, or go on")
async def bring(file: str, wanted: Wanted, me: CurrentUser, hub: HubDep) -> ParcelShape:
    """In the background, resumably; asked for again while it is under way, nothing happens."""
    worker = hub.import_worker
    upload = worker.get(me.person.id, file)
    zone = wanted.zone or me.person.zone
    get_zone(zone)
    if not upload.is_running and upload.stage not in {"waiting", "done"}:
        worker.start_import(upload, me=wanted.me, zone=zone, now=hub.app.clock())
    return await build_upload(hub.app, upload)


@router.post("/bring/files/{file}/pause", summary="Leave it where it is")
async def pause_file(file: str, me: CurrentUser, hub: HubDep) -> ParcelShape:
    """What is written stays; importing it again goes on from there."""
    worker = hub.import_worker
    upload = worker.get(me.person.id, file)
    worker.pause(upload, now=hub.app.clock())
    await upload.wait_done()
    return await build_upload(hub.app, upload)


@router.delete("/bring/files/{file}", status_code=204, summary="Put it away")
async def put_away(file: str, me: CurrentUser, hub: HubDep) -> Response:
    """The file goes; what was brought in stays."""
    worker = hub.import_worker
    await worker.discard(worker.get(me.person.id, file))
    return Response(status_code=204)


@router.get("/bring/imports", summary="What was imported")
async def list_imports(me: CurrentUser, hub: HubDep) -> Imports:
    """The latest first."""
    async with hub.app.db.begin_read() as tx:
        batches = await list_batches(tx, me.person.id)
    return Imports(
        items=tuple(
            ImportShape.from_domain(each, zone=me.person.zone) for each in reversed(batches)
        )
    )


@router.post("/bring/imports/{number}/undo", summary="Take an import out again")
async def undo(number: int, me: CurrentUser, hub: HubDep) -> Undone:
    """What it added goes, what it changed reads as before, and what rested on it alone ends."""
    app = hub.app
    get_import(await load_batches(app.db, me), number)
    undone = await undo_import(app.db, app.clock, app.settings, me.person, number)
    app.notifier.notify()
    overlapping = list_overlapping_batches(await load_batches(app.db, me), number)
    return Undone(
        messages=undone.messages,
        beliefs=undone.beliefs,
        overlapping=tuple(each.number for each in overlapping),
    )


@router.get("/bring/reading", summary="What of old talk is to be read")
async def show_reading(me: CurrentUser, hub: HubDep) -> OldTalk:
    """What waits, and what no model has read."""
    app = hub.app
    backlog = await load_backlog(app.db, me.person.id)
    plan = await plan_reextraction(app.db, app.settings, me.person.id)
    tokens = plan.tokens_in, plan.tokens_out
    return OldTalk(
        waiting=backlog.pending,
        is_paused=backlog.is_paused,
        failed=backlog.failed,
        by_rules=len(plan.segments),
        messages=plan.messages,
        likely_cost=await estimate_import_cost(app, *tokens) if plan.segments else None,
    )


@router.post("/bring/reading/model", summary="Have a model read what none has read")
async def read_with_model(me: CurrentUser, hub: HubDep) -> OldTalk:
    """In the background, within the day's cap; what rules have found stands until then."""
    if "small" not in hub.app.models:
        raise ApiError(
            409,
            "No model is connected",
            localizable("no_model", "Connect one first: see Settings, Models."),
        )
    await schedule_reextraction(
        hub.app.db,
        hub.app.clock,
        hub.app.notifier,
        await plan_reextraction(hub.app.db, hub.app.settings, me.person.id),
    )
    return await show_reading(me, hub)


@router.post("/bring/reading/pause", summary="Read no more of old talk for now")
async def pause_reading(me: CurrentUser, hub: HubDep) -> OldTalk:
    """Until it is resumed; what is said now is read all the same."""
    await pause_learning(hub.app.db, hub.app.clock, me.person.id)
    return await show_reading(me, hub)


@router.post("/bring/reading/resume", summary="Go on reading old talk")
async def resume_reading(me: CurrentUser, hub: HubDep) -> OldTalk:
    """Also what was set aside is tried once more."""
    await resume_learning(hub.app.db, hub.app.clock, me.person.id)
    hub.app.notifier.notify()
    return await show_reading(me, hub)


@router.get(
    "/take/export",
    summary="Take everything with you",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/jsonl": {}}}},
)
async def take(me: ExportUser, hub: HubDep) -> ExportResponse:
    """All that is kept of you, as typed lines of JSON; `oldfriend import` brings it back.

    409: it is being taken already.
    """
    if hub.export_builder.is_busy_for(me.person.id):
        raise ApiError(
            409, "One at a time", "You are taking it already. Wait until that has ended."
        )
    now = hub.app.clock()
    export_file = await hub.export_builder.build(hub.app.db, person=me.person.id, now=now)
    day = f"{from_micros(now, me.person.zone):%Y-%m-%d}"
    return ExportResponse(export_file, f"oldfriend {me.person.name} {day}.jsonl")


async def build_upload(app: AppContext, upload: Upload) -> ParcelShape:
    """Convert an upload, with the estimated cost of extracting it with a model."""
    preview = upload.contents
    if preview is None:
        return ParcelShape.from_domain(upload, likely_cost=None)
    tokens = estimate_extraction_tokens(
        preview.tokens,
        calls=estimate_import_calls(preview.tokens, sessions=preview.sessions),
        passes=app.settings.memory.passes,
    )
    return ParcelShape.from_domain(upload, likely_cost=await estimate_import_cost(app, *tokens))


async def estimate_import_cost(
    app: AppContext, tokens_in: int, tokens_out: int
) -> LikelyCost | None:
    """Estimate the cost of extraction with the small model; None if there is none."""
    model = app.models.get("small")
    if model is None:
        return None
    async with app.db.begin_read() as tx:
        background, _ = await load_allowances(tx, app.settings, now=app.clock())
    cost = estimate_cost(app.settings, model.name, tokens_in=tokens_in, tokens_out=tokens_out)
    return LikelyCost(
        model=model.name,
        tokens=tokens_in + tokens_out,
        cost_usd=to_dollars(cost),
        left_today_usd=to_dollars(background.money_left),
    )


async def load_batches(db: Database, me: Principal) -> list[ImportBatch]:
    """Load a person's imports."""
    async with db.begin_read() as tx:
        return await list_batches(tx, me.person.id)


def get_import(batches: list[ImportBatch], number: int) -> ImportBatch:
    """Return the import with a number. Raises NotFound."""
    for batch in batches:
        if batch.number == number:
            return batch
    raise build_import_not_found_error(number)
