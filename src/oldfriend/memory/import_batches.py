"""Import batches: progress and undo of imported files.

Knows only the names and hashes of files.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from oldfriend.db.database import Transaction
from oldfriend.db.stored_tables import STORED_TABLES
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import ImportRefused, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import BatchId, ObjectId, PersonId, SegmentId, new_id
from oldfriend.domain.messages import sanitize_text
from oldfriend.memory.consolidation_undo import BY_UNDO, undo_consolidations
from oldfriend.memory.derived_evidence import cascade_retraction
from oldfriend.memory.evidence import remove_batch_evidence
from oldfriend.memory.journal import list_segment_journal
from oldfriend.memory.people import lock_person
from oldfriend.memory.retraction import (
    end_summaries,
    end_unsupported_beliefs,
    list_lost_endings,
    revert_entries,
)
from oldfriend.memory.segments import get_segment, remove_empty_segments, reopen_segment

ImportStatus = Literal["running", "done", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportSource:
    """A file and the options with which it is read."""

    file: str
    format: str
    sha256: str
    me: str  # the speaker who is the person; empty for none
    zone: str  # of times without a zone

    def has_same_options(self, other: "ImportSource") -> bool:
        """Whether both give the same messages for the same file."""
        return (self.me, self.zone) == (other.me, other.zone)

    def format_options(self) -> str:
        """Return the command line options."""
        return f"--me {self.me!r} --zone {self.zone}" if self.me else f"--zone {self.zone}, no --me"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportBatch:
    """One import of one file."""

    id: BatchId
    person: PersonId
    number: int
    source: ImportSource
    status: ImportStatus
    position: int  # messages of the file that were processed
    added: int
    known: int
    started_at: Micros
    ended_at: Micros | None  # when it was finished or undone


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportUndoResult:
    """What an undo removed."""

    messages: int
    sessions: int
    chats: int
    beliefs: int = 0  # that rested on the messages alone or are believed again
    tasks: int = 0  # of a calendar, that went or stand as they were before


async def start_or_resume_batch(
    tx: Transaction, person: PersonId, import_source: ImportSource, *, now: Micros
) -> ImportBatch:
    """Start a new batch or resume the unfinished one of the same file.

    Raises ImportRefused if that one was started with other options, since half of its messages
    would have another speaker or other times.
    """
    await lock_person(tx, person)
    unfinished = await find_batch(tx, person, import_source.sha256, status="running")
    if unfinished is None:
        return await create_batch(tx, person, import_source, now=now)
    if not unfinished.source.has_same_options(import_source):
        raise ImportRefused(
            localizable(
                "import_begun_otherwise",
                f"Import {unfinished.number} of this file is not finished, and was begun with "
                f"{unfinished.source.format_options()}. Finish it with the same options, or undo "
                f"it first: oldfriend import undo {unfinished.number}",
                number=unfinished.number,
            )
        )
    return unfinished


async def create_batch(
    tx: Transaction, person: PersonId, import_source: ImportSource, *, now: Micros
) -> ImportBatch:
    """Create a batch under the person's next number."""
    newest = await tx.row(
        "SELECT coalesce(max(number), 0) FROM import_batch WHERE person = :person", person=person
    )
    number = 1 + (int(newest[0]) if newest is not None else 0)
    await tx.run(
        """INSERT INTO import_batch (id, person, number, file, format, sha256, me, zone, status,
             position, added, known, started_at)
           VALUES (:id, :person, :number, :file, :format, :sha256, :me, :zone, 'running',
             0, 0, 0, :now)""",
        id=new_id(now),
        person=person,
        number=number,
        file=sanitize_text(import_source.file),
        format=import_source.format,
        sha256=import_source.sha256,
        me=import_source.me,
        zone=import_source.zone,
        now=now,
    )
    return await get_batch(tx, person, number)


async def find_batch(
    tx: Transaction, person: PersonId, sha256: str, *, status: ImportStatus
) -> ImportBatch | None:
    """Return the newest import of a file with this status, if there is one."""
    row = await tx.row(
        """SELECT number FROM import_batch WHERE person = :person AND sha256 = :sha256
           AND status = :status ORDER BY number DESC LIMIT 1""",
        person=person,
        sha256=sha256,
        status=status,
    )
    return None if row is None else await get_batch(tx, person, int(row[0]))


def build_import_not_found_error(number: int) -> NotFound:
    """Build the error that a person has no import of that number."""
    return NotFound(localizable("import_unknown", f"There is no import {number}.", number=number))


