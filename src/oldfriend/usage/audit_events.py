"""Audit events: unprompted messages, reminders, imports, merges, questions of programs, failures.

They are read from tables that are kept anyway, and hold no words of a conversation but what a
program asked.
"""

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.messages import PROGRAM_DETAIL
from oldfriend.usage.program_questions import list_questions

EventKind = Literal["unasked", "reminder", "import", "merge", "question", "failure", "stranger"]
REMINDER_IDS: Final = "unprompted/task/%"
"""The external ids of the messages that reminders are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Something that happened."""

    at: Micros
    kind: EventKind
    what: str  # the kind of message, the format of a file, the queue, the channel or the program
    why: str = ""  # what a program asked by
    ending: str = "done"
    turn: str = ""
    details: str = ""
    task: str = ""  # the id of a reminder
    question: str = ""  # the id of a program's question
    given: int | None = None  # how many messages and beliefs the program was given


async def list_unasked_events(
    tx: Transaction, person: PersonId, *, limit: int, until: Micros | None
) -> list[AuditEvent]:
    """List the messages that nobody asked for, the newest first."""
    rows = await tx.rows(
        """SELECT decided_at, kind FROM impulse
           WHERE person = :person AND status = 'said' AND (:until IS NULL OR decided_at <= :until)
           ORDER BY decided_at DESC, id DESC LIMIT :limit""",
        person=person,
        until=until,
        limit=limit,
    )
    return [AuditEvent(at=int(at), kind="unasked", what=kind) for at, kind in rows]


async def list_reminder_events(
    tx: Transaction, person: PersonId, *, limit: int, until: Micros | None
) -> list[AuditEvent]:
    """List the reminders that were sent, the newest first."""
    rows = await tx.rows(
        """SELECT said_at, turn, external_id FROM message
           WHERE person = :person AND role = 'companion' AND external_id LIKE :ids
           AND replaced_at IS NULL AND (:until IS NULL OR said_at <= :until)
           ORDER BY said_at DESC, seq DESC LIMIT :limit""",
        person=person,
        ids=REMINDER_IDS,
        until=until,
        limit=limit,
    )
    return [
        AuditEvent(
            at=int(at),
            kind="reminder",
            what="reminder",
            turn=turn or "",
            task=external_id.removeprefix(REMINDER_IDS.rstrip("%")).partition("/")[0],
        )
        for at, turn, external_id in rows
    ]


async def list_import_events(
    tx: Transaction, person: PersonId, *, limit: int, until: Micros | None
) -> list[AuditEvent]:
    """List the files that were brought in, by their format, the newest first."""
    rows = await tx.rows(
        """SELECT started_at, format, status, number, added, known FROM import_batch
           WHERE person = :person AND (:until IS NULL OR started_at <= :until)
           ORDER BY started_at DESC, number DESC LIMIT :limit""",
        person=person,
        until=until,
        limit=limit,
    )
    return [
        AuditEvent(
            at=int(at),
            kind="import",
            what=name,
            ending=status,
            details=f"number: {number}, added: {added}, known: {known}",
        )
        for at, name, status, number, added, known in rows
    ]


async def list_merge_events(
    tx: Transaction, person: PersonId, *, limit: int, until: Micros | None
) -> list[AuditEvent]:
    """List the merges with other people of the last weeks, and their undoing, the newest first."""
    rows = await tx.rows(
        """SELECT happened_at, ending FROM (
             SELECT merged_at AS happened_at, 'done' AS ending, id FROM person_merge
             WHERE person = :person
             UNION ALL SELECT undone_at, 'undone', id FROM person_merge
             WHERE person = :person AND undone_at IS NOT NULL) AS merges
           WHERE :until IS NULL OR happened_at <= :until
           ORDER BY happened_at DESC, id DESC, ending DESC LIMIT :limit""",
        person=person,
        until=until,
        limit=limit,
    )
    return [AuditEvent(at=int(at), kind="merge", what="merge", ending=end) for at, end in rows]


async def list_question_events(
    tx: Transaction, person: PersonId, *, limit: int, until: Micros | None
) -> list[AuditEvent]:
    """List what programs asked of the memory, the newest first."""
    return [
        AuditEvent(
            at=each.asked_at,
            kind="question",
            what=each.program,
            why=each.tool,
            details=each.asked,
            question=each.id,
            given=len(each.given),
        )
        for each in await list_questions(tx, person, limit=limit, until=until)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Which message asked for a turn, and through what."""

    message: MessageId
    program: str  # the id of its token, else the channel


async def list_askers(
    tx: Transaction, person: PersonId, turns: Collection[str]
) -> dict[str, Asker]:
    """Return who asked for each of some turns, by the receipts of their replies."""
    names = {f"turn{index}": turn for index, turn in enumerate(sorted(turns))}
    if not names:
        return {}
    rows = await tx.rows(
        f"""SELECT r.turn, r.asked, c.channel, m.details FROM receipt r
           JOIN message m ON m.seq = r.asked_seq AND m.person = r.person
           JOIN chat c ON c.id = m.chat
           WHERE r.person = :person AND r.turn IN ({", ".join(f":{name}" for name in names)})""",
        person=person,
        **names,
    )
    return {
        turn: Asker(
            message=MessageId(asked),
            program=json.loads(details or "{}").get(PROGRAM_DETAIL, channel),
        )
        for turn, asked, channel, details in rows
    }


async def list_failure_events(
    tx: Transaction, person: PersonId, *, limit: int, until: Micros | None
) -> list[AuditEvent]:
    """List the jobs that failed and are not tried again by themselves, the newest first."""
    rows = await tx.rows(
        """SELECT dead_lettered_at, queue, attempts FROM job
           WHERE person = :person AND dead_lettered_at IS NOT NULL
           AND (:until IS NULL OR dead_lettered_at <= :until)
           ORDER BY dead_lettered_at DESC, queue, seq LIMIT :limit""",
        person=person,
        until=until,
        limit=limit,
    )
    return [
        AuditEvent(
            at=int(at), kind="failure", what=queue, ending="failed", details=f"attempts: {attempts}"
        )
        for at, queue, attempts in rows
    ]


async def list_stranger_events(
    tx: Transaction, person: PersonId, *, limit: int, until: Micros | None
) -> list[AuditEvent]:
    """Count the refused strangers of the last day by channel, for the owner alone."""
    rows = await tx.rows(
        """SELECT max(told_at) AS last_at, channel, count(*), sum(messages) FROM stranger
           WHERE EXISTS (SELECT 1 FROM person WHERE id = :person AND is_owner = 1)
           GROUP BY channel ORDER BY last_at DESC, channel LIMIT :limit""",
        person=person,
        limit=limit,
    )
    return [
        AuditEvent(
            at=int(at),
            kind="stranger",
            what=channel,
            ending="not let in",
            details=f"senders: {senders}, messages: {messages}",
        )
        for at, channel, senders, messages in rows
        if until is None or at <= until
    ]
