"""How do many transactions, in many processes, share one PostgreSQL server?

Each process holds a few connections for writing, a few for reading, and one for listening.
Whoever reads and then writes what they read locks it (``FOR UPDATE``); nothing else is shared.
"""

import secrets
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

from oldfriend.db.database import ByHand, no_bytes
from oldfriend.db.postgres.address import address_of
from oldfriend.db.postgres.connections import Pool, connect
from oldfriend.db.postgres.listening import Listener
from oldfriend.db.postgres.migrating import migrate
from oldfriend.db.postgres.transaction import Reading, Writing
from oldfriend.db.schema import Migration, load_migrations
from oldfriend.domain.errors import StoreDamaged

MOST_WRITERS: Final = 8
MOST_HURRIED: Final = 2
MOST_READERS: Final = 4
"""Of their own, so that whoever writes while reading never waits for a reader to end."""


class PostgresDatabase:
    """An open PostgreSQL database. Made by ``open_postgres``."""

    def __init__(self, url: str, *, known: int) -> None:
        """Connections are opened when needed. ``known``: the newest schema of this program."""
        self.address = address_of(url)
        self.backup_made: Path | None = None
        self.by_hand: ByHand | None = None
        self.most_bytes: int | None = None
        self._known = known
        self._token = secrets.token_hex(8)
        self._readers = Pool(self.address, most=MOST_READERS)
        self._writers = Pool(self.address, most=MOST_WRITERS)
        self._hurried = Pool(self.address, most=MOST_HURRIED)
        self._listener = Listener(self.address, token=self._token)

    def reading(self) -> Reading:
        """A snapshot to read from."""
        return Reading(self._readers, self.address)

    def writing(self, *, first: bool = False) -> Writing:
        """A transaction that commits on leaving, or rolls back on an error.

        ``first``: on a connection that is kept for those who must not wait.
        Raises SchemaTooNew when a newer version has changed meanwhile what this one writes.
        """
        writers = self._hurried if first else self._writers
        return Writing(writers, self.address, known=self._known, token=self._token)

    async def wait_for_others(self) -> None:
        """Return once another process may have written something new."""
        await self._listener.wait()

    async def wipe_log(self) -> bool:
        """False: when its log and its pages are reused is the server's business."""
        return False

    async def write_anew(self) -> bool:
        """False: the files are the server's."""
        return False

    def files(self) -> tuple[Path, ...]:
        """None that are ours."""
        return ()

    def backups(self) -> tuple[Path, ...]:
        """None that are known here."""
        return ()

    def bytes_held(self) -> AsyncIterator[tuple[Path, bytes]]:
        """None that can be read here."""
        return no_bytes()

    async def size(self) -> int:
        """How many bytes the tables take, with their indexes."""
        async with self.reading() as tx:
            row = await tx.row(
                """SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
                   WHERE c.relkind = 'r' AND c.relnamespace =
                     (SELECT oid FROM pg_namespace WHERE nspname = current_schema())"""
            )
        assert row is not None
        return int(row[0])

    async def check(self) -> list[str]:
        """What is wrong with the stored bytes; empty when they are sound. Reads all of them."""
        wrong: list[str] = []
        async with self.reading() as tx:
            indexes = await tx.rows(
                """SELECT CAST(indexrelid::regclass AS text) FROM pg_index JOIN pg_class c
                     ON c.oid = indexrelid WHERE NOT indisvalid
                   AND relnamespace = (SELECT oid FROM pg_namespace
                                       WHERE nspname = current_schema())"""
            )
            wrong += [f"the index {name} is not valid" for (name,) in indexes]
            tables = await tx.rows(
                """SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()"""
            )
            try:
                for (table,) in tables:
                    await tx.row(f'SELECT sum(length(CAST(t AS text))) FROM "{table}" t')
            except StoreDamaged as error:
                wrong.append(str(error))
        return wrong

    async def close(self) -> None:
        """Let go of everything."""
        await self._listener.close()
        await self._readers.close()
        await self._writers.close()
        await self._hurried.close()


async def open_postgres(
    url: str, *, create: bool = True, migrations: tuple[Migration, ...] | None = None
) -> PostgresDatabase:
    """Open the database, making or migrating its tables first where that is needed.

    Raises InvalidInput, StoreNotFound, StoreUnusable, StoreBusy, StoreDamaged, SchemaTooNew.
    """
    known = migrations or load_migrations()
    database = PostgresDatabase(url, known=known[-1].version)
    connection = await connect(database.address)
    try:
        await migrate(connection, database.address, known, create=create)
    finally:
        await connection.close()
    return database
