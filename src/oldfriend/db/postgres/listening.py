"""How does a process learn that another one has written something to the same server?

By LISTEN on one connection of its own, straight to the server: a PgBouncer would give the
connection to somebody else. What it may have missed (it began later, the line broke) counts as
heard. Where it cannot listen at all, it tells so now and then instead.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Final

import psycopg

from oldfriend.db.postgres.address import Address
from oldfriend.db.postgres.connections import Connection, connect
from oldfriend.db.postgres.transaction import CHANNEL
from oldfriend.domain.errors import StoreError

LOOK_ANYWAY_S: Final = 5.0
logger = logging.getLogger("oldfriend")


class Listener:
    """This process's ear."""

    def __init__(self, address: Address, *, token: str) -> None:
        """Nothing is opened yet. What this process itself tells, under its token, is not heard."""
        self._address = address
        self._token = token
        self._connection: Connection | None = None
        self._is_deaf = False

    async def wait(self) -> None:
        """Return when another process may have told something."""
        if self._is_deaf:
            await asyncio.sleep(LOOK_ANYWAY_S)
        elif self._connection is None:
            await self._begin()  # what was told before is heard now
        else:
            await self._hear(self._connection)

    async def close(self) -> None:
        """Listen no more."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _begin(self) -> None:
        try:
            self._connection = await connect(self._address, to_listen=True)
            await self._connection.execute(f"LISTEN {CHANNEL}".encode())
            self._is_deaf = not await is_direct(self._connection)
        except (StoreError, psycopg.Error):
            await self.close()
            await asyncio.sleep(LOOK_ANYWAY_S)
        if self._is_deaf:
            await self.close()
            logger.warning(
                "%s is a connection pooler, which passes no wake-ups on: other processes are "
                "noticed every %.0f s. Add listen=HOST:PORT of the server to the address.",
                self._address.shown, LOOK_ANYWAY_S,
            )  # fmt: skip

    async def _hear(self, connection: Connection) -> None:
        try:
            async for told in notifications(connection):
                if told != self._token:
                    return
        except psycopg.Error:
            await self.close()
            await asyncio.sleep(0)


async def notifications(connection: Connection) -> AsyncIterator[str]:
    """What is told, as it comes."""
    while True:
        async for notify in connection.notifies(stop_after=1):
            yield notify.payload


async def is_direct(connection: Connection) -> bool:
    """Whether the server itself is at the other end: a pooler gives each client another number."""
    cursor = await connection.execute(b"SELECT pg_backend_pid()")
    row = await cursor.fetchone()
    return row is not None and row[0] == connection.info.backend_pid
