"""Which stretches of talk are to be read, and what became of it? Each once in each generation.

A segment is a span of the log in one session; its messages are known by their first versions, so
that an edit stays in it. Knows nothing of what was read.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import (
    ChatId,
    MessageId,
    PersonId,
    SegmentId,
    SessionId,
    ambiguous,
    new_id,
    patterns_of,
)
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message
from oldfriend.memory.log import COLUMNS as MESSAGE
from oldfriend.memory.log import TABLES as MESSAGES
from oldfriend.memory.log import message_from

SegmentStatus = Literal["waiting", "done", "trivial", "failed", "taken back"]
UNREAD: Final = frozenset[SegmentStatus]({"waiting", "failed"})
"""What is to be read, now or when it is asked for again."""
Cut = Literal["idle", "length", "turns", "pressure", "asked", "shutdown", "import"]
"""Why a segment ends where it ends."""

COLUMNS: Final = """id, person, chat, session, first_seq, last_seq, messages, tokens, from_at,
    until_at, generation, status, cut_by, cut_at, author, outcome, error, ended_at"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A span of the log that is read as a whole."""

    id: SegmentId
    person: PersonId
    chat: ChatId
    session: SessionId
    first_seq: int
    last_seq: int
    messages: int
    tokens: int
    from_at: Micros  # when its first message was said …
    until_at: Micros  # … and its last
    generation: int  # raised when something in it is edited or deleted
    status: SegmentStatus
    cut_by: Cut
    cut_at: Micros
    author: str | None  # what has read it
    outcome: Mapping[str, JsonValue]  # counts of what came of it, and of what was refused
    error: str | None
    ended_at: Micros | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncut:
    """What of a session is in no segment yet."""

    chat: ChatId
    session: SessionId
    is_open: bool
    is_imported: bool
    first_seq: int
    last_seq: int
    messages: int
    turns: int  # of the person
    tokens: int
    from_at: Micros
    until_at: Micros
    written_at: Micros  # when something was last written into it


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How long a message is, and when it was said."""

    seq: int
    tokens: int
    at: Micros


async def list_uncut(
    tx: Transaction, person: PersonId, *, session: SessionId | None = None, after: int = 0
) -> list[Uncut]:
    """What is in no segment yet, session by session, the oldest first.

    Of one session only, or only what was written after a seq, it is quick.
    """
    rows = await tx.rows(
        """SELECT m.chat, m.session, s.status, min(m.seq), max(m.seq), count(*),
             sum(CASE WHEN m.role = 'person' THEN 1 ELSE 0 END), sum(m.tokens),
             min(m.said_at), max(m.said_at), max(m.written_at), max(s.close_trigger)
           FROM message m JOIN session s ON s.id = m.session
             LEFT JOIN (SELECT session, max(last_seq) AS last_seq FROM segment
               WHERE person = :person GROUP BY session) g ON g.session = m.session
           WHERE m.person = :person AND m.version = 1
           AND (:session IS NULL OR m.session = :session) AND m.seq > :after
           AND m.seq > coalesce(g.last_seq, s.after_seq)
           GROUP BY m.chat, m.session, s.status ORDER BY min(m.said_at), m.session""",
        person=person,
        session=session,
        after=after,
    )
    return [
        Uncut(
            chat=ChatId(row[0]), session=SessionId(row[1]), is_open=row[2] == "open",
            is_imported=row[11] == "imported", written_at=int(row[10]),
            first_seq=int(row[3]), last_seq=int(row[4]), messages=int(row[5]), turns=int(row[6]),
            tokens=int(row[7]), from_at=int(row[8]), until_at=int(row[9]),
        )
        for row in rows
    ]  # fmt: skip


async def measure_uncut(tx: Transaction, person: PersonId, uncut: Uncut) -> list[Measure]:
    """How long each message of some uncut talk is, in the order of writing."""
    rows = await tx.rows(
        """SELECT seq, tokens, said_at FROM message
           WHERE person = :person AND session = :session AND version = 1
           AND seq BETWEEN :first_seq AND :last_seq ORDER BY seq""",
        person=person, session=uncut.session, first_seq=uncut.first_seq, last_seq=uncut.last_seq,
    )  # fmt: skip
    return [Measure(seq=row[0], tokens=row[1], at=row[2]) for row in rows]


async def cut_segment(
    tx: Transaction, person: PersonId, uncut: Uncut, *, cut_by: Cut, now: Micros
) -> Segment:
    """Make a segment of what is uncut, waiting to be read. The caller holds the person's lock."""
    segment = SegmentId(new_id(now))
    await tx.run(
        """INSERT INTO segment (id, person, chat, session, first_seq, last_seq, messages, tokens,
             from_at, until_at, status, cut_by, cut_at)
           VALUES (:id, :person, :chat, :session, :first_seq, :last_seq, :messages, :tokens,
             :from_at, :until_at, 'waiting', :cut_by, :now)""",
        id=segment, person=person, chat=uncut.chat, session=uncut.session,
        first_seq=uncut.first_seq, last_seq=uncut.last_seq, messages=uncut.messages,
        tokens=uncut.tokens, from_at=uncut.from_at, until_at=uncut.until_at, cut_by=cut_by,
        now=now,
    )  # fmt: skip
    return await get_segment(tx, person, segment)


