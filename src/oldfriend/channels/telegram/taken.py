"""Which messages of ours has Telegram taken, of which the database may not know yet?

Telegram knows no keys: what is sent once more is shown once more. So its answer is noted in a file
in the moment in which it is read, long before a transaction could be; whoever goes on after a
process that was killed, or lost what it held, looks there first. It knows numbers only, no words
and no addresses.
"""

import fcntl
import os
import secrets
import time
from collections import OrderedDict
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

ENDING: Final = ".taken"
KEPT_S: Final = 24 * 60 * 60
"""So long the file of one who died is kept. A part may be tried for longer
(``app/delivering.py``), but whoever removes a file has read it before."""
SLOTS: Final = 1_024
"""The newest of a process; what is older is in the database long since."""
REMEMBERED: Final = 8 * SLOTS
"""Of several processes."""
SLOT: Final = 48
"""Bytes: 32 of a key, a space, a number, the end of a line."""


class Taken:
    """What Telegram has taken lately, from this process and from the others of this machine."""

    def __init__(self, folder: Path | None) -> None:
        """Write nothing yet; without a folder it is known in this process only."""
        self._folder = folder
        self._name = f"{secrets.token_hex(8)}{ENDING}"
        self._file: int | None = None
        self._next = 0
        self._is_over = False
        self._numbers: OrderedDict[str, int] = OrderedDict()
        self._read: set[str] = set()

    def find(self, key: str) -> int | None:
        """The number of a message that was taken; None: it was not, as far as is known here."""
        short = shortened(key)
        living = self._read_what_is_left()
        if (number := self._numbers.get(short)) is not None:
            return number
        return next((it for each in living if (it := number_in(each, short)) is not None), None)

    def note(self, key: str, number: int) -> None:
        """It was taken. Where no file can be written, the database will know all the same."""
        short = shortened(key)
        is_noted = self._numbers.get(short) == number
        self._remember(short, number)
        if is_noted or self._folder is None:
            return
        with suppress(OSError):
            if self._file is None:
                self._file = self._made(self._folder)
            os.pwrite(self._file, slot_of(short, number), SLOT * (self._next % SLOTS))
            self._next += 1
        if self._is_over:
            self.close()

    def close(self) -> None:
        """Let others read it; what comes late is noted all the same, and left to them at once."""
        self._is_over = True
        if self._file is not None:
            os.close(self._file)
            self._file = None
            self._name = f"{secrets.token_hex(8)}{ENDING}"

    def _made(self, folder: Path) -> int:
        """A file of our own, as large as it will be: room is not looked for when it matters."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in folder.glob(f"*{ENDING}*"):  # also of those who died before it had its name
            remove_if_old(path)
        new = folder / f"{self._name}.new"
        file = os.open(new, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            os.pwrite(file, b" " * (SLOT * SLOTS), 0)
            new.rename(folder / self._name)  # held before it has its name: nobody reads it early
        except OSError:
            os.close(file)
            raise
        self._read.add(self._name)
        return file

    def _read_what_is_left(self) -> list[Path]:
        """Read what those have noted who live no more, each of them once; the files of others."""
        living: list[Path] = []
        if self._folder is None:
            return living
        with suppress(FileNotFoundError, NotADirectoryError):
            for name in os.listdir(self._folder):  # noqa: PTH208 - at each sending, so names only
                if name.endswith(ENDING) and name not in self._read:
                    with suppress(OSError):  # somebody removes it, and the next one counts as well
                        if not self._read_one(self._folder / name):
                            living.append(self._folder / name)
        return living

    def _read_one(self, path: Path) -> bool:
        """Read a file, unless somebody holds it; whether it was read."""
        with path.open("rb") as file:
            if is_held(file):
                return False
            for slot in file.read().split(b"\n"):
                if (number := number_of(slot)) is not None:
                    self._remember(slot.partition(b" ")[0].decode("ascii", "replace"), number)
        self._read.add(path.name)
        return True

    def _remember(self, short: str, number: int) -> None:
        self._numbers[short] = number
        while len(self._numbers) > REMEMBERED:
            self._numbers.popitem(last=False)


def number_in(path: Path, short: str) -> int | None:
    """What the file of somebody who lives says of one key."""
    noted = b""
    with suppress(OSError):
        noted = path.read_bytes()
    at = noted.find(short.encode())
    return None if at < 0 else number_of(noted[at : at + SLOT])


def is_held(file: BinaryIO) -> bool:
    """Whether the process lives that writes to a file."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def remove_if_old(path: Path) -> None:
    """Remove a file of a process that lives no more, long after anything was noted in it.

    Where that cannot be, or somebody else has done it, it is passed over.
    """
    with suppress(OSError), path.open("rb") as file:
        if time.time() - path.stat().st_mtime > KEPT_S and not is_held(file):
            path.unlink(missing_ok=True)


def shortened(key: str) -> str:
    """A key as it is written here."""
    return sha256(key.encode()).hexdigest()[:32]


def number_of(slot: bytes) -> int | None:
    """The number that stands in a line; None in one that is empty, or not written to its end."""
    number = slot.partition(b" ")[2].strip()
    return int(number) if number.isdigit() else None


def slot_of(short: str, number: int) -> bytes:
    """One line, as long as every other."""
    return f"{short} {number}".ljust(SLOT - 1).encode() + b"\n"
