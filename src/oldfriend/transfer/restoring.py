"""How does our own export come back? Exactly as it was, into a store that is empty.

The whole file is checked first; then all of it is written, or nothing. Vectors are not in it
and are made anew elsewhere.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.db.database import Database, SqlValue, Transaction
from oldfriend.domain.clock import is_representable
from oldfriend.domain.errors import ImportRefused, StoreError
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import MAX_TEXT, storable
from oldfriend.memory.dump import (
    ROWS_AT_ONCE,
    TABLES,
    Kind,
    Record,
    Table,
    clear_the_way,
    is_empty,
    restore_rows,
)
from oldfriend.transfer.exporting import MARK, TYPE, VERSION
from oldfriend.transfer.formats.json_values import kind_of
from oldfriend.transfer.formats.source import Source, lines_of, refusing_unreadable

HEADER: Final = f'{{"{MARK}": "export", "version": {VERSION}}}'
LONGEST_LINE: Final = 8 * MAX_TEXT  # the longest text, all of it escaped
BIGGEST: Final = 1 << 63
MOMENT: Final = "_at"
"""How the name of every column ends that holds a moment."""
TABLE_NAMED: Final = {table.name: table for table in TABLES}
KINDS: Final[dict[Kind, tuple[tuple[type, ...], str]]] = {
    "text": ((str,), "a text"),
    "text?": ((str, type(None)), "a text or null"),
    "int": ((int,), "a whole number"),
    "int?": ((int, type(None)), "a whole number or null"),
    "real": ((int, float), "a number"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """What an export of ours holds."""

    rows: Mapping[str, int]  # of each table
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """What came back."""

    rows: int
    people: tuple[PersonId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of an export, checked."""

    line: int
    table: Table
    record: Record


def is_our_export(path: Path) -> bool:
    """Whether a file begins like an export of ours. Raises ImportRefused if it cannot be read."""
    if not path.is_file():
        return False
    with refusing_unreadable(path), path.open("rb") as stream:
        opening = stream.read(200).removeprefix(b"\xef\xbb\xbf").lstrip()
    return opening.startswith(f'{{"{MARK}": "export"'.encode())


def contents_of(path: Path) -> Contents:
    """Check a whole export and count what is in it. Raises ImportRefused."""
    counted: Counter[str] = Counter()
    people: list[str] = []
    for row in rows_in(path):
        counted[row.table.name] += 1
        if row.table.name == "person":
            people.append(str(row.record["name"]))
    return Contents(rows=counted, people=tuple(people))


async def restore(db: Database, path: Path) -> Restored:
    """Bring an export back. Raises ImportRefused where it is damaged or the store is in use."""
    count = sum(contents_of(path).rows.values())
    people: list[PersonId] = []
    async with db.writing() as tx:
        if not await is_empty(tx):
            raise ImportRefused(
                "An export comes back only into an empty store, and this one holds something. "
                "Name another with --data DIR."
            )
        await clear_the_way(tx)
        for table, rows in in_slices(rows_in(path)):
            await write(tx, table, rows)
            if table.name == "person":
                people.extend(PersonId(str(row.record["id"])) for row in rows)
    return Restored(rows=count, people=tuple(people))


async def write(tx: Transaction, table: Table, rows: list[Row]) -> None:
    """Write some rows of one table. Raises ImportRefused where they break its rules."""
    try:
        await restore_rows(tx, table, [row.record for row in rows])
    except StoreError as error:
        if type(error) is not StoreError:  # the disk or the file, not these rows
            raise
        raise ImportRefused(
            f"a row of {table.name} here or soon after does not fit the others ({error}).",
            line=rows[0].line, expected="rows as they were exported, each once",
        ) from error  # fmt: skip


def in_slices(rows: Iterator[Row]) -> Iterator[tuple[Table, list[Row]]]:
    """Rows of one table that follow each other, as many as are written at once."""
    some: list[Row] = []
    for row in rows:
        if some and (row.table is not some[0].table or len(some) == ROWS_AT_ONCE):
            yield some[0].table, some
            some = []
        some.append(row)
    if some:
        yield some[0].table, some


