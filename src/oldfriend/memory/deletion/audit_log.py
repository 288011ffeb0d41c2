"""Deletion audit log: when and how much was deleted, never what; what is not cleaned yet."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.domain.messages import Message
from oldfriend.memory.deletion.own_records import ID_QUERY

ENTRY_COLUMNS = "done_at, what, counts, digest, proved_at"
DeletionKind = Literal["forget", "purge", "retain"]
"""What was named is forgotten, or everything by "/purge", or what was older than is kept."""


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


async def find_purge_time(tx: Transaction, person: PersonId) -> Micros | None:
    """Return when everything of a person was last forgotten; None: never."""
    row = await tx.row(
        "SELECT max(done_at) FROM audit WHERE person = :person AND what = 'purge'", person=person
    )
    return None if row is None else row[0]


async def list_purges(tx: Transaction, person: PersonId) -> list[AuditEntry]:
    """List the entries of a person's purges, oldest first."""
    return [each for each in await list_audit_entries(tx, person) if each.what == "purge"]


async def list_audit_entries(tx: Transaction, person: PersonId) -> list[AuditEntry]:
    """List a person's entries, oldest first."""
    rows = await tx.rows(
        f"SELECT {ENTRY_COLUMNS} FROM audit WHERE person = :person ORDER BY done_at, id",
        person=person,
    )
    return [parse_entry_row(row) for row in rows]


async def get_audit_entry(tx: Transaction, person: PersonId, entry: str) -> AuditEntry:
    """Return an entry by its id. Raises NotFound."""
    row = await tx.row(
        f"SELECT {ENTRY_COLUMNS} FROM audit WHERE person = :person AND id = :id",
        person=person,
        id=entry,
    )
    if row is None:
        raise NotFound(f"No deletion has the id {entry!r}.")
    return parse_entry_row(row)


def parse_entry_row(row: Row) -> AuditEntry:
    """Parse a row of ENTRY_COLUMNS."""
    done_at, what, counts, digest, proved_at = row
    return AuditEntry(
        done_at=done_at,
        what=what,
        counts=json.loads(counts),
        digest=digest,
        proved_at=proved_at,
    )


CLEANUP_COLUMNS = "id, person, begun_at, what, is_everything, sounds, traces, is_clean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cleanup:
    """A deletion whose files are not yet cleaned or not yet verified."""

    id: str  # the id of its audit entry
    person: PersonId
    begun_at: Micros
    what: DeletionKind
    is_everything: bool
    sounds: tuple[str, ...]  # file names in the person's audio folder
    traces: str = field(repr=False)  # the text fingerprints as JSON
    is_clean: bool = False  # only files that we may not change still contain it


@dataclass(frozen=True, slots=True, kw_only=True)
class ResidualFinding:
    """Deleted content that was still found."""

    place: str  # a table and column, or a file
    what: str  # "id" or "words"
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CleanupResult:
    """The result of one cleanup."""

    begun_at: Micros
    residuals: tuple[ResidualFinding, ...]  # where deleted content still stands
    stuck_files: tuple[str, ...]  # our files that could not be cleaned
    files_scanned: int  # number of files searched
    is_log_empty: bool
    is_clean: bool  # none of our files is still to be cleaned

    @property
    def is_verified(self) -> bool:
        """Whether everything in reach was searched and nothing was found."""
        return self.is_clean and not self.residuals


async def save_cleanup(tx: Transaction, cleanup: Cleanup) -> None:
    """Store a cleanup, in the transaction of the deletion."""
    await tx.run(
        """INSERT INTO cleanup (id, person, begun_at, what, is_everything, sounds, traces)
           VALUES (:id, :person, :begun_at, :what, :is_everything, :sounds, :traces)""",
        id=cleanup.id,
        person=cleanup.person,
        begun_at=cleanup.begun_at,
        what=cleanup.what,
        is_everything=int(cleanup.is_everything),
        sounds=json.dumps(cleanup.sounds),
        traces=cleanup.traces,
    )


