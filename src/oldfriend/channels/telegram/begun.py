"""Who on this machine is about to send a message? Held from before it is sent until it is noted.

A process that is slow can lose a chat to another while its call is in the air. The other one waits
for it, instead of sending the same again. The system holds these locks: those of a process that was
killed are gone with it, those of one that is stopped stay. They are on bytes of a file that stays
empty, which nobody else may open: closing it anywhere in a process lets go of all that it holds.
"""

import asyncio
import fcntl
import os
from collections import Counter
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

NAME: Final = "begun"
LOOK_EVERY_S: Final = 0.05


class Begun:
    """What somebody has begun to send; of other machines nothing is known."""

    def __init__(self, folder: Path | None, *, patience_s: float) -> None:
        """Hold nothing yet; without a folder nothing is known of other processes.

        ``patience_s``: so long somebody is waited for who lives, and may never go on.
        """
        self._path = None if folder is None else folder / NAME
        self._patience_s = patience_s
        self._file: int | None = None
        self._held: Counter[int] = Counter()
        self._is_over = False

    async def hold(self, key: str) -> None:
        """Wait until no other process is at it; then none begins it, until it is let go of."""
        place = place_of(key)
        if not self._is_mine(place):
            await self._wait_for(place)
        self._held[place] += 1

    def let_go(self, key: str) -> None:
        """Let others have it, once for each time that it was held."""
        place = place_of(key)
        self._held[place] -= 1
        if self._held[place] > 0:
            return
        del self._held[place]
        if self._file is not None:
            with suppress(OSError):
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, place)
        if self._is_over:
            self.close()

    def close(self) -> None:
        """Hold nothing any more, as soon as all that was begun has come to its end."""
        self._is_over = True
        if self._file is not None and not self._held:
            os.close(self._file)
            self._file = None

    async def _wait_for(self, place: int) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._patience_s):
                while not self._is_mine(place):  # noqa: ASYNC110 - nothing else tells of it
                    await asyncio.sleep(LOOK_EVERY_S)

    def _is_mine(self, place: int) -> bool:
        """Whether no other process holds it; where nothing can be held, nobody does."""
        if self._path is None:
            return True
        with suppress(OSError):
            file = self._opened(self._path)
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
            except (BlockingIOError, PermissionError):  # by which of them it is told depends
                return False
        return True

    def _opened(self, path: Path) -> int:
        """The file, in which nothing ever stands. Raises OSError."""
        if self._file is None:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        return self._file


def place_of(key: str) -> int:
    """The byte of the file that stands for a key."""
    return int.from_bytes(sha256(key.encode()).digest()[:8], "big") >> 2
