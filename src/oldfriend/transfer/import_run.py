"""Import run: writes a previewed export into the log in atomic batches.

A killed import resumes where it stopped. Importing again, or importing a newer export of the same
chats, adds only what is new. Vectors are computed elsewhere; words are searchable at once.
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from operator import or_
from typing import Final

from oldfriend.db.database import Database, Transaction
from oldfriend.diary.diary_store import DiaryEntry, save_entries
from oldfriend.domain.clock import SECOND, Clock, Micros, to_micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Chat, Companion, Person, UnloggedMessage
from oldfriend.measurements.measurement_store import (
    MAX_NAME_CHARS,
    Measurement,
    delete_message_measurements,
    drop_deleted_measurements,
    save_measurements,
)
from oldfriend.measurements.measures import get_measure
from oldfriend.memory.deletion.tombstones import NO_TOMBSTONES, Tombstones
from oldfriend.memory.import_batches import (
    ImportBatch,
    ImportSource,
    ImportUndoResult,
    advance_batch,
    find_batch,
    finish_batch,
    get_batch,
    start_or_resume_batch,
    undo_batch,
)
from oldfriend.memory.import_writer import (
    ImportedMessage,
    ImportTarget,
    KnownMessage,
    find_chat_span,
    list_chats,
    list_current_versions,
    load_known_messages,
    write_imported_messages,
)
from oldfriend.memory.people import ensure_chat
from oldfriend.tasks.calendar_imports import undo_calendar
from oldfriend.transfer.formats.day_one import parse_modified
from oldfriend.transfer.formats.imported_record import split_record
from oldfriend.transfer.formats.parsed_message import ChatFormat, ParsedMessage
from oldfriend.transfer.preview import ChatPreview, ImportPreview, MessageSample, hash_text
from oldfriend.transfer.sandbox_process import MessageStream

MIN_SHARED = 3
"""Fewer shared messages may be a greeting sent to everybody."""

BATCH_SIZE = 1000
"""Messages per transaction, which blocks other writers for a fifth of a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportProgress:
    """The progress of an import."""

    done: int
    total: int
    rate: float  # messages a second
    left_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportResult:
    """The result of an import."""

    number: int | None  # for undo; None if nothing was new
    added: int
    already_known: int  # already in the memory
    forgotten: int  # forgotten earlier, so not imported again
    changed: int  # known messages with a new text
    resumed_at: int  # position where an interrupted run had stopped
    # An earlier import of this file with another speaker as the person, or another zone.
    differing_import: ImportBatch | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportItem:
    """One message of the file, ready to be written."""

    chat: str
    message: ImportedMessage
    record: Mapping[str, JsonValue] | None = None  # what it is beside its text


@dataclass(slots=True)
class ImportRun:
    """The state of a running import: its options and the chats resolved so far."""

    format: ChatFormat
    chat_previews: Mapping[str, ChatPreview]
    person: Person
    companion: Companion
    batch: ImportBatch
    forgotten: Tombstones = NO_TOMBSTONES
    changed: int = 0
    left_out: int = 0  # because they were forgotten
    targets: dict[str, ImportTarget] = field(default_factory=dict)

    async def resolve_target(self, tx: Transaction, key: str, now: Micros) -> ImportTarget:
        """Return the known chat for a chat of the file, with the language last used there."""
        if key not in self.targets:
            chat = await resolve_chat(
                tx,
                self.person,
                self.companion,
                self.chat_previews[key],
                channel=self.format.name,
                has_id=self.format.chats_have_ids,
                now=now,
            )
            self.targets[key] = ImportTarget(
                chat=chat,
                batch=self.batch.id,
                language=self.person.language or "en",
                tombstones=self.forgotten,
            )
        return self.targets[key]


