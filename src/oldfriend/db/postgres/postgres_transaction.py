"""PostgreSQL transactions: read snapshots and write transactions.

Reads are REPEATABLE READ: one snapshot, however long they take. Writes are READ COMMITTED: they
wait for whoever holds a row, then see what was written. Each begins with one message, which for a
write also reads whether this version of the program may still write.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from oldfriend.db.database import Row, SqlValue, TableInfo
from oldfriend.db.postgres.address import PostgresAddress
from oldfriend.db.postgres.connection_pool import Connection, ConnectionPool
from oldfriend.db.postgres.postgres_errors import map_postgres_errors
from oldfriend.db.postgres.sql_dialect import to_postgres_sql
from oldfriend.db.schema import READ_STATE, build_table_infos, check_schema_version, parse_state
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import StoreError

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
