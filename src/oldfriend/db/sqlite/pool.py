"""Which connections does this process hold to the file, and who may use them now?"""

import asyncio
from pathlib import Path

import apsw

from oldfriend.db.sqlite.connection import open_connection, our_errors
from oldfriend.db.sqlite.doorbell import Doorbell
from oldfriend.db.sqlite.migrating import refuse_newer, schema_version


class Readers:
    """The connections that read; opened when they are needed, at most so many."""

    def __init__(self, path: Path, *, most: int) -> None:
        """None is open yet."""
        self._path = path
        self._idle: list[apsw.Connection] = []
        self._turns = asyncio.Semaphore(most)

    async def take(self) -> apsw.Connection:
        """A connection that nobody else uses until it is given back."""
        await self._turns.acquire()
        try:
            return self._idle.pop() if self._idle else open_connection(self._path, create=False)
        except BaseException:
            self._turns.release()
            raise

    def give_back(self, connection: apsw.Connection) -> None:
        """Let somebody else use a connection."""
        self._idle.append(connection)
        self._turns.release()

    def close(self) -> None:
        """Close those that nobody uses."""
        while self._idle:
            self._idle.pop().close()


class Writer:
    """The one connection that writes, whose turn it is, and whom to tell."""

    def __init__(self, connection: apsw.Connection, path: Path, *, schema: int) -> None:
        """Take over a connection whose file has this schema."""
        self.connection = connection
        self.turn = asyncio.Lock()
        self.doorbell = Doorbell(path)
        self._path = path
        self._schema = schema

    def refuse_overtaken(self) -> None:
        """Raise SchemaTooNew when a newer version has migrated the file meanwhile."""
        found = schema_version(self.connection)
        if found != self._schema:
            refuse_newer(found, self._schema, self._path)

    def data_version(self) -> int:
        """A number that changes when another connection has committed."""
        with our_errors(self._path):
            return int(self.connection.execute("PRAGMA data_version").get)

    def close(self) -> None:
        """Let go of the file and take the bell down."""
        self.doorbell.close()
        self.connection.close()