async def find_segment(
    tx: Transaction, person: PersonId, segment: SegmentId
) -> Segment | None:  # fmt: skip
    """One segment as it stands, if it is there."""
    row = await tx.row(
        f"SELECT {COLUMNS} FROM segment WHERE id = :id AND person = :person",
        id=segment,
        person=person,
    )
    return None if row is None else segment_from(row)


async def get_segment(tx: Transaction, person: PersonId, segment: SegmentId) -> Segment:
    """One segment as it stands. Raises NotFound."""
    found = await find_segment(tx, person, segment)
    if found is None:
        raise NotFound(f"There is no segment {segment}.")
    return found


async def list_segments(
    tx: Transaction, person: PersonId, *, status: Sequence[SegmentStatus] = ()
) -> list[Segment]:
    """A person's segments in the order in which they were said; all, or those so far."""
    wanted = {f"status{place}": each for place, each in enumerate(status)}
    so_far = f"AND status IN ({', '.join(f':{name}' for name in wanted)})" if wanted else ""
    rows = await tx.rows(
        f"SELECT {COLUMNS} FROM segment WHERE person = :person {so_far} ORDER BY from_at, id",
        person=person,
        **wanted,
    )
    return [segment_from(row) for row in rows]


async def list_waiting(tx: Transaction, person: PersonId) -> list[Segment]:
    """A person's segments that wait to be read, in the order in which they were said."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM segment WHERE person = :person AND status = 'waiting'
           ORDER BY from_at, id""",
        person=person,
    )
    return [segment_from(row) for row in rows]


async def count_segments(tx: Transaction, person: PersonId) -> dict[SegmentStatus, int]:
    """How many segments of a person have come how far; only what there is."""
    rows = await tx.rows(
        "SELECT status, count(*) FROM segment WHERE person = :person GROUP BY status",
        person=person,
    )
    return {status: int(count) for status, count in rows}


async def count_first_segments(tx: Transaction, person: PersonId, *, most: int) -> int:
    """How many segments a person has, counted up to ``most``."""
    rows = await tx.rows(
        "SELECT 1 FROM segment WHERE person = :person LIMIT :most", person=person, most=most
    )
    return len(rows)


async def count_waiting(tx: Transaction) -> int:
    """How many segments of everybody wait to be read."""
    row = await tx.row("SELECT count(*) FROM segment WHERE status = 'waiting'")
    assert row is not None
    return int(row[0])


async def count_ended_since(tx: Transaction, person: PersonId, at: Micros) -> int:
    """How many segments of a person were read at a moment or since, also in vain."""
    row = await tx.row(
        "SELECT count(*) FROM segment WHERE person = :person AND ended_at >= :at",
        person=person,
        at=at,
    )
    assert row is not None
    return int(row[0])


async def list_messages_in(tx: Transaction, segment: Segment) -> list[Message]:
    """The messages of a segment as they read now, oldest first."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE} FROM {MESSAGES}
           WHERE m.replaced_at IS NULL AND m.id IN
             (SELECT f.id FROM message f WHERE f.person = :person AND f.session = :session
              AND f.version = 1 AND f.seq BETWEEN :first_seq AND :last_seq)
           ORDER BY m.said_at, m.seq""",
        person=segment.person, session=segment.session, first_seq=segment.first_seq,
        last_seq=segment.last_seq,
    )  # fmt: skip
    return [message_from(row) for row in rows]


async def list_messages_before(tx: Transaction, segment: Segment, *, limit: int) -> list[Message]:
    """What was said in its chat just before a segment, oldest first."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE} FROM {MESSAGES}
           WHERE m.person = :person AND m.chat = :chat AND m.replaced_at IS NULL
           AND m.said_at <= :from_at AND m.seq < :first_seq
           ORDER BY m.said_at DESC, m.seq DESC LIMIT :limit""",
        person=segment.person, chat=segment.chat, from_at=segment.from_at,
        first_seq=segment.first_seq, limit=limit,
    )  # fmt: skip
    return [message_from(row) for row in reversed(rows)]


