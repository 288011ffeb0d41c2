"""Which imports were there, how far did they come, and how is one undone?

Knows nothing of files: only their names and prints.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import ImportRefused, NotFound
from oldfriend.domain.ids import BatchId, PersonId, SegmentId, new_id
from oldfriend.domain.messages import storable
from oldfriend.domain.sayings import saying
from oldfriend.memory.changes import Ground
from oldfriend.memory.evidence import remove_evidence_in
from oldfriend.memory.people import lock_person
from oldfriend.memory.segments import get_segment, remove_empty_segments, reopen_segment
from oldfriend.memory.settling import end_what_was_made
from oldfriend.memory.withdrawing import UNDONE, end_unsupported, undo_consolidations

BatchStatus = Literal["running", "done", "undone"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A file, and how it is read."""

    file: str
    format: str
    sha256: str
    me: str  # the speaker that the person is; empty for nobody
    zone: str  # of times that name none

    def is_like(self, other: "Reading") -> bool:
        """Whether both make the same messages of the same file."""
        return (self.me, self.zone) == (other.me, other.zone)

    def as_options(self) -> str:
        """How it is asked for."""
        return f"--me {self.me!r} --zone {self.zone}" if self.me else f"--zone {self.zone}, no --me"


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One import of one file."""

    id: BatchId
    person: PersonId
    number: int
    reading: Reading
    status: BatchStatus
    position: int  # messages of the file that were dealt with
    added: int
    known: int
    started_at: Micros
    ended_at: Micros | None  # when it was finished or undone


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """What an undo took away."""

    messages: int
    sessions: int
    chats: int
    beliefs: int = 0  # that rested on them alone, or had been overruled by them


async def begin_batch(tx: Transaction, person: PersonId, reading: Reading, *, now: Micros) -> Batch:
    """A new batch, or the one of the same file that was not finished.

    Raises ImportRefused when that one reads the file otherwise: half of it would be somebody
    else's, or at other times.
    """
    await lock_person(tx, person)
    begun = await find_batch(tx, person, reading.sha256, status="running")
    if begun is None:
        return await add_batch(tx, person, reading, now=now)
    if not begun.reading.is_like(reading):
        raise ImportRefused(saying(
            "import_begun_otherwise",
            f"Import {begun.number} of this file is not finished, and was begun with "
            f"{begun.reading.as_options()}. Finish it with the same, "
            f"or take it out first: oldfriend import undo {begun.number}",
            number=begun.number,
        ))  # fmt: skip
    return begun


async def add_batch(tx: Transaction, person: PersonId, reading: Reading, *, now: Micros) -> Batch:
    """A new batch, under the person's next number."""
    newest = await tx.row(
        "SELECT coalesce(max(number), 0) FROM import_batch WHERE person = :person", person=person
    )
    number = 1 + (int(newest[0]) if newest is not None else 0)
    await tx.run(
        """INSERT INTO import_batch (id, person, number, file, format, sha256, me, zone, status,
             position, added, known, started_at)
           VALUES (:id, :person, :number, :file, :format, :sha256, :me, :zone, 'running',
             0, 0, 0, :now)""",
        id=new_id(now), person=person, number=number, file=storable(reading.file),
        format=reading.format, sha256=reading.sha256, me=reading.me, zone=reading.zone, now=now,
    )  # fmt: skip
    return await get_batch(tx, person, number)


async def find_batch(
    tx: Transaction, person: PersonId, sha256: str, *, status: BatchStatus
) -> Batch | None:
    """The newest import of a file with this status, if there is one."""
    row = await tx.row(
        """SELECT number FROM import_batch WHERE person = :person AND sha256 = :sha256
           AND status = :status ORDER BY number DESC LIMIT 1""",
        person=person,
        sha256=sha256,
        status=status,
    )
    return None if row is None else await get_batch(tx, person, int(row[0]))


def unknown_import(number: int) -> NotFound:
    """That a person has no import of that number."""
    return NotFound(saying("import_unknown", f"There is no import {number}.", number=number))


async def get_batch(tx: Transaction, person: PersonId, number: int) -> Batch:
    """The import of that number. Raises NotFound."""
    row = await tx.row(
        """SELECT id, person, number, file, format, sha256, me, zone, status, position, added,
             known, started_at, ended_at
           FROM import_batch WHERE person = :person AND number = :number""",
        person=person,
        number=number,
    )
    if row is None:
        raise unknown_import(number)
    reading = Reading(file=row[3], format=row[4], sha256=row[5], me=row[6], zone=row[7])
    return Batch(
        id=BatchId(row[0]), person=PersonId(row[1]), number=row[2], reading=reading,
        status=row[8], position=row[9], added=row[10], known=row[11], started_at=row[12],
        ended_at=row[13],
    )  # fmt: skip


async def list_batches(tx: Transaction, person: PersonId) -> list[Batch]:
    """The person's imports, the first one first."""
    rows = await tx.rows(
        "SELECT number FROM import_batch WHERE person = :person ORDER BY number", person=person
    )
    return [await get_batch(tx, person, int(row[0])) for row in rows]


def overlapping(batches: Sequence[Batch], number: int) -> list[Batch]:
    """The later imports that may have left messages to that one, as they were here already."""
    undone = next(batch for batch in batches if batch.number == number)
    return [
        batch
        for batch in batches
        if batch.number > number and batch.known and batch.status == "done"
        and batch.reading.format == undone.reading.format
    ]  # fmt: skip


