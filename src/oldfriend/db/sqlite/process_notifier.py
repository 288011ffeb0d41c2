"""Process notifier: wakes the other processes that share a SQLite file after a commit.

Each process binds a datagram socket in a folder beside the file; whoever commits sends one byte to
every socket there. A wake-up can be missed (a full buffer, a system without Unix sockets), so
listeners also poll ``PRAGMA data_version``; the sockets only make it prompt.
"""

import asyncio
import hashlib
import os
import socket
import stat
import tempfile
from pathlib import Path

POLL_INTERVAL_S = 5.0
MAX_SOCKET_PATH = 100  # the limit for a Unix socket's path is 104 to 108 bytes
WAKEUP = b"!"


class ProcessNotifier:
    """This process's wake-up socket, and a way to notify all other processes."""

    def __init__(self, database: Path) -> None:
        """Set the socket folder of a database; nothing is created yet."""
        self._folder = get_socket_folder(database)
        self._folder_text = os.fspath(self._folder)
        self._socket_path: Path | None = None
        self._socket: socket.socket | None = None

    def notify(self) -> None:
        """Wake the other processes; never blocks and never fails."""
        own = None if self._socket_path is None else self._socket_path.name
        others = [name for name in list_sockets(self._folder_text) if name != own]
        if not others:
            return
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            for name in others:
                send_wakeup(sender, self._folder / name)

    async def wait(self) -> None:
        """Return when a wake-up arrives, or after POLL_INTERVAL_S."""
        if not self.listen():
            await asyncio.sleep(POLL_INTERVAL_S)
            return
        try:
            async with asyncio.timeout(POLL_INTERVAL_S):
                await self._receive()
        except TimeoutError:
            return

    def listen(self) -> bool:
        """Start listening, if possible here; a check made after this misses nothing."""
        if self._socket is None and hasattr(socket, "AF_UNIX"):
            self._socket, self._socket_path = bind_socket(self._folder)
        return self._socket is not None

    def close(self) -> None:
        """Close and remove the socket."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        if self._socket_path is not None:
            self._socket_path.unlink(missing_ok=True)
            self._socket_path = None

    async def _receive(self) -> None:
        assert self._socket is not None
        loop = asyncio.get_running_loop()
        await loop.sock_recv(self._socket, 16)
        while True:  # many wake-ups count as one
            try:
                self._socket.recv(16)
            except BlockingIOError:
                return


def get_socket_folder(database: Path) -> Path:
    """Return the socket folder: beside the database, or elsewhere if that path is too long."""
    beside = database.with_name(database.name + ".bells")
    if len(os.fsencode(beside)) + 20 <= MAX_SOCKET_PATH:
        return beside
    key = hashlib.sha256(os.fsencode(database.resolve())).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"oldfriend-{get_user_id()}-{key}"


def get_user_id() -> int:
    """Return the user id that owns files; 0 on systems without one."""
    return os.getuid() if hasattr(os, "getuid") else 0


def is_own_folder(folder: str | Path) -> bool:
    """Return whether it is a folder of this user, not a link: the fallback folder is
    world-writable.
    """
    found = os.lstat(folder)
    return stat.S_ISDIR(found.st_mode) and found.st_uid == get_user_id()


def list_sockets(folder: str) -> list[str]:
    """Return the names of the sockets in a folder; empty if it is missing or somebody else's."""
    if not os.access(folder, os.R_OK) or not hasattr(socket, "AF_UNIX"):
        return []  # the usual case; checking is cheaper than an exception at each commit
    try:
        if not is_own_folder(folder):
            return []
        return os.listdir(folder)  # noqa: PTH208 - Path objects take three times as long
    except OSError:
        return []


def bind_socket(folder: Path) -> tuple[socket.socket | None, Path | None]:
    """Bind a socket in the folder; (None, None) if the file system has no sockets."""
    address = folder / f"{os.getpid()}-{os.urandom(3).hex()}"
    receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not is_own_folder(folder):
            raise PermissionError(f"{folder} is somebody else's.")
        folder.chmod(0o700)
        receiver.bind(os.fspath(address))
    except OSError:
        receiver.close()
        return None, None
    receiver.setblocking(False)
    return receiver, address


def send_wakeup(sender: socket.socket, address: Path) -> None:
    """Send a wake-up to one socket; remove the socket if its process is gone."""
    try:
        sender.sendto(WAKEUP, os.fspath(address))
    except ConnectionRefusedError:
        address.unlink(missing_ok=True)
    except OSError:
        return  # full, or just closed: its owner polls anyway
