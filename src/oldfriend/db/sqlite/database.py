"""How do many transactions, in this process and in others, share one SQLite file?

One connection writes, one transaction at a time; up to three read. Other processes are kept
out by SQLite's own lock, woken by a doorbell, and noticed by ``PRAGMA data_version``.
"""

import asyncio
import glob
import time
from collections.abc import AsyncIterator
from pathlib import Path

from oldfriend.db.database import ByHand, Transaction
from oldfriend.db.schema import Migration, load_migrations
from oldfriend.db.sqlite.bytes_held import beside, bytes_of, empty_log, lay_out_anew
from oldfriend.db.sqlite.connection import open_connection
from oldfriend.db.sqlite.migrating import migrate
from oldfriend.db.sqlite.pool import Readers, Writer
from oldfriend.db.sqlite.transaction import Reading
from oldfriend.db.sqlite.writing import Writing
from oldfriend.domain.errors import StoreBusy

MOST_READERS = 3
OPENING_WAIT_S, OPENING_PAUSE_S = 30.0, 0.02


class SqliteDatabase:
    """An open SQLite database. Made by ``open_sqlite``."""

    def __init__(self, path: Path, writer: Writer) -> None:
        """Take over the writing connection; readers are opened when needed."""
        self.path = path
        self.backup_made: Path | None = None
        self.by_hand: ByHand | None = None
        self.most_bytes: int | None = None
        self._writer = writer
        self._readers = Readers(path, most=MOST_READERS)
        self._seen = writer.data_version()

    def reading(self) -> Reading:
        """A snapshot to read from."""
        return Reading(self._readers, self.path)

    def writing(self, *, first: bool = False) -> Writing:
        """The write lock, and a transaction that commits on leaving, or rolls back on an error.

        ``first``: before whoever waits in this process, and committed without waiting for them.
        Raises SchemaTooNew when a newer version has changed meanwhile what this one writes.
        """
        return Writing(self._writer, self.path, first=first)

    async def wait_for_others(self) -> None:
        """Return once another process has written something new."""
        doorbell = self._writer.doorbell
        doorbell.put_up()
        await self._writer.settled()
        while (version := self._writer.data_version()) == self._seen:
            await doorbell.wait()
            await self._writer.settled()
        self._seen = version

    async def wipe_log(self) -> bool:
        """Let no log of writes keep what was deleted; False while others still read it there."""
        connection = await self._readers.take()
        try:
            return await empty_log(connection, self.path)
        finally:
            self._readers.give_back(connection)

    async def write_anew(self) -> bool:
        """Lay all that is kept out in new pages; False where others or the disk prevent it."""
        return await asyncio.to_thread(lay_out_anew, self.path) and await self.wipe_log()

    def files(self) -> tuple[Path, ...]:
        """The database, its log of writes with the index to it, and the copies beside them."""
        return (self.path, *beside(self.path), *self.backups())

    def backups(self) -> tuple[Path, ...]:
        """The copies of the database as it was before it was migrated."""
        return tuple(sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}.before-*")))

    async def bytes_held(self) -> AsyncIterator[tuple[Path, bytes]]:
        """The bytes of the database and of its log, piece by piece, each a little into the next."""
        connection = await self._readers.take()
        try:
            for held in bytes_of(connection, self.path):
                yield held
        finally:
            self._readers.give_back(connection)

    async def size(self) -> int:
        """How many bytes the pages of the file take."""
        async with self.reading() as tx:
            pages, page = await tx.row("PRAGMA page_count"), await tx.row("PRAGMA page_size")
        assert pages is not None
        assert page is not None
        return int(pages[0]) * int(page[0])

    async def check(self) -> list[str]:
        """What is wrong with the stored bytes; empty when they are sound."""
        async with self.reading() as tx:
            return await unsound(tx)

    async def close(self) -> None:
        """Let go of everything."""
        self._readers.close()
        self._writer.close()


async def unsound(tx: Transaction) -> list[str]:
    """What is wrong with the pages of a SQLite database, and with what points from row to row."""
    broken = [str(row[0]) for row in await tx.rows("PRAGMA integrity_check")]
    dangling = await tx.rows("PRAGMA foreign_key_check")
    return [line for line in broken if line != "ok"] + [
        f"a row of {table} points to a missing row of {parent}" for table, _, parent, _ in dangling
    ]


def open_sqlite(
    path: Path, *, create: bool = True, migrations: tuple[Migration, ...] | None = None
) -> SqliteDatabase:
    """Open the file, making or migrating it first where that is needed.

    Raises StoreNotFound, StoreUnusable, StoreDamaged, SchemaTooNew.
    """
    known = migrations or load_migrations()
    deadline = time.monotonic() + OPENING_WAIT_S
    while True:
        try:
            return open_once(path, known, create=create)
        except StoreBusy:  # SQLite does not wait by itself for the switch to WAL
            if time.monotonic() > deadline:
                raise
            time.sleep(OPENING_PAUSE_S)


def open_once(path: Path, known: tuple[Migration, ...], *, create: bool) -> SqliteDatabase:
    """Open, make or migrate the file now. Raises StoreBusy while another process does so."""
    connection = open_connection(path, create=create)
    try:
        backup = migrate(connection, path, known)
    except BaseException:
        connection.close()
        raise
    database = SqliteDatabase(path, Writer(connection, path, known=known[-1].version))
    database.backup_made = backup
    return database