async def get_batch(tx: Transaction, person: PersonId, number: int) -> ImportBatch:
    """Return the import of that number. Raises NotFound."""
    row = await tx.row(
        """SELECT id, person, number, file, format, sha256, me, zone, status, position, added,
             known, started_at, ended_at
           FROM import_batch WHERE person = :person AND number = :number""",
        person=person,
        number=number,
    )
    if row is None:
        raise build_import_not_found_error(number)
    source = ImportSource(file=row[3], format=row[4], sha256=row[5], me=row[6], zone=row[7])
    return ImportBatch(
        id=BatchId(row[0]),
        person=PersonId(row[1]),
        number=row[2],
        source=source,
        status=row[8],
        position=row[9],
        added=row[10],
        known=row[11],
        started_at=row[12],
        ended_at=row[13],
    )


async def list_batches(tx: Transaction, person: PersonId) -> list[ImportBatch]:
    """List a person's imports, oldest first."""
    rows = await tx.rows(
        "SELECT number FROM import_batch WHERE person = :person ORDER BY number", person=person
    )
    return [await get_batch(tx, person, int(row[0])) for row in rows]


def list_overlapping_batches(batches: Sequence[ImportBatch], number: int) -> list[ImportBatch]:
    """List the later imports that may have skipped messages because this one had brought them."""
    undone = next(batch for batch in batches if batch.number == number)
    return [
        batch
        for batch in batches
        if batch.number > number
        and batch.known
        and batch.status == "done"
        and batch.source.format == undone.source.format
    ]


async def advance_batch(tx: Transaction, batch: ImportBatch, *, added: int, known: int) -> None:
    """Record that more messages of the file were processed, in the transaction that wrote them.

    Raises NotFound if the batch was undone, finished or continued elsewhere meanwhile.
    """
    touched = await tx.run(
        """UPDATE import_batch SET position = position + :added + :known,
             added = added + :added, known = known + :known
           WHERE id = :id AND person = :person AND status = 'running' AND position = :position""",
        added=added,
        known=known,
        id=batch.id,
        person=batch.person,
        position=batch.position,
    )
    if touched != 1:
        raise NotFound(
            localizable(
                "import_interrupted",
                f"Import {batch.number} was undone, or is running in another process. Start it "
                "again.",
                number=batch.number,
            )
        )


async def finish_batch(tx: Transaction, batch: ImportBatch, *, now: Micros) -> None:
    """Mark a batch as done; one that brought nothing is deleted."""
    await tx.run(
        """DELETE FROM import_batch WHERE id = :id AND person = :person AND added = 0
           AND NOT EXISTS (SELECT 1 FROM message WHERE batch = :id AND person = :person)
           AND NOT EXISTS (SELECT 1 FROM task
             WHERE person = :person AND calendar_state LIKE '%' || :id || '%')""",
        id=batch.id,
        person=batch.person,
    )
    await tx.run(
        """UPDATE import_batch SET status = 'done', ended_at = :now
           WHERE id = :id AND person = :person AND status = 'running'""",
        now=now,
        id=batch.id,
        person=batch.person,
    )


