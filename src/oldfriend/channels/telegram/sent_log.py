"""Sent log: locks and records what Telegram has accepted of ours, before the database knows.

Telegram has no idempotency keys: what is sent again is shown again. So its answer is written to a
file as soon as it is read, long before a transaction could commit; a process that takes over from
one that was killed or lost its lease looks there first. That a message is about to be sent is
recorded as well: if no answer came, nobody knows whether it was shown, and it may be sent a second
time but not a third. The file holds numbers only, no texts and no addresses.
"""

import asyncio
import fcntl
import os
import secrets
import time
from collections import Counter
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, Final

from oldfriend.channels.bounded_map import BoundedMap

LOCK_FILE: Final = "begun"
POLL_INTERVAL_S: Final = 0.05


class SendLocks:
    """Locks on the keys of messages being sent from this machine; other machines are not seen."""

    def __init__(self, folder: Path | None, *, timeout_s: float) -> None:
        """Create without locks; without a folder, other processes are not seen.

        ``timeout_s``: how long to wait for a process that lives but may never continue.
        """
        self._path = None if folder is None else folder / LOCK_FILE
        self._timeout_s = timeout_s
        self._file: int | None = None
        self._counts: Counter[int] = Counter()
        self._is_closing = False

    async def acquire(self, key: str) -> None:
        """Wait until no other process has the lock, or time is up; then hold it until release."""
        offset = hash_to_offset(key)
        if not self._try_lock(offset):
            await self._wait_for_lock(offset)
        self._counts[offset] += 1

    def release(self, key: str) -> None:
        """Release the lock, once for each time that it was acquired."""
        offset = hash_to_offset(key)
        self._counts[offset] -= 1
        if self._counts[offset] > 0:
            return
        del self._counts[offset]
        if self._file is not None:
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, offset)
        if self._is_closing:
            self.close()

    def close(self) -> None:
        """Release everything as soon as all locks held are released."""
        self._is_closing = True
        if self._file is not None and not self._counts:
            os.close(self._file)
            self._file = None

    async def _wait_for_lock(self, offset: int) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._timeout_s):
                while not self._try_lock(offset):  # noqa: ASYNC110 - there is no notification of a release
                    await asyncio.sleep(POLL_INTERVAL_S)

    def _try_lock(self, offset: int) -> bool:
        """Tell whether no other process has the lock; true if locking is not possible."""
        if self._path is None:
            return True
        with suppress(OSError):
            file = self._open_file(self._path)
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
            except (BlockingIOError, PermissionError):  # which one depends on the platform
                return False
        return True

    def _open_file(self, path: Path) -> int:
        """Return the lock file, which stays empty. Raises OSError."""
        if self._file is None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        return self._file


def hash_to_offset(key: str) -> int:
    """Return the byte of the file that stands for a key."""
    return int.from_bytes(sha256(key.encode()).digest()[:8], "big") >> 2


FILE_SUFFIX: Final = ".taken"
MAX_FILE_AGE_S: Final = 24 * 60 * 60
"""How long the file of a dead process is kept.

A part may be retried for longer (``replies/outbox_worker.py``), but a process that removes a file
has read it before.
"""
SLOTS: Final = 2_048
"""The newest slots of a process, two per message; older ones are in the database long since."""
MAX_REMEMBERED: Final = 4 * SLOTS
"""The most entries kept in memory, from several processes."""
SLOT_BYTES: Final = 48
"""Bytes of a slot: 32 of a key, a space, a number and a line break."""
ATTEMPTED: Final = "?"
"""In place of a number: the message is about to be sent."""
REFUSED: Final = "-"
"""In place of a number: the message was not accepted."""


