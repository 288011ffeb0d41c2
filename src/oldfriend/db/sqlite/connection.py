"""How is one SQLite connection opened, and what do its errors mean to us?

Knows the pragmas. Knows nothing of transactions, migrations or tables.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from oldfriend.domain.errors import (
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreNotFound,
    StoreUnusable,
)

APPLICATION_ID = 0x4F4C4446  # "OLDF": how a file says that it is ours
STATEMENTS_KEPT = 200
ROOM_TO_WORK = 128 * 1024
"""Bytes; with less SQLite reports no full disk, but that it cannot size its shared memory."""

PRAGMAS = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
"""
"""WAL lets readers go on beside a writer; FULL keeps a commit through a power cut."""


def open_connection(path: Path, *, create: bool) -> apsw.Connection:
    """A connection to the file, private to this user (0600). Raises StoreError."""
    flags = apsw.SQLITE_OPEN_READWRITE | (apsw.SQLITE_OPEN_CREATE if create else 0)
    if not create and not path.exists():
        raise StoreNotFound(f"There is no memory at {path} yet. Talk first: oldfriend chat")
    if create:
        make_private_folder(path.parent)
    with our_errors(path):
        connection = apsw.Connection(str(path), flags=flags, statementcachesize=STATEMENTS_KEPT)
        try:
            refuse_strangers(connection, path)
            path.chmod(0o600)  # by name: opening and closing it would drop SQLite's locks
            # Else a join is planned anew at each call, for the values at hand: 40 µs, not 8.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            connection.execute(PRAGMAS).fetchall()  # a statement left unread stops the rest
        except BaseException:
            connection.close()
            raise
    return connection


def make_private_folder(folder: Path) -> None:
    """Create the folder for this user only, with its parents."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(
            f"The folder {folder} cannot be made ({error.strerror}). "
            "Choose another with --data DIR or OLDFRIEND_DATA."
        ) from error


def refuse_strangers(connection: apsw.Connection, path: Path) -> None:
    """Raise StoreDamaged for a database that is not empty and not ours."""
    mark = connection.pragma("application_id")
    if mark == APPLICATION_ID:
        return
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if mark != 0 or tables != 0:
        raise StoreDamaged(
            f"{path} is a database of another program. Name another file with --database."
        )


@contextmanager
def our_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors and the file system's into StoreErrors that say what to do."""
    try:
        yield
    except apsw.Error as error:
        raise store_error(error, path) from error
    except OSError as error:
        raise StoreUnusable(f"{path} cannot be used ({error.strerror or error}).") from error


def is_full(path: Path) -> bool:
    """Whether the disk lacks even the room for the files that SQLite works with."""
    try:
        return shutil.disk_usage(path.parent).free < ROOM_TO_WORK
    except OSError:
        return False


def store_error(error: apsw.Error, path: Path) -> StoreError:
    """The StoreError for one of SQLite's."""
    if isinstance(error, apsw.FullError) or (isinstance(error, apsw.IOError) and is_full(path)):
        return StoreFull(
            f"The disk that holds {path} is full. What was saved before is safe; "
            "this was not saved. Free some space and try again."
        )
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(f"Another program is writing to {path}. Try again in a moment.")
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreDamaged(
                f"{path} is not a sound database ({error}). Restore a backup, "
                "or move the file away to begin anew."
            )
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return StoreUnusable(
                f"{path} cannot be opened for writing. Check the rights of the file and of its "
                "folder, or choose another place with --data DIR."
            )
        case apsw.IOError():
            return StoreUnusable(f"{path} could not be read or written ({error}).")
        case _:
            return StoreError(f"The database said: {error}")
