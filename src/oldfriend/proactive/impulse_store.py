"""Impulse store: what could be said unasked, with every decision about it and its reason."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MessageId, PersonId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.proactive.policy import Impulse, ProactiveDecision

ImpulseStatus = Literal["waiting", "said", "dropped"]
COLUMNS: Final = """id, kind, key, status, sources, not_before, expires_at, urgency, relevance,
    made_at, decided_at, message, decisions"""
MAX_DECISIONS: Final = 20
"""Decisions kept of one impulse, the newest; one that only repeats the last is not added."""
SILENT_LOOKS_KEPT_FOR: Final = DAY
"""So long a look at the checklist is kept of which nothing was said."""
KEPT_FOR: Final = 400 * DAY
"""So long an impulse that is over is kept: the anniversaries of a year are among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredImpulse:
    """An impulse with its status and history."""

    id: str
    impulse: Impulse
    status: ImpulseStatus
    made_at: Micros
    decided_at: Micros | None
    message: MessageId | None
    decisions: tuple[tuple[Micros, ProactiveDecision], ...]  # oldest first


async def add_impulses(
    tx: Transaction, person: PersonId, impulses: Sequence[Impulse], *, now: Micros
) -> None:
    """Store new impulses; one that waits under a known key rests on what is found now."""
    await tx.run_many(
        """INSERT INTO impulse (id, person, kind, key, status, sources, not_before, expires_at,
             urgency, relevance, made_at, decisions)
           VALUES (:id, :person, :kind, :key, 'waiting', :sources, :not_before, :expires_at,
             :urgency, :relevance, :now, '[]')
           ON CONFLICT (person, key) DO UPDATE SET sources = excluded.sources
           WHERE impulse.person = :person AND impulse.status = 'waiting'""",
        [
            {
                "id": new_id(now),
                "person": person,
                "kind": each.kind,
                "key": each.key,
                "sources": json.dumps(list(each.sources)),
                "not_before": each.not_before,
                "expires_at": each.expires_at,
                "urgency": each.urgency,
                "relevance": each.relevance,
                "now": now,
            }
            for each in impulses
        ],
    )


async def list_waiting_impulses(tx: Transaction, person: PersonId) -> list[StoredImpulse]:
    """Return the impulses that are neither said nor dropped, oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM impulse WHERE person = :person AND status = 'waiting'
           ORDER BY made_at, id""",
        person=person,
    )
    return [parse_impulse_row(row, person) for row in rows]


async def list_known_keys(tx: Transaction, person: PersonId) -> frozenset[str]:
    """Return the keys of all impulses that are said or dropped."""
    rows = await tx.rows(
        "SELECT key FROM impulse WHERE person = :person AND status IN ('said', 'dropped')",
        person=person,
    )
    return frozenset(str(row[0]) for row in rows)


async def list_impulses(
    tx: Transaction, person: PersonId, *, limit: int, status: ImpulseStatus | None = None
) -> list[StoredImpulse]:
    """Return the newest impulses, of one status if named, newest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM impulse WHERE person = :person
           AND (:status IS NULL OR status = :status)
           ORDER BY coalesce(decided_at, made_at) DESC, id DESC LIMIT :limit""",
        person=person,
        status=status,
        limit=limit,
    )
    return [parse_impulse_row(row, person) for row in rows]


async def list_said_times(tx: Transaction, person: PersonId, *, limit: int) -> tuple[Micros, ...]:
    """Return when it spoke first the last times, oldest first."""
    rows = await tx.rows(
        """SELECT decided_at FROM impulse WHERE person = :person AND status = 'said'
           ORDER BY decided_at DESC LIMIT :limit""",
        person=person,
        limit=limit,
    )
    return tuple(int(row[0]) for row in reversed(rows))


async def find_last_said(tx: Transaction, person: PersonId) -> StoredImpulse | None:
    """Return what it has said unasked last; None if it never has."""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM impulse WHERE person = :person AND status = 'said'
           ORDER BY decided_at DESC, id DESC LIMIT 1""",
        person=person,
    )
    return None if row is None else parse_impulse_row(row, person)


async def find_said_in(
    tx: Transaction, person: PersonId, message_id: MessageId
) -> StoredImpulse | None:
    """Return what a message has said unasked; None if it has said nothing of that kind."""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM impulse
           WHERE person = :person AND message = :message AND status = 'said' LIMIT 1""",
        person=person,
        message=message_id,
    )
    return None if row is None else parse_impulse_row(row, person)


async def record_impulse_decision(
    tx: Transaction,
    stored: StoredImpulse,
    decision: ProactiveDecision,
    *,
    now: Micros,
    message_id: MessageId | None = None,
) -> bool:
    """Record what was decided; return False if the impulse is said or dropped by now, or gone.

    A decision to wait for the same reason as before is not recorded again.
    """
    before = stored.decisions[-1][1] if stored.decisions else None
    if decision.verdict == "wait" and before is not None and before.reason == decision.reason:
        return True
    decisions = [*stored.decisions, (now, decision)][-MAX_DECISIONS:]
    status = {"wait": "waiting", "say": "said", "drop": "dropped"}[decision.verdict]
    changed = await tx.run(
        """UPDATE impulse SET status = :status, decisions = :decisions, message = :message,
             decided_at = CASE WHEN :status = 'waiting' THEN NULL ELSE :now END
           WHERE person = :person AND id = :id AND status = 'waiting'""",
        status=status,
        decisions=json.dumps([format_decision(at, each) for at, each in decisions]),
        message=message_id,
        now=now,
        person=stored.impulse.person,
        id=stored.id,
    )
    return changed == 1


async def delete_old_impulses(tx: Transaction, person: PersonId, *, now: Micros) -> int:
    """Delete impulses that have been over for long, and return their number."""
    return await tx.run(
        """DELETE FROM impulse WHERE person = :person AND (status IN ('said', 'dropped')
           AND decided_at < :before OR kind = 'checklist' AND status = 'dropped'
           AND expires_at < :lately)""",
        person=person,
        before=now - KEPT_FOR,
        lately=now - SILENT_LOOKS_KEPT_FOR,
    )


def format_decision(at: Micros, decision: ProactiveDecision) -> JsonValue:
    """Return a decision as it is stored."""
    return [at, decision.verdict, decision.reason, decision.until]


def parse_impulse_row(row: Row, person: PersonId) -> StoredImpulse:
    """Build an impulse from a row of COLUMNS."""
    impulse_id, kind, key, status, sources, not_before, expires_at, urgency, relevance = row[:9]
    made_at, decided_at, message, decisions = row[9:]
    return StoredImpulse(
        id=impulse_id,
        impulse=Impulse(
            person=person,
            kind=kind,
            key=key,
            sources=tuple(json.loads(sources)),
            not_before=not_before,
            expires_at=expires_at,
            urgency=urgency,
            relevance=relevance,
        ),
        status=status,
        made_at=made_at,
        decided_at=decided_at,
        message=None if message is None else MessageId(message),
        decisions=tuple(
            (at, ProactiveDecision(verdict=verdict, reason=reason, until=until))
            for at, verdict, reason, until in json.loads(decisions)
        ),
    )
