"""JSON database: one readable file, loaded into memory and rewritten at each commit.

It runs SQLite in memory. A commit first replaces the whole file durably, and only then becomes
visible to others in this process: what cannot be written was not done. Transactions that are ready
together share one write; one that changes nothing writes nothing.

A file that another program has changed meanwhile is not overwritten.
"""

import asyncio
import errno
import fcntl
import glob
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import apsw

from oldfriend.db.database import ExternalEdits
from oldfriend.db.free_disk_space import MIN_FREE_BYTES, check_disk_space
from oldfriend.db.json.document import JsonDocument
from oldfriend.db.json.document_reader import JsonText, TermPacker, load_database
from oldfriend.db.schema import Migration, load_migrations
from oldfriend.db.sqlite.connection import check_path_encoding, create_private_folder, is_writable
from oldfriend.db.sqlite.sqlite_database import (
    MemoryDatabase,
    MemoryReadContext,
    apply_migrations,
    create_in_memory,
)
from oldfriend.db.sqlite.sqlite_migrations import build_read_only_error
from oldfriend.db.sqlite.sqlite_transaction import SqliteWriteContext
from oldfriend.domain.errors import StoreBusy, StoreFull, StoreNotFound, StoreUnusable

DISK_FULL_ERRNOS: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True, kw_only=True)
class FileVersion:
    """What shows that a file was written by somebody else."""

    inode: int
    size: int
    written_ns: int