async def undo_batch(
    tx: Transaction, person: PersonId, number: int, *, now: Micros
) -> ImportUndoResult:
    """Remove what an import brought, and the sessions and chats it leaves empty.

    Messages that were there before get their earlier text back. Raises NotFound.
    """
    await lock_person(tx, person)
    batch = await get_batch(tx, person, number)
    if batch.status == "undone":
        raise NotFound(
            localizable("import_undone", f"Import {number} was undone already.", number=number)
        )
    chats = await tx.rows(
        "SELECT DISTINCT chat FROM message WHERE batch = :batch AND person = :person",
        batch=batch.id,
        person=person,
    )
    segments = await reopen_batch_segments(tx, batch)
    touched = await retract_batch_beliefs(tx, batch, segments, now=now)
    messages = await remove_batch_messages(tx, batch)
    touched |= await revert_lost_endings(tx, person, segments.mixed, now=now)
    await remove_empty_segments(tx, person)
    sessions = await remove_empty_sessions(tx, person)
    emptied = sum([await remove_empty_chat(tx, person, str(chat)) for (chat,) in chats])
    await tx.run(
        "UPDATE import_batch SET status = 'undone', ended_at = :now WHERE id = :batch",
        now=now,
        batch=batch.id,
    )
    await tx.run("UPDATE person SET rewritten = rewritten + 1 WHERE id = :person", person=person)
    return ImportUndoResult(
        messages=messages, sessions=sessions, chats=emptied, beliefs=len(touched)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSegments:
    """The segments with messages of an import, oldest first."""

    whole: tuple[SegmentId, ...]  # with no other messages
    mixed: tuple[SegmentId, ...]  # whose other messages stay, with what was learned from them


async def retract_batch_beliefs(
    tx: Transaction, batch: ImportBatch, segments: BatchSegments, *, now: Micros
) -> set[ObjectId]:
    """Retract what was learned from an import's messages; return the beliefs that ended or hold
    again.

    Their quotes are removed with the messages. The remaining messages of the same segments wait to
    be consolidated again.
    """
    touched = await undo_consolidations(tx, batch.person, segments.whole, now=now)
    touched += await end_summaries(tx, batch.person, segments.mixed, provenance=BY_UNDO, now=now)
    affected = await remove_batch_evidence(tx, batch.person, batch.id)
    touched += await end_unsupported_beliefs(
        tx, batch.person, provenance=BY_UNDO, now=now, only_ids=affected
    )
    touched += await cascade_retraction(tx, batch.person, now=now)
    return set(touched)


async def revert_lost_endings(
    tx: Transaction, person: PersonId, segment_ids: Iterable[SegmentId], *, now: Micros
) -> set[ObjectId]:
    """Reopen what only removed messages of some segments had ended; return which."""
    reopened: set[ObjectId] = set()
    for segment in segment_ids:
        lost = await list_lost_endings(tx, await list_segment_journal(tx, person, segment))
        reopened.update(await revert_entries(tx, lost, provenance=BY_UNDO, now=now))
    return reopened


async def reopen_batch_segments(tx: Transaction, batch: ImportBatch) -> BatchSegments:
    """Reopen the segments that contain an import's messages, and return them."""
    rows = await tx.rows(
        """SELECT g.id, sum(CASE WHEN m.batch = :batch THEN 0 ELSE 1 END)
           FROM segment g JOIN message m ON m.session = g.session
             AND m.person = g.person AND m.version = 1
             AND m.seq BETWEEN g.first_seq AND g.last_seq
           WHERE g.person = :person GROUP BY g.id, g.from_at
           HAVING sum(CASE WHEN m.id IN
             (SELECT id FROM message WHERE batch = :batch AND person = :person)
             THEN 1 ELSE 0 END) > 0
           ORDER BY g.from_at, g.id""",
        person=batch.person,
        batch=batch.id,
    )
    for segment, _ in rows:
        found = await get_segment(tx, batch.person, segment)
        if found.status != "taken back":
            await reopen_segment(tx, found)
    return BatchSegments(
        whole=tuple(SegmentId(each) for each, others in rows if not others),
        mixed=tuple(SegmentId(each) for each, others in rows if others),
    )


async def remove_batch_messages(tx: Transaction, batch: ImportBatch) -> int:
    """Remove a batch's messages in all versions, and its versions of other messages, with all that
    goes with them; return how many messages.
    """
    values = {"batch": batch.id, "person": batch.person}
    removed_seqs = """SELECT seq FROM message WHERE person = :person AND (batch = :batch OR id IN
        (SELECT id FROM message WHERE batch = :batch AND person = :person AND version = 1))"""
    row = await tx.row(
        """SELECT count(*) FROM message WHERE batch = :batch AND person = :person
           AND version = 1""",
        **values,
    )
    edited = await tx.rows(
        """SELECT id FROM message WHERE batch = :batch AND person = :person AND version > 1
           AND replaced_at IS NULL""",
        **values,
    )
    for table in reversed(STORED_TABLES):
        for column in table.goes_with.get("message", ()):
            await tx.run(
                f"""DELETE FROM {table.name} WHERE person = :person
                   AND {column} IN ({removed_seqs})""",
                **values,
            )
    for (message,) in edited:
        await tx.run(
            """UPDATE message SET replaced_at = NULL WHERE id = :id AND person = :person
               AND version = (SELECT max(version) FROM message WHERE id = :id)""",
            id=message,
            person=batch.person,
        )
    return int(row[0]) if row is not None else 0


async def remove_empty_sessions(tx: Transaction, person: PersonId) -> int:
    """Remove imported sessions without messages; return how many."""
    return await tx.run(
        """DELETE FROM session WHERE person = :person AND close_trigger = 'imported'
           AND NOT EXISTS (SELECT 1 FROM message m WHERE m.chat = session.chat
             AND m.said_at BETWEEN session.opened_at AND session.closed_at
             AND m.session = session.id)""",
        person=person,
    )


async def remove_empty_chat(tx: Transaction, person: PersonId, chat: str) -> int:
    """Remove a chat without sessions and messages; return how many rows were deleted."""
    return await tx.run(
        """DELETE FROM chat WHERE id = :chat AND person = :person
           AND NOT EXISTS (SELECT 1 FROM session s WHERE s.chat = :chat)
           AND NOT EXISTS (SELECT 1 FROM message m WHERE m.chat = :chat)""",
        chat=chat,
        person=person,
    )
