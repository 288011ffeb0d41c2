"""Which bytes do the files of an open database hold, and how is its log of writes emptied?

They are read through SQLite's own open files: to open one a second time in the same process, and
close it, would drop the locks on it.
"""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from oldfriend.db.sqlite.connection import open_connection, our_errors
from oldfriend.domain.errors import StoreBusy, StoreError

DATABASE, LOG = 0, 1  # as SQLite numbers its files
PIECE: Final = 1 << 20
INTO_THE_NEXT: Final = 1 << 12
"""So much of the next piece is in each, so that no sentence is cut by the end of one."""
PATIENCE_S, PAUSE_S = 5.0, 0.05


def beside(path: Path) -> tuple[Path, Path]:
    """The log of writes, and the index to it, which holds numbers of pages and no content."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def bytes_of(connection: apsw.Connection, path: Path) -> Iterator[tuple[Path, bytes]]:
    """The bytes of the database and of its log of writes, piece by piece."""
    log, _ = beside(path)
    for which, file in ((DATABASE, path), (LOG, log)):
        size = file.stat().st_size if file.exists() else 0
        for start in range(0, size, PIECE):
            amount = min(PIECE + INTO_THE_NEXT, size - start)
            with our_errors(path):
                _, piece = connection.read("main", which, start, amount)
            yield file, piece


def lay_out_anew(path: Path) -> bool:
    """Copy all that is kept into new pages: between the rows of old ones, what was moved stays.

    SQLite overwrites what is deleted, but not the place that a row has left for another. The copy
    that it makes on the way is a file without a name: it may be large, and holds only what stays.
    False when others wrote all the while, or there is no room.
    """
    try:
        connection = open_connection(path, create=False)
    except StoreError:
        return False
    try:
        connection.set_busy_timeout(round(1000 * PATIENCE_S))
        with our_errors(path):
            connection.execute("PRAGMA temp_store = FILE; VACUUM").fetchall()
    except StoreError:
        return False
    finally:
        connection.close()
    return True


async def empty_log(connection: apsw.Connection, path: Path) -> bool:
    """Move all that was written into the database, and cut the log to nothing.

    False when others went on reading from it, or writing, for a while.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            with our_errors(path):
                connection.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except StoreBusy:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(PAUSE_S)
        else:
            return True
