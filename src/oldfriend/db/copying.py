"""How are all rows of a table read, and written elsewhere, on any engine?

In the order of the key, which is the same on every engine, and never all at once. Knows nothing
of what is in them.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Row, SqlValue, TableShape, Transaction

ROWS_AT_ONCE: Final = 500
FILES_AT_ONCE: Final = 4
FILES: Final = frozenset({"recording"})
"""The columns in which whole files may stand, of 20 MB each."""


async def count_rows(
    tx: Transaction, table: TableShape, *, of: tuple[str, str] | None = None
) -> int:
    """How many rows a table has; ``of`` as for its slices."""
    owned, whose = ("", {}) if of is None else owned_by(*of)
    row = await tx.row(f"SELECT count(*) FROM {table.name} WHERE 1 = 1 {owned}", **whose)
    assert row is not None
    return int(row[0])


async def slices_of(
    tx: Transaction, table: TableShape, *, of: tuple[str, str] | None = None
) -> AsyncIterator[list[Row]]:
    """All rows of a table, some at a time; ``of`` one whom a column names: theirs and nobody's."""
    if not table.key:  # nothing by which to go on after some of them
        for rows in await all_rows(tx, table, of=of):
            yield rows
        return
    columns, key = quoted(table.columns), quoted(table.key)
    places = [table.columns.index(column) for column in table.key]
    names = [f"after_{place}" for place in places]
    after: dict[str, SqlValue] = {}
    owned, whose = ("", {}) if of is None else owned_by(*of)
    most = ROWS_AT_ONCE if FILES.isdisjoint(table.columns) else FILES_AT_ONCE
    while True:
        past = f"AND ({key}) > ({', '.join(f':{name}' for name in names)})" if after else ""
        rows = await tx.rows(
            f"""SELECT {columns} FROM {table.name} WHERE 1 = 1 {owned} {past}
               ORDER BY {key} LIMIT :most""",
            most=most,
            **whose,
            **after,
        )
        if rows:
            yield rows
        if len(rows) < most:
            return
        after = {name: rows[-1][place] for name, place in zip(names, places, strict=True)}


def without_files(table: TableShape) -> TableShape:
    """The same table, of whose rows no whole file is read."""
    return replace(table, columns=tuple(each for each in table.columns if each not in FILES))


async def all_rows(
    tx: Transaction, table: TableShape, *, of: tuple[str, str] | None
) -> list[list[Row]]:
    """All rows of a small table without a key, some of them alike; in order, in slices."""
    columns = quoted(table.columns)
    owned, whose = ("", {}) if of is None else owned_by(*of)
    rows = await tx.rows(
        f"SELECT {columns} FROM {table.name} WHERE 1 = 1 {owned} ORDER BY {columns}", **whose
    )
    return [rows[at : at + ROWS_AT_ONCE] for at in range(0, len(rows), ROWS_AT_ONCE)]


def owned_by(column: str, whose: str) -> tuple[str, dict[str, SqlValue]]:
    """The condition that keeps to the rows of one, and of nobody."""
    return f'AND ("{column}" = :whose OR "{column}" IS NULL)', {"whose": whose}


async def write_rows(tx: Transaction, table: TableShape, rows: Sequence[Row]) -> None:
    """Write rows with the table's columns."""
    names = [f"value_{place}" for place in range(len(table.columns))]
    await tx.run_many(
        f"""INSERT INTO {table.name} ({quoted(table.columns)})
           VALUES ({", ".join(f":{name}" for name in names)})""",
        (dict(zip(names, row, strict=True)) for row in rows),
    )


def quoted(columns: Sequence[str]) -> str:
    """Columns as they stand in a statement, also those named like a word of SQL."""
    return ", ".join(f'"{column}"' for column in columns)
