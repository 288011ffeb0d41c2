"""What may the rest of the house ask of a database? The seam that every engine fills.

SQL is written once, in the portable subset, with named parameters (``:person``). Knows nothing
of what is stored.
"""

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

SqlValue = str | int | float | bytes | None
Row = tuple[Any, ...]  # the edge: whoever wrote the SELECT knows the types


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

    async def run_many(self, sql: str, each: Iterable[Mapping[str, SqlValue]], /) -> None:
        """Execute a statement once for each set of values."""
        ...


class Database(Protocol):
    """An open database. Reading and writing happen in transactions only."""

    def reading(self) -> AbstractAsyncContextManager[Transaction]:
        """A snapshot to read from."""
        ...

    def writing(self) -> AbstractAsyncContextManager[Transaction]:
        """The write lock, and a transaction that commits on leaving, or rolls back on an error."""
        ...

    async def wait_for_others(self) -> None:
        """Return once another process has written something new."""
        ...

    async def check(self) -> list[str]:
        """What is wrong with the stored bytes; empty when they are sound."""
        ...

    async def close(self) -> None:
        """Let go of everything."""
        ...
