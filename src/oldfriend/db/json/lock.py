"""Who uses the file? One process at a time; whoever else comes is told which.

A file beside it is locked for as long as the process lives: the system gives the lock back however
it ends. The file itself cannot be locked, for each write puts a new one in its place.
"""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from oldfriend.db.json.file import file_errors
from oldfriend.domain.errors import StoreBusy


class Held:
    """The right to use a file, until it is let go. Made by ``hold``."""

    def __init__(self, path: Path, file: int) -> None:
        """Say who holds it: only the number of the process, for what was typed may be private."""
        self.path = path
        self._file: int | None = file
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)

    def let_go(self) -> None:
        """Let another process use it; nothing happens when that was done already."""
        if self._file is None:
            return
        with suppress(OSError):  # the folder may be gone by now
            self.path.unlink()
        os.close(self._file)
        self._file = None


def lock_of(path: Path) -> Path:
    """The file that is locked for a file."""
    return path.with_name(f"{path.name}.lock")


def hold(path: Path) -> Held:
    """The right to use a file. Raises StoreBusy where another process has it, StoreUnusable."""
    lock = lock_of(path)
    while True:
        with file_errors(lock):
            file = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(file, 20, 0).decode(errors="replace").strip()
            os.close(file)
            raise StoreBusy(in_use(path, holder)) from error
        if is_still(file, lock):
            with file_errors(lock):
                return Held(lock, file)
        os.close(file)  # whoever had it has just removed it


def in_use(path: Path, holder: str) -> str:
    """What to tell whoever comes second."""
    who = f"process {holder}" if holder else "another process"
    return (
        f"{path} is in use by {who}. One process at a time can use a json store: end the other "
        "one first (serve: oldfriend stop). Several at once can use SQLite: "
        f"{moving_to_sqlite(path)}"
    )


def moving_to_sqlite(path: Path) -> str:
    """How everything in a json store is moved to where there is no such limit."""
    aside = path.with_name(f"{path.name.removesuffix('.json')}.db")
    return f"oldfriend convert json:///{path} sqlite:///{aside}"


def is_still(file: int, path: Path) -> bool:
    """Whether an open file is the one that has this name."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
