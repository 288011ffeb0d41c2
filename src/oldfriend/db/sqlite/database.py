"""How do many transactions, in this process and in others, share one SQLite file?

One connection writes, one transaction at a time; up to three read. Other processes are kept
out by SQLite's own lock, woken by a doorbell, and noticed by ``PRAGMA data_version``.
"""

import time
from pathlib import Path

from oldfriend.db.schema import Migration, load_migrations
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
        self._writer = writer
        self._readers = Readers(path, most=MOST_READERS)
        self._seen = writer.data_version()

    def reading(self) -> Reading:
        """A snapshot to read from."""
        return Reading(self._readers, self.path)

    def writing(self) -> Writing:
        """The write lock, and a transaction that commits on leaving, or rolls back on an error.

        Raises SchemaTooNew when a newer version has changed meanwhile what this one writes.
        """
        return Writing(self._writer, self.path)

    async def wait_for_others(self) -> None:
        """Return once another process has written something new."""
        doorbell = self._writer.doorbell
        doorbell.put_up()
        while (version := self._writer.data_version()) == self._seen:
            await doorbell.wait()
        self._seen = version

    async def check(self) -> list[str]:
        """What is wrong with the stored bytes; empty when they are sound."""
        async with self.reading() as tx:
            broken = [str(row[0]) for row in await tx.rows("PRAGMA integrity_check")]
            dangling = await tx.rows("PRAGMA foreign_key_check")
        return [line for line in broken if line != "ok"] + [
            f"a row of {table} points to a missing row of {parent}"
            for table, _, parent, _ in dangling
        ]

    async def close(self) -> None:
        """Let go of everything."""
        self._readers.close()
        self._writer.close()


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