async def set_status(
    tx: Transaction, segment: Segment, status: SegmentStatus, *, author: str | None = None,
    outcome: Mapping[str, JsonValue] | None = None, error: str | None = None, now: Micros,
) -> bool:  # fmt: skip
    """Note how far a segment has come; False, and nothing, when it is not as it was seen."""
    touched = await tx.run(
        """UPDATE segment SET status = :status, author = coalesce(:author, author),
             outcome = coalesce(:outcome, outcome), error = :error,
             ended_at = CASE WHEN :status IN ('done', 'trivial', 'failed') THEN :now END
           WHERE id = :id AND person = :person AND generation = :generation
           AND status = :seen""",
        status=status, author=author,
        outcome=None if outcome is None else json.dumps(dict(outcome), ensure_ascii=False),
        error=error, now=now, id=segment.id, person=segment.person,
        generation=segment.generation, seen=segment.status,
    )  # fmt: skip
    return touched == 1


async def reopen_segments(
    tx: Transaction, person: PersonId, messages: Sequence[MessageId], *, is_edit: bool = True
) -> list[SegmentId]:
    """Have the segments read again in which these messages stand; which those are.

    A reading that was taken back stays so, unless something else is said in it now: an edit.
    """
    if not messages:
        return []
    names = {f"message{place}": each for place, each in enumerate(messages)}
    rows = await tx.rows(
        f"""UPDATE segment SET generation = generation + 1, ended_at = NULL, status = CASE
             WHEN status = 'taken back' AND :is_edit = 0 THEN status ELSE 'waiting' END
           WHERE person = :person AND id IN
             (SELECT g.id FROM segment g JOIN message m ON m.session = g.session
                AND m.person = g.person AND m.version = 1
                AND m.seq BETWEEN g.first_seq AND g.last_seq
              WHERE g.person = :person AND m.id IN ({", ".join(f":{name}" for name in names)}))
           RETURNING id""",
        person=person,
        is_edit=int(is_edit),
        **names,
    )
    return [SegmentId(row[0]) for row in rows]


async def find_last_read(tx: Transaction, person: PersonId) -> Segment | None:
    """The segment that was read last, if one was, and has not been taken back."""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM segment WHERE person = :person AND status = 'done'
           ORDER BY ended_at DESC, id DESC LIMIT 1""",
        person=person,
    )
    return None if row is None else segment_from(row)


async def list_read_since(tx: Transaction, person: PersonId, at: Micros) -> list[Segment]:
    """The segments that were read at a moment or since, in the order of reading."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM segment WHERE person = :person AND status = 'done'
           AND ended_at >= :at ORDER BY ended_at, id""",
        person=person,
        at=at,
    )
    return [segment_from(row) for row in rows]


async def find_segment_named(tx: Transaction, person: PersonId, name: str) -> Segment | None:
    """The segment that a part of an id means, if there is one. Raises InvalidInput."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM segment WHERE person = :person
           AND (id LIKE :begins OR id LIKE :ends OR id LIKE :shown) ORDER BY id LIMIT 5""",
        person=person,
        **patterns_of(name),
    )
    if len(rows) > 1:
        found = [segment_from(row) for row in rows]
        raise ambiguous(name, {each.id: f"{each.messages} messages" for each in found})
    return segment_from(rows[0]) if rows else None


async def reopen_segment(tx: Transaction, segment: Segment) -> Segment:
    """Have a segment read again, though nothing in it has changed. Raises NotFound."""
    await tx.run(
        """UPDATE segment SET generation = generation + 1, status = 'waiting', ended_at = NULL
           WHERE id = :id AND person = :person""",
        id=segment.id,
        person=segment.person,
    )
    return await get_segment(tx, segment.person, segment.id)


async def remove_empty_segments(tx: Transaction, person: PersonId) -> list[SegmentId]:
    """Take away segments of which no message is left."""
    rows = await tx.rows(
        """DELETE FROM segment WHERE person = :person AND NOT EXISTS
             (SELECT 1 FROM message m WHERE m.session = segment.session AND m.version = 1
              AND m.person = segment.person
              AND m.seq BETWEEN segment.first_seq AND segment.last_seq)
           RETURNING id""",
        person=person,
    )
    return [SegmentId(row[0]) for row in rows]


def segment_from(row: Row) -> Segment:
    """A segment from the columns in COLUMNS."""
    return Segment(
        id=SegmentId(row[0]), person=PersonId(row[1]), chat=ChatId(row[2]),
        session=SessionId(row[3]), first_seq=row[4], last_seq=row[5], messages=row[6],
        tokens=row[7], from_at=row[8], until_at=row[9], generation=row[10], status=row[11],
        cut_by=row[12], cut_at=row[13], author=row[14],
        outcome=json.loads(row[15]) if row[15] else {}, error=row[16], ended_at=row[17],
    )  # fmt: skip
