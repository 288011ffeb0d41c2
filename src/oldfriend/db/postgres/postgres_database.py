"""PostgreSQL database: many transactions of many processes on one server.

Each process holds a few connections for writing, a few for reading, and one for listening. A
transaction that writes what it has read locks it (``FOR UPDATE``); nothing else is shared.
"""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Iterable, Mapping
from pathlib import Path
from typing import Final

import psycopg
from psycopg.errors import Diagnostic, LockNotAvailable

from oldfriend.db.database import ExternalEdits, Row, SqlValue, TableInfo, iter_no_bytes
from oldfriend.db.postgres.postgres_connections import (
    Connection,
    ConnectionPool,
    PostgresAddress,
    connect,
    map_postgres_errors,
    parse_address,
)
from oldfriend.db.postgres.postgres_migrations import migrate
from oldfriend.db.postgres.sql_dialect import to_postgres_sql
from oldfriend.db.schema import (
    READ_STATE,
    TOUCH_STATE,
    Migration,
    build_table_infos,
    check_schema_version,
    load_migrations,
    parse_state,
)
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import StoreCorrupt, StoreError

NOTIFY_CHANNEL: Final = "oldfriend"
BEGIN_READ: Final = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITE: Final = (
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "
    "SET LOCAL lock_timeout = '30s'; SET LOCAL idle_in_transaction_session_timeout = '30s'; "
    f"{READ_STATE}"
).encode()
"""Nobody waits forever for a lock, and a frozen process loses its own.

Reading the schema state keeps a lock on its table, for which a migration waits.
"""

COLUMNS_SQL: Final = """SELECT CAST(t.relname AS text), CAST(c.attname AS text),
      coalesce(array_position(k.indkey, c.attnum), -1) + 1
    FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0
      AND NOT c.attisdropped
    LEFT JOIN pg_index k ON k.indrelid = t.oid AND k.indisprimary
    WHERE t.relkind = 'r' AND t.relname <> 'schema_state'
    AND t.relnamespace = CAST(current_schema() AS regnamespace) ORDER BY t.relname, c.attnum"""
REFERENCES_SQL: Final = """SELECT DISTINCT CAST(t.relname AS text), CAST(parent.relname AS text)
    FROM pg_constraint r JOIN pg_class t ON t.oid = r.conrelid
    JOIN pg_class parent ON parent.oid = r.confrelid
    WHERE r.contype = 'f' AND t.relnamespace = CAST(current_schema() AS regnamespace)"""


