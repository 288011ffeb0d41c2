"""A slow disk: SQLite waits longer for each sync."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import apsw
from typing_extensions import override

NAME = "slow disk"


class SlowFile(apsw.VFSFile):
    """A file whose disk says only after a while that it has everything."""

    def __init__(
        self, disk: str, name: str | apsw.URIFilename | None, flags: list[int], *, sync_s: float
    ) -> None:
        """Open it on the disk that is there."""
        super().__init__(disk, name, flags)
        self._sync_s = sync_s

    @override
    def xSync(self, flags: int) -> None:
        """Wait for the disk, and longer."""
        super().xSync(flags)
        time.sleep(self._sync_s)


class SlowDisk(apsw.VFS):
    """The disk that is there, with slower syncs."""

    def __init__(self, *, sync_s: float) -> None:
        """Be where databases are opened from now on."""
        self._disk, self._sync_s = apsw.vfs_names()[0], sync_s
        super().__init__(NAME, self._disk, makedefault=True)

    @override
    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        """Open a file."""
        return SlowFile(self._disk, name, flags, sync_s=self._sync_s)


@contextmanager
def use_slow_disk(*, sync_s: float) -> Iterator[None]:
    """Databases that are opened meanwhile lie where each sync takes so much longer; 0: as it is."""
    if not sync_s:
        yield
        return
    disk = SlowDisk(sync_s=sync_s)
    try:
        yield
    finally:
        disk.unregister()
