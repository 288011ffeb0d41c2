"""Diary routes: a person's journal entries, listed, written, changed and removed."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Path, Query

from oldfriend.api.auth import CurrentUser, HubDep
from oldfriend.api.cursors import (
    CursorParam,
    LimitParam,
    build_cursor_error,
    decode_values,
    encode_values,
)
from oldfriend.api.idempotency import IdempotencyDep, OptionalIdempotencyKey
from oldfriend.api.requests import DiaryChangeRequest, DiaryEntryRequest
from oldfriend.api.routers.measurement_routes import FromParam, ToParam
from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import lift_tombstone
from oldfriend.app.embed_messages import plan_embedding
from oldfriend.app.notifications import QUEUES
from oldfriend.channels.channel import DIARY_CHANNEL, WEB_CHANNEL
from oldfriend.db.database import Transaction
from oldfriend.diary.diary_reader import find_tags, merge_tags
from oldfriend.diary.diary_store import (
    DiaryEntry,
    EntryPosition,
    delete_entry,
    find_entry,
    list_entry_page,
    save_entries,
)
from oldfriend.domain.clock import Micros, from_micros, to_micros_with_zone
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import new_id
from oldfriend.domain.messages import Person, UnloggedMessage, sanitize_text
from oldfriend.domain.unicode_text import has_visible
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ensure_local_chat, update_message_text
from oldfriend.learning.learning_scheduler import enqueue_learning_for_import
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.import_writer import (
    ImportedMessage,
    ImportTarget,
    list_current_versions,
    write_imported_messages,
)
from oldfriend.memory.people import (
    ensure_chat,
    ensure_companion,
    get_person_by_id,
    lock_person,
)
from oldfriend.presenters.measurement_schemas import DiaryEntrySchema, DiaryPageSchema

router = APIRouter(prefix="/diary", tags=["diary"])
EntryParam = Annotated[str, Path(max_length=64, description="The id of the entry.")]
TagParam = Annotated[
    str | None, Query(max_length=40, description="Only entries with this tag, without #.")
]


@router.get("", summary="List your diary entries")
async def show_diary(
    me: CurrentUser,
    hub: HubDep,
    first: FromParam = None,
    last: ToParam = None,
    tag: TagParam = None,
    limit: LimitParam = 20,
    cursor: CursorParam = None,
) -> DiaryPageSchema:
    """List the entries of some days, newest first."""
    before = None if cursor is None else decode_position(cursor)
    async with hub.app.db.begin_read() as tx:
        entries, has_more = await list_entry_page(
            tx, me.person.id, first=first, last=last, tag=tag, before=before, limit=limit
        )
    end = entries[-1] if has_more else None
    return DiaryPageSchema(
        items=tuple(map(DiaryEntrySchema.from_domain, entries)),
        next=None if end is None else encode_values([end.written_at, end.id]),
    )


@router.post("", status_code=201, summary="Write a diary entry")
async def write_entry(
    written: DiaryEntryRequest,
    me: CurrentUser,
    hub: HubDep,
    idempotency: IdempotencyDep,
    idempotency_key: OptionalIdempotencyKey = None,
) -> DiaryEntrySchema:
    """Write an entry of today or of an earlier day; words behind a # become its tags."""
    app = hub.app
    now = app.clock()

    async def save() -> DiaryEntrySchema:
        entry = build_entry(written, me.person, now)
        async with app.db.begin_write() as tx:
            entry = await write_message(tx, app, entry, now=now)
            await save_entries(tx, me.person.id, [entry])
        app.notifier.notify(*QUEUES)
        return DiaryEntrySchema.from_domain(entry)

    return await idempotency.run_once(
        me.person.id, idempotency_key, written, save, DiaryEntrySchema, now=now
    )


@router.patch("/{entry}", summary="Change a diary entry")
async def change_entry(
    entry: EntryParam, change: DiaryChangeRequest, me: CurrentUser, hub: HubDep
) -> DiaryEntrySchema:
    """Change the words of an entry, and of its message if it was written here.

    The message in which another was told stays as it was said.
    """
    app = hub.app
    now = app.clock()
    text = read_text(change.text)
    async with app.db.begin_write() as tx:
        await lock_person(tx, me.person.id)
        before = await find_entry(tx, me.person.id, entry)
        if before is None:
            raise build_missing_error()
        changed = replace(
            before,
            text=text,
            tags=merge_tags(before.tags, before.text, text),
            modified_at=now,
        )
        if text != before.text:
            changed = replace(changed, message_seq=await reword_message(tx, app, changed))
        await save_entries(tx, me.person.id, [changed])
    app.notifier.notify(*QUEUES)
    return DiaryEntrySchema.from_domain(changed)