class PostgresTransaction:
    """A transaction that is open on one connection."""

    def __init__(self, connection: Connection, address: PostgresAddress, *, token: str) -> None:
        """Use a connection on which BEGIN has run."""
        self._connection = connection
        self._address = address
        self._token = token

    async def rows(self, sql: str, /, **values: SqlValue) -> list[Row]:
        """Return all rows of a query."""
        with map_postgres_errors(self._address):
            cursor = self._connection.cursor(binary=True)
            await cursor.execute(to_postgres_sql(sql, values), values)
            return await cursor.fetchall()

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """Return the first row of a query, or None."""
        with map_postgres_errors(self._address):
            cursor = self._connection.cursor(binary=True)
            await cursor.execute(to_postgres_sql(sql, values), values)
            return await cursor.fetchone()

    async def run(self, sql: str, /, **values: SqlValue) -> int:
        """Execute a statement, and return the number of affected rows."""
        with map_postgres_errors(self._address):
            cursor = await self._connection.execute(to_postgres_sql(sql, values), values)
            return cursor.rowcount

    async def lock(self, sql: str, /, **values: SqlValue) -> None:
        """Lock the rows of a SELECT that ends in FOR UPDATE, without reading them."""
        await self.run(sql, **values)

    async def run_many(self, sql: str, batch: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement once for each set of values."""
        with map_postgres_errors(self._address):
            async with self._connection.pipeline(), self._connection.cursor() as cursor:
                for values in batch:
                    await cursor.execute(to_postgres_sql(sql, values), values)

    async def list_tables(self) -> list[TableInfo]:
        """Return all tables except the schema state, each after those it references."""
        return build_table_infos(await self.rows(COLUMNS_SQL), await self.rows(REFERENCES_SQL))

    async def read_clock(self) -> Micros:
        """Return the server's time, which all processes share."""
        row = await self.row("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1e6 AS bigint)")
        assert row is not None
        return int(row[0])

    async def notify(self) -> None:
        """Wake the other processes that listen, on commit."""
        await self.row(
            "SELECT pg_notify(:channel, :token)", channel=NOTIFY_CHANNEL, token=self._token
        )


class PostgresReadContext:
    """A snapshot on a connection of its own, released at the end."""

    def __init__(self, pool: ConnectionPool, address: PostgresAddress) -> None:
        """Set the pool; nothing happens until it is entered."""
        self._pool = pool
        self._address = address
        self._connection: Connection | None = None

    async def __aenter__(self) -> PostgresTransaction:
        """Begin; the snapshot is taken at the first read."""
        self._connection, _ = await self._pool.begin(BEGIN_READ)
        return PostgresTransaction(self._connection, self._address, token="")

    async def __aexit__(self, *_: object) -> None:
        """End; there is nothing to keep."""
        assert self._connection is not None
        await self._pool.roll_back(self._connection)


class PostgresWriteContext:
    """A transaction that commits on exit, or rolls back on an error."""

    def __init__(
        self, pool: ConnectionPool, address: PostgresAddress, *, known_version: int, token: str
    ) -> None:
        """Set the pool; nothing happens until it is entered."""
        self._pool = pool
        self._address = address
        self._known_version = known_version
        self._token = token
        self._connection: Connection | None = None

    async def __aenter__(self) -> PostgresTransaction:
        """Begin. Raises SchemaTooNew."""
        connection, row = await self._pool.begin(BEGIN_WRITE)
        try:
            assert row is not None
            check_schema_version(parse_state(row), self._known_version, self._address.display)
        except BaseException:
            await self._pool.roll_back(connection)
            raise
        self._connection = connection
        return PostgresTransaction(connection, self._address, token=self._token)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Commit, or roll back after an error."""
        assert self._connection is not None
        if kind is not None:
            await self._pool.roll_back(self._connection)
        elif not await self._pool.commit(self._connection):
            raise StoreError("A statement failed, so that nothing of its transaction was kept.")


POLL_INTERVAL_S: Final = 5.0
logger = logging.getLogger("oldfriend")

MAX_WRITERS: Final = 8
MAX_URGENT_WRITERS: Final = 2
MAX_READERS: Final = 4
"""A pool of its own, so that a writer that also reads never waits for a reader to end."""
VACUUM_TIMEOUT_S: Final = 60.0
LOCK_RETRY_PAUSE_S: Final = 0.5


class PostgresDatabase:
    """An open PostgreSQL database. Made by ``open_postgres``."""

    def __init__(self, url: str, *, known_version: int) -> None:
        """Set up the pools; connections are opened on demand.

        ``known_version`` is the newest schema version of this program.
        """
        self.address = parse_address(url)
        self.migration_backup: Path | None = None
        self.external_edits: ExternalEdits | None = None
        self.max_bytes: int | None = None
        self._known_version = known_version
        self._token = secrets.token_hex(8)
        self._readers = ConnectionPool(self.address, max_size=MAX_READERS)
        self._writers = ConnectionPool(self.address, max_size=MAX_WRITERS)
        self._urgent_writers = ConnectionPool(self.address, max_size=MAX_URGENT_WRITERS)
        self._listener = PostgresListener(self.address, token=self._token)

    @property
    def is_read_only(self) -> bool:
        """Whether it is read-only: never, or it would not have been opened."""
        return False

    def begin_read(self) -> PostgresReadContext:
        """Return a context of a read snapshot."""
        return PostgresReadContext(self._readers, self.address)

    def begin_write(self, *, urgent: bool = False) -> PostgresWriteContext:
        """Return a context of a write transaction that commits on exit, or rolls back on error.

        An ``urgent`` one uses a connection that is reserved for transactions that must not wait.
        Raises SchemaTooNew if a newer version has changed meanwhile what this one writes.
        """
        writers = self._urgent_writers if urgent else self._writers
        return PostgresWriteContext(
            writers, self.address, known_version=self._known_version, token=self._token
        )

    async def probe_write(self) -> None:
        """Write without changing or growing anything. Raises StoreError."""
        async with self.begin_write() as tx:
            await tx.run(TOUCH_STATE)

    async def wait_for_change(self) -> None:
        """Return once another process may have written something new."""
        await self._listener.wait()

    async def truncate_wal(self) -> bool:
        """Return False: the server decides when its log and pages are reused."""
        return False

    async def vacuum(self) -> bool:
        """Vacuum all tables on the server; False if that fails or takes too long."""
        try:
            async with asyncio.timeout(VACUUM_TIMEOUT_S):
                connection = await connect(self.address)
                async with connection:
                    await vacuum_tables(connection, self.address)
        except (TimeoutError, StoreError):
            return False
        return True

    def list_files(self) -> tuple[Path, ...]:
        """Return no files: they are on the server."""
        return ()

    def list_backups(self) -> tuple[Path, ...]:
        """Return no backups: they are left to the server."""
        return ()

    def iter_raw_bytes(self) -> AsyncIterator[tuple[Path, bytes]]:
        """Yield nothing: the files cannot be read here."""
        return iter_no_bytes()

    async def size_bytes(self) -> int:
        """Return how many bytes the tables take, with their indexes."""
        async with self.begin_read() as tx:
            row = await tx.row(
                """SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
                   WHERE c.relkind = 'r' AND c.relnamespace =
                     (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"""
            )
        assert row is not None
        return int(row[0])

    async def free_bytes(self) -> int:
        """Return 0: the server manages its own files."""
        return 0

    async def check_integrity(self) -> list[str]:
        """Read all stored bytes and return what is wrong with them; empty if sound."""
        problems: list[str] = []
        async with self.begin_read() as tx:
            indexes = await tx.rows(
                """SELECT CAST(indexrelid::regclass AS text) FROM pg_index JOIN pg_class c
                     ON c.oid = indexrelid WHERE NOT indisvalid
                   AND relnamespace = (SELECT oid FROM pg_namespace
                                       WHERE nspname = current_schema())"""
            )
            problems += [f"the index {name} is not valid" for (name,) in indexes]
            tables = await tx.rows(
                """SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()"""
            )
            try:
                for (table,) in tables:
                    await tx.row(f'SELECT sum(length(CAST(t AS text))) FROM "{table}" t')
            except StoreCorrupt as error:
                problems.append(str(error))
        return problems

    async def close(self) -> None:
        """Close all connections."""
        await self._listener.close()
        await self._readers.close()
        await self._writers.close()
        await self._urgent_writers.close()


async def vacuum_tables(connection: Connection, address: PostgresAddress) -> None:
    """Vacuum our tables one by one, outside a transaction, as is required.

    A table that is locked is retried until it is free.
    """
    with map_postgres_errors(address):
        cursor = await connection.execute(
            b"SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()"
        )
        remaining = [table for (table,) in await cursor.fetchall()]
        while remaining:
            remaining = [each for each in remaining if not await vacuum_table(connection, each)]
            if remaining:
                await asyncio.sleep(LOCK_RETRY_PAUSE_S)


async def vacuum_table(connection: Connection, table: str) -> bool:
    """Vacuum a table without waiting; False if it is locked, which a server warning reports."""
    codes: list[str | None] = []

    def note(warning: Diagnostic) -> None:
        codes.append(warning.sqlstate)

    connection.add_notice_handler(note)
    try:
        await connection.execute(f"VACUUM (SKIP_LOCKED) {table}".encode())
    finally:
        connection.remove_notice_handler(note)
    return LockNotAvailable.sqlstate not in codes


async def open_postgres(
    url: str, *, create: bool = True, migrations: tuple[Migration, ...] | None = None
) -> PostgresDatabase:
    """Open the database; create or migrate its tables first if needed.

    Raises InvalidInput, StoreNotFound, StoreUnusable, StoreBusy, StoreCorrupt, SchemaTooNew.
    """
    known = migrations or load_migrations()
    database = PostgresDatabase(url, known_version=known[-1].version)
    connection = await connect(database.address)
    try:
        await migrate(connection, database.address, known, create=create)
    finally:
        await connection.close()
    return database


class PostgresListener:
    """A listener for the notifications of other processes."""

    def __init__(self, address: PostgresAddress, *, token: str) -> None:
        """Set the address; nothing is opened yet. Notifications with the own token are ignored."""
        self._address = address
        self._token = token
        self._connection: Connection | None = None
        self._is_pooled = False

    async def wait(self) -> None:
        """Return when another process may have sent a notification."""
        if self._is_pooled:
            await asyncio.sleep(POLL_INTERVAL_S)
        elif self._connection is None:
            await self._connect()  # what was sent before counts as received now
        else:
            await self._receive(self._connection)

    async def close(self) -> None:
        """Stop listening."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connect(self) -> None:
        try:
            self._connection = await connect(self._address, for_listen=True)
            await self._connection.execute(f"LISTEN {NOTIFY_CHANNEL}".encode())
            self._is_pooled = not await is_direct_connection(self._connection)
        except (StoreError, psycopg.Error):
            await self.close()
            await asyncio.sleep(POLL_INTERVAL_S)
        if self._is_pooled:
            await self.close()
            logger.warning(
                "%s is a connection pooler, which passes no wake-ups on: other processes are "
                "noticed every %.0f s. Add listen=HOST:PORT of the server to the address.",
                self._address.display,
                POLL_INTERVAL_S,
            )

    async def _receive(self, connection: Connection) -> None:
        try:
            async for token in iter_notifications(connection):
                if token != self._token:
                    return
        except psycopg.Error:
            await self.close()
            await asyncio.sleep(0)


async def iter_notifications(connection: Connection) -> AsyncIterator[str]:
    """Yield the payloads of notifications as they arrive.

    The driver's own generator looks ten times a second, which takes a hundredth of a processor.
    """
    while True:
        while notification := connection.pgconn.notifies():
            yield notification.extra.decode()
        await wait_until_readable(connection.fileno())
        connection.pgconn.consume_input()


async def wait_until_readable(descriptor: int) -> None:
    """Wait until something has arrived at a descriptor, or its other end has closed it."""
    loop, arrived = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, arrived.set)
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(descriptor)


async def is_direct_connection(connection: Connection) -> bool:
    """Return whether this is the server itself: a pooler gives each client another process id."""
    cursor = await connection.execute(b"SELECT pg_backend_pid()")
    row = await cursor.fetchone()
    return row is not None and row[0] == connection.info.backend_pid
