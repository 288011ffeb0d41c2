"""Database interface: the protocols that every engine implements.

SQL is written once, in the portable subset, with named parameters (``:person``). A SELECT may end
in ``FOR UPDATE`` or ``FOR UPDATE SKIP LOCKED``: a transaction must lock what it reads in order to
write it, for on PostgreSQL several transactions write at once. SQLite, where one writes at a time,
ignores the clause.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from oldfriend.domain.clock import Micros

SqlValue = str | int | float | bytes | None
Row = tuple[Any, ...]  # the author of the SELECT knows the types


@dataclass(frozen=True, slots=True, kw_only=True)
class TableInfo:
    """A table as the database describes it."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]  # the columns of the primary key


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalEdits:
    """Changes that were made to a store by other means since it was last written."""

    message_ids: tuple[tuple[str, str], ...]  # (person, message) of messages with another text


class Transaction(Protocol):
    """One consistent view of the data; a write transaction commits as a whole or not at all."""

    async def rows(self, sql: str, /, **values: SqlValue) -> list[Row]:
        """Return all rows of a query."""
        ...

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """Return the first row of a query, or None."""
        ...

    async def run(self, sql: str, /, **values: SqlValue) -> int:
        """Execute a statement, and return the number of affected rows."""
        ...

    async def lock(self, sql: str, /, **values: SqlValue) -> None:
        """Lock the rows of a SELECT that ends in FOR UPDATE, without reading them."""
        ...

    async def run_many(self, sql: str, batch: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement once for each set of values."""
        ...

    async def list_tables(self) -> list[TableInfo]:
        """Return all tables except the schema state, each after those it references."""
        ...

    async def read_clock(self) -> Micros:
        """Return the real time, the same for all processes on this database. For leases only."""
        ...

    async def notify(self) -> None:
        """Wake the processes that wait for changes, on commit; call it if any may be waiting."""
        ...


class Database(Protocol):
    """An open database. All reads and writes happen in transactions."""

    migration_backup: Path | None
    """The backup made before a migration on opening, if the engine makes one."""

    external_edits: ExternalEdits | None
    """Edits made by hand before it was opened, if the engine detects them; None: no edits."""

    max_bytes: int | None
    """The size limit of the store; None: unlimited."""

    @property
    def is_read_only(self) -> bool:
        """Whether it cannot be written now, because of permissions or a read-only disk."""
        ...

    def begin_read(self) -> AbstractAsyncContextManager[Transaction]:
        """Return a context of a read snapshot."""
        ...

    def begin_write(self, *, urgent: bool = False) -> AbstractAsyncContextManager[Transaction]:
        """Return a context of a write transaction that commits on exit, or rolls back on error.

        An ``urgent`` one goes before others that wait in this process, and commits without waiting
        for them.
        """
        ...

    async def probe_write(self) -> None:
        """Write without changing or growing anything. Raises StoreError."""
        ...

    async def wait_for_change(self) -> None:
        """Return once another process may have written something new."""
        ...

    async def truncate_wal(self) -> bool:
        """Remove deleted data from the write-ahead log; False while others still read it there."""
        ...

    async def vacuum(self) -> bool:
        """Rewrite all data so that nothing deleted stays in gaps; False if not possible now.

        A server is asked to do so; what it does with the bytes is its own business.
        """
        ...

    def list_files(self) -> tuple[Path, ...]:
        """Return the files of the database and their backups; empty if they are on a server."""
        ...

    def list_backups(self) -> tuple[Path, ...]:
        """Return the backups that were made before migrations."""
        ...

    def iter_raw_bytes(self) -> AsyncIterator[tuple[Path, bytes]]:
        """Yield the bytes of the open files in pieces that overlap a little."""
        ...

    async def size_bytes(self) -> int:
        """Return how many bytes the database takes."""
        ...

    async def free_bytes(self) -> int:
        """Return how many of these bytes are free, and are used before it grows."""
        ...

    async def check_integrity(self) -> list[str]:
        """Return what is wrong with the stored bytes; empty if they are sound."""
        ...

    async def close(self) -> None:
        """Close all connections."""
        ...


async def iter_no_bytes() -> AsyncIterator[tuple[Path, bytes]]:
    """Yield nothing: for databases without a file that can be read here."""
    nothing: tuple[tuple[Path, bytes], ...] = ()
    for piece in nothing:
        yield piece