async def reword_message(tx: Transaction, app: AppContext, entry: DiaryEntry) -> int | None:
    """Reword the message that an entry written here is, and return its new number.

    None for any other entry: the vector and the words of its message are no longer its own.
    """
    if entry.origin != "api" or entry.message is None:
        return None
    edited = await update_message_text(
        tx, app.clock, app.settings, entry.person, entry.message, entry.text
    )
    await plan_embedding(tx, now=app.clock())
    return edited.seq


@router.delete("/{entry}", status_code=204, summary="Remove a diary entry")
async def remove_entry(entry: EntryParam, me: CurrentUser, hub: HubDep) -> None:
    """Remove an entry; one that was written here is forgotten for good, with what was learned.

    The message in which another was told stays; forget that to remove both.
    """
    async with hub.app.db.begin_write() as tx:
        known = await find_entry(tx, me.person.id, entry)
        if known is None:
            raise build_missing_error()
        if known.origin != "api" or known.message is None:
            await delete_entry(tx, me.person.id, entry)
            return
    await forget(hub.app, me.person.id, DeletionRequest(ids=(known.message,)))


async def write_message(
    tx: Transaction, app: AppContext, entry: DiaryEntry, *, now: Micros
) -> DiaryEntry:
    """Write an entry to the log as a message of the person, to be found and learned from."""
    await lock_person(tx, entry.person)
    person = await get_person_by_id(tx, entry.person)
    chat = await ensure_chat(
        tx,
        person,
        await ensure_companion(tx, now=now),
        channel=DIARY_CHANNEL,
        address=person.id,
        title=DIARY_CHANNEL,
        now=now,
    )
    await ensure_local_chat(tx, person, WEB_CHANNEL, now=now)  # what is said unasked goes there
    said = UnloggedMessage(
        role="person",
        speaker=person.name,
        text=entry.text,
        at=entry.written_at,
        zone=entry.zone,
        trust="person",
        external_id=entry.id,
    )
    target = ImportTarget(chat=chat, language=person.language or app.settings.language or "en")
    await write_imported_messages(tx, target, [ImportedMessage(message=said)], now=now)
    await lift_tombstone(tx, app.settings, person.id, entry.text)
    await enqueue_learning_for_import(tx, app.settings, person.id, now=now)
    await plan_embedding(tx, now=now)
    versions = await list_current_versions(tx, person.id, chat.id, [entry.id])
    message, seq = versions[entry.id]
    return replace(entry, message=message, message_seq=seq)


def build_entry(written: DiaryEntryRequest, person: Person, now: Micros) -> DiaryEntry:
    """Build an entry at this moment, on the day that it is of. Raises InvalidInput."""
    text = read_text(written.text)
    here = from_micros(now, person.zone)
    day = written.day or here.date()
    if day > here.date():
        raise InvalidInput(
            localizable("diary_day_to_come", "A diary entry cannot be of a day to come.")
        )
    at, _ = to_micros_with_zone(datetime.combine(day, here.time()), person.zone)
    return DiaryEntry(
        id=new_id(now),
        person=person.id,
        text=text,
        written_at=at,
        zone=person.zone,
        created_at=now,
        modified_at=now,
        tags=find_tags(text),
        origin="api",
    )


def read_text(text: str) -> str:
    """Return the words of an entry. Raises InvalidInput if there are none."""
    clean = sanitize_text(text).strip()
    if not has_visible(clean):
        raise InvalidInput(localizable("diary_entry_empty", "A diary entry needs some words."))
    return clean


def decode_position(cursor: str) -> EntryPosition:
    """Decode where a page begins. Raises ApiError."""
    match decode_values(cursor):
        case [int(at), str(entry)] if abs(at) < 1 << 62:
            return EntryPosition(at, entry)
        case _:
            raise build_cursor_error()


def build_missing_error() -> NotFound:
    """Build the error for an entry that is not there."""
    return NotFound(localizable("diary_entry_gone", "There is no such diary entry."))