async def import_messages(
    db: Database,
    preview: ImportPreview,
    *,
    person: Person,
    companion: Companion,
    clock: Clock,
    progress: Callable[[ImportProgress], None] | None = None,
    forgotten: Tombstones = NO_TOMBSTONES,
) -> ImportResult:
    """Write the messages of a previewed file, except those that were forgotten.

    Raises ImportRefused, StoreError, NotFound.
    """
    source = build_import_source(preview)
    async with db.begin_write() as tx:
        earlier = await find_batch(tx, person.id, source.sha256, status="done")
        batch = await start_or_resume_batch(tx, person.id, source, now=clock())
    run = ImportRun(
        format=preview.format,
        chat_previews={chat.key: chat for chat in preview.chats},
        person=person,
        companion=companion,
        batch=batch,
        forgotten=forgotten,
    )
    resumed_at, began = batch.position, clock()
    with MessageStream(preview, after=resumed_at) as messages:
        while batch_messages := await asyncio.to_thread(messages.read_batch, BATCH_SIZE):
            items = [build_item(message, preview) for message in batch_messages]
            async with db.begin_write() as tx:
                run.batch = await write_batch(tx, run, items, clock())
            if progress is not None:
                done = run.batch.position
                progress(
                    compute_progress(done, preview.messages, done - resumed_at, clock() - began)
                )
    async with db.begin_write() as tx:
        await finish_batch(tx, run.batch, now=clock())
    has_effect = run.batch.added or run.changed
    is_same_reading = earlier is None or earlier.source.has_same_options(source)
    return ImportResult(
        number=batch.number if has_effect else None,
        added=run.batch.added,
        already_known=run.batch.known - run.changed - run.left_out,
        forgotten=run.left_out,
        changed=run.changed,
        resumed_at=resumed_at,
        differing_import=None if is_same_reading else earlier,
    )


async def undo_import_batch(
    db: Database, person: Person, number: int, *, now: Micros
) -> ImportUndoResult:
    """Undo an import; importing the file again brings it back. Raises NotFound."""
    async with db.begin_write() as tx:
        batch = await get_batch(tx, person.id, number)
        undone = await undo_batch(tx, person.id, number, now=now)
        tasks = await undo_calendar(tx, person.id, batch.id, now=now)
        return replace(undone, tasks=tasks)


def build_import_source(preview: ImportPreview) -> ImportSource:
    """Describe the file and how it is read: who in it is the person, and its zone."""
    return ImportSource(
        file=preview.path.name,
        format=preview.format.name,
        sha256=preview.sha256,
        me=", ".join(sorted(preview.speaker_roles.me)),
        zone=preview.zone,
    )


def compute_progress(done: int, total: int, done_this_run: int, elapsed: Micros) -> ImportProgress:
    """Compute the progress at the rate of this run."""
    rate = done_this_run * SECOND / max(elapsed, 1)
    return ImportProgress(
        done=done, total=total, rate=rate, left_s=(total - done) / max(rate, 1e-9)
    )


def build_item(parsed: ParsedMessage, preview: ImportPreview) -> ImportItem:
    """Convert one message of the file. Raises ImportRefused."""
    spoken = preview.speaker_roles.to_spoken(parsed, preview.zone)
    details, record = split_record(spoken.details)
    spoken = replace(spoken, details=details)
    return ImportItem(
        chat=parsed.chat,
        message=ImportedMessage(session=parsed.session, message=spoken),
        record=record,
    )


