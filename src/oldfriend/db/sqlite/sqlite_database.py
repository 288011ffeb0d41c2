"""SQLite database: many transactions, of this process and others, on one file or in memory.

On a file, one connection writes, one transaction at a time; up to three read. Other processes are
kept out by SQLite's own lock, woken by the process notifier, and noticed by ``PRAGMA
data_version``.

A database in memory has one connection and no snapshots. So readers use copies of the last
committed image, made anew whenever there is a newer one; uncommitted changes are not in it. A hook
before each commit lets the owner persist the data.
"""

import asyncio
import glob
import shutil
import time
from asyncio import Event
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import apsw

from oldfriend.db.database import ExternalEdits, Transaction, iter_no_bytes
from oldfriend.db.free_disk_space import check_disk_space
from oldfriend.db.schema import TOUCH_STATE, Migration, SchemaState, load_migrations
from oldfriend.db.sqlite.connection import (
    STATEMENT_CACHE_SIZE,
    is_writable,
    map_sqlite_errors,
    open_connection,
)
from oldfriend.db.sqlite.pool import ReaderPool, WriterConnection
from oldfriend.db.sqlite.sqlite_migrations import migrate, run_steps
from oldfriend.db.sqlite.sqlite_transaction import (
    SqliteReadContext,
    SqliteTransaction,
    SqliteWriteContext,
)
from oldfriend.domain.errors import StoreBusy, StoreError

MAIN_FILE, WAL_FILE = 0, 1  # SQLite's numbers of these files
CHUNK_BYTES: Final = 1 << 20
CHUNK_OVERLAP_BYTES: Final = 1 << 12
"""Each piece contains this much of the next one, so that no sentence is cut at its end."""
BUSY_TIMEOUT_S, RETRY_PAUSE_S = 5.0, 0.05


def get_wal_paths(path: Path) -> tuple[Path, Path]:
    """Return the paths of the WAL and of its index, which holds page numbers and no content."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def iter_file_bytes(connection: apsw.Connection, path: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the bytes of the database and of its WAL, in overlapping pieces."""
    log, _ = get_wal_paths(path)
    for which, file in ((MAIN_FILE, path), (WAL_FILE, log)):
        size = file.stat().st_size if file.exists() else 0
        for start in range(0, size, CHUNK_BYTES):
            amount = min(CHUNK_BYTES + CHUNK_OVERLAP_BYTES, size - start)
            with map_sqlite_errors(path):
                _, piece = connection.read("main", which, start, amount)
            yield file, piece


def vacuum_file(path: Path) -> bool:
    """Copy all data into new pages: old ones keep what was moved, between their rows.

    SQLite overwrites deleted data, but not the space from which a row was moved. The copy that it
    makes on the way is a file without a name: it may be large, and holds only current data. Returns
    False if others kept writing, or there is no space.
    """
    try:
        connection = open_connection(path, create=False)
    except StoreError:
        return False
    try:
        connection.set_busy_timeout(round(1000 * BUSY_TIMEOUT_S))
        with map_sqlite_errors(path):
            connection.execute("PRAGMA temp_store = FILE; VACUUM").fetchall()
    except StoreError:
        return False
    finally:
        connection.close()
    return True


