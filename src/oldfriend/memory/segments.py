"""Segments: spans of one session's log that are consolidated once in each generation.

Messages belong to a segment by their first versions, so that an edit stays in it. This module does
not know what was learned.

After how many turns a segment is closed depends on a threshold: the person has their own or,
without one, the default of the install.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import (
    ChatId,
    MessageId,
    PersonId,
    SegmentId,
    SessionId,
    build_ambiguous_id_error,
    build_id_patterns,
    new_id,
)
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message
from oldfriend.memory.message_log import MESSAGE_COLUMNS as MESSAGE
from oldfriend.memory.message_log import MESSAGE_TABLES as MESSAGES
from oldfriend.memory.message_log import parse_message_row
from oldfriend.memory.message_order import MESSAGE_PLACE

MIN_LEARNING_TURNS, MAX_LEARNING_TURNS = 1, 500
RANGE_TEXT: Final = f"A whole number from {MIN_LEARNING_TURNS} to {MAX_LEARNING_TURNS}"


@dataclass(frozen=True, slots=True, kw_only=True)
class UncutTurns:
    """The person's turns that are in no segment yet, and the threshold."""

    turns: int
    threshold: int | None  # None: the default of the install


async def find_learning_threshold(tx: Transaction, person: PersonId) -> int | None:
    """Return the person's own threshold in turns, or None for the default of the install."""
    row = await tx.row("SELECT read_every FROM person WHERE id = :person", person=person)
    return None if row is None else row[0]


async def save_learning_threshold(tx: Transaction, person: PersonId, turns: int | None) -> None:
    """Store the person's threshold in turns; None restores the default. Raises InvalidInput."""
    if turns is not None and not MIN_LEARNING_TURNS <= turns <= MAX_LEARNING_TURNS:
        raise InvalidInput(f"{RANGE_TEXT}, and not {turns}.")
    await tx.run(
        "UPDATE person SET read_every = :turns WHERE id = :person", turns=turns, person=person
    )


async def count_uncut_turns(tx: Transaction, person: PersonId, session_id: SessionId) -> UncutTurns:
    """Count the person's messages in a session that are in no segment yet.

    Looks at the newest messages only, however many came before.
    """
    row = await tx.row(
        """SELECT s.after_seq, (SELECT max(g.last_seq) FROM segment g WHERE g.session = s.id),
             p.read_every
           FROM session s JOIN person p ON p.id = s.person
           WHERE s.id = :session AND s.person = :person""",
        session=session_id,
        person=person,
    )
    if row is None:
        return UncutTurns(turns=0, threshold=None)
    turns = await tx.row(
        """SELECT count(*) FROM message WHERE person = :person AND seq > :after
           AND session = :session AND version = 1 AND role = 'person'""",
        person=person,
        after=max(row[0], row[1] or 0),
        session=session_id,
    )
    assert turns is not None
    return UncutTurns(turns=int(turns[0]), threshold=row[2])


SegmentStatus = Literal["waiting", "done", "trivial", "failed", "taken back"]
UNREAD_STATUSES: Final = frozenset[SegmentStatus]({"waiting", "failed"})
"""Statuses of segments that are still to be consolidated, now or on request."""
CutReason = Literal["idle", "length", "turns", "pressure", "asked", "shutdown", "import"]
"""Why a segment ends where it ends."""

SEGMENT_COLUMNS: Final = """id, person, chat, session, first_seq, last_seq, messages, tokens,
           from_at,
    until_at, generation, status, cut_by, cut_at, author, outcome, error, ended_at"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A span of the log that is consolidated as a whole."""

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
    cut_by: CutReason
    cut_at: Micros
    author: str | None  # what has consolidated it
    outcome: Mapping[str, JsonValue]  # counts of what was learned and rejected
    error: str | None
    ended_at: Micros | None


@dataclass(frozen=True, slots=True, kw_only=True)
class UncutSpan:
    """The part of a session that is in no segment yet."""

    chat: ChatId
    session: SessionId
    is_open: bool
    is_imported: bool
    first_seq: int
    last_seq: int
    messages: int
    turns: int  # turns of the person
    tokens: int
    from_at: Micros
    until_at: Micros
    written_at: Micros  # when something was last written into it


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageSize:
    """The length of a message, and when it was said."""

    seq: int
    tokens: int
    at: Micros


