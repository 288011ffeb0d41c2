"""Table copy: reads and writes all rows of a table in batches, on any engine.

Rows come in the order of the key, which is the same on every engine.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Row, SqlValue, TableInfo, Transaction

ROW_BATCH_SIZE: Final = 500
FILE_BATCH_SIZE: Final = 4
FILE_COLUMNS: Final = frozenset({"recording"})
"""Columns that may hold whole files, of 20 MB each."""


async def count_rows(
    tx: Transaction, table: TableInfo, *, owner: tuple[str, str] | None = None
) -> int:
    """Return the number of rows of a table, or those of one owner and of nobody."""
    condition, params = ("", {}) if owner is None else build_owner_condition(*owner)
    row = await tx.row(f"SELECT count(*) FROM {table.name} WHERE 1 = 1 {condition}", **params)
    assert row is not None
    return int(row[0])


async def iter_row_batches(
    tx: Transaction, table: TableInfo, *, owner: tuple[str, str] | None = None
) -> AsyncIterator[list[Row]]:
    """Yield all rows of a table in batches; with ``owner`` (column, value), theirs and nobody's."""
    if not table.key:  # without a key there is no cursor
        for rows in await list_row_batches(tx, table, owner=owner):
            yield rows
        return
    columns, key = quote_columns(table.columns), quote_columns(table.key)
    places = [table.columns.index(column) for column in table.key]
    names = [f"after_{place}" for place in places]
    after: dict[str, SqlValue] = {}
    condition, params = ("", {}) if owner is None else build_owner_condition(*owner)
    batch_size = ROW_BATCH_SIZE if FILE_COLUMNS.isdisjoint(table.columns) else FILE_BATCH_SIZE
    while True:
        past = f"AND ({key}) > ({', '.join(f':{name}' for name in names)})" if after else ""
        rows = await tx.rows(
            f"""SELECT {columns} FROM {table.name} WHERE 1 = 1 {condition} {past}
               ORDER BY {key} LIMIT :most""",
            most=batch_size,
            **params,
            **after,
        )
        if rows:
            yield rows
        if len(rows) < batch_size:
            return
        after = {name: rows[-1][place] for name, place in zip(names, places, strict=True)}


def exclude_file_columns(table: TableInfo) -> TableInfo:
    """Return the table without the columns that hold whole files."""
    return replace(table, columns=tuple(each for each in table.columns if each not in FILE_COLUMNS))


async def list_row_batches(
    tx: Transaction, table: TableInfo, *, owner: tuple[str, str] | None
) -> list[list[Row]]:
    """Return all rows of a small table without a key, duplicates included; sorted, in batches."""
    columns = quote_columns(table.columns)
    condition, params = ("", {}) if owner is None else build_owner_condition(*owner)
    rows = await tx.rows(
        f"SELECT {columns} FROM {table.name} WHERE 1 = 1 {condition} ORDER BY {columns}", **params
    )
    return [rows[at : at + ROW_BATCH_SIZE] for at in range(0, len(rows), ROW_BATCH_SIZE)]


def build_owner_condition(column: str, owner: str) -> tuple[str, dict[str, SqlValue]]:
    """Build the condition for the rows of one owner and of nobody."""
    return f'AND ("{column}" = :whose OR "{column}" IS NULL)', {"whose": owner}


async def write_rows(tx: Transaction, table: TableInfo, rows: Sequence[Row]) -> None:
    """Insert rows with the table's columns."""
    names = [f"value_{index}" for index in range(len(table.columns))]
    await tx.run_many(
        f"""INSERT INTO {table.name} ({quote_columns(table.columns)})
           VALUES ({", ".join(f":{name}" for name in names)})""",
        (dict(zip(names, row, strict=True)) for row in rows),
    )


def quote_columns(columns: Sequence[str]) -> str:
    """Quote columns for a statement, also those named like an SQL keyword."""
    return ", ".join(f'"{column}"' for column in columns)
