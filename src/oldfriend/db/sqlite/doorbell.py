"""How do processes that share a database file tell each other that something was written?

Each process binds a datagram socket in a folder beside the file; whoever commits sends one byte
to every socket there. A bell can be missed (a full buffer, a system without Unix sockets), so
listeners also look at ``PRAGMA data_version`` now and then; the bell only makes it prompt.
"""

import asyncio
import hashlib
import os
import socket
import stat
import tempfile
from pathlib import Path

LOOK_ANYWAY_S = 5.0
LONGEST_ADDRESS = 100  # a Unix socket's path fits 104 to 108 bytes
RING = b"!"


class Doorbell:
    """This process's bell, and the way to ring everybody else's."""

    def __init__(self, database: Path) -> None:
        """Name the folder of bells for a database; nothing is made yet."""
        self._folder = bells_of(database)
        self._folder_text = os.fspath(self._folder)
        self._own: Path | None = None
        self._socket: socket.socket | None = None

    def ring(self) -> None:
        """Wake the other processes; never waits and never fails."""
        own = None if self._own is None else self._own.name
        others = [name for name in bells_in(self._folder_text) if name != own]
        if not others:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as bell:
            bell.setblocking(False)
            for name in others:
                ring_at(bell, self._folder / name)

    async def wait(self) -> None:
        """Return when somebody rings, or after a while in any case."""
        if not self.put_up():
            await asyncio.sleep(LOOK_ANYWAY_S)
            return
        try:
            async with asyncio.timeout(LOOK_ANYWAY_S):
                await self._rung()
        except TimeoutError:
            return

    def put_up(self) -> bool:
        """Begin to listen, if that is possible here; whoever looks after this misses nothing."""
        if self._socket is None and hasattr(socket, "AF_UNIX"):
            self._socket, self._own = bind_in(self._folder)
        return self._socket is not None

    def close(self) -> None:
        """Take the bell down."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._own is not None:
            self._own.unlink(missing_ok=True)
            self._own = None

    async def _rung(self) -> None:
        assert self._socket is not None
        loop = asyncio.get_running_loop()
        await loop.sock_recv(self._socket, 16)
        while True:  # many rings are one
            try:
                self._socket.recv(16)
            except BlockingIOError:
                return


def bells_of(database: Path) -> Path:
    """The folder of bells: beside the database, or elsewhere if that path is too long."""
    beside = database.with_name(database.name + ".bells")
    if len(os.fsencode(beside)) + 20 <= LONGEST_ADDRESS:
        return beside
    key = hashlib.sha256(os.fsencode(database.resolve())).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"oldfriend-{this_user()}-{key}"


def this_user() -> int:
    """The number of the user, by whom files are told apart; 0 where there are none."""
    return os.getuid() if hasattr(os, "getuid") else 0


def is_ours(folder: str | Path) -> bool:
    """Whether it is a folder of this user, and no link: the fallback lies where all may write."""
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == this_user()


def bells_in(folder: str) -> list[str]:
    """The names of the bells in a folder; none where it is missing or somebody else's."""
    if not os.access(folder, os.R_OK) or not hasattr(socket, "AF_UNIX"):
        return []  # the usual case; asking first is cheaper than an exception at each commit
    try:
        if not is_ours(folder):
            return []
        return os.listdir(folder)  # noqa: PTH208 - Path objects take three times as long
    except OSError:
        return []


def bind_in(folder: Path) -> tuple[socket.socket | None, Path | None]:
    """A listening bell in the folder, or nothing where the file system has no sockets."""
    address = folder / f"{os.getpid()}-{os.urandom(3).hex()}"
    bell = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not is_ours(folder):
            raise PermissionError(f"{folder} is somebody else's.")
        folder.chmod(0o700)
        bell.bind(os.fspath(address))
    except OSError:
        bell.close()
        return None, None
    bell.setblocking(False)
    return bell, address


def ring_at(bell: socket.socket, address: Path) -> None:
    """Ring one bell; sweep it away if nobody is behind it any more."""
    try:
        bell.sendto(RING, os.fspath(address))
    except ConnectionRefusedError:
        address.unlink(missing_ok=True)
    except OSError:
        return  # full, or just taken down: its owner looks anyway
