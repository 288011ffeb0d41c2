"""SQLite files: reads the bytes of an open database, vacuums it and truncates its WAL.

The bytes are read through SQLite's own open files: opening a file a second time in the same process
and closing it would drop the locks on it.
"""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from oldfriend.db.sqlite.connection import map_sqlite_errors, open_connection
from oldfriend.domain.errors import StoreBusy, StoreError

MAIN_FILE, WAL_FILE = 0, 1  # SQLite's numbers of these files
CHUNK_BYTES: Final = 1 << 20
CHUNK_OVERLAP_BYTES: Final = 1 << 12
"""Each piece contains this much of the next one, so that no sentence is cut at its end."""
BUSY_TIMEOUT_S, RETRY_PAUSE_S = 5.0, 0.05


def get_wal_paths(path: Path) -> tuple[Path, Path]:
    """Return the paths of the WAL and of its index, which holds page numbers and no content."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def iter_file_bytes(connection: apsw.Connection, path: Path) -> Iterator[tuple[Path, bytes]]:
    """Yield the bytes of the database and of its WAL, in overlapping pieces."""
    log, _ = get_wal_paths(path)
    for which, file in ((MAIN_FILE, path), (WAL_FILE, log)):
        size = file.stat().st_size if file.exists() else 0
        for start in range(0, size, CHUNK_BYTES):
            amount = min(CHUNK_BYTES + CHUNK_OVERLAP_BYTES, size - start)
            with map_sqlite_errors(path):
                _, piece = connection.read("main", which, start, amount)
            yield file, piece


def vacuum_file(path: Path) -> bool:
    """Copy all data into new pages: old ones keep what was moved, between their rows.

    SQLite overwrites deleted data, but not the space from which a row was moved. The copy that it
    makes on the way is a file without a name: it may be large, and holds only current data. Returns
    False if others kept writing, or there is no space.
    """
    try:
        connection = open_connection(path, create=False)
    except StoreError:
        return False
    try:
        connection.set_busy_timeout(round(1000 * BUSY_TIMEOUT_S))
        with map_sqlite_errors(path):
            connection.execute("PRAGMA temp_store = FILE; VACUUM").fetchall()
    except StoreError:
        return False
    finally:
        connection.close()
    return True


async def checkpoint_wal(connection: apsw.Connection, path: Path) -> bool:
    """Move all writes into the database file, and truncate the WAL.

    Returns False if others kept reading from it, or writing, for a while.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            with map_sqlite_errors(path):
                connection.wal_checkpoint("main", apsw.SQLITE_CHECKPOINT_TRUNCATE)
        except StoreBusy:
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(RETRY_PAUSE_S)
        else:
            return True
