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
from oldfriend.api.requests import ImportRequest
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
from oldfriend.presenters.base_schema import LocalizedTextSchema, Schema, describe, format_time
from oldfriend.presenters.usage_schemas import CostEstimateSchema, to_dollars
from oldfriend.proactive.look_planner import plan_next_look
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
class SpeakerSchema(Schema):
    """A speaker in an imported file."""

    name: str = field(metadata=describe(examples=["Nora"]))
    role: Role
    messages: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FileContentsSchema(Schema):
    """The checked contents of a file."""

    format: str = field(metadata=describe("The file's format or origin.", examples=["whatsapp"]))
    messages: int
    talks: int = field(metadata=describe("The number of sessions."))
    chats: int
    first: str = field(metadata=describe("When the earliest message was sent."))
    last: str
    speakers: tuple[SpeakerSchema, ...] = field(
        metadata=describe("The most frequent speakers first.")
    )
    others: int = field(metadata=describe("The number of speakers that are not listed."))
    me: tuple[str, ...] = field(metadata=describe("The speakers that are the person."))
    is_clear: bool = field(
        metadata=describe("Whether it is clear which messages are the person's.")
    )
    notices: tuple[LocalizedTextSchema, ...]
    takes_s: float = field(metadata=describe("The estimated duration of the import, in seconds."))
    likely_cost: CostEstimateSchema | None = field(
        metadata=describe("Null if no model is connected.")
    )

    @classmethod
    def from_domain(cls, preview: ImportPreview, likely_cost: CostEstimateSchema | None) -> Self:
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
                SpeakerSchema(name=each.name, role=each.role, messages=each.messages)
                for each in shown
            ),
            others=len(preview.speakers) - len(shown),
            me=tuple(sorted(preview.speaker_roles.me)),
            is_clear=preview.speaker_roles.is_clear,
            notices=tuple(LocalizedTextSchema.from_domain(each) for each in preview.notices),
            takes_s=round(preview.messages / MESSAGES_PER_S, 1),
            likely_cost=likely_cost,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResultSchema(Schema):
    """The result of an import."""

    number: int | None = field(
        metadata=describe("The number to undo it by; null if nothing was new.")
    )
    added: int
    known: int = field(metadata=describe("Messages that were already stored."))
    forgotten: int = field(
        metadata=describe("Messages that were forgotten before and are left out.")
    )
    changed: int = field(metadata=describe("Messages whose text has changed."))

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
class UploadSchema(Schema):
    """An uploaded file and its progress."""

    id: str
    name: str = field(metadata=describe(examples=["WhatsApp Chat with Ana.zip"]))
    bytes: int
    stage: Stage
    done: int = field(metadata=describe("How much of `total` is done in this stage; 0 if unknown."))
    total: int
    left_s: float | None = field(metadata=describe("The estimated seconds left in this stage."))
    why: LocalizedTextSchema | None = field(
        metadata=describe("Why it could not be imported; null if nothing is wrong.")
    )
    me: str | None = field(metadata=describe("The speaker who was named as the person."))
    zone: str = field(metadata=describe("The time zone of times without one."))
    contents: FileContentsSchema | None = field(
        metadata=describe("Null while it is being checked.")
    )
    brought: ImportResultSchema | None

    @classmethod
    def from_domain(cls, upload: Upload, *, likely_cost: CostEstimateSchema | None) -> Self:
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
            why=LocalizedTextSchema.from_domain(upload.why) if upload.why else None,
            me=upload.me,
            zone=upload.zone,
            contents=None
            if contents is None
            else FileContentsSchema.from_domain(contents, likely_cost),
            brought=None if result is None else ImportResultSchema.from_domain(result),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadListSchema(Schema):
    """The uploaded files that were not discarded."""

    items: tuple[UploadSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSchema(Schema):
    """An import of a file."""

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
class ImportListSchema(Schema):
    """All imports, the latest first."""

    items: tuple[ImportSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportUndoSchema(Schema):
    """The result of undoing an import."""

    messages: int
    beliefs: int = field(
        metadata=describe("The number of beliefs that ended with them or hold again as before.")
    )
    tasks: int = field(
        metadata=describe("Reminders and to-dos of a calendar that went or are as before.")
    )
    overlapping: tuple[int, ...] = field(
        metadata=describe(
            "Later imports that skipped messages because this one had them; undo and "
            "repeat these to get the messages back."
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingBacklogSchema(Schema):
    """What is still to be read, and what a model could read better."""

    waiting: int = field(
        metadata=describe("The number of conversation segments that are waiting to be read.")
    )
    is_paused: bool
    failed: int
    by_rules: int = field(metadata=describe("The number of segments read by rules alone."))
    messages: int = field(metadata=describe("The number of messages in them."))
    likely_cost: CostEstimateSchema | None = field(
        metadata=describe("Null if there is no model or nothing to read.")
    )


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


router = APIRouter(tags=["import and export"])


@router.post("/uploads", status_code=201, summary="Upload a file to import")
async def upload_file(
    me: CurrentUser,
    hub: HubDep,
    request: Request,
    x_file_name: Annotated[
        str,
        Header(
            max_length=1000,
            description="The file's name, percent-encoded.",
            examples=["chat.zip"],
        ),
    ],
) -> UploadSchema:
    """Upload a file as the raw request body. Its contents are checked before anything is stored."""
    upload = await hub.import_worker.receive(
        me.person.id,
        unquote(x_file_name),
        request.stream(),
        zone=me.person.zone,
        now=hub.app.clock(),
    )
    return UploadSchema.from_domain(upload, likely_cost=None)


@router.get("/uploads", summary="List uploaded files")
async def list_uploaded_files(me: CurrentUser, hub: HubDep) -> UploadListSchema:
    """List the uploaded files that were not discarded, with their progress."""
    uploads = hub.import_worker.list_uploads(me.person.id)
    return UploadListSchema(items=tuple([await build_upload(hub.app, each) for each in uploads]))


@router.get("/uploads/{file}", summary="Show an uploaded file")
async def show_uploaded_file(file: str, me: CurrentUser, hub: HubDep) -> UploadSchema:
    """Return an uploaded file, its contents, and its progress."""
    return await build_upload(hub.app, hub.import_worker.get(me.person.id, file))


@router.post("/uploads/{file}/import", status_code=202, summary="Start or resume an import")
async def begin_import(
    file: str, wanted: ImportRequest, me: CurrentUser, hub: HubDep
) -> UploadSchema:
    """Import the file in the background.

    The import can be resumed; starting it again has no effect.
    """
    worker = hub.import_worker
    upload = worker.get(me.person.id, file)
    zone = wanted.zone or me.person.zone
    get_zone(zone)
    if not upload.is_running and upload.stage not in {"waiting", "done"}:
        worker.start_import(upload, me=wanted.me, zone=zone, now=hub.app.clock())
    return await build_upload(hub.app, upload)


@router.post("/uploads/{file}/pause", summary="Pause an import")
async def pause_import(file: str, me: CurrentUser, hub: HubDep) -> UploadSchema:
    """Pause the import. What was imported stays; starting it again continues from there."""
    worker = hub.import_worker
    upload = worker.get(me.person.id, file)
    worker.pause(upload, now=hub.app.clock())
    await upload.wait_done()
    return await build_upload(hub.app, upload)


@router.delete("/uploads/{file}", status_code=204, summary="Discard an uploaded file")
async def discard_upload(file: str, me: CurrentUser, hub: HubDep) -> Response:
    """Delete the uploaded file. Messages already imported from it stay."""
    worker = hub.import_worker
    await worker.discard(worker.get(me.person.id, file))
    return Response(status_code=204)


@router.get("/imports", summary="List imports")
async def list_imports(me: CurrentUser, hub: HubDep) -> ImportListSchema:
    """List past imports, the latest first."""
    async with hub.app.db.begin_read() as tx:
        batches = await list_batches(tx, me.person.id)
    return ImportListSchema(
        items=tuple(
            ImportSchema.from_domain(each, zone=me.person.zone) for each in reversed(batches)
        )
    )


@router.post("/imports/{number}/undo", summary="Undo an import")
async def revert_import(number: int, me: CurrentUser, hub: HubDep) -> ImportUndoSchema:
    """Remove messages and tasks it added, restore those it changed, and end beliefs that rest on
    it alone.
    """
    app = hub.app
    get_import(await load_batches(app.db, me), number)
    undone = await undo_import(app.db, app.clock, app.settings, me.person, number)
    if undone.tasks:
        async with app.db.begin_write() as tx:
            await plan_next_look(tx, me.person.id, now=app.clock())
        hub.note_tasks_changed(me.person.id)
    app.notifier.notify()
    overlapping = list_overlapping_batches(await load_batches(app.db, me), number)
    return ImportUndoSchema(
        messages=undone.messages,
        beliefs=undone.beliefs,
        tasks=undone.tasks,
        overlapping=tuple(each.number for each in overlapping),
    )


@router.get("/learning", summary="Show what memory has not read")
async def show_reading_backlog(me: CurrentUser, hub: HubDep) -> ReadingBacklogSchema:
    """Return how much is waiting to be read, and how much no model has read."""
    app = hub.app
    backlog = await load_backlog(app.db, me.person.id)
    plan = await plan_reextraction(app.db, app.settings, me.person.id)
    tokens = plan.tokens_in, plan.tokens_out
    return ReadingBacklogSchema(
        waiting=backlog.pending,
        is_paused=backlog.is_paused,
        failed=backlog.failed,
        by_rules=len(plan.segments),
        messages=plan.messages,
        likely_cost=await estimate_import_cost(app, *tokens) if plan.segments else None,
    )


@router.post("/learning/model", summary="Have a model reread what only rules have read")
async def reread_with_model(me: CurrentUser, hub: HubDep) -> ReadingBacklogSchema:
    """Read it in the background, within the daily limit. What the rules found holds until then."""
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
    return await show_reading_backlog(me, hub)


@router.post("/learning/pause", summary="Pause reading old conversations")
async def pause_reading(me: CurrentUser, hub: HubDep) -> ReadingBacklogSchema:
    """Pause reading until it is resumed. New messages are still read."""
    await pause_learning(hub.app.db, hub.app.clock, me.person.id)
    return await show_reading_backlog(me, hub)


@router.post("/learning/resume", summary="Resume reading old conversations")
async def resume_reading(me: CurrentUser, hub: HubDep) -> ReadingBacklogSchema:
    """Resume reading. What failed before is tried again."""
    await resume_learning(hub.app.db, hub.app.clock, me.person.id)
    hub.app.notifier.notify()
    return await show_reading_backlog(me, hub)


@router.get(
    "/export",
    summary="Export everything",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/jsonl": {}}}},
)
async def export_everything(me: ExportUser, hub: HubDep) -> ExportResponse:
    """Export everything stored about you as JSON lines, which `oldfriend import` can read.

    409: an export is already running.
    """
    if hub.export_builder.is_busy_for(me.person.id):
        raise ApiError(
            409, "One at a time", "An export is already running. Wait until it has finished."
        )
    now = hub.app.clock()
    export_file = await hub.export_builder.build(hub.app.db, person=me.person.id, now=now)
    day = f"{from_micros(now, me.person.zone):%Y-%m-%d}"
    return ExportResponse(export_file, f"oldfriend {me.person.name} {day}.jsonl")


async def build_upload(app: AppContext, upload: Upload) -> UploadSchema:
    """Convert an upload, with the estimated cost of extracting it with a model."""
    preview = upload.contents
    if preview is None:
        return UploadSchema.from_domain(upload, likely_cost=None)
    tokens = estimate_extraction_tokens(
        preview.tokens,
        calls=estimate_import_calls(preview.tokens, sessions=preview.sessions),
        passes=app.settings.memory.passes,
    )
    return UploadSchema.from_domain(upload, likely_cost=await estimate_import_cost(app, *tokens))


async def estimate_import_cost(
    app: AppContext, tokens_in: int, tokens_out: int
) -> CostEstimateSchema | None:
    """Estimate the cost of extraction with the small model; None if there is none."""
    model = app.models.get("small")
    if model is None:
        return None
    async with app.db.begin_read() as tx:
        background, _ = await load_allowances(tx, app.settings, now=app.clock())
    cost = estimate_cost(app.settings, model.name, tokens_in=tokens_in, tokens_out=tokens_out)
    return CostEstimateSchema(
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