async def checkpoint_wal(connection: apsw.Connection, path: Path) -> bool:
    """Move all writes into the database file, and truncate the WAL.

    Returns False if others kept reading from it, or writing, for a while.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            with map_sqlite_errors(path):
                connection.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except StoreBusy:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(RETRY_PAUSE_S)
        else:
            return True


MIN_RECLAIMABLE_BYTES: Final = 16 << 20
"""In bytes; less free space than this is left for later writes."""
FREE_SPACE_FACTOR: Final = 3
"""Times the kept data: the rewrite goes through a copy and through the WAL."""

MAX_READERS = 3
OPEN_TIMEOUT_S, OPEN_RETRY_PAUSE_S = 30.0, 0.02


class SqliteDatabase:
    """An open SQLite database. Made by ``open_sqlite``."""

    def __init__(self, path: Path, writer: WriterConnection) -> None:
        """Take over the writing connection; readers are opened on demand."""
        self.path = path
        self.migration_backup: Path | None = None
        self.external_edits: ExternalEdits | None = None
        self.max_bytes: int | None = None
        self._writer = writer
        self._readers = ReaderPool(path, max_size=MAX_READERS)
        self._data_version = writer.get_data_version()

    @property
    def is_read_only(self) -> bool:
        """Whether the file or its folder is not writable now, or was not when it was opened."""
        return self._writer.connection.readonly("main") or not is_writable(self.path)

    def begin_read(self) -> SqliteReadContext:
        """Return a context of a read snapshot."""
        return SqliteReadContext(self._readers, self.path)

    def begin_write(self, *, urgent: bool = False) -> SqliteWriteContext:
        """Return a context of a write transaction that commits on exit, or rolls back on error.

        An ``urgent`` one goes before others that wait in this process, and commits without waiting
        for them. Raises SchemaTooNew if a newer version has changed meanwhile what this one writes.
        """
        return SqliteWriteContext(self._writer, self.path, urgent=urgent)

    async def probe_write(self) -> None:
        """Write without changing or growing anything. Raises StoreError.

        It also writes beside the file: the WAL may have space left when the disk has none.
        """
        await asyncio.to_thread(check_disk_space, self.path)
        async with self.begin_write() as tx:
            await tx.run(TOUCH_STATE)

    async def wait_for_change(self) -> None:
        """Return once another process has written something new."""
        notifier = self._writer.notifier
        notifier.listen()
        await self._writer.wait_idle()
        while (version := self._writer.get_data_version()) == self._data_version:
            await notifier.wait()
            await self._writer.wait_idle()
        self._data_version = version

    async def truncate_wal(self) -> bool:
        """Remove deleted data from the write-ahead log; False while others still read it there."""
        connection = await self._readers.acquire()
        try:
            return await checkpoint_wal(connection, self.path)
        finally:
            self._readers.release(connection)

    async def vacuum(self) -> bool:
        """Rewrite all data into new pages; False if other processes or the disk prevent it."""
        return await asyncio.to_thread(vacuum_file, self.path) and await self.truncate_wal()

    def list_files(self) -> tuple[Path, ...]:
        """Return the database, its WAL with its index, and the backups beside them."""
        return (self.path, *get_wal_paths(self.path), *self.list_backups())

    def list_backups(self) -> tuple[Path, ...]:
        """Return the backups that were made before migrations."""
        return tuple(sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}.before-*")))

    async def iter_raw_bytes(self) -> AsyncIterator[tuple[Path, bytes]]:
        """Yield the bytes of the database and its WAL in pieces that overlap a little."""
        connection = await self._readers.acquire()
        try:
            for piece in iter_file_bytes(connection, self.path):
                yield piece
        finally:
            self._readers.release(connection)

    async def size_bytes(self) -> int:
        """Return how many bytes the pages of the file take."""
        async with self.begin_read() as tx:
            pages, page_size = await tx.row("PRAGMA page_count"), await tx.row("PRAGMA page_size")
        assert pages is not None
        assert page_size is not None
        return int(pages[0]) * int(page_size[0])

    async def free_bytes(self) -> int:
        """Return how many bytes of the file are free, and are used before it grows."""
        async with self.begin_read() as tx:
            pages, page_size = (
                await tx.row("PRAGMA freelist_count"),
                await tx.row("PRAGMA page_size"),
            )
        assert pages is not None
        assert page_size is not None
        return int(pages[0]) * int(page_size[0])

    async def check_integrity(self) -> list[str]:
        """Return what is wrong with the stored bytes; empty if they are sound."""
        async with self.begin_read() as tx:
            return await list_integrity_errors(tx)

    async def close(self) -> None:
        """Close all connections."""
        self._readers.close()
        self._writer.close()


async def list_integrity_errors(tx: Transaction) -> list[str]:
    """Return what is wrong with the pages and the references of a SQLite database."""
    broken = [str(row[0]) for row in await tx.rows("PRAGMA integrity_check")]
    dangling = await tx.rows("PRAGMA foreign_key_check")
    return [line for line in broken if line != "ok"] + [
        f"a row of {table} points to a missing row of {parent}" for table, _, parent, _ in dangling
    ]


def open_sqlite(
    path: Path, *, create: bool = True, migrations: tuple[Migration, ...] | None = None
) -> SqliteDatabase:
    """Open the file; create or migrate it first if needed.

    Raises StoreNotFound, StoreUnusable, StoreCorrupt, SchemaTooNew.
    """
    known = migrations or load_migrations()
    deadline = time.monotonic() + OPEN_TIMEOUT_S
    while True:
        try:
            return try_open(path, known, create=create)
        except StoreBusy:  # SQLite itself does not wait for the switch to WAL
            if time.monotonic() > deadline:
                raise
            time.sleep(OPEN_RETRY_PAUSE_S)


def try_open(path: Path, migrations: tuple[Migration, ...], *, create: bool) -> SqliteDatabase:
    """Open, create or migrate the file now. Raises StoreBusy while another process does so."""
    connection = open_connection(path, create=create)
    try:
        backup = migrate(connection, path, migrations)
        reclaim_free_space(connection, path, is_migrated=backup is not None)
    except BaseException:
        connection.close()
        raise
    database = SqliteDatabase(
        path, WriterConnection(connection, path, known_version=migrations[-1].version)
    )
    database.migration_backup = backup
    return database


def reclaim_free_space(connection: apsw.Connection, path: Path, *, is_migrated: bool) -> bool:
    """Rewrite a file that is half empty, if the disk has space; return whether it was done.

    A file that was just migrated is rewritten in any case, for much of it may be half empty. SQLite
    does it in one transaction, so that a crash leaves the file as it was, and the next process that
    opens it tries again.
    """
    with map_sqlite_errors(path):
        free, total = count_free_bytes(connection), count_total_bytes(connection)
    if not is_migrated and (free < MIN_RECLAIMABLE_BYTES or 2 * free < total):
        return False
    if shutil.disk_usage(path.parent).free < FREE_SPACE_FACTOR * (total - free) or not vacuum_file(
        path
    ):
        return False
    try:
        with map_sqlite_errors(path):
            connection.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except StoreBusy:
        pass  # others read from the WAL; it is truncated when they are done
    return True


def count_free_bytes(connection: apsw.Connection) -> int:
    """Return how many bytes of a file are free."""
    pages, page = connection.pragma("freelist_count"), connection.pragma("page_size")
    return int(pages) * int(page)


def count_total_bytes(connection: apsw.Connection) -> int:
    """Return the size of a file in bytes."""
    return int(connection.pragma("page_count")) * int(connection.pragma("page_size"))


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
