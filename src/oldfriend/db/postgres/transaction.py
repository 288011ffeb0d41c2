"""How does one transaction run on PostgreSQL?

Reading is REPEATABLE READ: one moment, however long it takes. Writing is READ COMMITTED: it
waits for whoever holds a row, then sees what was written. Each is begun by one message, which
for a writing one also asks whether this version of the program may still write.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from oldfriend.db.database import Row, SqlValue, TableShape
from oldfriend.db.postgres.address import Address
from oldfriend.db.postgres.connections import Connection, Pool
from oldfriend.db.postgres.errors import our_errors
from oldfriend.db.postgres.statements import said_to_postgres
from oldfriend.db.schema import READ_STATE, refuse_overtaken, shapes_from, state_from
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import StoreError

CHANNEL: Final = "oldfriend"
BEGIN_READING: Final = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BEGIN_WRITING: Final = (
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "
    "SET LOCAL lock_timeout = '30s'; SET LOCAL idle_in_transaction_session_timeout = '30s'; "
    f"{READ_STATE}"
).encode()
"""Nobody waits for ever for somebody's lock, and whoever is frozen lets go of theirs. Reading
the schema row keeps a lock on its table, for which a migration waits."""

COLUMNS: Final = """SELECT CAST(t.relname AS text), CAST(c.attname AS text),
      coalesce(array_position(k.indkey, c.attnum), -1) + 1
    FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0
      AND NOT c.attisdropped
    LEFT JOIN pg_index k ON k.indrelid = t.oid AND k.indisprimary
    WHERE t.relkind = 'r' AND t.relname <> 'schema_state'
    AND t.relnamespace = CAST(current_schema() AS regnamespace) ORDER BY t.relname, c.attnum"""
REFERENCES: Final = """SELECT DISTINCT CAST(t.relname AS text), CAST(parent.relname AS text)
    FROM pg_constraint r JOIN pg_class t ON t.oid = r.conrelid
    JOIN pg_class parent ON parent.oid = r.confrelid
    WHERE r.contype = 'f' AND t.relnamespace = CAST(current_schema() AS regnamespace)"""


class PostgresTransaction:
    """A transaction that is open on one connection."""

    def __init__(self, connection: Connection, address: Address, *, token: str) -> None:
        """Take a connection on which BEGIN has run."""
        self._connection = connection
        self._address = address
        self._token = token

    async def rows(self, sql: str, /, **values: SqlValue) -> list[Row]:
        """All rows of a query."""
        with our_errors(self._address):
            cursor = self._connection.cursor(binary=True)
            await cursor.execute(said_to_postgres(sql, values), values)
            return await cursor.fetchall()

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """The first row of a query, or None."""
        with our_errors(self._address):
            cursor = self._connection.cursor(binary=True)
            await cursor.execute(said_to_postgres(sql, values), values)
            return await cursor.fetchone()

    async def run(self, sql: str, /, **values: SqlValue) -> int:
        """Execute a statement; how many rows it touched."""
        with our_errors(self._address):
            cursor = await self._connection.execute(said_to_postgres(sql, values), values)
            return cursor.rowcount

    async def lock(self, sql: str, /, **values: SqlValue) -> None:
        """Lock the rows of a SELECT that ends in FOR UPDATE, without reading them."""
        await self.run(sql, **values)

    async def run_many(self, sql: str, each: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement once for each set of values."""
        with our_errors(self._address):
            async with self._connection.pipeline(), self._connection.cursor() as cursor:
                for values in each:
                    await cursor.execute(said_to_postgres(sql, values), values)

    async def tables(self) -> list[TableShape]:
        """All tables but the schema row's, each after those that it points to."""
        return shapes_from(await self.rows(COLUMNS), await self.rows(REFERENCES))

    async def clock(self) -> Micros:
        """The server's time: all processes share it."""
        row = await self.row("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1e6 AS bigint)")
        assert row is not None
        return int(row[0])

    async def wake(self) -> None:
        """On commit, wake the other processes that listen."""
        await self.row("SELECT pg_notify(:channel, :token)", channel=CHANNEL, token=self._token)


class Reading:
    """A snapshot on a connection of its own, given back at the end."""

    def __init__(self, pool: Pool, address: Address) -> None:
        """Nothing happens until it is entered."""
        self._pool = pool
        self._address = address
        self._connection: Connection | None = None

    async def __aenter__(self) -> PostgresTransaction:
        """Begin; the snapshot is taken at the first read."""
        self._connection, _ = await self._pool.begin(BEGIN_READING)
        return PostgresTransaction(self._connection, self._address, token="")

    async def __aexit__(self, *_: object) -> None:
        """End; there is nothing to keep."""
        assert self._connection is not None
        await self._pool.roll_back(self._connection)


class Writing:
    """A transaction that commits on leaving, or rolls back on an error."""

    def __init__(self, pool: Pool, address: Address, *, known: int, token: str) -> None:
        """Nothing happens until it is entered."""
        self._pool = pool
        self._address = address
        self._known = known
        self._token = token
        self._connection: Connection | None = None

    async def __aenter__(self) -> PostgresTransaction:
        """Begin. Raises SchemaTooNew."""
        connection, row = await self._pool.begin(BEGIN_WRITING)
        try:
            assert row is not None
            refuse_overtaken(state_from(row), self._known, self._address.shown)
        except BaseException:
            await self._pool.roll_back(connection)
            raise
        self._connection = connection
        return PostgresTransaction(connection, self._address, token=self._token)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Commit; after an error, leave no trace."""
        assert self._connection is not None
        if kind is not None:
            await self._pool.roll_back(self._connection)
        elif not await self._pool.commit(self._connection):
            raise StoreError("A statement failed, so that nothing of its transaction was kept.")
