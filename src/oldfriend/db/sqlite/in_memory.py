"""How does SQLite run over memory, with readers beside the one that writes?

A database in memory has one connection and no snapshots. So readers read copies of the last
committed image, which is made when there is a newer one; of a transaction that is open it has
nothing. Knows nothing of files: whoever wants it kept is asked before each commit.
"""

from asyncio import Event
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Final

import apsw

from oldfriend.db.database import ByHand, no_bytes
from oldfriend.db.schema import Migration, SchemaState, load_migrations
from oldfriend.db.sqlite.connection import STATEMENTS_KEPT, our_errors
from oldfriend.db.sqlite.database import unsound
from oldfriend.db.sqlite.migrating import apply
from oldfriend.db.sqlite.pool import Writer
from oldfriend.db.sqlite.transaction import SqliteTransaction
from oldfriend.db.sqlite.writing import Writing

PRAGMAS: Final = """
    PRAGMA foreign_keys = ON;
    PRAGMA temp_store = MEMORY;
    PRAGMA cache_spill = OFF;
"""
"""Without spilling, nothing that is not committed reaches the image that is copied."""
NOWHERE: Final = Path("memory")


class MemoryDatabase:
    """An open database in memory, which is gone when it is closed unless somebody keeps it."""

    def __init__(
        self, made: apsw.Connection, path: Path = NOWHERE, *, keep: Callable[[], None] | None = None
    ) -> None:
        """Take over a database that was made; ``keep`` is asked before each commit."""
        self.path = path
        self.backup_made: Path | None = None
        self.by_hand: ByHand | None = None
        self.most_bytes: int | None = None
        self.connection = as_image(made)
        known = int(self.connection.pragma("user_version"))
        self._keep = keep
        self._writer = Writer(self.connection, path, known=known, keep=self._before_commit)
        self._copy: apsw.Connection | None = None

    def reading(self) -> "Reading":
        """A snapshot to read from."""
        return Reading(self._newest_copy, self.path)

    def writing(self, *, first: bool = False) -> Writing:
        """The write lock, and a transaction that commits on leaving, or rolls back on an error."""
        return Writing(self._writer, self.path, first=first)

    async def wait_for_others(self) -> None:
        """Wait for ever: nobody else can write."""
        await Event().wait()

    async def wipe_log(self) -> bool:
        """Nothing: there is no log of writes."""
        return True

    async def write_anew(self) -> bool:
        """False: there is no file."""
        return False

    def files(self) -> tuple[Path, ...]:
        """None."""
        return ()

    def backups(self) -> tuple[Path, ...]:
        """None."""
        return ()

    def bytes_held(self) -> AsyncIterator[tuple[Path, bytes]]:
        """None: there is no file."""
        return no_bytes()

    async def size(self) -> int:
        """How many bytes the image has."""
        return len(self.connection.serialize("main"))

    async def check(self) -> list[str]:
        """What is wrong with the pages; empty when they are sound."""
        async with self.reading() as tx:
            return await unsound(tx)

    async def close(self) -> None:
        """Let go of everything."""
        self._copy = None
        self._writer.close()

    def _before_commit(self) -> None:
        if self._keep is not None:
            self._keep()
        self._copy = None

    def _newest_copy(self) -> apsw.Connection:
        if self._copy is None:
            self._copy = copy_of(self.connection)
        return self._copy


class Reading:
    """A snapshot: a copy of everything as it was last committed, shared by all who read then."""

    def __init__(self, newest_copy: Callable[[], apsw.Connection], path: Path) -> None:
        """Nothing happens until it is entered."""
        self._newest_copy = newest_copy
        self._path = path

    async def __aenter__(self) -> SqliteTransaction:
        """Take the snapshot; it goes when nobody reads from it any more."""
        with our_errors(self._path):
            return SqliteTransaction(self._newest_copy(), self._path)

    async def __aexit__(self, *_: object) -> None:
        """End; there is nothing to keep."""


def copy_of(connection: apsw.Connection) -> apsw.Connection:
    """What was last committed, to be read only."""
    copy = apsw.Connection(":memory:", statementcachesize=STATEMENTS_KEPT)
    copy.deserialize("main", connection.serialize("main"))
    copy.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    copy.execute("PRAGMA query_only = ON").fetchall()
    return copy


def as_image(made: apsw.Connection) -> apsw.Connection:
    """The same database as one image, which can be copied while somebody writes."""
    connection = apsw.Connection(":memory:", statementcachesize=STATEMENTS_KEPT)
    connection.deserialize("main", made.serialize("main"))
    made.close()
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.execute(PRAGMAS).fetchall()
    return connection


def made_new(steps: Sequence[Migration]) -> apsw.Connection:
    """A database in memory with all tables, and nothing in them."""
    connection = apsw.Connection(":memory:")
    apply_all(connection, steps, SchemaState())
    return connection


def apply_all(
    connection: apsw.Connection, steps: Sequence[Migration], state: SchemaState
) -> None:  # fmt: skip
    """Apply steps to what has come as far as a state."""
    if steps:
        connection.execute("BEGIN")
        apply(connection, list(steps), state.after(steps))
        connection.execute("COMMIT")


def open_in_memory() -> MemoryDatabase:
    """A database with nothing in it, of which nothing will remain."""
    return MemoryDatabase(made_new(load_migrations()))