class AtomicFile:
    """A file that is only ever replaced. It has one user at a time."""

    def __init__(self, path: Path) -> None:
        """Set the paths; nothing is read yet."""
        self.path = path
        self.partial = path.with_name(f"{path.name}.tmp")
        self._version: FileVersion | None = None

    def read(self) -> bytes | None:
        """Return its content; None if it does not exist. Raises StoreUnusable."""
        with map_file_errors(self.path):
            self.partial.unlink(missing_ok=True)  # left by a process that was killed while writing
        return self.peek()

    def peek(self) -> bytes | None:
        """Return its content without any write, not even a clean-up. Raises StoreUnusable."""
        with map_file_errors(self.path):
            try:
                content = self.path.read_bytes()
            except FileNotFoundError:
                return None
            self._version = read_file_version(self.path)
        return content

    def replace(self, content: bytes) -> None:
        """Replace it durably, private to this user. Raises StoreFull, StoreUnusable."""
        with map_file_errors(self.path):
            if read_file_version(self.path) != self._version:
                raise StoreUnusable(
                    f"{self.path} was changed by another program while Oldfriend used it. Nothing "
                    "was overwritten, and what was said since is not in the file. Stop Oldfriend "
                    "and start it again; it then continues from the file as it is."
                )
            try:
                self._write_partial(content)
                written = read_file_version(self.partial)
                self.partial.replace(self.path)
            except BaseException:
                with suppress(OSError):
                    self.partial.unlink(missing_ok=True)
                raise
            self._version = written
            fsync_folder(self.path.parent)

    def _write_partial(self, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with open(os.open(self.partial, flags, 0o600), "wb", buffering=0) as file:  # noqa: PTH123 - the mode is set on creation
            left = memoryview(content)
            while left:
                left = left[file.write(left) or 0 :]
            os.fsync(file.fileno())


def read_file_version(path: Path) -> FileVersion | None:
    """Return the version of a file as its metadata show it; None if it does not exist."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return FileVersion(inode=found.st_ino, size=found.st_size, written_ns=found.st_mtime_ns)


def fsync_folder(folder: Path) -> None:
    """Flush the names in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def map_file_errors(path: Path) -> Iterator[None]:
    """Turn the file system's errors into ours, which say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL_ERRNOS:
            raise StoreFull(
                f"The disk that holds {path} is full. What was saved before is safe; this was not "
                "saved. Free some space and try again."
            ) from error
        raise StoreUnusable(
            f"{path} cannot be used ({error.strerror or error}). Check the permissions of the "
            "file and of its folder, or choose another place with --database json:///PATH."
        ) from error


def check_exists(path: Path) -> None:
    """Raise StoreNotFound if the file does not exist."""
    if not path.exists():
        raise StoreNotFound(f"There is no memory at {path} yet. Talk first: oldfriend chat")


class FileLock:
    """The exclusive right to use a file, until it is released. Made by ``acquire_lock``."""

    def __init__(self, path: Path, descriptor: int) -> None:
        """Record the holder: only its process id, since its arguments may be private."""
        self.path = path
        self._file: int | None = descriptor
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let another process use the file; does nothing if already released."""
        if self._file is None:
            return
        with suppress(OSError):  # the folder may be gone by now
            self.path.unlink()
        os.close(self._file)
        self._file = None


def get_lock_path(path: Path) -> Path:
    """Return the path of the lock file of a file."""
    return path.with_name(f"{path.name}.lock")


def acquire_lock(path: Path) -> FileLock:
    """Acquire the lock of a file. Raises StoreBusy if another process has it, StoreUnusable."""
    lock = get_lock_path(path)
    while True:
        with map_file_errors(lock):
            file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(file, 20, 0).decode(errors="replace").strip()
            os.close(file)
            raise StoreBusy(format_in_use(path, holder)) from error
        if is_same_file(file, lock):
            with map_file_errors(lock):
                return FileLock(lock, file)
        os.close(file)  # its last holder has just removed it


def format_in_use(path: Path, pid: str) -> str:
    """Return the message for a process that finds the file locked."""
    who = f"process {pid}" if pid else "another process"
    return (
        f"{path} is in use by {who}. Only one process at a time can use a json store: stop the "
        "other one first (a server: oldfriend stop). Several at once can use SQLite: "
        f"{format_convert_command(path)}"
    )


def format_convert_command(path: Path) -> str:
    """Return the command that moves a JSON store to SQLite, which has no such limit."""
    target = path.with_name(f"{path.name.removesuffix('.json')}.db")
    return f"oldfriend convert json:///{path} sqlite:///{target}"


def is_same_file(descriptor: int, path: Path) -> bool:
    """Return whether an open file is the one that has this name."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


MAX_FILE_BYTES: Final = 32 << 20
"""In bytes: some 22,000 messages; 0.16 s per write, 2 s to open, and 370 MB of memory."""
CHUNK_BYTES: Final = 1 << 20
CHUNK_OVERLAP_BYTES: Final = 1 << 12


class JsonDatabase:
    """An open JSON store. Made by ``open_json``."""

    def __init__(
        self, file: AtomicFile, lock: FileLock | None, connection: apsw.Connection
    ) -> None:
        """Take over the file, its lock, and its content as a database.

        Without the lock the store is read-only.
        """
        self.path = file.path
        self.migration_backup: Path | None = None
        self.external_edits: ExternalEdits | None = None
        self.max_bytes: int | None = MAX_FILE_BYTES
        self._file = file
        self._lock = lock
        self._memory = MemoryDatabase(connection, file.path, before_commit=self.save)
        self._document = JsonDocument(self._memory.connection)

    @property
    def is_read_only(self) -> bool:
        """Whether the file or its folder is not writable now, or was not when it was opened."""
        return self._lock is None or not is_writable(self.path)

    def begin_read(self) -> MemoryReadContext:
        """Return a context of a read snapshot."""
        return self._memory.begin_read()

    def begin_write(self, *, urgent: bool = False) -> SqliteWriteContext:
        """Return a context of a write transaction that commits on exit, or rolls back on error."""
        return self._memory.begin_write(urgent=urgent)

    async def probe_write(self) -> None:
        """Write as much beside the file as it is long. Raises StoreError."""
        with map_file_errors(self.path):
            needed_bytes = max(MIN_FREE_BYTES, await self.size_bytes())
        await asyncio.to_thread(check_disk_space, self.path, needed_bytes=needed_bytes)

    async def wait_for_change(self) -> None:
        """Wait forever: no other process can write."""
        await self._memory.wait_for_change()

    async def truncate_wal(self) -> bool:
        """Do nothing: there is no write-ahead log."""
        return True

    async def vacuum(self) -> bool:
        """Return True: each commit rewrites the file."""
        return True

    def list_files(self) -> tuple[Path, ...]:
        """Return the file, its partial file, its lock, and the backups."""
        return (self.path, self._file.partial, get_lock_path(self.path), *self.list_backups())

    def list_backups(self) -> tuple[Path, ...]:
        """Return the backups that were made before migrations."""
        return tuple(sorted(self.path.parent.glob(f"{glob.escape(self.path.name)}.before-*")))

    async def iter_raw_bytes(self) -> AsyncIterator[tuple[Path, bytes]]:
        """Yield the bytes of the file in pieces that overlap a little."""
        content = self.path.read_bytes()
        for start in range(0, len(content), CHUNK_BYTES):
            yield self.path, content[start : start + CHUNK_BYTES + CHUNK_OVERLAP_BYTES]

    async def size_bytes(self) -> int:
        """Return the size of the file in bytes."""
        return self.path.stat().st_size

    async def free_bytes(self) -> int:
        """Return 0: the file is rewritten each time."""
        return 0

    async def check_integrity(self) -> list[str]:
        """Return what is wrong in memory or in the file; empty if both are sound."""
        problems = await self._memory.check_integrity()
        if self._document.is_saved and self.path.read_bytes() != self._document.render():
            problems.append("the file is not as it was written")
        return problems

    async def close(self) -> None:
        """Close the database and release the lock."""
        await self._memory.close()
        if self._lock is not None:
            self._lock.release()

    def save(self) -> None:
        """Write the file as the open transaction will leave it. Raises StoreError."""
        self._document.refresh()
        if not self._document.is_saved:
            if self._lock is None:
                raise StoreUnusable(
                    f"{self.path} cannot be opened for writing. Check the permissions of the file "
                    "and of its folder, or choose another place with --database json:///PATH."
                )
            content = self._document.render()
            check_file_size(self.path, len(content))
            self._file.replace(content)
        self._document.mark_saved()

    def mark_unchanged(self, content: bytes) -> None:
        """Mark the document as saved if the file has its content already."""
        if self._document.render() == content:
            self._document.mark_saved()


def check_file_size(path: Path, size: int) -> None:
    """Raise StoreFull for a file that would take too long to write each time."""
    if size > MAX_FILE_BYTES:
        raise StoreFull(
            f"{path} would grow beyond {MAX_FILE_BYTES >> 20} MB which is too much to write again "
            "each time. What was saved before is safe; this was not saved. Move to SQLite, where "
            f"size does not matter; nothing is lost: {format_convert_command(path)}"
        )


def open_json(
    path: Path,
    *,
    pack_terms: TermPacker,
    create: bool = True,
    migrations: tuple[Migration, ...] | None = None,
) -> JsonDatabase:
    """Open the file; create or migrate it first if needed.

    If it is not writable and need not be created, it is opened read-only, as it is now. Raises
    StoreNotFound, StoreBusy if another process uses it, StoreUnusable, StoreCorrupt, SchemaTooNew.
    """
    known = migrations or load_migrations()
    check_path_encoding(path)
    path = path.resolve()
    if create:
        create_private_folder(path.parent)
    else:
        check_exists(path)
        if not is_writable(path):
            return open_read_only(AtomicFile(path), known, pack_terms)
    lock = acquire_lock(path)
    try:
        return open_locked(AtomicFile(path), lock, known, pack_terms)
    except BaseException:
        lock.release()
        raise


def open_read_only(
    file: AtomicFile, migrations: tuple[Migration, ...], pack_terms: TermPacker
) -> JsonDatabase:
    """Open a file as it is now, even while another process uses it."""
    content = file.peek()
    if content is None:
        raise StoreNotFound(f"There is no memory at {file.path} any more.")
    loaded = load_database(JsonText(file.path, content), migrations, pack_terms)
    if loaded.schema.version < migrations[-1].version:
        raise build_read_only_error(file.path)
    database = JsonDatabase(file, None, loaded.connection)
    database.mark_unchanged(content)
    return database


def open_locked(
    file: AtomicFile, lock: FileLock, migrations: tuple[Migration, ...], pack_terms: TermPacker
) -> JsonDatabase:
    """Open a file that no other process uses."""
    content = file.read()
    if content is None:
        database = JsonDatabase(file, lock, create_in_memory(migrations))
        database.save()
        return database
    loaded = load_database(JsonText(file.path, content), migrations, pack_terms)
    missing = [step for step in migrations if step.version > loaded.schema.version]
    backup = back_up_file(file.path, loaded.schema.version, content) if missing else None
    apply_migrations(loaded.connection, missing, loaded.schema)
    database = JsonDatabase(file, lock, loaded.connection)
    database.external_edits, database.migration_backup = loaded.external_edits, backup
    if missing:
        database.save()
    else:
        database.mark_unchanged(content)
    return database


def back_up_file(path: Path, version: int, content: bytes) -> Path:
    """Copy the file beside itself before it is migrated."""
    copy = AtomicFile(path.with_name(f"{path.name}.before-{version + 1}"))
    copy.read()
    copy.replace(content)
    return copy.path