class SentLog:
    """A log of the messages Telegram accepted lately, from all processes of this machine."""

    def __init__(self, folder: Path | None) -> None:
        """Create without a file; without a folder, only this process knows of its messages."""
        self._folder = folder
        self._name = f"{secrets.token_hex(8)}{FILE_SUFFIX}"
        self._file: int | None = None
        self._next = 0
        self._is_closing = False
        self._message_ids = BoundedMap[str, int](MAX_REMEMBERED)
        self._unanswered = BoundedMap[str, int](MAX_REMEMBERED)  # of dead processes and ours
        self._read: set[str] = set()

    def find_message_id(self, key: str) -> int | None:
        """Return the id of an accepted message; None: none is known here."""
        key_hash = hash_key(key)
        living = self._read_finished_files()
        if (number := self._message_ids.get(key_hash)) is not None:
            return number
        return next(
            (
                found
                for each in living
                if (found := find_number_in_file(each, key_hash)) is not None
            ),
            None,
        )

    def count_unanswered(self, key: str) -> int:
        """Return how often a message was sent without a known outcome."""
        key_hash = hash_key(key)
        living = self._read_finished_files()
        return self._unanswered.get(key_hash, 0) + sum(
            count_unanswered_in_file(each, key_hash) for each in living
        )

    def record_attempt(self, key: str) -> None:
        """Record that a message is about to be sent: if the process dies now, it may be shown."""
        self._add_unanswered(hash_key(key), +1)
        self._append(hash_key(key), ATTEMPTED)

    def record_refused(self, key: str) -> None:
        """Record that a message was not accepted: its attempt no longer counts."""
        self._add_unanswered(hash_key(key), -1)
        self._append(hash_key(key), REFUSED)

    def record_sent(self, key: str, message_id: int) -> None:
        """Record an accepted message; if no file can be written, the database will know anyway."""
        key_hash = hash_key(key)
        is_recorded = self._message_ids.get(key_hash) == message_id
        self._message_ids[key_hash] = message_id
        if not is_recorded:
            self._append(key_hash, str(message_id))

    def _append(self, key_hash: str, value: str) -> None:
        if self._folder is None:
            return
        with suppress(OSError):
            if self._file is None:
                self._file = self._create_file(self._folder)
            os.pwrite(self._file, format_slot(key_hash, value), SLOT_BYTES * (self._next % SLOTS))
            self._next += 1
        if self._is_closing:
            self.close()

    def _add_unanswered(self, key_hash: str, change: int) -> None:
        self._unanswered[key_hash] = max(self._unanswered.get(key_hash, 0) + change, 0)

    def close(self) -> None:
        """Let other processes read the file; a late record goes to a new file, released at once."""
        self._is_closing = True
        if self._file is not None:
            os.close(self._file)
            self._file = None
            self._name = f"{secrets.token_hex(8)}{FILE_SUFFIX}"

    def _create_file(self, folder: Path) -> int:
        """Create our file in its full size, so that the disk space is there when it matters."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Also files whose process died before renaming them.
        for path in folder.glob(f"*{FILE_SUFFIX}*"):
            remove_stale_file(path)
        new = folder / f"{self._name}.new"
        file = os.open(new, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            os.pwrite(file, b" " * (SLOT_BYTES * SLOTS), 0)
            new.rename(folder / self._name)  # locked before it is renamed: nobody reads it early
        except OSError:
            os.close(file)
            raise
        self._read.add(self._name)
        return file

    def _read_finished_files(self) -> list[Path]:
        """Read the files of dead processes, each once; return the files of living ones."""
        living: list[Path] = []
        if self._folder is None:
            return living
        with suppress(FileNotFoundError, NotADirectoryError):
            for name in os.listdir(self._folder):  # noqa: PTH208 - runs on each send, so names only
                if name.endswith(FILE_SUFFIX) and name not in self._read:
                    with suppress(OSError):  # it may be removed meanwhile; go on with the next
                        if not self._read_file(self._folder / name):
                            living.append(self._folder / name)
        return living

    def _read_file(self, path: Path) -> bool:
        """Read a file unless its process lives; return whether it was read."""
        with path.open("rb") as file:
            if is_locked(file):
                return False
            for slot in file.read().split(b"\n"):
                key_hash = slot.partition(b" ")[0].decode("ascii", "replace")
                if (number := parse_slot_number(slot)) is not None:
                    self._message_ids[key_hash] = number
                elif change := parse_slot_change(slot):
                    self._add_unanswered(key_hash, change)
        self._read.add(path.name)
        return True


def find_number_in_file(path: Path, key_hash: str) -> int | None:
    """Return the number that a living process's file has for a key, if any."""
    return next(
        (number for slot in list_slots(path, key_hash) if (number := parse_slot_number(slot))), None
    )


def count_unanswered_in_file(path: Path, key_hash: str) -> int:
    """Return how often a message was sent and not answered, by a living process's file."""
    return max(sum(map(parse_slot_change, list_slots(path, key_hash))), 0)


def list_slots(path: Path, key_hash: str) -> list[bytes]:
    """Return the slots of a key in a living process's file."""
    content = b""
    with suppress(OSError):
        content = path.read_bytes()
    key = key_hash.encode()
    return [slot for slot in content.split(b"\n") if slot.startswith(key)] if key in content else []


def is_locked(file: BinaryIO) -> bool:
    """Tell whether the process that writes to a file is alive."""
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def remove_stale_file(path: Path) -> None:
    """Remove the file of a dead process, long after its last record.

    Does nothing if it cannot be removed or another process has done it.
    """
    with suppress(OSError), path.open("rb") as file:
        if time.time() - path.stat().st_mtime > MAX_FILE_AGE_S and not is_locked(file):
            path.unlink(missing_ok=True)


def hash_key(key: str) -> str:
    """Return a key as it is written in the file."""
    return sha256(key.encode()).hexdigest()[:32]


def parse_slot_number(slot: bytes) -> int | None:
    """Return the number in a slot; None if the slot is empty or incomplete."""
    number = slot.partition(b" ")[2].strip()
    return int(number) if number.isdigit() else None


def parse_slot_change(slot: bytes) -> int:
    """Return 1 if a slot records an attempt, -1 for a refusal, else 0."""
    return {ATTEMPTED.encode(): 1, REFUSED.encode(): -1}.get(slot.partition(b" ")[2].strip(), 0)


def format_slot(key_hash: str, value: str) -> bytes:
    """Format a slot with the fixed length."""
    return f"{key_hash} {value}".ljust(SLOT_BYTES - 1).encode() + b"\n"
