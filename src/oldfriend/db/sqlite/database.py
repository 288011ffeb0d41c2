"""How do many transactions, in this process and in others, share one SQLite file?

One connection writes, one transaction at a time; up to three read. Other processes are kept
out by SQLite's own lock, woken by a doorbell, and noticed by ``PRAGMA data_version``.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import apsw

from oldfriend.db.sqlite.connection import open_connection, our_errors
from oldfriend.db.sqlite.doorbell import Doorbell
from oldfriend.db.sqlite.migrating import (
    Migration,
    load_migrations,
    migrate,
    refuse_newer,
    schema_version,
)
from oldfriend.db.sqlite.transaction import (
    SqliteTransaction,
    begin_reading,
    begin_writing,
    begun,
)

MOST_READERS = 3


class SqliteDatabase:
    """An open SQLite database. Made by ``open_sqlite``."""

    def __init__(self, path: Path, writer: apsw.Connection, schema: int) -> None:
        """Take over the writing connection; readers are opened when needed."""
        self.path = path
        self.backup_made: Path | None = None
        self._writer = writer
        self._schema = schema
        self._idle: list[apsw.Connection] = []
        self._write_turn = asyncio.Lock()
        self._read_turns = asyncio.Semaphore(MOST_READERS)
        self._doorbell = Doorbell(path)
        self._seen = self._data_version()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[SqliteTransaction]:
        """A snapshot to read from."""
        async with self._read_turns:
            connection = (
                self._idle.pop() if self._idle else open_connection(self.path, create=False)
            )
            try:
                begin_reading(connection, self.path)
                with begun(connection, self.path) as tx:
                    yield tx
            finally:
                self._idle.append(connection)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[SqliteTransaction]:
        """The write lock, and a transaction that commits on leaving, or rolls back on an error.

        Raises SchemaTooNew when a newer version has migrated the file meanwhile.
        """
        async with self._write_turn:
            await begin_writing(self._writer, self.path)
            with begun(self._writer, self.path) as tx:
                with our_errors(self.path):
                    refuse_newer(schema_version(self._writer), self._schema, self.path)
                yield tx
            self._doorbell.ring()

    async def wait_for_others(self) -> None:
        """Return once another process has written something new."""
        self._doorbell.put_up()
        while (version := self._data_version()) == self._seen:
            await self._doorbell.wait()
        self._seen = version

    async def check(self) -> list[str]:
        """What is wrong with the stored bytes; empty when they are sound."""
        async with self.reading() as tx:
            broken = [str(row[0]) for row in await tx.rows("PRAGMA integrity_check")]
            dangling = await tx.rows("PRAGMA foreign_key_check")
        return [line for line in broken if line != "ok"] + [
            f"a row of {table} points to a missing row of {parent}"
            for table, _, parent, _ in dangling
        ]

    async def close(self) -> None:
        """Let go of everything."""
        self._doorbell.close()
        for connection in (*self._idle, self._writer):
            connection.close()
        self._idle.clear()

    def _data_version(self) -> int:
        with our_errors(self.path):
            return int(self._writer.pragma("data_version"))


def open_sqlite(
    path: Path, *, create: bool = True, migrations: tuple[Migration, ...] | None = None
) -> SqliteDatabase:
    """Open the file, making or migrating it first where that is needed.

    Raises StoreNotFound, StoreUnusable, StoreDamaged, SchemaTooNew.
    """
    known = migrations or load_migrations()
    connection = open_connection(path, create=create)
    try:
        backup = migrate(connection, path, known)
    except BaseException:
        connection.close()
        raise
    database = SqliteDatabase(path, connection, known[-1].version)
    database.backup_made = backup
    return database
