"""Change feed: messages and decisions that are newer than a position in the feed.

A position consists of three counters that every write raises, in any process, so nothing has to be
stored for each reader. This module knows nothing of web pages.
"""

from collections.abc import Collection
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import JournalEntry, ObjectKind
from oldfriend.domain.messages import Message
from oldfriend.memory.journal import JOURNAL_COLUMNS as CHANGE_COLUMNS
from oldfriend.memory.journal import parse_journal_row
from oldfriend.memory.message_log import MESSAGE_COLUMNS, MESSAGE_TABLES, parse_message_row


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedPosition:
    """How far a reader has read: the last message, the last decision, the number of deletions."""

    last_seq: int = 0
    last_change: int = 0
    deletions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendedMessage:
    """A message version that was written, and whether it is the first of its session."""

    message: Message
    opens_session: bool


async def get_feed_position(tx: Transaction, person: PersonId) -> FeedPosition:
    """Return the position at which nothing is newer."""
    row = await tx.row(
        "SELECT last_seq, last_change, rewritten FROM person WHERE id = :person", person=person
    )
    assert row is not None
    return FeedPosition(last_seq=row[0], last_change=row[1], deletions=row[2])


async def list_appended_messages(
    tx: Transaction, person: PersonId, *, after: int, limit: int
) -> list[AppendedMessage]:
    """List the current message versions of all channels after a seq, in order of writing."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS}, NOT EXISTS (SELECT 1 FROM message e WHERE e.person = m.person
             AND e.chat = m.chat AND e.session = m.session AND e.seq < m.seq)
           FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.seq > :after AND m.replaced_at IS NULL
           ORDER BY m.seq LIMIT :limit""",
        person=person,
        after=after,
        limit=limit,
    )
    return [
        AppendedMessage(message=parse_message_row(row[:-1]), opens_session=bool(row[-1]))
        for row in rows
    ]


async def list_journal_after(
    tx: Transaction, person: PersonId, *, after: int, limit: int
) -> list[JournalEntry]:
    """List the decisions after a seq, in order."""
    rows = await tx.rows(
        f"""SELECT {CHANGE_COLUMNS} FROM change WHERE person = :person AND seq > :after
           ORDER BY seq LIMIT :limit""",
        person=person,
        after=after,
        limit=limit,
    )
    return [parse_journal_row(row) for row in rows]


async def list_latest_entries(
    tx: Transaction,
    person: PersonId,
    *,
    kinds: Collection[ObjectKind],
    before: int | None,
    limit: int,
) -> list[JournalEntry]:
    """List the newest decision about each object of some kinds, also ended ones, latest first."""
    parameters = {f"kind{index}": kind for index, kind in enumerate(sorted(kinds))}
    rows = await tx.rows(
        f"""SELECT {CHANGE_COLUMNS} FROM change WHERE person = :person AND ended_at IS NULL
           AND (:before IS NULL OR seq < :before)
           AND kind IN ({", ".join(f":{name}" for name in parameters)})
           ORDER BY seq DESC LIMIT :limit""",
        person=person,
        before=before,
        limit=limit,
        **parameters,
    )
    return [parse_journal_row(row) for row in rows]