async def list_uncut_spans(
    tx: Transaction, person: PersonId, *, session_id: SessionId | None = None, after: int = 0
) -> list[UncutSpan]:
    """List what is in no segment yet by session, oldest first.

    It is fast for one session only, or for what was written after a seq.
    """
    if session_id is not None:
        after = max(after, await get_last_cut_seq(tx, person, session_id))
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
        session=session_id,
        after=after,
    )
    return [
        UncutSpan(
            chat=ChatId(row[0]),
            session=SessionId(row[1]),
            is_open=row[2] == "open",
            is_imported=row[11] == "imported",
            written_at=int(row[10]),
            first_seq=int(row[3]),
            last_seq=int(row[4]),
            messages=int(row[5]),
            turns=int(row[6]),
            tokens=int(row[7]),
            from_at=int(row[8]),
            until_at=int(row[9]),
        )
        for row in rows
    ]


async def get_last_cut_seq(tx: Transaction, person: PersonId, session_id: SessionId) -> int:
    """Return the last seq of a session that is in a segment, or where it began if none is."""
    row = await tx.row(
        """SELECT coalesce((SELECT max(g.last_seq) FROM segment g WHERE g.session = s.id),
             s.after_seq)
           FROM session s WHERE s.id = :session AND s.person = :person""",
        session=session_id,
        person=person,
    )
    return 0 if row is None else int(row[0])


async def list_message_sizes(
    tx: Transaction, person: PersonId, uncut: UncutSpan
) -> list[MessageSize]:
    """List the sizes of the messages of an uncut span, in order of writing."""
    rows = await tx.rows(
        """SELECT seq, tokens, said_at FROM message
           WHERE person = :person AND session = :session AND version = 1
           AND seq BETWEEN :first_seq AND :last_seq ORDER BY seq""",
        person=person,
        session=uncut.session,
        first_seq=uncut.first_seq,
        last_seq=uncut.last_seq,
    )
    return [MessageSize(seq=row[0], tokens=row[1], at=row[2]) for row in rows]


async def cut_segment(
    tx: Transaction, person: PersonId, uncut: UncutSpan, *, cut_by: CutReason, now: Micros
) -> Segment:
    """Make an uncut span a segment that waits for consolidation.

    The caller holds the person's lock.
    """
    segment = SegmentId(new_id(now))
    await tx.run(
        """INSERT INTO segment (id, person, chat, session, first_seq, last_seq, messages, tokens,
             from_at, until_at, status, cut_by, cut_at)
           VALUES (:id, :person, :chat, :session, :first_seq, :last_seq, :messages, :tokens,
             :from_at, :until_at, 'waiting', :cut_by, :now)""",
        id=segment,
        person=person,
        chat=uncut.chat,
        session=uncut.session,
        first_seq=uncut.first_seq,
        last_seq=uncut.last_seq,
        messages=uncut.messages,
        tokens=uncut.tokens,
        from_at=uncut.from_at,
        until_at=uncut.until_at,
        cut_by=cut_by,
        now=now,
    )
    return await get_segment(tx, person, segment)


async def find_segment(tx: Transaction, person: PersonId, segment: SegmentId) -> Segment | None:
    """Return one segment, if it exists."""
    row = await tx.row(
        f"SELECT {SEGMENT_COLUMNS} FROM segment WHERE id = :id AND person = :person",
        id=segment,
        person=person,
    )
    return None if row is None else parse_segment_row(row)


async def get_segment(tx: Transaction, person: PersonId, segment: SegmentId) -> Segment:
    """Return one segment. Raises NotFound."""
    found = await find_segment(tx, person, segment)
    if found is None:
        raise NotFound(f"There is no segment {segment}.")
    return found


async def list_segments(
    tx: Transaction, person: PersonId, *, status: Sequence[SegmentStatus] = ()
) -> list[Segment]:
    """List a person's segments in order of time, all or those of some statuses."""
    parameters = {f"status{index}": each for index, each in enumerate(status)}
    where = f"AND status IN ({', '.join(f':{name}' for name in parameters)})" if parameters else ""
    rows = await tx.rows(
        f"SELECT {SEGMENT_COLUMNS} FROM segment WHERE person = :person {where} ORDER BY from_at, "
        "id",
        person=person,
        **parameters,
    )
    return [parse_segment_row(row) for row in rows]


