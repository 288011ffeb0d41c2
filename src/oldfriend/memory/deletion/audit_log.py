"""Deletion audit log: when something was deleted for good and how much, never what."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, new_id

DeletionKind = Literal["forget", "retain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One entry of the deletion audit log."""

    done_at: Micros
    what: DeletionKind
    counts: Mapping[str, int]
    digest: str  # of the report that the person was given
    proved_at: Micros | None = None  # when it was verified that nothing is left


async def save_audit_entry(tx: Transaction, person: PersonId, entry: AuditEntry) -> str:
    """Store an unverified entry and return its id."""
    entry_id = new_id(entry.done_at)
    await tx.run(
        """INSERT INTO audit (id, person, done_at, what, counts, digest)
           VALUES (:id, :person, :done_at, :what, :counts, :digest)""",
        id=entry_id,
        person=person,
        done_at=entry.done_at,
        what=entry.what,
        counts=json.dumps(dict(entry.counts), sort_keys=True),
        digest=entry.digest,
    )
    return entry_id


async def has_deletions_after(tx: Transaction, person: PersonId, moment: Micros) -> bool:
    """Whether anything of a person was deleted for good after a moment."""
    row = await tx.row(
        "SELECT 1 FROM audit WHERE person = :person AND done_at > :moment LIMIT 1",
        person=person,
        moment=moment,
    )
    return row is not None


async def list_audit_entries(tx: Transaction, person: PersonId) -> list[AuditEntry]:
    """List a person's entries, oldest first."""
    rows = await tx.rows(
        """SELECT done_at, what, counts, digest, proved_at FROM audit WHERE person = :person
           ORDER BY done_at, id""",
        person=person,
    )
    return [
        AuditEntry(
            done_at=done_at,
            what=what,
            counts=json.loads(counts),
            digest=digest,
            proved_at=proved_at,
        )
        for done_at, what, counts, digest, proved_at in rows
    ]