def rows_in(path: Path) -> Iterator[Row]:
    """The rows of an export, each checked. Raises ImportRefused with the line."""
    source = Source(path=path)
    count, last, is_whole = 0, 1, False
    for line, text in lines_of(source, "utf-8-sig", longest=LONGEST_LINE):
        last = line
        if not text.strip():
            continue
        fields = fields_of(text, line)
        if is_whole:
            raise ImportRefused("more follows after the end.", line=line, expected="nothing")
        if line == 1:
            check_header(fields)
        elif MARK in fields:
            is_whole = check_end(fields, count, line)
        else:
            count += 1
            yield row_of(fields, line)
    if not is_whole:
        raise ImportRefused(
            "the export breaks off here.", line=last, expected="a last line that counts the rows"
        )


def fields_of(text: str, line: int) -> Mapping[str, object]:
    """The object on a line. Raises ImportRefused."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ImportRefused("this is no JSON.", line=line, expected="a JSON object") from error
    if not isinstance(fields, dict):
        raise ImportRefused(f"this is {kind_of(fields)}.", line=line, expected="a JSON object")
    return fields


def check_header(fields: Mapping[str, object]) -> None:
    """Raise ImportRefused for an export that this program cannot read."""
    if fields.get(MARK) != "export" or fields.get("version") != VERSION:
        version = str(fields.get("version"))[:40]
        raise ImportRefused(
            f"this is an export of version {version}; a newer Oldfriend may have written it.",
            line=1, expected=HEADER,
        )  # fmt: skip


def check_end(fields: Mapping[str, object], count: int, line: int) -> bool:
    """Raise ImportRefused where the last line does not count what was read."""
    if fields.get(MARK) != "end" or fields.get("rows") != count:
        raise ImportRefused(
            f"the rows above are {count:,}.", line=line, expected=f"{fields.get('rows')} rows"
        )
    return True


def row_of(fields: Mapping[str, object], line: int) -> Row:
    """A line as a row of its table. Raises ImportRefused."""
    name = fields.get(TYPE)
    table = TABLE_NAMED.get(name) if isinstance(name, str) else None
    if table is None:
        raise ImportRefused(
            f"{str(name)[:40]!r} is no known type.", line=line, expected=", ".join(TABLE_NAMED)
        )
    fields = brought_up(fields, table)
    unknown = sorted(fields.keys() - table.columns.keys() - {TYPE})
    missing = sorted(table.columns.keys() - fields.keys())
    if unknown or missing:
        what = f"unknown: {unknown[0][:40]}" if unknown else f"missing: {missing[0]}"
        raise ImportRefused(
            f"the columns of {table.name} are others ({what}).", line=line,
            expected=", ".join(table.columns),
        )  # fmt: skip
    record = {
        column: checked(fields[column], kind, f"{table.name}.{column}", line)
        for column, kind in table.columns.items()
    }
    return Row(line=line, table=table, record=record)


def brought_up(fields: Mapping[str, object], table: Table) -> Mapping[str, object]:
    """A row of an older export as one of now: columns renamed, and the new ones filled in."""
    now_called = {former: name for name, former in table.former.items()}
    return {**table.defaults, **{now_called.get(name, name): fields[name] for name in fields}}


def checked(value: object, kind: Kind, what: str, line: int) -> SqlValue:
    """A value of the right kind. Raises ImportRefused."""
    types, expected = KINDS[kind]
    is_right = isinstance(value, types) and not isinstance(value, bool)
    if is_right and isinstance(value, int):
        is_right = -BIGGEST <= value < BIGGEST
    if is_right and isinstance(value, str):
        is_right = storable(value) == value
    if not is_right or not isinstance(value, str | int | float | None):
        raise ImportRefused(f"{what} is {kind_of(value)}.", line=line, expected=expected)
    if what.endswith(MOMENT) and isinstance(value, int) and not is_representable(value):
        raise ImportRefused(
            f"{what} is {value}, which is on no calendar.", line=line,
            expected="microseconds since 1970 in the years 2 to 9998",
        )  # fmt: skip
    return value
