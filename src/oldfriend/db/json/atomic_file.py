"""Atomic file: replaced as a whole, so that a power cut leaves the old or the new content.

If another program has changed it meanwhile, it is not overwritten.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import StoreFull, StoreNotFound, StoreUnusable

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
                    "was written over it, and what was said since is not in it. End Oldfriend and "
                    "start it again: it then goes on from the file as it is."
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
            f"{path} cannot be used ({error.strerror or error}). Check the rights of the file and "
            "of its folder, or choose another place with --database json:///PATH."
        ) from error


def check_exists(path: Path) -> None:
    """Raise StoreNotFound if the file does not exist."""
    if not path.exists():
        raise StoreNotFound(f"There is no memory at {path} yet. Talk first: oldfriend chat")
