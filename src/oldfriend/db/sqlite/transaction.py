"""How does one transaction run on a SQLite connection?

Statements run in place, on the event loop: they take microseconds, and a hop to a thread and
back costs several times that (PERF.md). Only waiting for the write lock gives way to others.
"""

import asyncio
import random
import re
import time
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import apsw

from oldfriend.db.database import Row, SqlValue, TableShape
from oldfriend.db.schema import shapes_from
from oldfriend.db.sqlite.connection import SQLITE_RAISES, STATEMENTS_KEPT, our_error
from oldfriend.db.sqlite.pool import Readers
from oldfriend.domain.clock import Micros, system_clock

LOCK_WAIT_S = 30.0
FIRST_PAUSE_S = 0.001
LONGEST_PAUSE_S = 0.05
OUR_TABLES = """SELECT name FROM sqlite_schema WHERE type = 'table'
    AND name NOT LIKE 'sqlite_%' AND name <> 'schema_state'"""
LOCKING = re.compile(r"\s+FOR UPDATE( SKIP LOCKED)?\b")


class SqliteTransaction:
    """A transaction that is open on one connection."""

    def __init__(self, connection: apsw.Connection, path: Path) -> None:
        """Take a connection on which BEGIN has run."""
        self._connection = connection
        self._path = path

    async def rows(self, sql: str, /, **values: SqlValue) -> list[Row]:
        """All rows of a query."""
        try:
            return self._connection.execute(without_locks(sql), values).fetchall()
        except SQLITE_RAISES as error:
            raise our_error(error, self._path) from error

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """The first row of a query, or None."""
        try:
            return self._connection.execute(without_locks(sql), values).fetchone()
        except SQLITE_RAISES as error:
            raise our_error(error, self._path) from error

    async def run(self, sql: str, /, **values: SqlValue) -> int:
        """Execute a statement; how many rows it touched."""
        try:
            self._connection.execute(without_locks(sql), values)
            return self._connection.changes()
        except SQLITE_RAISES as error:
            raise our_error(error, self._path) from error

    async def lock(self, sql: str, /, **values: SqlValue) -> None:
        """Nothing: whoever writes holds the lock on everything."""

    async def run_many(self, sql: str, each: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement once for each set of values."""
        try:
            self._connection.executemany(sql, each)
        except SQLITE_RAISES as error:
            raise our_error(error, self._path) from error

    async def tables(self) -> list[TableShape]:
        """All tables but the schema row's, each after those that it points to."""
        columns = await self.rows(
            f"""SELECT t.name, c.name, c.pk FROM ({OUR_TABLES}) t JOIN pragma_table_info(t.name) c
               ORDER BY t.name, c.cid"""
        )
        references = await self.rows(
            f"""SELECT DISTINCT t.name, r."table" FROM ({OUR_TABLES}) t
               JOIN pragma_foreign_key_list(t.name) r"""
        )
        return shapes_from(columns, references)

    async def clock(self) -> Micros:
        """The machine's time: all processes on a file share it."""
        return system_clock()

    async def wake(self) -> None:
        """Nothing: the doorbell rings at each commit."""


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


@lru_cache(STATEMENTS_KEPT)  # hundreds are looked at for each turn
def without_locks(sql: str) -> str:
    """A statement as SQLite takes it: whoever writes holds the lock on everything already."""
    return LOCKING.sub("", sql)


def roll_back(connection: apsw.Connection, path: Path) -> None:
    """End the transaction that is still open, if one is, without keeping anything."""
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except apsw.Error as error:
            raise our_error(error, path) from error


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