async def list_waiting_segments(tx: Transaction, person: PersonId) -> list[Segment]:
    """List a person's waiting segments in order of time."""
    rows = await tx.rows(
        f"""SELECT {SEGMENT_COLUMNS} FROM segment WHERE person = :person AND status = 'waiting'
           ORDER BY from_at, id""",
        person=person,
    )
    return [parse_segment_row(row) for row in rows]


async def count_segments(tx: Transaction, person: PersonId) -> dict[SegmentStatus, int]:
    """Count a person's segments by status; statuses without any are left out."""
    rows = await tx.rows(
        "SELECT status, count(*) FROM segment WHERE person = :person GROUP BY status",
        person=person,
    )
    return {status: int(count) for status, count in rows}


async def count_segments_up_to(tx: Transaction, person: PersonId, *, limit: int) -> int:
    """Count a person's segments up to ``limit``."""
    rows = await tx.rows(
        "SELECT 1 FROM segment WHERE person = :person LIMIT :most", person=person, most=limit
    )
    return len(rows)


async def count_waiting_segments(tx: Transaction) -> int:
    """Count everybody's waiting segments."""
    row = await tx.row("SELECT count(*) FROM segment WHERE status = 'waiting'")
    assert row is not None
    return int(row[0])


async def count_segments_ended_since(tx: Transaction, person: PersonId, at: Micros) -> int:
    """Count a person's segments whose consolidation ended since a moment, even without success."""
    row = await tx.row(
        "SELECT count(*) FROM segment WHERE person = :person AND ended_at >= :at",
        person=person,
        at=at,
    )
    assert row is not None
    return int(row[0])


async def list_segment_messages(
    tx: Transaction, segment: Segment, *, written_until: Micros | None = None
) -> list[Message]:
    """List the messages of a segment as they read now, oldest first; those written by a moment."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE} FROM {MESSAGES}
           WHERE m.replaced_at IS NULL AND m.id IN
             (SELECT f.id FROM message f WHERE f.person = :person AND f.session = :session
              AND f.version = 1 AND f.seq BETWEEN :first_seq AND :last_seq)
           AND (:until IS NULL OR m.written_at <= :until) ORDER BY m.said_at, {MESSAGE_PLACE}""",
        until=written_until,
        person=segment.person,
        session=segment.session,
        first_seq=segment.first_seq,
        last_seq=segment.last_seq,
    )
    return [parse_message_row(row) for row in rows]


async def list_messages_before_segment(
    tx: Transaction, segment: Segment, *, limit: int
) -> list[Message]:
    """List the messages of its chat just before a segment, oldest first."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE} FROM {MESSAGES}
           WHERE c.person = :person AND m.chat = :chat AND m.replaced_at IS NULL
           AND m.said_at <= :from_at AND m.seq < :first_seq
           ORDER BY m.said_at DESC, {MESSAGE_PLACE} DESC LIMIT :limit""",
        person=segment.person,
        chat=segment.chat,
        from_at=segment.from_at,
        first_seq=segment.first_seq,
        limit=limit,
    )
    return [parse_message_row(row) for row in reversed(rows)]


async def set_segment_status(
    tx: Transaction,
    segment: Segment,
    status: SegmentStatus,
    *,
    author: str | None = None,
    outcome: Mapping[str, JsonValue] | None = None,
    error: str | None = None,
    now: Micros,
) -> bool:
    """Set a segment's status; return False without any change if the segment has changed since it
    was loaded.
    """
    touched = await tx.run(
        """UPDATE segment SET status = :status, author = coalesce(:author, author),
             outcome = coalesce(:outcome, outcome), error = :error,
             ended_at = CASE WHEN :status IN ('done', 'trivial', 'failed') THEN :now END
           WHERE id = :id AND person = :person AND generation = :generation
           AND status = :seen""",
        status=status,
        author=author,
        outcome=None if outcome is None else json.dumps(dict(outcome), ensure_ascii=False),
        error=error,
        now=now,
        id=segment.id,
        person=segment.person,
        generation=segment.generation,
        seen=segment.status,
    )
    return touched == 1


