"""SQLite connection pool: the readers, the one writer, and the queue for it.

To be woken by others, each process binds a datagram socket in a folder beside the file; whoever
commits sends one byte to every socket there. A wake-up can be missed (a full buffer, a system
without Unix sockets), so listeners also poll ``PRAGMA data_version``; the sockets only make it
prompt.
"""

import asyncio
import hashlib
import os
import socket
import stat
import tempfile
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw

from oldfriend.db.schema import check_schema_version
from oldfriend.db.sqlite.connection import (
    check_shared_memory,
    map_sqlite_errors,
    open_connection,
)
from oldfriend.db.sqlite.sqlite_migrations import get_schema_version, load_schema_state
from oldfriend.domain.errors import OldfriendError


class ReaderPool:
    """The reading connections; opened on demand, with a limit."""

    def __init__(self, path: Path, *, max_size: int) -> None:
        """Set the limit; no connection is opened yet."""
        self._path = path
        self._idle: list[apsw.Connection] = []
        self._slots = asyncio.Semaphore(max_size)

    async def acquire(self) -> apsw.Connection:
        """Return a connection for exclusive use until it is released."""
        await self._slots.acquire()
        try:
            check_shared_memory(self._path, can_write=False)
            return self._idle.pop() if self._idle else open_connection(self._path, create=False)
        except BaseException:
            self._slots.release()
            raise

    def release(self, connection: apsw.Connection) -> None:
        """Release a connection."""
        self._idle.append(connection)
        self._slots.release()

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().close()


class WriteQueue:
    """A fair lock: urgent waiters first, the others in order of arrival."""

    def __init__(self) -> None:
        """Create it unlocked."""
        self.is_locked = False
        self.urgent_waiters: deque[asyncio.Future[None]] = deque()
        self._waiters: deque[asyncio.Future[None]] = deque()

    async def acquire(self, *, urgent: bool) -> None:
        """Wait for the lock."""
        if not self.is_locked:
            self.is_locked = True
            return
        queue = self.urgent_waiters if urgent else self._waiters
        waiter = asyncio.get_running_loop().create_future()
        queue.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():  # the lock was granted to this cancelled waiter
                self.release()
            elif waiter in queue:
                queue.remove(waiter)
            raise

    def release(self) -> None:
        """Pass the lock to the next waiter."""
        while queue := self.urgent_waiters or self._waiters:
            if not (waiter := queue.popleft()).cancelled():
                waiter.set_result(None)
                return
        self.is_locked = False


class CommitGroup:
    """Transactions that share one commit."""

    def __init__(self) -> None:
        """Create it without members."""
        self.members = 0
        self._ended: asyncio.Future[OldfriendError | None] | None = None

    async def wait_committed(self) -> None:
        """Wait until another member has committed for all. Raises its error."""
        if self._ended is None:
            self._ended = asyncio.get_running_loop().create_future()
        error = await asyncio.shield(self._ended)
        if error is not None:
            raise type(error)(str(error))

    def resolve(self, error: OldfriendError | None) -> None:
        """Tell the waiting members that all is committed, or why it is not."""
        if self._ended is not None:
            self._ended.set_result(error)


class WriterConnection:
    """The one connection that writes, with its queue and its notifier."""

    def __init__(
        self,
        connection: apsw.Connection,
        path: Path,
        *,
        known_version: int,
        before_commit: Callable[[], None] | None = None,
    ) -> None:
        """Take over a connection for programs that know this schema version.

        ``before_commit`` is called before each commit, to persist the data elsewhere too. It raises
        StoreError if it cannot, and then nothing is committed.
        """
        self.connection = connection
        self._before_commit = before_commit
        self._executor: ThreadPoolExecutor | None = None
        self._committing: asyncio.Future[None] | None = None
        self.queue = WriteQueue()
        self.waiting_count = 0  # transactions that wait for their turn
        self.solo_commits = 0  # consecutive commits that nobody joined
        self.group: CommitGroup | None = None  # members that are not committed yet
        self.notifier = ProcessNotifier(path)
        self._path = path
        self._known_version = known_version
        self._schema_version = get_schema_version(connection)

    def check_schema_version(self) -> None:
        """Raise SchemaTooNew if a newer version has changed meanwhile what this one writes."""
        found = get_schema_version(self.connection)
        if found != self._schema_version:
            check_schema_version(
                load_schema_state(self.connection), self._known_version, str(self._path)
            )
            self._schema_version = found

    def commit(self) -> None:
        """Commit. Raises apsw.Error, StoreError."""
        if not self.connection.in_transaction:
            raise apsw.AbortError("it was rolled back")
        check_shared_memory(self._path, can_write=True)
        if self._before_commit is not None:
            self._before_commit()
        self.connection.execute("COMMIT")

    @property
    def can_commit_in_thread(self) -> bool:
        """Whether nothing has to run on the event loop at each commit."""
        return self._before_commit is None

    def commit_in_thread(self) -> asyncio.Future[None]:
        """Commit on a thread; until that is done, the connection must not be used."""
        if self._executor is None:
            self._executor = ThreadPoolExecutor(1, thread_name_prefix="commits")
        self._committing = asyncio.get_running_loop().run_in_executor(self._executor, self.commit)
        return self._committing

    async def wait_idle(self) -> None:
        """Wait until nothing is being committed on the thread."""
        while self._committing is not None and not self._committing.done():
            await asyncio.wait([self._committing])

    def get_data_version(self) -> int:
        """Return a number that changes when another connection has committed."""
        check_shared_memory(self._path, can_write=False)
        with map_sqlite_errors(self._path):
            return int(self.connection.execute("PRAGMA data_version").get)

    def close(self) -> None:
        """Close the connection and the notifier, once a running commit is done."""
        if self._executor is not None:
            self._executor.shutdown()
        self.notifier.close()
        self.connection.close()


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


def send_wakeup(sender: socket.socket, wakeup_path: Path) -> None:
    """Send a wake-up to one socket; remove the socket if its process is gone."""
    try:
        sender.sendto(WAKEUP, os.fspath(wakeup_path))
    except ConnectionRefusedError:
        wakeup_path.unlink(missing_ok=True)
    except OSError:
        return  # full, or just closed: its owner polls anyway
