"""How does everything move into a database of another engine? Row by row, nothing left out.

The tables are those that the database itself names, so that none is forgotten. All of it is as
of one moment, and written in one transaction that is only committed once every table has been
read back and found the same. Knows nothing of what is in them.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from oldfriend.db.copying import count_rows, slices_of, write_rows
from oldfriend.db.database import Database, Row, TableShape, Transaction
from oldfriend.domain.errors import InvalidInput, StoreDamaged


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving:
    """How far it has come."""

    table: str
    done: int  # rows, of all tables
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    """What a table holds, by its rows in order."""

    rows: int
    checksum: str


async def convert(
    source: Database, target: Database, *, progress: Callable[[Moving], None]
) -> dict[str, Copied]:
    """Copy everything into an empty database; what each table holds, as it was read back there.

    Raises InvalidInput where the target cannot take it, StoreError where either fails; nothing
    is kept there then.
    """
    async with source.reading() as old, target.writing() as new:
        tables = await old.tables()
        await refuse_unfit(new, tables)
        counts = {table.name: await count_rows(old, table) for table in tables}
        done, total = 0, sum(counts.values())
        sent: dict[str, Copied] = {}
        for table in tables:
            digest = hashlib.sha256()
            rows = 0
            async for some in slices_of(old, table):
                await write_rows(new, table, some)
                take_in(digest.update, some)
                rows += len(some)
                progress(Moving(table=table.name, done=done + rows, total=total))
            done += rows
            sent[table.name] = Copied(rows=rows, checksum=digest.hexdigest())
        for table in tables:
            refuse_changed(table, sent[table.name], await held(new, table))
    return sent


async def refuse_unfit(tx: Transaction, tables: list[TableShape]) -> None:
    """Raise InvalidInput where a database has other tables than these, or is not empty."""
    if await tx.tables() != tables:
        raise InvalidInput(
            "The two databases were made by different versions of Oldfriend. Start this one on "
            "both, then convert. Nothing was written."
        )
    for table in tables:
        rows = await count_rows(tx, table)
        if rows:
            raise InvalidInput(
                f"The database to convert into holds something ({rows:,} rows of {table.name}). "
                "Name one that is empty. Nothing was written."
            )


async def held(tx: Transaction, table: TableShape) -> Copied:
    """What a table holds."""
    digest, rows = hashlib.sha256(), 0
    async for some in slices_of(tx, table):
        take_in(digest.update, some)
        rows += len(some)
    return Copied(rows=rows, checksum=digest.hexdigest())


def take_in(update: Callable[[bytes], None], rows: list[Row]) -> None:
    """Add rows to a checksum, with the type of each value."""
    for row in rows:
        update(repr(row).encode("utf-8", "surrogatepass"))


def refuse_changed(table: TableShape, sent: Copied, arrived: Copied) -> None:
    """Raise StoreDamaged where a table did not arrive as it was sent."""
    if sent != arrived:
        raise StoreDamaged(
            f"The table {table.name} did not arrive as it was sent ({arrived.rows:,} rows of "
            f"{sent.rows:,}, or other content). Nothing was kept. Check both disks, try again."
        )
