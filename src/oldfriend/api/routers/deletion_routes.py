"""Deletion routes: preview, confirmed deletion with proof, and the audit log."""

from typing import Annotated, Final

from fastapi import APIRouter, Header, Response

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.idempotency import IdempotencyDep
from oldfriend.api.problem_json import ApiError
from oldfriend.api.requests import ForgetRequest
from oldfriend.beliefs.queries import get_belief
from oldfriend.db.database import Database
from oldfriend.domain.errors import InvalidInput, NotFound, StaleDecision
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import JournalObject
from oldfriend.forgetting.delete import ForgetPreview, forget, parse_span, preview_forget
from oldfriend.memory.deletion.audit_log import list_audit_entries
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.presenters.deletion_schemas import (
    DeletionPreviewSchema,
    DeletionReportSchema,
    PastDeletionListSchema,
    PastDeletionSchema,
    list_shown_beliefs,
)
from oldfriend.runtime.import_jobs import ImportWorker

MAX_KEPT_SHOWN: Final = 50
NO_SELECTION: Final = localizable(
    "nothing_named",
    "Say what to forget: ids, a name, a span of days, an import, or everything.",
)

router = APIRouter(prefix="/forget", tags=["forget"])


@router.post("/preview", summary="Preview what would be forgotten")
async def preview_deletion(
    wish: ForgetRequest, me: CurrentUser, hub: HubDep, response: Response
) -> DeletionPreviewSchema:
    """Return what would be deleted, without deleting anything. The ETag identifies this preview."""
    app = hub.app
    preview = await preview_forget(
        app.db, me.person.id, build_request(wish, me.person.zone), orphan=wish.orphan
    )
    response.headers["ETag"] = f'"{preview.digest}"'
    kept = await load_kept_beliefs(app.db, me.person.id, preview)
    shown = list_shown_beliefs(preview)
    async with app.db.begin_read() as tx:
        evidence = await list_object_evidence(tx, me.person.id, [*shown, *map(ObjectId, kept)])
    return DeletionPreviewSchema.from_domain(
        preview, kept, evidence, me.language, zone=me.person.zone, now=app.clock()
    )


@router.post("", summary="Forget for good what was previewed")
async def forget_content(
    wish: ForgetRequest,
    me: CurrentUser,
    hub: HubDep,
    idempotency: IdempotencyDep,
    if_match: Annotated[
        str | None,
        Header(
            max_length=80,
            description="The ETag of the preview; if it has changed, nothing is deleted (412).",
        ),
    ] = None,
) -> DeletionReportSchema:
    """Delete what was previewed with everything that depends on it, then verify that it is gone.

    412: something else would be deleted by now. 428: no preview was made.
    """
    if if_match is None:
        raise ApiError(
            428, "Preview first", "Request /forget/preview, and send its ETag as If-Match."
        )
    app, request = hub.app, build_request(wish, me.person.zone)
    if request.everything:
        await hub.import_worker.pause_all(me.person.id, now=app.clock())
    try:
        report = await forget(
            app,
            me.person.id,
            request,
            orphan=wish.orphan,
            seen_digest=if_match.removeprefix("W/").strip('"'),
        )
    except StaleDecision as error:
        raise ApiError(412, "Something has changed in the meantime", error.user_text) from error
    if request.everything:
        await hub.import_worker.discard_all(me.person.id)
    await delete_finished_uploads(hub.import_worker, me.person.id)
    idempotency.forget_person(me.person.id)
    return DeletionReportSchema.from_domain(
        report, done_at=app.clock(), zone=me.person.zone, has_files=bool(app.db.list_files())
    )


async def delete_finished_uploads(import_worker: ImportWorker, person: PersonId) -> None:
    """Delete finished uploads: their file names may reveal what was deleted."""
    for each in import_worker.list_uploads(person):
        if each.stage == "done":
            await import_worker.discard(each)


@router.get("/done", summary="List past deletions")
async def list_past_deletions(me: CurrentUser, hub: HubDep) -> PastDeletionListSchema:
    """List when something was forgotten and how much, without its contents."""
    async with hub.app.db.begin_read() as tx:
        entries = await list_audit_entries(tx, me.person.id)
    return PastDeletionListSchema(
        items=tuple(
            PastDeletionSchema.from_domain(each, zone=me.person.zone) for each in entries[::-1]
        )
    )


def build_request(wish: ForgetRequest, zone: str) -> DeletionRequest:
    """Build a deletion request. Raises InvalidInput if nothing is selected."""
    first, last = wish.since or wish.until, wish.until or wish.since
    since, until = (None, None)
    if first is not None and last is not None:
        since, until = parse_span(first, last, zone)
    request = DeletionRequest(
        ids=tuple(wish.ids),
        about=wish.about,
        since=since,
        until=until,
        batch=wish.batch,
        everything=wish.everything,
    )
    if request == DeletionRequest():
        raise InvalidInput(NO_SELECTION)
    return request


async def load_kept_beliefs(
    db: Database, person: PersonId, planned: ForgetPreview
) -> dict[str, JournalObject]:
    """Load the first MAX_KEPT_SHOWN beliefs that stay with less evidence."""
    kept: dict[str, JournalObject] = {}
    async with db.begin_read() as tx:
        for each in [*planned.plan.remaining_evidence][:MAX_KEPT_SHOWN]:
            try:
                kept[each] = (await get_belief(tx, person, each)).content
            except NotFound:
                continue  # it was removed in the meantime
    return kept
