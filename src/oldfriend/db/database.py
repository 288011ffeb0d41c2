"""What may the rest of the house ask of a database? The seam that every engine fills.

SQL is written once, in the portable subset, with named parameters (``:person``). A SELECT may
end in ``FOR UPDATE`` or ``FOR UPDATE SKIP LOCKED``: whoever reads what it is going to write says
so, for on PostgreSQL several transactions write at once. SQLite, where one writes at a time,
leaves it out. Knows nothing of what is stored.
"""

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from oldfriend.domain.clock import Micros

SqlValue = str | int | float | bytes | None
Row = tuple[Any, ...]  # the edge: whoever wrote the SELECT knows the types


@dataclass(frozen=True, slots=True, kw_only=True)
class TableShape:
    """A table as the database describes it."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]  # of the columns, what tells its rows apart


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHand:
    """What somebody has changed in a store with other means, since it was last written."""

    messages: tuple[tuple[str, str], ...]  # whose, and which, have another text now


class Transaction(Protocol):
    """One consistent view of the data; a writing one commits as a whole or not at all."""

    async def rows(self, sql: str, /, **values: SqlValue) -> list[Row]:
        """All rows of a query."""
        ...

    async def row(self, sql: str, /, **values: SqlValue) -> Row | None:
        """The first row of a query, or None."""
        ...

    async def run(self, sql: str, /, **values: SqlValue) -> int:
        """Execute a statement; how many rows it touched."""
        ...

    async def lock(self, sql: str, /, **values: SqlValue) -> None:
        """Lock the rows of a SELECT that ends in FOR UPDATE, without reading them."""
        ...

    async def run_many(self, sql: str, each: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement once for each set of values."""
        ...

    async def tables(self) -> list[TableShape]:
        """All tables but the schema row's, each after those that it points to."""
        ...

    async def clock(self) -> Micros:
        """The real time now, one for all processes on this database. For leases only."""
        ...

    async def wake(self) -> None:
        """On commit, wake whoever waits for others' writes. To be called when somebody may."""
        ...


class Database(Protocol):
    """An open database. Reading and writing happen in transactions only."""

    backup_made: Path | None
    """Of the database as it was before it was migrated just now, where the engine makes one."""

    by_hand: ByHand | None
    """What was changed by hand before it was opened, where the engine can tell; None: nothing."""

    most_bytes: int | None
    """So much may be kept in it; None: as much as there is room for."""

    def reading(self) -> AbstractAsyncContextManager[Transaction]:
        """A snapshot to read from."""
        ...

    def writing(self, *, first: bool = False) -> AbstractAsyncContextManager[Transaction]:
        """The write lock, and a transaction that commits on leaving, or rolls back on an error.

        ``first``: before whoever waits in this process, and committed without waiting for them.
        """
        ...

    async def wait_for_others(self) -> None:
        """Return once another process may have written something new."""
        ...

    async def wipe_log(self) -> bool:
        """Let no log of writes keep what was deleted; False while others still read it there."""
        ...

    async def write_anew(self) -> bool:
        """Write the files anew, so that nothing deleted stays in gaps; False: it was not done."""
        ...

    def files(self) -> tuple[Path, ...]:
        """The files that hold what is kept, and the copies beside them; none: a server has them."""
        ...

    def backups(self) -> tuple[Path, ...]:
        """Of those, the copies: as the database was before it was migrated."""
        ...

    def bytes_held(self) -> AsyncIterator[tuple[Path, bytes]]:
        """The bytes of the files that are open, piece by piece, each a little into the next."""
        ...

    async def size(self) -> int:
        """How many bytes everything takes."""
        ...

    async def check(self) -> list[str]:
        """What is wrong with the stored bytes; empty when they are sound."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...


async def no_bytes() -> AsyncIterator[tuple[Path, bytes]]:
    """Those of a database without a file that could be read here."""
    nothing: tuple[tuple[Path, bytes], ...] = ()
    for piece in nothing:
        yield piece
