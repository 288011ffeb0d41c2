"""How is a file replaced as a whole, so that a power cut leaves the old one or the new one?

Notices when somebody else has changed it meanwhile, and leaves it to them. Knows nothing of what
is in it.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.domain.errors import StoreFull, StoreNotFound, StoreUnusable

FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """By which it shows that a file was written by somebody else."""

    inode: int
    size: int
    written_ns: int


class WholeFile:
    """A file that is only ever replaced. One at a time may hold it."""

    def __init__(self, path: Path) -> None:
        """Nothing was read yet."""
        self.path = path
        self.partial = path.with_name(f"{path.name}.tmp")
        self._seen: Seen | None = None

    def read(self) -> bytes | None:
        """What is in it; None where it is not there. Raises StoreUnusable."""
        with file_errors(self.path):
            self.partial.unlink(missing_ok=True)  # of one that was killed while writing
            try:
                content = self.path.read_bytes()
            except FileNotFoundError:
                return None
            self._seen = seen(self.path)
        return content

    def replace(self, content: bytes) -> None:
        """Write it anew, durably, and private to this user. Raises StoreFull, StoreUnusable."""
        with file_errors(self.path):
            if seen(self.path) != self._seen:
                raise StoreUnusable(
                    f"{self.path} was changed by another program while Oldfriend used it. Nothing "
                    "was written over it, and what was said since is not in it. End Oldfriend and "
                    "start it again: it then goes on from the file as it is."
                )
            try:
                self._write_partial(content)
                written = seen(self.partial)
                self.partial.replace(self.path)
            except BaseException:
                with suppress(OSError):
                    self.partial.unlink(missing_ok=True)
                raise
            self._seen = written
            sync_folder(self.path.parent)

    def _write_partial(self, content: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with open(os.open(self.partial, flags, 0o600), "wb", buffering=0) as file:  # noqa: PTH123 - the mode is set as it is made
            left = memoryview(content)
            while left:
                left = left[file.write(left) or 0 :]
            os.fsync(file.fileno())


def seen(path: Path) -> Seen | None:
    """How a file looks from outside; None where it is not there."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return Seen(inode=found.st_ino, size=found.st_size, written_ns=found.st_mtime_ns)


def sync_folder(folder: Path) -> None:
    """Have the disk remember which names its files have."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def file_errors(path: Path) -> Iterator[None]:
    """Turn the file system's errors into ours, which say what to do."""
    try:
        yield
    except OSError as error:
        if error.errno in FULL:
            raise StoreFull(
                f"The disk that holds {path} is full. What was saved before is safe; this was not "
                "saved. Free some space and try again."
            ) from error
        raise StoreUnusable(
            f"{path} cannot be used ({error.strerror or error}). Check the rights of the file and "
            "of its folder, or choose another place with --database json:///PATH."
        ) from error


def refuse_missing(path: Path) -> None:
    """Raise StoreNotFound where nothing is there."""
    if not path.exists():
        raise StoreNotFound(f"There is no memory at {path} yet. Talk first: oldfriend chat")
