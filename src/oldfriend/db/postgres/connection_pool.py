"""Connection pool: opens PostgreSQL connections and reuses idle ones.

A connection may have died while it was idle: this shows when a transaction is begun on it, when
nothing is lost yet, and another connection is used. So neither a server restart nor a firewall is
noticed by callers, and no connection is ever pinged.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg.rows import tuple_row

from oldfriend.db.database import Row
from oldfriend.db.postgres.address import PostgresAddress
from oldfriend.db.postgres.postgres_errors import map_connect_error, map_postgres_errors
from oldfriend.db.postgres.sql_dialect import register_adapters

Connection = psycopg.AsyncConnection[tuple[Any, ...]]
COMMIT: Final = b"COMMIT"
ROLLBACK: Final = b"ROLLBACK"


async def connect(address: PostgresAddress, *, for_listen: bool = False) -> Connection:
    """Open a connection. Transactions are begun and ended explicitly. Raises StoreError."""
    conninfo = address.listen_conninfo if for_listen else address.main_conninfo
    try:
        connection = await psycopg.AsyncConnection.connect(
            conninfo, autocommit=True, prepare_threshold=None, row_factory=tuple_row
        )
    except psycopg.Error as error:
        raise map_connect_error(error, address) from error
    register_adapters(connection)
    return connection


class ConnectionPool:
    """A pool of connections for one kind of transaction; opened on demand, with a size limit."""

    def __init__(self, address: PostgresAddress, *, max_size: int) -> None:
        """Set the limit; no connection is opened yet."""
        self._address = address
        self._idle: list[Connection] = []
        self._slots = asyncio.Semaphore(max_size)

    async def begin(self, begin_sql: bytes) -> tuple[Connection, Row | None]:
        """Return a connection with a transaction, and the row that beginning it returned."""
        await self._slots.acquire()
        try:
            while self._idle:
                with suppress(psycopg.OperationalError):  # it died while it was idle
                    return await begin_on(self._idle.pop(), begin_sql)
            connection = await connect(self._address)
            with map_postgres_errors(self._address):
                return await begin_on(connection, begin_sql)
        except BaseException:
            self._slots.release()
            raise

    async def commit(self, connection: Connection) -> bool:
        """Commit, release the connection, and return whether everything was kept."""
        try:
            with map_postgres_errors(self._address, is_commit=True):
                return (await self._end(connection, COMMIT)) == "COMMIT"
        finally:
            self._slots.release()

    async def roll_back(self, connection: Connection) -> None:
        """Roll back; if the connection is gone, the server does it."""
        try:
            with suppress(psycopg.Error):
                await self._end(connection, ROLLBACK)
        finally:
            self._slots.release()

    async def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            await self._idle.pop().close()

    async def _end(self, connection: Connection, end_sql: bytes) -> str | None:
        try:
            cursor = await connection.execute(end_sql)
        except BaseException:
            await connection.close()
            raise
        self._idle.append(connection)
        return cursor.statusmessage


async def begin_on(connection: Connection, begin_sql: bytes) -> tuple[Connection, Row | None]:
    """Begin a transaction; the connection is closed if that fails."""
    try:
        cursor = await connection.execute(begin_sql)
        while cursor.nextset():
            pass
        return connection, await cursor.fetchone() if cursor.description else None
    except BaseException:
        await connection.close()
        raise
