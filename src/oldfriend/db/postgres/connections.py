"""How is a connection opened, and which does this process hold?

A connection that was idle may have died since: it is found out by beginning a transaction on
it, when nothing is lost yet, and another is taken. So neither a restart of the server nor a
firewall is seen by anybody, and no connection is ever asked whether it still lives.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg.rows import tuple_row

from oldfriend.db.database import Row
from oldfriend.db.postgres.address import Address
from oldfriend.db.postgres.errors import our_errors, why_not_connected
from oldfriend.db.postgres.statements import set_up_values

Connection = psycopg.AsyncConnection[tuple[Any, ...]]
COMMIT: Final = b"COMMIT"
ROLLBACK: Final = b"ROLLBACK"


async def connect(address: Address, *, to_listen: bool = False) -> Connection:
    """A new connection. Transactions are begun and ended by hand. Raises StoreError."""
    where = address.listening if to_listen else address.main
    try:
        connection = await psycopg.AsyncConnection.connect(
            where, autocommit=True, prepare_threshold=None, row_factory=tuple_row
        )
    except psycopg.Error as error:
        raise why_not_connected(error, address) from error
    set_up_values(connection)
    return connection


class Pool:
    """Connections for one kind of transaction; opened when they are needed, at most so many."""

    def __init__(self, address: Address, *, most: int) -> None:
        """None is open yet."""
        self._address = address
        self._idle: list[Connection] = []
        self._turns = asyncio.Semaphore(most)

    async def begin(self, begin: bytes) -> tuple[Connection, Row | None]:
        """A connection on which a transaction has begun, and the row that beginning it gave."""
        await self._turns.acquire()
        try:
            while self._idle:
                with suppress(psycopg.OperationalError):  # it died while it was idle
                    return await begin_on(self._idle.pop(), begin)
            connection = await connect(self._address)
            with our_errors(self._address):
                return await begin_on(connection, begin)
        except BaseException:
            self._turns.release()
            raise

    async def commit(self, connection: Connection) -> bool:
        """Commit, and let somebody else use the connection; whether everything was kept."""
        try:
            with our_errors(self._address, is_commit=True):
                return (await self._end(connection, COMMIT)) == "COMMIT"
        finally:
            self._turns.release()

    async def roll_back(self, connection: Connection) -> None:
        """End without keeping anything; if the connection is gone, the server does it."""
        try:
            with suppress(psycopg.Error):
                await self._end(connection, ROLLBACK)
        finally:
            self._turns.release()

    async def close(self) -> None:
        """Close those that nobody uses."""
        while self._idle:
            await self._idle.pop().close()

    async def _end(self, connection: Connection, end: bytes) -> str | None:
        try:
            cursor = await connection.execute(end)
        except BaseException:
            await connection.close()
            raise
        self._idle.append(connection)
        return cursor.statusmessage


async def begin_on(connection: Connection, begin: bytes) -> tuple[Connection, Row | None]:
    """Begin a transaction; the connection is closed if that fails."""
    try:
        cursor = await connection.execute(begin)
        while cursor.nextset():
            pass
        return connection, await cursor.fetchone() if cursor.description else None
    except BaseException:
        await connection.close()
        raise