async def write_batch(
    tx: Transaction, run: ImportRun, items: Sequence[ImportItem], now: Micros
) -> ImportBatch:
    """Write the new messages of a batch and advance the import position."""
    by_chat: dict[str, list[ImportedMessage]] = {}
    for item in items:
        by_chat.setdefault(item.chat, []).append(item.message)
    added = 0
    for key, messages in by_chat.items():
        target = await run.resolve_target(tx, key, now)
        written = await write_imported_messages(tx, target, messages, now=now)
        run.targets[key] = replace(target, language=written.language)
        run.changed += written.changed
        run.left_out += written.forgotten
        added += written.added
        records = [
            (item.message.message, item.record)
            for item in items
            if item.chat == key and item.record is not None
        ]
        if records:
            await write_records(tx, run.person.id, target.chat, records, now=now)
    await advance_batch(tx, run.batch, added=added, known=len(items) - added)
    return replace(
        run.batch,
        position=run.batch.position + len(items),
        added=run.batch.added + added,
        known=run.batch.known + len(items) - added,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageOverlap:
    """The overlap between a known chat and the messages of a file."""

    same_text: int  # known with the same text
    edited: int  # known with another text; same own id, speaker and time
    same_id: int  # of both, those with the same own id, speaker and time
    conflicting: int  # the same id, but another message
    expected: int  # samples within the time span of the chat

    @property
    def shared(self) -> int:
        """How many messages are in both."""
        return self.same_text + self.edited

    def is_same_chat(self) -> bool:
        """Return whether the messages alone show that it is the same chat."""
        is_proven = self.same_id > 0 and self.conflicting == 0
        is_likely = self.same_text >= MIN_SHARED and 2 * self.shared > self.expected
        return (is_proven or is_likely) and not self.is_implausible()

    def may_be_same_chat(self) -> bool:
        """Return whether it can be the same chat, provided the name matches."""
        return self.conflicting <= self.same_text and not self.is_implausible()

    def is_implausible(self) -> bool:
        """Return whether nothing matches as it would in the same chat."""
        is_unknown = self.shared == 0 and self.expected >= MIN_SHARED
        is_rewritten = self.same_text == 0 and self.edited >= MIN_SHARED
        return is_unknown or is_rewritten


async def resolve_chat(
    tx: Transaction,
    person: Person,
    companion: Companion,
    preview: ChatPreview,
    *,
    channel: str,
    has_id: bool,
    now: Micros,
) -> Chat:
    """Return the known chat for a chat of a file, or create it."""
    address = preview.key
    if not has_id:
        known_chats = await list_chats(tx, person.id, channel=channel)
        overlaps = [
            (await compare_messages(tx, chat, preview.samples), chat) for chat in known_chats
        ]
        same_chats = [pair for pair in overlaps if pair[0].is_same_chat()]
        if same_chats:
            return max(same_chats, key=lambda pair: pair[0].shared)[1]
        same_names = [
            chat
            for overlap, chat in overlaps
            if has_same_name(chat, preview) and overlap.may_be_same_chat()
        ]
        if same_names:
            return same_names[0]
        address = build_free_address(preview.key, known_chats)
    return await ensure_chat(
        tx, person, companion, channel=channel, address=address, title=preview.title, now=now
    )


def has_same_name(existing: Chat, preview: ChatPreview) -> bool:
    """Return whether a known chat has the name of one in a file."""
    return existing.address == preview.key or existing.title == preview.title


async def compare_messages(
    tx: Transaction, existing: Chat, samples: Sequence[MessageSample]
) -> MessageOverlap:
    """Compare a known chat with samples of one in a file."""
    span = await find_chat_span(tx, existing.person, existing.id)
    if span is None:
        return MessageOverlap(same_text=0, edited=0, same_id=0, conflicting=0, expected=0)
    known = await load_known_messages(
        tx, existing.person, existing.id, [sample.external_id for sample in samples]
    )
    pairs = [(known[each.external_id], each) for each in samples if each.external_id in known]
    same_texts = [has_same_text(message, sample) for message, sample in pairs]
    proven = [is_same_message(message, sample) for message, sample in pairs]
    same, either = sum(same_texts), sum(map(or_, same_texts, proven))
    within = sum(span[0] <= sample.at <= span[1] for sample in samples)
    return MessageOverlap(
        same_text=same,
        edited=either - same,
        same_id=sum(proven),
        conflicting=len(pairs) - either,
        expected=max(within, len(pairs)),
    )


def has_same_text(known: KnownMessage, sample: MessageSample) -> bool:
    """Return whether any version of a known message has the text of a sample."""
    return sample.text_hash in {hash_text(text) for text in known.texts}


def is_same_message(known: KnownMessage, sample: MessageSample) -> bool:
    """Return whether a sample with the id of a known message is that message, whatever its text."""
    return sample.has_own_id and (known.speaker, known.at) == (sample.speaker, sample.at)


def build_free_address(key: str, existing: Sequence[Chat]) -> str:
    """Return the key, with a number appended if another chat has it."""
    taken = {chat.address for chat in existing}
    candidates = (
        key if number == 1 else f"{key} ({number})" for number in range(1, len(existing) + 2)
    )
    return next(address for address in candidates if address not in taken)


Record = tuple[UnloggedMessage, Mapping[str, JsonValue]]
MAX_UNIT_CHARS: Final = 20
NAMESPACE: Final = uuid.UUID("0c8b3c1e-5a44-4d6b-9b1c-0a1a6f3e7d52")
"""Of the ids of imported values."""


async def write_records(
    tx: Transaction, person: PersonId, chat: Chat, records: Sequence[Record], *, now: Micros
) -> None:
    """Write the rows of messages that are in the log now; what was forgotten has none."""
    ids = [message.external_id for message, _ in records if message.external_id is not None]
    known = await list_current_versions(tx, person, chat.id, ids)
    entries: list[DiaryEntry] = []
    measured: list[Measurement] = []
    for message, record in records:
        version = known.get(message.external_id or "")
        if version is None:
            continue
        if record["kind"] == "diary":
            entries.append(build_entry(person, message, record, version))
        else:
            source = f"{person}/{chat.channel}/{chat.address}/{message.external_id}"
            measured.extend(build_measurements(person, message, record, version, source))
    await save_entries(tx, person, entries)
    again = {each.message for each in measured if each.message is not None}
    await delete_message_measurements(tx, person, sorted(again))
    kept = await drop_deleted_measurements(tx, person, measured)
    await save_measurements(tx, person, kept, now=now)


def build_entry(
    person: PersonId,
    message: UnloggedMessage,
    record: Mapping[str, JsonValue],
    version: tuple[MessageId, int],
) -> DiaryEntry:
    """Build the diary entry of a message; its id is that of the message, so it is written once."""
    tags, media = record.get("tags"), record.get("media")
    modified = parse_modified(str(record.get("modified") or ""))
    has_offset = modified is not None and modified.tzinfo is not None
    return DiaryEntry(
        id=version[0],
        person=person,
        text=message.text,
        written_at=message.at,
        zone=str(record.get("zone") or message.zone),
        created_at=message.at,
        modified_at=to_micros(modified) if modified is not None and has_offset else message.at,
        place=str(record.get("place") or ""),
        city=str(record.get("city") or ""),
        weather=str(record.get("weather") or ""),
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
        media={name: int(str(count)) for name, count in media.items()}
        if isinstance(media, dict)
        else {},
        origin="import",
        message=version[0],
        message_seq=version[1],
    )


def build_measurements(
    person: PersonId,
    message: UnloggedMessage,
    record: Mapping[str, JsonValue],
    version: tuple[MessageId, int],
    source: str,
) -> list[Measurement]:
    """Build the values of the day of a message; the same ones have the same ids each time."""
    rows = record["rows"]
    measured = [
        Measurement(
            id="",
            person=person,
            name=str(name)[:MAX_NAME_CHARS],
            day=date.fromisoformat(str(record["day"])),
            measured_at=message.at,
            zone=message.zone,
            value=float(str(value)),
            unit=str(unit)[:MAX_UNIT_CHARS],
            second_value=None if second is None else float(str(second)),
            second_unit=str(second_unit)[:MAX_UNIT_CHARS],
            origin="import",
            message=version[0],
            message_seq=version[1],
        )
        for name, value, unit, second, second_unit in (
            each for each in (rows if isinstance(rows, list) else []) if isinstance(each, list)
        )
    ]
    counted: Counter[str] = Counter()
    return [replace(each, id=build_row_id(source, each, counted)) for each in measured]


def build_row_id(source: str, measured: Measurement, counted: Counter[str]) -> str:
    """Return the id of a value: that of its day, or among several of a day that of its numbers."""
    told = "" if get_measure(measured.name).is_daily else (measured.value, measured.second_value)
    name = f"{source}/{measured.name}/{measured.day}/{told}"
    counted[name] += 1
    return str(uuid.uuid5(NAMESPACE, f"{name}/{counted[name]}"))