async def advance_batch(tx: Transaction, batch: Batch, *, added: int, known: int) -> None:
    """Note that some more messages of the file were dealt with. Raises NotFound.

    In the transaction that wrote them. A batch that was undone or finished meanwhile stops here.
    """
    touched = await tx.run(
        """UPDATE import_batch SET position = position + :added + :known,
             added = added + :added, known = known + :known
           WHERE id = :id AND person = :person AND status = 'running' AND position = :position""",
        added=added, known=known, id=batch.id, person=batch.person, position=batch.position,
    )  # fmt: skip
    if touched != 1:
        raise NotFound(saying(
            "import_interrupted",
            f"Import {batch.number} was undone, or goes on in another process. Start it again.",
            number=batch.number,
        ))  # fmt: skip


async def finish_batch(tx: Transaction, batch: Batch, *, now: Micros) -> None:
    """Note that the whole file is in; a batch that brought nothing leaves no trace."""
    await tx.run(
        """DELETE FROM import_batch WHERE id = :id AND person = :person AND added = 0
           AND NOT EXISTS (SELECT 1 FROM message WHERE batch = :id AND person = :person)""",
        id=batch.id,
        person=batch.person,
    )
    await tx.run(
        """UPDATE import_batch SET status = 'done', ended_at = :now
           WHERE id = :id AND person = :person AND status = 'running'""",
        now=now, id=batch.id, person=batch.person,
    )  # fmt: skip


async def undo_batch(tx: Transaction, person: PersonId, number: int, *, now: Micros) -> Undone:
    """Take away what an import brought, and the sessions and chats it leaves empty.

    What it changed in messages that were there before reads as it did. Raises NotFound.
    """
    await lock_person(tx, person)
    batch = await get_batch(tx, person, number)
    if batch.status == "undone":
        raise NotFound(
            saying("import_undone", f"Import {number} was undone already.", number=number)
        )
    chats = await tx.rows(
        "SELECT DISTINCT chat FROM message WHERE batch = :batch AND person = :person",
        batch=batch.id,
        person=person,
    )
    beliefs = await withdraw_beliefs(tx, batch, now=now)
    messages = await remove_messages(tx, batch)
    await remove_empty_segments(tx, person)
    sessions = await remove_empty_sessions(tx, person)
    emptied = sum([await remove_empty_chat(tx, person, str(chat)) for (chat,) in chats])
    await tx.run(
        "UPDATE import_batch SET status = 'undone', ended_at = :now WHERE id = :batch",
        now=now,
        batch=batch.id,
    )
    await tx.run("UPDATE person SET rewritten = rewritten + 1 WHERE id = :person", person=person)
    return Undone(messages=messages, sessions=sessions, chats=emptied, beliefs=beliefs)


async def withdraw_beliefs(tx: Transaction, batch: Batch, *, now: Micros) -> int:
    """Take back what was read in an import's messages; how many beliefs end or hold again.

    Their quotes go with the messages. What else was said beside them waits to be read again.
    """
    segments = await reopen_segments_of(tx, batch)
    touched = await undo_consolidations(tx, batch.person, segments, now=now)
    rested = await remove_evidence_in(tx, batch.person, batch.id)
    ground = Ground(author=UNDONE)
    touched += await end_unsupported(tx, batch.person, ground=ground, now=now, only=rested)
    touched += await end_what_was_made(tx, batch.person, now=now)
    return len(touched)


async def reopen_segments_of(tx: Transaction, batch: Batch) -> list[SegmentId]:
    """Have the segments read again in which an import's messages stand; those, oldest first."""
    rows = await tx.rows(
        """SELECT DISTINCT g.id, g.from_at FROM segment g JOIN message m ON m.session = g.session
             AND m.person = g.person AND m.version = 1
             AND m.seq BETWEEN g.first_seq AND g.last_seq
           WHERE g.person = :person AND m.id IN
             (SELECT id FROM message WHERE batch = :batch AND person = :person)
           ORDER BY g.from_at, g.id""",
        person=batch.person,
        batch=batch.id,
    )
    for segment, _ in rows:
        found = await get_segment(tx, batch.person, segment)
        if found.status != "taken back":
            await reopen_segment(tx, found)
    return [SegmentId(row[0]) for row in rows]


async def remove_messages(tx: Transaction, batch: Batch) -> int:
    """Take away a batch's messages in all versions, and its versions of other messages."""
    values = {"batch": batch.id, "person": batch.person}
    going = """SELECT seq FROM message WHERE person = :person AND (batch = :batch OR id IN
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
    await tx.run(
        f"DELETE FROM message_vector WHERE person = :person AND seq IN ({going})", **values
    )
    await tx.run(f"DELETE FROM message WHERE person = :person AND seq IN ({going})", **values)
    for (message,) in edited:
        await tx.run(
            """UPDATE message SET replaced_at = NULL WHERE id = :id AND person = :person
               AND version = (SELECT max(version) FROM message WHERE id = :id)""",
            id=message,
            person=batch.person,
        )
    return int(row[0]) if row is not None else 0


async def remove_empty_sessions(tx: Transaction, person: PersonId) -> int:
    """Take away imported sessions in which nothing is said any more."""
    return await tx.run(
        """DELETE FROM session WHERE person = :person AND close_trigger = 'imported'
           AND NOT EXISTS (SELECT 1 FROM message m WHERE m.chat = session.chat
             AND m.said_at BETWEEN session.opened_at AND session.closed_at
             AND m.session = session.id)""",
        person=person,
    )


async def remove_empty_chat(tx: Transaction, person: PersonId, chat: str) -> int:
    """Take away a chat that has no session any more; how many that were."""
    return await tx.run(
        """DELETE FROM chat WHERE id = :chat AND person = :person
           AND NOT EXISTS (SELECT 1 FROM session s WHERE s.chat = :chat)
           AND NOT EXISTS (SELECT 1 FROM message m WHERE m.chat = :chat)""",
        chat=chat,
        person=person,
    )
