"""When was something taken away for good, and how much? Counts, never content."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId, new_id

Deed = Literal["forget", "retain"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited:
    """One entry."""

    done_at: Micros
    what: Deed
    counts: Mapping[str, int]
    digest: str  # of the report that was given


async def write_audit(tx: Transaction, person: PersonId, entry: Audited) -> None:
    """Keep an entry."""
    await tx.run(
        """INSERT INTO audit (id, person, done_at, what, counts, digest)
           VALUES (:id, :person, :done_at, :what, :counts, :digest)""",
        id=new_id(entry.done_at), person=person, done_at=entry.done_at, what=entry.what,
        counts=json.dumps(dict(entry.counts), sort_keys=True), digest=entry.digest,
    )  # fmt: skip


async def list_audited(tx: Transaction, person: PersonId) -> list[Audited]:
    """A person's entries, the oldest first."""
    rows = await tx.rows(
        """SELECT done_at, what, counts, digest FROM audit WHERE person = :person
           ORDER BY done_at, id""",
        person=person,
    )
    return [
        Audited(done_at=done_at, what=what, counts=json.loads(counts), digest=digest)
        for done_at, what, counts, digest in rows
    ]
