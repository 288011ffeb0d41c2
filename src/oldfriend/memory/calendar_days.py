"""Calendar queries: messages, sessions, events, due items and summaries within a time span.

Sessions are described by their first and last messages; their texts are read elsewhere.
"""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.memories import StoredBelief, Summary
from oldfriend.memory.belief_views import MEMORY_COLUMNS, SUMMARY_COLUMNS, from_row
from oldfriend.memory.journal import QUARTER_HOUR

FUTURE_SQL: Final = ", ".join(f"'{kind}'" for kind in sorted(FUTURE_KINDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSpan:
    """One session, or the part of it within a time span."""

    session: str
    channel: str
    title: str  # of the chat
    first_message: MessageId
    began_at: Micros
    ended_at: Micros
    messages: int


async def count_messages_by_quarter_hour(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> dict[Micros, int]:
    """Count the messages in each quarter of an hour of a span; empty quarters are left out."""
    rows = await tx.rows(
        """SELECT said_at / :quarter, count(*) FROM message
           WHERE person = :person AND said_at >= :since AND said_at < :until
           AND version = 1 AND role <> 'marker' GROUP BY 1""",
        person=person,
        since=since,
        until=until,
        quarter=QUARTER_HOUR,
    )
    return {Micros(int(quarter) * QUARTER_HOUR): int(count) for quarter, count in rows}


async def find_first_message_time(tx: Transaction, person: PersonId) -> Micros | None:
    """Return when the earliest message was said, or None if there is none."""
    row = await tx.row(
        "SELECT said_at FROM message WHERE person = :person ORDER BY said_at LIMIT 1",
        person=person,
    )
    return None if row is None else Micros(int(row[0]))


async def list_session_spans(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[SessionSpan]:
    """List the sessions of a span in order of time."""
    rows = await tx.rows(
        """SELECT m.session, c.channel, c.title, min(m.said_at), max(m.said_at), count(*),
             min(m.seq)
           FROM message m JOIN chat c ON c.id = m.chat
           WHERE m.person = :person AND m.said_at >= :since AND m.said_at < :until
           AND m.version = 1 AND m.role <> 'marker'
           GROUP BY m.session, c.channel, c.title ORDER BY 4, 1""",
        person=person,
        since=since,
        until=until,
    )
    first_ids = await _load_ids_by_seq(tx, person, [int(row[6]) for row in rows])
    return [
        SessionSpan(
            session=session,
            channel=channel,
            title=title,
            first_message=first_ids[int(seq)],
            began_at=Micros(int(began_at)),
            ended_at=Micros(int(ended_at)),
            messages=int(messages),
        )
        for session, channel, title, began_at, ended_at, messages, seq in rows
    ]


async def list_events_between(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[StoredBelief]:
    """List the events known to have happened in a span, those of the greatest impact first."""
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS} FROM memory WHERE person = :person AND kind = 'event'
           AND ended_at IS NULL AND happened_at >= :since AND happened_at < :until
           ORDER BY abs(impact) DESC, happened_at, id""",
        person=person,
        since=since,
        until=until,
    )
    return [from_row(StoredBelief, row) for row in rows]


async def list_grave_events(
    tx: Transaction, person: PersonId, *, since: Micros, impact: int
) -> list[StoredBelief]:
    """List the events learned of what somebody said here since a time that weigh so much at least.

    For good or ill; what was imported was said elsewhere, and long ago.
    """
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS} FROM memory WHERE person = :person AND kind = 'event'
           AND ended_at IS NULL AND learned_at >= :since AND abs(impact) >= :impact AND EXISTS
             (SELECT 1 FROM evidence e JOIN message m ON m.person = e.person AND m.id = e.message
              WHERE e.person = memory.person AND e.object = memory.id AND e.withdrawn_at IS NULL
              AND m.role = 'person' AND m.batch IS NULL AND m.said_at >= :since)
           ORDER BY learned_at, id""",
        person=person,
        since=since,
        impact=impact,
    )
    return [from_row(StoredBelief, row) for row in rows]


async def list_due_between(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[StoredBelief]:
    """List commitments and expectations due in a span, also fulfilled or expired ones, in order."""
    rows = await tx.rows(
        f"""SELECT {MEMORY_COLUMNS} FROM memory WHERE person = :person
           AND kind IN ({FUTURE_SQL})
           AND due_at >= :since AND due_at < :until
           AND (ended_at IS NULL OR status IN ('fulfilled', 'expired')) ORDER BY due_at, id""",
        person=person,
        since=since,
        until=until,
    )
    return [from_row(StoredBelief, row) for row in rows]


async def find_last_due_time(tx: Transaction, person: PersonId) -> Micros | None:
    """Return when the last open commitment or expectation is due, or None if there is none."""
    row = await tx.row(
        f"""SELECT max(due_at) FROM memory WHERE person = :person
           AND kind IN ({FUTURE_SQL}) AND ended_at IS NULL""",
        person=person,
    )
    return None if row is None or row[0] is None else Micros(int(row[0]))


async def list_summaries_between(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[Summary]:
    """List the summaries of a span in order, covering nothing twice.

    Of summaries that lie within the span, only the highest level is listed; one that reaches beyond
    it is replaced by its sources.
    """
    rows = await tx.rows(
        f"""SELECT {SUMMARY_COLUMNS} FROM summary WHERE person = :person AND ended_at IS NULL
           AND from_at < :until AND until_at >= :since ORDER BY from_at, id""",
        person=person,
        since=since,
        until=until,
    )
    found = [from_row(Summary, row) for row in rows]
    within = [each for each in found if each.from_at >= since and each.until_at < until]
    covered = {source for each in within for source in each.sources}
    return [
        each for each in found if each.id not in covered and (each in within or not each.sources)
    ]


async def _load_ids_by_seq(
    tx: Transaction, person: PersonId, seqs: list[int]
) -> dict[int, MessageId]:
    """Return the message ids at these seqs."""
    names = {f"seq{index}": seq for index, seq in enumerate(seqs)}
    if not names:
        return {}
    rows = await tx.rows(
        f"""SELECT seq, id FROM message WHERE person = :person
           AND seq IN ({", ".join(f":{name}" for name in names)})""",
        person=person,
        **names,
    )
    return {int(seq): MessageId(name) for seq, name in rows}
