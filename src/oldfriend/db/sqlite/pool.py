"""SQLite connection pool: the readers, the one writer, and the queue for it."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw

from oldfriend.db.schema import check_schema_version
from oldfriend.db.sqlite.connection import map_sqlite_errors, open_connection
from oldfriend.db.sqlite.process_notifier import ProcessNotifier
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
        with map_sqlite_errors(self._path):
            return int(self.connection.execute("PRAGMA data_version").get)

    def close(self) -> None:
        """Close the connection and the notifier, once a running commit is done."""
        if self._executor is not None:
            self._executor.shutdown()
        self.notifier.close()
        self.connection.close()
