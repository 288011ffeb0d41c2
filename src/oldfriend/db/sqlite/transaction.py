"""How does one transaction run on a SQLite connection?

Statements run in place, on the event loop: they take microseconds, and a hop to a thread and
back costs several times that (PERF.md). Only waiting for the write lock gives way to others.
"""

import asyncio
import random
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

import apsw

from oldfriend.db.database import Row, SqlValue
from oldfriend.db.sqlite.connection import SQLITE_RAISES, our_error, our_errors
from oldfriend.db.sqlite.pool import Readers, Writer

LOCK_WAIT_S = 30.0
FIRST_PAUSE_S = 0.001
LONGEST_PAUSE_S = 0.05


class SqliteTransaction:
    """A transaction that is open on one connection."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        """Take a connection on which BEGIN has run."""
        self._connection = connection
        self._path = path

    async def rows(self, sql: str, /, **values: SqlValue) -> list[Row]:
        """All rows of a query."""
        try:
            return self._connection.execute(sql, values).fetchall()
        except SQLITE_RAISES as error:
            raise our_error(error, self._path) from error

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """The first row of a query, or None."""
        try:
            return self._connection.execute(sql, values).fetchone()
        except SQLITE_RAISES as error:
            raise our_error(error, self._path) from error

    async def run(self, sql: str, /, **values: SqlValue) -> int:
        """Execute a statement; how many rows it touched."""
        try:
            self._connection.execute(sql, values)
            return self._connection.changes()
        except SQLITE_RAISES as error:
            raise our_error(error, self._path) from error

    async def run_many(self, sql: str, each: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement once for each set of values."""
        try:
            self._connection.executemany(sql, each)
        except SQLITE_RAISES as error:
            raise our_error(error, self._path) from error


class Reading:
    """A snapshot on a connection of its own, given back at the end."""

    def __init__(self, readers: Readers, path: Path) -> None:
        """Nothing happens until it is entered."""
        self._readers = readers
        self._path = path
        self._connection: apsw.Connection | None = None

    async def __aenter__(self) -> SqliteTransaction:
        """Begin; the snapshot is taken at the first read."""
        connection = self._connection = await self._readers.take()
        try:
            connection.execute("BEGIN")
        except apsw.Error as error:
            self._readers.give_back(connection)
            raise our_error(error, self._path) from error
        return SqliteTransaction(connection, self._path)

    async def __aexit__(self, *_: object) -> None:
        """End; there is nothing to keep."""
        assert self._connection is not None
        roll_back(self._connection, self._path)
        self._readers.give_back(self._connection)


class Writing:
    """The write lock, and a transaction that commits on leaving, or rolls back on an error."""

    def __init__(self, writer: Writer, path: Path) -> None:
        """Nothing happens until it is entered."""
        self._writer = writer
        self._path = path

    async def __aenter__(self) -> SqliteTransaction:
        """Wait for this process's turn, then for other processes. Raises SchemaTooNew."""
        await self._writer.turn.acquire()
        connection = self._writer.connection
        try:
            await begin_writing(connection, self._path)
            self._writer.refuse_overtaken()
        except BaseException as error:
            roll_back(connection, self._path)
            self._writer.turn.release()
            if isinstance(error, apsw.Error):
                raise our_error(error, self._path) from error
            raise
        return SqliteTransaction(connection, self._path)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Commit and tell the other processes; after an error, leave no trace."""
        connection = self._writer.connection
        try:
            if kind is None:
                connection.execute("COMMIT")
        except apsw.Error as error:
            raise our_error(error, self._path) from error
        finally:
            roll_back(connection, self._path)
            self._writer.turn.release()
        if kind is None:
            self._writer.doorbell.ring()


def roll_back(connection: apsw.Connection, path: Path) -> None:
    """End the transaction that is still open, if one is, without keeping anything."""
    if connection.in_transaction:
        with our_errors(path):
            connection.execute("ROLLBACK")


async def begin_writing(connection: apsw.Connection, path: Path) -> None:
    """Take SQLite's write lock, waiting for other processes without holding up this one."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError:
        await wait_to_write(connection, path)


async def wait_to_write(connection: apsw.Connection, path: Path) -> None:
    """Try again and again to take the write lock. Raises StoreBusy after a while."""
    deadline = time.monotonic() + LOCK_WAIT_S
    pause = FIRST_PAUSE_S
    while True:
        await asyncio.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(pause * 2, LONGEST_PAUSE_S)
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError as error:
            if time.monotonic() > deadline:
                raise our_error(error, path) from error
        else:
            return
