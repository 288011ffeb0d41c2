"""Which connections does this process hold to the file, and who may use them now?"""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw

from oldfriend.db.schema import refuse_overtaken
from oldfriend.db.sqlite.connection import open_connection, our_errors
from oldfriend.db.sqlite.doorbell import Doorbell
from oldfriend.db.sqlite.migrating import schema_state, schema_version
from oldfriend.domain.errors import OldfriendError


class Readers:
    """The connections that read; opened when they are needed, at most so many."""

    def __init__(self, path: Path, *, most: int) -> None:
        """None is open yet."""
        self._path = path
        self._idle: list[apsw.Connection] = []
        self._turns = asyncio.Semaphore(most)

    async def take(self) -> apsw.Connection:
        """A connection that nobody else uses until it is given back."""
        await self._turns.acquire()
        try:
            return self._idle.pop() if self._idle else open_connection(self._path, create=False)
        except BaseException:
            self._turns.release()
            raise

    def give_back(self, connection: apsw.Connection) -> None:
        """Let somebody else use a connection."""
        self._idle.append(connection)
        self._turns.release()

    def close(self) -> None:
        """Close those that nobody uses."""
        while self._idle:
            self._idle.pop().close()


class Turn:
    """One at a time: those who are in a hurry first, else in the order in which they came."""

    def __init__(self) -> None:
        """Nobody has it."""
        self.is_taken = False
        self.hurried: deque[asyncio.Future[None]] = deque()
        self._others: deque[asyncio.Future[None]] = deque()

    async def take(self, *, first: bool) -> None:
        """Wait for it."""
        if not self.is_taken:
            self.is_taken = True
            return
        queue = self.hurried if first else self._others
        mine = asyncio.get_running_loop().create_future()
        queue.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if not mine.cancelled():  # it was given to whoever is gone
                self.hand_on()
            elif mine in queue:
                queue.remove(mine)
            raise

    def hand_on(self) -> None:
        """Let the next one have it."""
        while queue := self.hurried or self._others:
            if not (mine := queue.popleft()).cancelled():
                mine.set_result(None)
                return
        self.is_taken = False


class Company:
    """Transactions that share one commit."""

    def __init__(self) -> None:
        """None has written yet."""
        self.members = 0
        self._ended: asyncio.Future[OldfriendError | None] | None = None

    async def kept(self) -> None:
        """Return once another member has committed for all. Raises what kept it from doing so."""
        if self._ended is None:
            self._ended = asyncio.get_running_loop().create_future()
        error = await asyncio.shield(self._ended)
        if error is not None:
            raise type(error)(str(error))

    def end(self, error: OldfriendError | None) -> None:
        """Tell those who wait that all is kept, or why it is not."""
        if self._ended is not None:
            self._ended.set_result(error)


class Writer:
    """The one connection that writes, whose turn it is, and whom to tell."""

    def __init__(
        self, connection: apsw.Connection, path: Path, *, known: int,
        keep: Callable[[], None] | None = None,
    ) -> None:  # fmt: skip
        """Take over a connection whose file may be written by whoever knows this schema.

        ``keep`` is called before each commit, to have it kept elsewhere too. It raises StoreError
        where it cannot, and nothing is committed then.
        """
        self.connection = connection
        self._keep = keep
        self._hand: ThreadPoolExecutor | None = None
        self._committing: asyncio.Future[None] | None = None
        self.turn = Turn()
        self.waiting = 0  # how many wait for their turn
        self.lonely = 0  # how many commits in a row nobody joined
        self.company: Company | None = None  # those who have written and are not committed
        self.doorbell = Doorbell(path)
        self._path = path
        self._known = known
        self._found = schema_version(connection)

    def refuse_overtaken(self) -> None:
        """Raise SchemaTooNew when a newer version has changed meanwhile what this one writes."""
        found = schema_version(self.connection)
        if found != self._found:
            refuse_overtaken(schema_state(self.connection), self._known, str(self._path))
            self._found = found

    def commit(self) -> None:
        """Keep what was written. Raises apsw.Error, StoreError."""
        if not self.connection.in_transaction:
            raise apsw.AbortError("it was rolled back")
        if self._keep is not None:
            self._keep()
        self.connection.execute("COMMIT")

    @property
    def can_commit_aside(self) -> bool:
        """Whether nothing has to be done on the event loop at each commit."""
        return self._keep is None

    def commit_aside(self) -> asyncio.Future[None]:
        """The same on a thread; until it is done nobody may use the connection."""
        if self._hand is None:
            self._hand = ThreadPoolExecutor(1, thread_name_prefix="commits")
        self._committing = asyncio.get_running_loop().run_in_executor(self._hand, self.commit)
        return self._committing

    async def settled(self) -> None:
        """Return once nothing is being committed on the thread."""
        while self._committing is not None and not self._committing.done():
            await asyncio.wait([self._committing])

    def data_version(self) -> int:
        """A number that changes when another connection has committed."""
        with our_errors(self._path):
            return int(self.connection.execute("PRAGMA data_version").get)

    def close(self) -> None:
        """Let go of the file, once what is being committed is, and take the bell down."""
        if self._hand is not None:
            self._hand.shutdown()
        self.doorbell.close()
        self.connection.close()