async def reopen_segments(
    tx: Transaction, person: PersonId, message_ids: Sequence[MessageId], *, is_edit: bool = True
) -> list[SegmentId]:
    """Let the segments of these messages be consolidated again; return which.

    An undone segment stays so, unless one of its messages was edited.
    """
    if not message_ids:
        return []
    parameters = {f"message{index}": each for index, each in enumerate(message_ids)}
    rows = await tx.rows(
        f"""UPDATE segment SET generation = generation + 1, ended_at = NULL, status = CASE
             WHEN status = 'taken back' AND :is_edit = 0 THEN status ELSE 'waiting' END
           WHERE person = :person AND id IN
             (SELECT g.id FROM segment g JOIN message m ON m.session = g.session
                AND m.person = g.person AND m.version = 1
                AND m.seq BETWEEN g.first_seq AND g.last_seq
              WHERE g.person = :person AND m.id IN ({", ".join(f":{name}" for name in parameters)}))
           RETURNING id""",
        person=person,
        is_edit=int(is_edit),
        **parameters,
    )
    return [SegmentId(row[0]) for row in rows]


async def find_last_read_segment(tx: Transaction, person: PersonId) -> Segment | None:
    """Return the segment that was consolidated last and not undone, if there is one."""
    row = await tx.row(
        f"""SELECT {SEGMENT_COLUMNS} FROM segment WHERE person = :person AND status = 'done'
           ORDER BY ended_at DESC, id DESC LIMIT 1""",
        person=person,
    )
    return None if row is None else parse_segment_row(row)


async def list_segments_read_since(tx: Transaction, person: PersonId, at: Micros) -> list[Segment]:
    """List the segments consolidated since a moment, in that order."""
    rows = await tx.rows(
        f"""SELECT {SEGMENT_COLUMNS} FROM segment WHERE person = :person AND status = 'done'
           AND ended_at >= :at ORDER BY ended_at, id""",
        person=person,
        at=at,
    )
    return [parse_segment_row(row) for row in rows]


async def find_segment_by_partial_id(
    tx: Transaction, person: PersonId, partial_id: str
) -> Segment | None:
    """Return the segment that a partial id means, if there is one. Raises InvalidInput."""
    rows = await tx.rows(
        f"""SELECT {SEGMENT_COLUMNS} FROM segment WHERE person = :person
           AND (id LIKE :begins OR id LIKE :ends OR id LIKE :shown) ORDER BY id LIMIT 5""",
        person=person,
        **build_id_patterns(partial_id),
    )
    if len(rows) > 1:
        found = [parse_segment_row(row) for row in rows]
        raise build_ambiguous_id_error(
            partial_id, {each.id: f"{each.messages} messages" for each in found}
        )
    return parse_segment_row(rows[0]) if rows else None


async def reopen_segment(tx: Transaction, segment: Segment) -> Segment:
    """Let a segment be consolidated again, although its messages are unchanged. Raises NotFound."""
    await tx.run(
        """UPDATE segment SET generation = generation + 1, status = 'waiting', ended_at = NULL
           WHERE id = :id AND person = :person""",
        id=segment.id,
        person=segment.person,
    )
    return await get_segment(tx, segment.person, segment.id)


async def remove_empty_segments(tx: Transaction, person: PersonId) -> list[SegmentId]:
    """Delete segments without messages; return which."""
    rows = await tx.rows(
        """DELETE FROM segment WHERE person = :person AND NOT EXISTS
             (SELECT 1 FROM message m WHERE m.session = segment.session AND m.version = 1
              AND m.person = segment.person
              AND m.seq BETWEEN segment.first_seq AND segment.last_seq)
           RETURNING id""",
        person=person,
    )
    return [SegmentId(row[0]) for row in rows]


def parse_segment_row(row: Row) -> Segment:
    """Parse a row of SEGMENT_COLUMNS."""
    return Segment(
        id=SegmentId(row[0]),
        person=PersonId(row[1]),
        chat=ChatId(row[2]),
        session=SessionId(row[3]),
        first_seq=row[4],
        last_seq=row[5],
        messages=row[6],
        tokens=row[7],
        from_at=row[8],
        until_at=row[9],
        generation=row[10],
        status=row[11],
        cut_by=row[12],
        cut_at=row[13],
        author=row[14],
        outcome=json.loads(row[15]) if row[15] else {},
        error=row[16],
        ended_at=row[17],
    )
