"""Database copy: copies every row to a database of another engine.

The tables are those the database itself lists, so that none is forgotten. The source is read as of
one moment. The copy is one transaction, committed only after every table has been read back and
found equal. Rows are copied without being interpreted.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from oldfriend.db.database import Database, Row, TableInfo, Transaction
from oldfriend.db.table_copy import count_rows, iter_row_batches, write_rows
from oldfriend.domain.errors import InvalidInput, StoreCorrupt


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyProgress:
    """The progress of a copy."""

    table: str
    done: int  # rows of all tables
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableChecksum:
    """The row count and checksum of a table, with its rows in order."""

    rows: int
    checksum: str


async def copy_database(
    source: Database, target: Database, *, progress: Callable[[CopyProgress], None]
) -> dict[str, TableChecksum]:
    """Copy everything into an empty database; return the verified checksum of each table.

    Raises InvalidInput where the target is not suitable, StoreError where either database fails;
    nothing is kept in the target then.
    """
    async with source.begin_read() as source_tx, target.begin_write() as target_tx:
        tables = await source_tx.list_tables()
        await check_target(target_tx, tables)
        counts = {table.name: await count_rows(source_tx, table) for table in tables}
        done, total = 0, sum(counts.values())
        checksums: dict[str, TableChecksum] = {}
        for table in tables:
            digest = hashlib.sha256()
            rows = 0
            async for batch in iter_row_batches(source_tx, table):
                await write_rows(target_tx, table, batch)
                update_digest(digest.update, batch)
                rows += len(batch)
                progress(CopyProgress(table=table.name, done=done + rows, total=total))
            done += rows
            checksums[table.name] = TableChecksum(rows=rows, checksum=digest.hexdigest())
        for table in tables:
            check_copied(table, checksums[table.name], await compute_checksum(target_tx, table))
    return checksums


async def check_target(tx: Transaction, tables: list[TableInfo]) -> None:
    """Raise InvalidInput where a database has other tables than these, or is not empty."""
    if await tx.list_tables() != tables:
        raise InvalidInput(
            "The two databases were made by different versions of Oldfriend. Start this one on "
            "both, then convert. Nothing was written."
        )
    for table in tables:
        rows = await count_rows(tx, table)
        if rows:
            raise InvalidInput(
                f"The target database is not empty ({rows:,} rows of {table.name}). Name an empty "
                "one. Nothing was written."
            )


async def compute_checksum(tx: Transaction, table: TableInfo) -> TableChecksum:
    """Compute the checksum of a table."""
    digest, rows = hashlib.sha256(), 0
    async for batch in iter_row_batches(tx, table):
        update_digest(digest.update, batch)
        rows += len(batch)
    return TableChecksum(rows=rows, checksum=digest.hexdigest())


def update_digest(update: Callable[[bytes], None], rows: list[Row]) -> None:
    """Add rows to a checksum, including the type of each value."""
    for row in rows:
        update(repr(row).encode("utf-8", "surrogatepass"))


def check_copied(table: TableInfo, expected: TableChecksum, actual: TableChecksum) -> None:
    """Raise StoreCorrupt where a table was not copied exactly."""
    if expected != actual:
        raise StoreCorrupt(
            f"The table {table.name} was not copied correctly ({actual.rows:,} rows of "
            f"{expected.rows:,}, or different content). Nothing was kept. Check both disks and "
            "try again."
        )
