"""Send locks: lock a chat across processes from before a message is sent until it is recorded.

A slow process can lose a chat to another while its call is in flight. The other one waits for it
instead of sending the same message again. These are locks of the operating system: those of a
killed process are released, those of a stopped one stay. They lie on bytes of a file that stays
empty and that no other code may open: closing it anywhere in a process releases all its locks.
"""

import asyncio
import fcntl
import os
from collections import Counter
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

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