async def list_cleanups(tx: Transaction) -> list[Cleanup]:
    """List everybody's unverified cleanups, oldest first."""
    rows = await tx.rows(f"SELECT {CLEANUP_COLUMNS} FROM cleanup ORDER BY begun_at, id")
    return [parse_cleanup_row(row) for row in rows]


async def has_pending_files(tx: Transaction) -> bool:
    """Whether files are still to be cleaned."""
    return await tx.row("SELECT 1 FROM cleanup WHERE is_clean = 0 LIMIT 1") is not None


async def list_unverified(tx: Transaction) -> list[tuple[PersonId, Micros]]:
    """List whose cleanups are not verified, and since when, oldest first."""
    rows = await tx.rows("SELECT person, begun_at FROM cleanup ORDER BY begun_at, id")
    return [(PersonId(person), begun_at) for person, begun_at in rows]


async def mark_cleanup_clean(tx: Transaction, cleanup: Cleanup) -> None:
    """Record that all our files are clean, although the content still stands elsewhere."""
    await tx.run(
        "UPDATE cleanup SET is_clean = 1 WHERE person = :person AND id = :id",
        person=cleanup.person,
        id=cleanup.id,
    )


async def finish_cleanup(tx: Transaction, cleanup: Cleanup, *, proved_at: Micros | None) -> None:
    """Delete a finished cleanup and record in the audit log when it was verified, if it was."""
    await tx.run(
        "DELETE FROM cleanup WHERE person = :person AND id = :id",
        person=cleanup.person,
        id=cleanup.id,
    )
    await tx.run(
        "UPDATE audit SET proved_at = :at WHERE person = :person AND id = :id",
        at=proved_at,
        person=cleanup.person,
        id=cleanup.id,
    )


def parse_cleanup_row(row: Row) -> Cleanup:
    """Parse a row of CLEANUP_COLUMNS."""
    cleanup_id, person, begun_at, what, is_everything, sounds, traces, is_clean = row
    names: Sequence[str] = json.loads(sounds)
    return Cleanup(
        id=cleanup_id,
        person=PersonId(person),
        begun_at=begun_at,
        what=what,
        is_everything=bool(is_everything),
        sounds=tuple(names),
        traces=traces,
        is_clean=bool(is_clean),
    )


async def has_all_sources(tx: Transaction, person: PersonId, ids: Collection[str]) -> bool:
    """Whether all these messages, beliefs and own records still exist.

    A message exists as long as its first version, which deletion removes last. The person is
    checked in the select list: in the WHERE clause SQLite would scan all messages of the person.
    """
    parameters = {f"id{index}": each for index, each in enumerate(sorted(set(ids)))}
    if not parameters:
        return True
    listed = ", ".join(f":{name}" for name in parameters)
    query = ID_QUERY.format(condition=f"id IN ({listed})")
    records = {row[1] for row in await tx.rows(query, person=person, **parameters)}
    parameters = {name: each for name, each in parameters.items() if each not in records}
    if not parameters:
        return True
    listed = ", ".join(f":{name}" for name in parameters)
    row = await tx.row(
        f"""SELECT (SELECT count(CASE WHEN person = :person THEN 1 END) FROM message
               WHERE version = 1 AND id IN ({listed}))
             + (SELECT count(DISTINCT object) FROM change
               WHERE person = :person AND object IN ({listed}))""",
        person=person,
        **parameters,
    )
    return row is not None and int(row[0]) == len(parameters)


async def has_unchanged_versions(
    tx: Transaction, person: PersonId, messages: Collection[Message]
) -> bool:
    """Whether these very versions of messages still exist with the same text."""
    expected = {each.seq: each.text for each in messages}
    if not expected:
        return True
    parameters = {f"seq{index}": seq for index, seq in enumerate(expected)}
    listed = ", ".join(f":{name}" for name in parameters)
    rows = await tx.rows(
        f"SELECT seq, text FROM message WHERE person = :person AND seq IN ({listed})",
        person=person,
        **parameters,
    )
    return {int(seq): text for seq, text in rows} == expected
