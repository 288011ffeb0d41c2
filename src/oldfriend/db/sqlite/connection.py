"""SQLite connections: opening, pragmas and error mapping."""

import os
import secrets
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
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreNotFound,
    StoreUnusable,
)

APPLICATION_ID = 0x4F4C4446  # "OLDF": marks a file as ours
STATEMENT_CACHE_SIZE = 200
SQLITE_ERRORS = (apsw.Error, UnicodeEncodeError)  # the second one for lone surrogates
MIN_WORKING_BYTES = 128 * 1024
"""With less, SQLite reports that it cannot size its shared memory, and no full disk."""
MIN_OPENING_BYTES = 40 * 1024
"""With less, SQLite cannot create the shared memory (32 KB) without which it opens no log."""

SHARED_HEADER_BYTES = 120

PRAGMAS = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
"""
"""WAL lets readers run beside a writer; FULL keeps a commit through a power cut."""
READ_ONLY_PRAGMAS = """
    PRAGMA query_only = ON;
    PRAGMA temp_store = MEMORY;
"""


def open_connection(path: Path, *, create: bool) -> apsw.Connection:
    """Open a connection to the file, private to this user (0600). Raises StoreError.

    If the file is not writable, or its disk is full, and it need not be created, the connection is
    read-only.
    """
    with map_sqlite_errors(path):
        check_path_encoding(path)
        if create:
            create_private_folder(path.parent)
            create_database_file(path)
        check_database_file(path)
        can_write = create or (is_writable(path) and not is_closed_on_full_disk(path))
        connection = connect(path) if can_write else connect_read_only(path)
        try:
            check_application_id(connection, path)
            if can_write:
                path.chmod(0o600)  # by path: opening and closing the file would drop SQLite's locks
            # Otherwise joins are planned anew for each set of values: 40 µs, not 8.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            pragmas = PRAGMAS if can_write else READ_ONLY_PRAGMAS
            connection.execute(pragmas).fetchall()  # unread results stop the script
        except BaseException:
            connection.close()
            raise
    return connection


def connect(path: Path) -> apsw.Connection:
    """Return a connection that reads and writes. Raises apsw.Error."""
    return apsw.Connection(
        str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=STATEMENT_CACHE_SIZE
    )


def connect_read_only(path: Path) -> apsw.Connection:
    """Return a read-only connection, even where SQLite cannot create files beside the database.

    Without a write-ahead log nobody has the file open, and it can be read as immutable. Raises
    apsw.Error, StoreUnusable.
    """
    log = path.with_name(f"{path.name}-wal")
    index = path.with_name(f"{path.name}-shm")
    has_log = log.exists() and log.stat().st_size > 0
    if has_log and not index.exists() and not os.access(path.parent, os.W_OK):
        raise StoreUnusable(
            f"{path} was not closed properly and must be repaired before it can be read. Make the "
            "file and its folder writable, then run: oldfriend doctor"
        )
    query = "mode=ro" if has_log else "mode=ro&immutable=1"
    return apsw.Connection(
        f"{path.absolute().as_uri()}?{query}",
        flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
        statementcachesize=STATEMENT_CACHE_SIZE,
    )


def is_writable(path: Path) -> bool:
    """Return whether this process may write to the file, and create others beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def is_closed_on_full_disk(path: Path) -> bool:
    """Return whether nobody has the file open, and the disk lacks the space to open it."""
    beside = (path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm"))
    return is_disk_full(path, MIN_OPENING_BYTES) and not any(each.exists() for each in beside)


def check_shared_memory(path: Path, *, can_write: bool) -> None:
    """Raise StoreUnusable if SQLite would write to shared memory that has become read-only.

    The system ends a process that does so (SIGBUS), and no handler can contain that. What is left
    is the moment between this check and the write.
    """
    if os.access(f"{os.fspath(path)}-shm", os.W_OK):
        return
    shared = path.with_name(f"{path.name}-shm")
    if shared.exists() and (can_write or not is_read_mark_current(shared)):
        raise build_read_only_error(path)


def is_read_mark_current(shared: Path) -> bool:
    """Return whether a reader finds its read mark in the shared memory, and need not write it.

    As sqlite.org/walformat.html has it: the last frame of the log stands at byte 16, how many
    frames are in the database at 96, and from 104 on how far the readers look.
    """
    header = shared.read_bytes()[:SHARED_HEADER_BYTES]
    if len(header) < SHARED_HEADER_BYTES:
        return False
    words = memoryview(header).cast("I")
    last_frame, backfilled, *marks = words[4], words[24], *words[26:30]
    return last_frame == backfilled or last_frame in marks


def check_path_encoding(path: Path) -> None:
    """Raise StoreUnusable for a path that is not UTF-8: SQLite accepts no other."""
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise StoreUnusable(
            f"The name {str(path)!r} is not UTF-8, as a database's must be. "
            "Choose another place with --data DIR."
        ) from error


def create_private_folder(folder: Path) -> None:
    """Create the folder with its parents, private to this user."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreUnusable(
            f"The folder {folder} cannot be created ({error.strerror}). Choose another with "
            "--data DIR or OLDFRIEND_DATA."
        ) from error


def create_database_file(path: Path) -> None:
    """Create an empty database, private to this user, if none exists.

    It appears as a whole or not at all: so an empty file is never a new database.
    """
    if path.exists():
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.new")
    try:
        with os.fdopen(
            os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb"
        ) as file:
            file.write(build_empty_database())
        with suppress(FileExistsError):  # another process was quicker
            link_into_place(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def link_into_place(new: Path, path: Path) -> None:
    """Give a file its final name, unless that exists. Raises FileExistsError, OSError."""
    try:
        path.hardlink_to(new)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if not path.exists():
            new.rename(path)


def build_empty_database() -> bytes:
    """Return the bytes of an empty Oldfriend database."""
    memory = apsw.Connection(":memory:")
    try:
        memory.pragma("application_id", APPLICATION_ID)
        return memory.serialize("main")
    finally:
        memory.close()


def check_database_file(path: Path) -> None:
    """Raise StoreError, before anything is opened or changed, for what cannot be our database."""
    if not path.exists():
        raise StoreNotFound(f"There is no memory at {path} yet. Talk first: oldfriend chat")
    found = path.stat()
    if not stat.S_ISREG(found.st_mode):
        raise StoreUnusable(
            f"{path} is a folder, a device or a pipe. Name a file with --database sqlite:///PATH."
        )
    if not found.st_size:  # otherwise its content is checked later
        raise StoreCorrupt(
            f"{path} is empty (zero bytes); it may have been cut off. Put a copy in its place "
            "(oldfriend.db.before-… or a backup of yours), or move it away to start a new memory."
        )


def check_application_id(connection: apsw.Connection, path: Path) -> None:
    """Raise StoreCorrupt for a database that is not empty and not ours."""
    application_id = connection.pragma("application_id")
    if application_id == APPLICATION_ID:
        return
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").get
    if application_id != 0 or tables != 0:
        raise StoreCorrupt(
            f"{path} is the database of another program. Name another file with --database."
        )


@contextmanager
def map_sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors and the file system's into ours, which say what to do."""
    try:
        yield
    except SQLITE_ERRORS as error:
        raise map_sqlite_error(error, path) from error
    except OSError as error:
        raise StoreUnusable(
            f"{path} cannot be used ({error.strerror or error}). Check the permissions of the "
            "file and of its folder, or choose another place with --data DIR."
        ) from error


def is_disk_full(path: Path, needed: int = MIN_WORKING_BYTES) -> bool:
    """Return whether the disk lacks the space that is needed for SQLite's working files."""
    try:
        return shutil.disk_usage(path.parent).free < needed
    except OSError:
        return False


def build_read_only_error(path: Path) -> StoreUnusable:
    """Build the error for a database that has become read-only."""
    return StoreUnusable(
        f"{path} cannot be written now: the file, its folder or its disk is read-only. "
        "This was not saved. Make it writable again."
    )


def map_sqlite_error(error: apsw.Error | UnicodeEncodeError, path: Path) -> OldfriendError:
    """Return our error for one of SQLite."""
    if isinstance(error, UnicodeEncodeError):
        return InvalidInput(f"{error.object[:50]!r} cannot be stored: it is not valid text.")
    if isinstance(error, apsw.FullError) or (
        isinstance(error, apsw.IOError | apsw.ReadOnlyError) and is_disk_full(path)
    ):
        return StoreFull(
            f"The disk that holds {path} is full. What was saved before is safe; "
            "this was not saved. Free some space and try again."
        )
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusy(f"Another program is writing to {path}. Try again in a moment.")
        case apsw.CorruptError() | apsw.NotADBError():
            return StoreCorrupt(
                f"{path} is damaged or not a database ({error}). Restore a backup, or move the "
                "file away to start a new memory."
            )
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return StoreUnusable(
                f"{path} cannot be opened for writing. Check the permissions of the file and of "
                "its folder, or choose another place with --data DIR."
            )
        case apsw.IOError() if path.exists() and not is_writable(path):
            return build_read_only_error(path)
        case apsw.IOError():
            return StoreUnusable(f"{path} could not be read or written ({error}).")
        case _:
            return StoreError(f"The database reported: {error}")
