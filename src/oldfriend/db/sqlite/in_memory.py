"""In-memory SQLite: one writing connection, with readers on snapshots.

A database in memory has one connection and no snapshots. So readers use copies of the last
committed image, made anew whenever there is a newer one; uncommitted changes are not in it. A hook
before each commit lets the owner persist the data.
"""

from asyncio import Event
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final

import apsw

from oldfriend.db.database import ExternalEdits, iter_no_bytes
from oldfriend.db.schema import Migration, SchemaState, load_migrations
from oldfriend.db.sqlite.connection import STATEMENT_CACHE_SIZE, map_sqlite_errors
from oldfriend.db.sqlite.group_commit import SqliteWriteContext
from oldfriend.db.sqlite.pool import WriterConnection
from oldfriend.db.sqlite.sqlite_database import list_integrity_errors
from oldfriend.db.sqlite.sqlite_migrations import run_steps
from oldfriend.db.sqlite.sqlite_transaction import SqliteTransaction

PRAGMAS: Final = """
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_spill = OFF;
"""
"""Without spilling, nothing uncommitted reaches the image that is copied."""
MEMORY_PATH: Final = Path("memory")


class MemoryDatabase:
    """An open database in memory, which is lost when closed unless the owner persists it."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path = MEMORY_PATH,
        *,
        before_commit: Callable[[], None] | None = None,
    ) -> None:
        """Take over a database; ``before_commit`` is called before each commit."""
        self.path = path
        self.migration_backup: Path | None = None
        self.external_edits: ExternalEdits | None = None
        self.max_bytes: int | None = None
        self.connection = to_image(connection)
        known = int(self.connection.pragma("user_version"))
        self._before_commit_hook = before_commit
        self._writer = WriterConnection(
            self.connection, path, known_version=known, before_commit=self._on_commit
        )
        self._snapshot: apsw.Connection | None = None

    @property
    def is_read_only(self) -> bool:
        """Whether it is read-only: never, or it would not have been opened."""
        return False

    def begin_read(self) -> "MemoryReadContext":
        """Return a context of a read snapshot."""
        return MemoryReadContext(self._get_snapshot, self.path)

    def begin_write(self, *, urgent: bool = False) -> SqliteWriteContext:
        """Return a context of a write transaction that commits on exit, or rolls back on error."""
        return SqliteWriteContext(self._writer, self.path, urgent=urgent)

    async def probe_write(self) -> None:
        """Do nothing: memory is writable."""

    async def wait_for_change(self) -> None:
        """Wait forever: no other process can write."""
        await Event().wait()

    async def truncate_wal(self) -> bool:
        """Do nothing: there is no write-ahead log."""
        return True

    async def vacuum(self) -> bool:
        """Return False: there is no file."""
        return False

    def list_files(self) -> tuple[Path, ...]:
        """Return no files."""
        return ()

    def list_backups(self) -> tuple[Path, ...]:
        """Return no backups."""
        return ()

    def iter_raw_bytes(self) -> AsyncIterator[tuple[Path, bytes]]:
        """Yield nothing: there is no file."""
        return iter_no_bytes()

    async def size_bytes(self) -> int:
        """Return the size of the image in bytes."""
        return len(self.connection.serialize("main"))

    async def free_bytes(self) -> int:
        """Return 0: there is no file."""
        return 0

    async def check_integrity(self) -> list[str]:
        """Return what is wrong with the pages; empty if they are sound."""
        async with self.begin_read() as tx:
            return await list_integrity_errors(tx)

    async def close(self) -> None:
        """Close all connections."""
        self._snapshot = None
        self._writer.close()

    def _on_commit(self) -> None:
        if self._before_commit_hook is not None:
            self._before_commit_hook()
        self._snapshot = None

    def _get_snapshot(self) -> apsw.Connection:
        if self._snapshot is None:
            self._snapshot = copy_snapshot(self.connection)
        return self._snapshot


class MemoryReadContext:
    """A snapshot: a copy of the last committed state, shared by all who read at that time."""

    def __init__(self, get_snapshot: Callable[[], apsw.Connection], path: Path) -> None:
        """Set the source; nothing happens until it is entered."""
        self._get_snapshot = get_snapshot
        self._path = path

    async def __aenter__(self) -> SqliteTransaction:
        """Take the snapshot; it is freed when nobody reads from it any more."""
        with map_sqlite_errors(self._path):
            return SqliteTransaction(self._get_snapshot(), self._path)

    async def __aexit__(self, *_: object) -> None:
        """End; there is nothing to keep."""


def copy_snapshot(connection: apsw.Connection) -> apsw.Connection:
    """Copy the last committed state into a read-only connection."""
    copy = apsw.Connection(":memory:", statementcachesize=STATEMENT_CACHE_SIZE)
    copy.deserialize("main", connection.serialize("main"))
    copy.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    copy.execute("PRAGMA query_only = ON").fetchall()
    return copy


def to_image(source: apsw.Connection) -> apsw.Connection:
    """Move a database into a single image, which can be copied during a write."""
    connection = apsw.Connection(":memory:", statementcachesize=STATEMENT_CACHE_SIZE)
    connection.deserialize("main", source.serialize("main"))
    source.close()
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute(PRAGMAS).fetchall()
    return connection


def create_in_memory(steps: Sequence[Migration]) -> apsw.Connection:
    """Create an empty database in memory with all tables."""
    connection = apsw.Connection(":memory:")
    apply_migrations(connection, steps, SchemaState())
    return connection


def apply_migrations(
    connection: apsw.Connection, steps: Sequence[Migration], state: SchemaState
) -> None:
    """Apply migrations to a database in a given state."""
    if steps:
        connection.execute("BEGIN")
        run_steps(connection, list(steps), state.after_steps(steps))
        connection.execute("COMMIT")


def open_in_memory() -> MemoryDatabase:
    """Open an empty database that is never persisted."""
    return MemoryDatabase(create_in_memory(load_migrations()))
