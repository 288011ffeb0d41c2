"""How is one SQLite connection opened, and what do its errors mean to us?

Knows the pragmas. Knows nothing of transactions, migrations or tables.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from oldfriend.domain.errors import (
    InvalidInput,
    OldfriendError,
    StoreBusy,
    StoreDamaged,
    StoreError,
    StoreFull,
    StoreNotFound,
    StoreUnusable,
)

APPLICATION_ID = 0x4F4C4446  # "OLDF": how a file says that it is ours
STATEMENTS_KEPT = 200
SQLITE_RAISES = (apsw.Error, UnicodeEncodeError)  # the second for half characters
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
    with our_errors(path):
        refuse_half_characters(path)
        if create:
            make_private_folder(path.parent)
            make_private_file(path)
        refuse_what_is_no_file_of_ours(path, create=create)
        connection = apsw.Connection(
            str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=STATEMENTS_KEPT
        )
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


def refuse_half_characters(path: Path) -> None:
    """Raise StoreUnusable for a name that is not UTF-8: SQLite takes no other."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise StoreUnusable(
            f"The name {str(path)!r} is not UTF-8, as a database's must be. "
            "Choose another place with --data DIR."
        ) from error


def make_private_folder(folder: Path) -> None:
    """Create the folder for this user only, with its parents."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(
            f"The folder {folder} cannot be made ({error.strerror}). "
            "Choose another with --data DIR or OLDFRIEND_DATA."
        ) from error


def make_private_file(path: Path) -> None:
    """Create the file for this user only, if nothing is there."""
    with suppress(FileExistsError):
        path.touch(mode=0o600, exist_ok=False)


def refuse_what_is_no_file_of_ours(path: Path, *, create: bool) -> None:
    """Raise StoreError, before anything is opened or changed, for what cannot be our database.

    An empty file may become one, if it is this user's own and something is about to be kept.
    """
    if not path.exists():
        raise StoreNotFound(f"There is no memory at {path} yet. Talk first: oldfriend chat")
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise StoreUnusable(
            f"{path} is a folder, a device or a pipe. Name a file with --database sqlite:///PATH."
        )
    if found.st_size:
        return  # its content will tell
    if not create:
        raise StoreNotFound(f"There is no memory in {path} yet. Talk first: oldfriend chat")
    if hasattr(os, "getuid") and found.st_uid != os.getuid():
        raise StoreUnusable(f"{path} belongs to somebody else. Name another with --database.")


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
    """Turn SQLite's errors and the file system's into ours, which say what to do."""
    try:
        yield
    except SQLITE_RAISES as error:
        raise our_error(error, path) from error
    except OSError as error:
        raise StoreUnusable(
            f"{path} cannot be used ({error.strerror or error}). Check the rights of the file and "
            "of its folder, or choose another place with --data DIR."
        ) from error


def is_full(path: Path) -> bool:
    """Whether the disk lacks even the room for the files that SQLite works with."""
    try:
        return shutil.disk_usage(path.parent).free < ROOM_TO_WORK
    except OSError:
        return False


def our_error(error: apsw.Error | UnicodeEncodeError, path: Path) -> OldfriendError:
    """The error of ours for one of SQLite's."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput(f"{error.object[:50]!r} cannot be stored: it is not wholly text.")
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
