"""SQLite transactions: statements and read snapshots on one connection.

Statements run in place, on the event loop: they take microseconds, and a hop to a thread and back
costs several times that. Only waiting for the write lock yields to other tasks.
"""

import asyncio
import random
import re
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import apsw

from oldfriend.db.database import Row, SqlValue, TableInfo
from oldfriend.db.schema import build_table_infos
from oldfriend.db.sqlite.connection import SQLITE_ERRORS, STATEMENT_CACHE_SIZE, map_sqlite_error
from oldfriend.db.sqlite.pool import ReaderPool
from oldfriend.domain.clock import Micros, system_clock

LOCK_TIMEOUT_S = 30.0
MIN_RETRY_PAUSE_S = 0.001
MAX_RETRY_PAUSE_S = 0.05
TABLES_SQL = """SELECT name FROM sqlite_schema WHERE type = 'table'
    AND name NOT LIKE 'sqlite_%' AND name <> 'schema_state'"""
FOR_UPDATE = re.compile(r"(?<!\s)\s+FOR UPDATE( SKIP LOCKED)?\b")


class SqliteTransaction:
    """A transaction that is open on one connection."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        """Use a connection on which BEGIN has run."""
        self._connection = connection
        self._path = path

    async def rows(self, sql: str, /, **values: SqlValue) -> list[Row]:
        """Return all rows of a query."""
        try:
            return self._connection.execute(strip_locks(sql), values).fetchall()
        except SQLITE_ERRORS as error:
            raise map_sqlite_error(error, self._path) from error

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """Return the first row of a query, or None."""
        try:
            return self._connection.execute(strip_locks(sql), values).fetchone()
        except SQLITE_ERRORS as error:
            raise map_sqlite_error(error, self._path) from error

    async def run(self, sql: str, /, **values: SqlValue) -> int:
        """Execute a statement, and return the number of affected rows."""
        try:
            self._connection.execute(strip_locks(sql), values)
            return self._connection.changes()
        except SQLITE_ERRORS as error:
            raise map_sqlite_error(error, self._path) from error

    async def lock(self, sql: str, /, **values: SqlValue) -> None:
        """Do nothing: a write transaction has locked everything."""

    async def run_many(self, sql: str, batch: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement once for each set of values."""
        try:
            self._connection.executemany(sql, batch)
        except SQLITE_ERRORS as error:
            raise map_sqlite_error(error, self._path) from error

    async def list_tables(self) -> list[TableInfo]:
        """Return all tables except the schema state, each after those it references."""
        columns = await self.rows(
            f"""SELECT t.name, c.name, c.pk FROM ({TABLES_SQL}) t JOIN pragma_table_info(t.name) c
               ORDER BY t.name, c.cid"""
        )
        references = await self.rows(
            f"""SELECT DISTINCT t.name, r."table" FROM ({TABLES_SQL}) t
               JOIN pragma_foreign_key_list(t.name) r"""
        )
        return build_table_infos(columns, references)

    async def read_clock(self) -> Micros:
        """Return the machine's time, which all processes on a file share."""
        return system_clock()

    async def notify(self) -> None:
        """Do nothing: each commit notifies the other processes."""


class SqliteReadContext:
    """A snapshot on a connection of its own, released at the end."""

    def __init__(self, readers: ReaderPool, path: Path) -> None:
        """Set the pool; nothing happens until it is entered."""
        self._readers = readers
        self._path = path
        self._connection: apsw.Connection | None = None

    async def __aenter__(self) -> SqliteTransaction:
        """Begin; the snapshot is taken at the first read."""
        connection = self._connection = await self._readers.acquire()
        try:
            connection.execute("BEGIN")
        except apsw.Error as error:
            self._readers.release(connection)
            raise map_sqlite_error(error, self._path) from error
        return SqliteTransaction(connection, self._path)

    async def __aexit__(self, *_: object) -> None:
        """End; there is nothing to keep."""
        assert self._connection is not None
        roll_back(self._connection, self._path)
        self._readers.release(self._connection)


@lru_cache(STATEMENT_CACHE_SIZE)  # hundreds are executed per turn
def strip_locks(sql: str) -> str:
    """Remove FOR UPDATE from a statement: a write transaction has locked everything."""
    return FOR_UPDATE.sub("", sql)


def roll_back(connection: apsw.Connection, path: Path) -> None:
    """Roll back the transaction that is still open, if any."""
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except apsw.Error as error:
            raise map_sqlite_error(error, path) from error


async def begin_immediate(connection: apsw.Connection, path: Path) -> None:
    """Take SQLite's write lock, waiting for other processes without blocking this one."""
    try:
        connection.execute("BEGIN IMMEDIATE")
    except apsw.BusyError:
        await retry_begin_immediate(connection, path)


async def retry_begin_immediate(connection: apsw.Connection, path: Path) -> None:
    """Retry taking the write lock. Raises StoreBusy after LOCK_TIMEOUT_S."""
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    pause = MIN_RETRY_PAUSE_S
    while True:
        await asyncio.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(pause * 2, MAX_RETRY_PAUSE_S)
        try:
            connection.execute("BEGIN IMMEDIATE")
        except apsw.BusyError as error:
            if time.monotonic() > deadline:
                raise map_sqlite_error(error, path) from error
        else:
            return
