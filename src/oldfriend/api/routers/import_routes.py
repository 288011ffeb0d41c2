"""Import and export routes.

The file of an export is closed when the response ends.
"""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Annotated, Final, Literal, Self
from urllib.parse import quote, unquote

from fastapi import APIRouter, Header, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from oldfriend.api.auth import CurrentUser, ExportUser, HubDep
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import Wanted
from oldfriend.app.app_context import AppContext
from oldfriend.app.spend_limits import load_allowances
from oldfriend.beliefs.correct import undo_import
from oldfriend.db.database import Database
from oldfriend.domain.clock import from_micros, get_zone
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import Role
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
from oldfriend.presenters.base_schema import SayingShape, Schema, describe, format_time
from oldfriend.presenters.usage_schemas import LikelyCost, to_dollars
from oldfriend.runtime.learn_now import load_backlog, pause_learning, resume_learning
from oldfriend.runtime.wiring import estimate_cost
from oldfriend.transfer.export_run import ExportFile
from oldfriend.transfer.import_run import ImportResult
from oldfriend.transfer.preview import ImportPreview
from oldfriend.transfer.uploads import Stage, Upload

MAX_SPEAKERS: Final = 50
MESSAGES_PER_S: Final = 250
"""Messages imported, indexed and extracted by rules per second on a small machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerShape(Schema):
    """Somebody who speaks in a file."""

    name: str = field(metadata=describe(examples=["Nora"]))
    role: Role
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents(Schema):
    """What a file holds; all of it was checked."""

    format: str = field(
        metadata=describe("Where it comes from, or what it is.", examples=["whatsapp"])
    )
    messages: int
    talks: int = field(metadata=describe("In so many sessions."))
    chats: int
    first: str = field(metadata=describe("When its earliest words were said."))
    last: str
    speakers: tuple[SpeakerShape, ...] = field(metadata=describe("Those who speak most first."))
    others: int = field(metadata=describe("So many speakers are not listed."))
    me: tuple[str, ...] = field(metadata=describe("The speakers who are the person."))
    is_clear: bool = field(metadata=describe("Whether it is known which words are the person's."))
    notices: tuple[SayingShape, ...]
    takes_s: float = field(metadata=describe("About how long bringing it in takes, in seconds."))
    likely_cost: LikelyCost | None = field(metadata=describe("None: no model is connected."))

    @classmethod
    def from_domain(cls, preview: ImportPreview, likely_cost: LikelyCost | None) -> Self:
        """Present what a file holds."""
        shown = preview.speakers[:MAX_SPEAKERS]
        return cls(
            format=preview.format.name,
            messages=preview.messages,
            talks=preview.sessions,
            chats=len(preview.chats),
            first=preview.first.isoformat(),
            last=preview.last.isoformat(),
            speakers=tuple(
                SpeakerShape(name=each.name, role=each.role, messages=each.messages)
                for each in shown
            ),
            others=len(preview.speakers) - len(shown),
            me=tuple(sorted(preview.speaker_roles.me)),
            is_clear=preview.speaker_roles.is_clear,
            notices=tuple(SayingShape.from_domain(each) for each in preview.notices),
            takes_s=round(preview.messages / MESSAGES_PER_S, 1),
            likely_cost=likely_cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BroughtShape(Schema):
    """What came of a file."""

    number: int | None = field(
        metadata=describe("By which it can be undone; None: nothing was new.")
    )
    added: int
    known: int = field(metadata=describe("Were here already."))
    forgotten: int = field(metadata=describe("Were forgotten here, and stay out."))
    changed: int = field(metadata=describe("Read otherwise now."))

    @classmethod
    def from_domain(cls, result: ImportResult) -> Self:
        """Present what came of a file."""
        return cls(
            number=result.number,
            added=result.added,
            known=result.already_known,
            forgotten=result.forgotten,
            changed=result.changed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParcelShape(Schema):
    """A file that was handed over, and how far it has come."""

    id: str
    name: str = field(metadata=describe(examples=["WhatsApp Chat with Ana.zip"]))
    bytes: int
    stage: Stage
    done: int = field(metadata=describe("Of `total`, in the stage that it is in; 0: not known."))
    total: int
    left_s: float | None = field(metadata=describe("About so many seconds are left of the stage."))
    why: SayingShape | None = field(
        metadata=describe("Why it could not be brought in; null: nothing is wrong.")
    )
    me: str | None = field(metadata=describe("The speaker who was said to be the person."))
    zone: str = field(metadata=describe("Of times that name none."))
    contents: Contents | None = field(metadata=describe("None: it is still being checked."))
    brought: BroughtShape | None

    @classmethod
    def from_domain(cls, upload: Upload, *, likely_cost: LikelyCost | None) -> Self:
        """Present an upload with its progress."""
        contents, result = upload.contents, upload.result
        return cls(
            id=upload.id,
            name=upload.name,
            bytes=upload.bytes,
            stage=upload.stage,
            done=upload.done,
            total=upload.total,
            left_s=upload.left_s,
            why=SayingShape.from_domain(upload.why) if upload.why else None,
            me=upload.me,
            zone=upload.zone,
            contents=None if contents is None else Contents.from_domain(contents, likely_cost),
            brought=None if result is None else BroughtShape.from_domain(result),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcels(Schema):
    """All files that were handed over and are not put away."""

    items: tuple[ParcelShape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportShape(Schema):
    """One import of one file."""

    number: int
    file: str
    format: str
    at: str
    status: Literal["running", "done", "undone"]
    added: int
    known: int

    @classmethod
    def from_domain(cls, batch: ImportBatch, *, zone: str) -> Self:
        """Present an import."""
        return cls(
            number=batch.number,
            file=batch.source.file,
            format=batch.source.format,
            at=format_time(batch.started_at, zone),
            status=batch.status,
            added=batch.added,
            known=batch.known,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Imports(Schema):
    """Everything that was imported, the latest first."""

    items: tuple[ImportShape, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone(Schema):
    """What an undo took away."""

    messages: int
    beliefs: int = field(metadata=describe("Ended with them, or hold again as before."))
    overlapping: tuple[int, ...] = field(
        metadata=describe(
            "Later imports that had left messages to this one; undo and repeat these to "
            "have them back."
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OldTalk(Schema):
    """What of old talk is still to be read, and what a model could read better."""

    waiting: int = field(
        metadata=describe("How many segments of conversation are waiting to be read.")
    )
    is_paused: bool
    failed: int
    by_rules: int = field(metadata=describe("So many were read by rules alone …"))
    messages: int = field(metadata=describe("… with so many messages."))
    likely_cost: LikelyCost | None = field(metadata=describe("None: no model, or nothing to read."))


SEND_TIMEOUT_S: Final = 60.0


class ExportResponse(StreamingResponse):
    """A streaming response that sends an export file as a download."""

    def __init__(self, export_file: ExportFile, filename: str) -> None:
        """Set the headers from the file's size and name."""
        super().__init__(
            export_file.read_chunks(),
            media_type="application/jsonl",
            headers={
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(filename)}",
                "Content-Length": str(export_file.size),
            },
        )
        self._export_file = export_file

    @override
    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file and close it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._export_file.close()

    @override
    async def stream_response(self, send: Send) -> None:
        """Send until done, or until the client takes no chunk for SEND_TIMEOUT_S."""

        async def send_in_time(message: Message) -> None:
            async with asyncio.timeout(SEND_TIMEOUT_S):
                await send(message)

        with suppress(TimeoutError):
            await super().stream_response(send_in_time)


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
            localizable("no_model", "Connect one first, under Settings, Models."),
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
            409, "One at a time", "An export is already running. Wait until it has finished."
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
