"""SQLite transactions: statements and snapshots on a connection, and commits that writers share.

Statements run in place, on the event loop: they take microseconds, and a hop to a thread and back
costs several times that. Only waiting for the write lock yields to other tasks.

One writes at a time. A writer that is done and finds others waiting hands the open transaction on
instead of committing it; the last one commits for all, and only then does any of them go on. So a
commit that takes milliseconds (the disk must confirm that it has everything) is paid for once by
all that are ready together. Each has a savepoint: one that fails takes nothing of the others with
it. Where many write, the commit runs on a thread, and the rest of the process goes on meanwhile.

An urgent writer (which has done something outside that is not recorded yet) goes first, and does
not hand its transaction on to others.
"""

import asyncio
import random
import re
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import apsw

from oldfriend.db.database import Row, SqlValue, TableInfo
from oldfriend.db.schema import build_table_infos
from oldfriend.db.sqlite.connection import (
    SQLITE_ERRORS,
    STATEMENT_CACHE_SIZE,
    check_shared_memory,
    map_sqlite_error,
)
from oldfriend.db.sqlite.pool import CommitGroup, ReaderPool, WriterConnection
from oldfriend.domain.clock import Micros, system_clock
from oldfriend.domain.errors import OldfriendError, StoreError

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
    check_shared_memory(path, can_write=True)
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


MAX_GROUP_SIZE = 64
"""Other processes wait meanwhile."""
SOLO_COMMIT_LIMIT = 16
"""After this many commits that nobody joined, only each 16th checks whether others are ready.

Such commits also run in place: a hop to a thread and back takes longer than a fast disk.
"""


class SqliteWriteContext:
    """The write lock, and a transaction that commits on exit, or rolls back on an error."""

    def __init__(self, writer: WriterConnection, path: Path, *, urgent: bool) -> None:
        """Set the writer; nothing happens until it is entered."""
        self._writer = writer
        self._path = path
        self._is_urgent = urgent
        self._group: CommitGroup | None = None

    async def __aenter__(self) -> SqliteTransaction:
        """Wait for the turn in this process, then for other processes. Raises SchemaTooNew."""
        writer = self._writer
        writer.waiting_count += 1
        try:
            if (
                writer.solo_commits < SOLO_COMMIT_LIMIT
                or writer.solo_commits % SOLO_COMMIT_LIMIT == 0
            ):
                await asyncio.sleep(0)  # lets other writers queue up before any lock is held
            await writer.queue.acquire(urgent=self._is_urgent)
        finally:
            writer.waiting_count -= 1
            if not (writer.queue.is_locked or writer.waiting_count):  # cancelled while waited for
                self._commit()
        try:
            await self._begin()
        except BaseException as error:
            self._commit_and_release()
            if isinstance(error, apsw.Error):
                raise map_sqlite_error(error, self._path) from error
            raise
        return SqliteTransaction(writer.connection, self._path)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Commit, or let the group commit, and notify the other processes; or roll back."""
        if kind is not None:
            self._roll_back_member()
            self._commit_and_release()  # its own error is dropped: the one being raised says more
            return
        writer, group = self._writer, self._group
        assert group is not None
        try:
            if group.members:
                writer.connection.execute("RELEASE member")
        except apsw.Error as failure:
            self._commit_and_release()
            raise map_sqlite_error(failure, self._path) from failure
        group.members += 1
        writer.solo_commits = 0 if writer.waiting_count else writer.solo_commits + 1
        if self._can_wait_for_group(group):
            writer.queue.release()
            await group.wait_committed()
            return
        if writer.solo_commits < SOLO_COMMIT_LIMIT and writer.can_commit_in_thread:
            self._commit_in_thread(group)
            await group.wait_committed()
            return
        error = self._commit_and_release()
        if error is not None:
            raise error

    async def _begin(self) -> None:
        """Begin a transaction, or a savepoint in the one that was handed on."""
        writer = self._writer
        if writer.group is None:
            await begin_immediate(writer.connection, self._path)
            writer.check_schema_version()
            writer.group = CommitGroup()
        else:
            writer.connection.execute("SAVEPOINT member")
        self._group = writer.group

    def _can_wait_for_group(self, commit_group: CommitGroup) -> bool:
        """Return whether a later member will commit; an urgent one waits only for other urgent
        ones.
        """
        waiting = (
            self._writer.queue.urgent_waiters if self._is_urgent else self._writer.waiting_count
        )
        return bool(waiting) and commit_group.members < MAX_GROUP_SIZE

    def _roll_back_member(self) -> None:
        """Undo what this member has written; if that is impossible, what the whole group has."""
        connection, group = self._writer.connection, self._writer.group
        try:
            if connection.in_transaction and group and group.members:
                connection.execute("ROLLBACK TO member")
                connection.execute("RELEASE member")
        except apsw.Error:  # perhaps closed: then nothing of it is kept anyway
            with suppress(StoreError, apsw.Error):
                roll_back(connection, self._path)

    def _commit_and_release(self) -> OldfriendError | None:
        """Commit the group and end the turn in any case; return the error, if any."""
        try:
            return self._commit()
        finally:
            self._writer.queue.release()

    def _commit(self) -> OldfriendError | None:
        """Commit what the group has written, or roll back if it has no member; return the error, if
        any.
        """
        writer, group = self._writer, self._writer.group
        writer.group = None
        try:
            if group is not None and group.members:
                writer.commit()
                return self._finish_group(group, None)
            roll_back(writer.connection, self._path)
        except (apsw.Error, StoreError) as failure:
            return self._finish_group(group, failure)
        return None

    def _commit_in_thread(self, commit_group: CommitGroup) -> None:
        """Commit the group on a thread, and end the turn when that is done."""
        writer = self._writer
        writer.group = None

        def end(committed: asyncio.Future[None]) -> None:
            try:
                self._finish_group(commit_group, committed.exception())
            finally:
                writer.queue.release()

        writer.commit_in_thread().add_done_callback(end)

    def _finish_group(
        self, commit_group: CommitGroup | None, failure: BaseException | None
    ) -> OldfriendError | None:
        """Tell the group and the other processes the outcome; return the error, if any."""
        writer, error = self._writer, self._map_failure(failure)
        if error is not None:
            with suppress(apsw.Error, StoreError):
                roll_back(writer.connection, self._path)
        if commit_group is not None and commit_group.members:
            commit_group.resolve(error)
            if error is None:
                writer.notifier.notify()
        return error

    def _map_failure(self, failure: BaseException | None) -> OldfriendError | None:
        """Return our error for a failure."""
        if failure is None or isinstance(failure, OldfriendError):
            return failure
        if isinstance(failure, apsw.Error):
            return map_sqlite_error(failure, self._path)
        return StoreError(f"What was written could not be kept ({failure!r}).")
