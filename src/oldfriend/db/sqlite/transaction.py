"""How does one transaction run on a SQLite connection?

Statements run in place, on the event loop: they take microseconds, and a hop to a thread and
back costs several times that (PERF.md). Only waiting for the write lock gives way to others.
"""

import asyncio
import random
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import apsw

from oldfriend.db.database import Row, SqlValue
from oldfriend.db.sqlite.connection import our_errors, store_error
from oldfriend.domain.errors import StoreBusy

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
        except apsw.Error as error:
            raise store_error(error, self._path) from error

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """The first row of a query, or None."""
        try:
            return self._connection.execute(sql, values).fetchone()
        except apsw.Error as error:
            raise store_error(error, self._path) from error

    async def run(self, sql: str, /, **values: SqlValue) -> int:
        """Execute a statement; how many rows it touched."""
        try:
            self._connection.execute(sql, values)
            return self._connection.changes()
        except apsw.Error as error:
            raise store_error(error, self._path) from error

    async def run_many(self, sql: str, each: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement once for each set of values."""
        try:
            self._connection.executemany(sql, each)
        except apsw.Error as error:
            raise store_error(error, self._path) from error


@contextmanager
def begun(connection: apsw.Connection, path: Path) -> Iterator[SqliteTransaction]:
    """The transaction that has begun: committed when the block ends well, else rolled back."""
    try:
        yield SqliteTransaction(connection, path)
        with our_errors(path):
            connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            with our_errors(path):
                connection.execute("ROLLBACK")


def begin_reading(connection: apsw.Connection, path: Path) -> None:
    """Begin; the snapshot is taken at the first read."""
    with our_errors(path):
        connection.execute("BEGIN")


async def begin_writing(connection: apsw.Connection, path: Path) -> None:
    """Take the write lock, waiting for other processes without holding up this one."""
    deadline = time.monotonic() + LOCK_WAIT_S
    pause = FIRST_PAUSE_S
    while True:
        try:
            with our_errors(path):
                connection.execute("BEGIN IMMEDIATE")
        except StoreBusy:
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(pause * random.uniform(0.5, 1.5))
            pause = min(pause * 2, LONGEST_PAUSE_S)
        else:
            return
