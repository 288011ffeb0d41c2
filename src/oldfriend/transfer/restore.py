"""Restore: loads Oldfriend's own export, exactly as it was, into an empty store.

The whole file is checked first; then everything is written, or nothing. Vectors are not part of an
export and are computed again elsewhere.
"""

import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from oldfriend.db.database import Database, SqlValue, Transaction
from oldfriend.db.schema import remove_rule_summaries, run_conversion
from oldfriend.db.stored_table import StoredTable
from oldfriend.db.stored_tables import EXPORTED_TABLES
from oldfriend.domain.clock import is_representable
from oldfriend.domain.errors import ImportRefused, StoreError
from oldfriend.domain.ids import PersonId
from oldfriend.domain.messages import MAX_TEXT_CHARS, sanitize_text
from oldfriend.memory.table_dump import (
    LEGACY_TABLES,
    ROWS_PER_READ,
    DumpColumnType,
    Record,
    delete_dumped_tables,
    is_store_empty,
    list_dump_columns,
    restore_rows,
)
from oldfriend.transfer.export_run import EXPORT_VERSION, MARKER_KEY, TYPE_KEY
from oldfriend.transfer.formats.json_stream import describe_kind
from oldfriend.transfer.formats.source import SourceFile, read_lines, wrap_read_errors
from oldfriend.usage.model_calls import clear_all_committed_calls

EXPECTED_HEADER: Final = f'{{"{MARKER_KEY}": "export", "version": {EXPORT_VERSION}}}'
MAX_LINE_CHARS: Final = 8 * MAX_TEXT_CHARS  # the longest text, all of it escaped
INT64_LIMIT: Final = 1 << 63
TIME_SUFFIX: Final = "_at"
"""The suffix of every column that holds a time."""
RESTORABLE_TABLES: Final = {table.name: table for table in (*EXPORTED_TABLES, *LEGACY_TABLES)}
TYPES_BY_KIND: Final[dict[DumpColumnType, tuple[tuple[type, ...], str]]] = {
    "text": ((str,), "a text"),
    "text?": ((str, type(None)), "a text or null"),
    "int": ((int,), "a whole number"),
    "int?": ((int, type(None)), "a whole number or null"),
    "real": ((int, float), "a number"),
    "real?": ((int, float, type(None)), "a number or null"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportContents:
    """The contents of one of our exports."""

    rows: Mapping[str, int]  # by table
    people: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """The result of a restore."""

    rows: int
    people: tuple[PersonId, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRow:
    """One validated line of an export."""

    line: int
    table: StoredTable
    record: Record


def is_oldfriend_export(path: Path) -> bool:
    """Return whether a file begins like our export. Raises ImportRefused if it cannot be read."""
    if not path.is_file():
        return False
    with wrap_read_errors(path), path.open("rb") as stream:
        opening = stream.read(200).removeprefix(b"\xef\xbb\xbf").lstrip()
    return opening.startswith(f'{{"{MARKER_KEY}": "export"'.encode())


def load_contents(path: Path) -> ExportContents:
    """Check a whole export and count its rows. Raises ImportRefused."""
    counted: Counter[str] = Counter()
    people: list[str] = []
    for row in read_rows(path):
        counted[row.table.name] += 1
        if row.table.name == "person":
            people.append(str(row.record["name"]))
    return ExportContents(rows=counted, people=tuple(people))


async def restore(db: Database, path: Path) -> RestoreResult:
    """Restore an export. Raises ImportRefused where it is damaged or the store is not empty."""
    count = sum(load_contents(path).rows.values())
    people: list[PersonId] = []
    async with db.begin_write() as tx:
        if not await is_store_empty(tx):
            raise ImportRefused(
                "An export can only be restored into an empty store, and this one is not empty. "
                "Name another folder with --data DIR."
            )
        await delete_dumped_tables(tx)
        for table, rows in group_rows(read_rows(path)):
            await write_rows(tx, table, rows)
            if table.name == "person":
                people.extend(PersonId(str(row.record["id"])) for row in rows)
        await clear_all_committed_calls(tx)
        await run_conversion(tx, remove_rule_summaries())
    return RestoreResult(rows=count, people=tuple(people))


async def write_rows(tx: Transaction, table: StoredTable, rows: list[ExportRow]) -> None:
    """Write some rows of one table. Raises ImportRefused where they violate its constraints."""
    try:
        await restore_rows(tx, table, [row.record for row in rows])
    except (ValueError, KeyError, TypeError) as error:
        raise ImportRefused(
            f"a row of {table.name} here or soon after cannot be read.",
            line=rows[0].line,
            expected="rows as they were exported",
        ) from error
    except StoreError as error:
        if type(error) is not StoreError:  # a problem of the disk or the file, not of these rows
            raise
        raise ImportRefused(
            f"a row of {table.name} here or soon after does not fit the other rows ({error}).",
            line=rows[0].line,
            expected="rows as they were exported, each once",
        ) from error


def group_rows(rows: Iterator[ExportRow]) -> Iterator[tuple[StoredTable, list[ExportRow]]]:
    """Group consecutive rows of one table into batches that are written at once."""
    batch: list[ExportRow] = []
    for row in rows:
        if batch and (row.table is not batch[0].table or len(batch) == ROWS_PER_READ):
            yield batch[0].table, batch
            batch = []
        batch.append(row)
    if batch:
        yield batch[0].table, batch


def read_rows(path: Path) -> Iterator[ExportRow]:
    """Yield the rows of an export, each validated. Raises ImportRefused with the line."""
    source = SourceFile(path=path)
    count, last_line, has_end = 0, 1, False
    for line, text in read_lines(source, "utf-8-sig", max_chars=MAX_LINE_CHARS):
        last_line = line
        if not text.strip():
            continue
        fields = parse_fields(text, line)
        if has_end:
            raise ImportRefused("more follows after the end.", line=line, expected="nothing")
        if line == 1:
            check_header(fields)
        elif MARKER_KEY in fields:
            has_end = check_end(fields, count, line)
        else:
            count += 1
            yield parse_row(fields, line)
    if not has_end:
        raise ImportRefused(
            "the export breaks off here.",
            line=last_line,
            expected="a last line that counts the rows",
        )


def parse_fields(text: str, line: int) -> Mapping[str, object]:
    """Parse the JSON object on a line. Raises ImportRefused."""
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ImportRefused("this is not JSON.", line=line, expected="a JSON object") from error
    if not isinstance(fields, dict):
        raise ImportRefused(
            f"this is {describe_kind(fields)}.", line=line, expected="a JSON object"
        )
    return fields


def check_header(fields: Mapping[str, object]) -> None:
    """Raise ImportRefused for an export that this version cannot read."""
    if fields.get(MARKER_KEY) != "export" or fields.get("version") != EXPORT_VERSION:
        version = str(fields.get("version"))[:40]
        raise ImportRefused(
            f"this is an export of version {version}; a newer Oldfriend may have written it.",
            line=1,
            expected=EXPECTED_HEADER,
        )


def check_end(fields: Mapping[str, object], count: int, line: int) -> bool:
    """Return True if the last line counts the rows that were read; else raise ImportRefused."""
    if fields.get(MARKER_KEY) != "end" or fields.get("rows") != count:
        raise ImportRefused(
            f"the rows above are {count:,}.", line=line, expected=f"{fields.get('rows')} rows"
        )
    return True


def parse_row(fields: Mapping[str, object], line: int) -> ExportRow:
    """Parse a line as a row of its table. Raises ImportRefused."""
    name = fields.get(TYPE_KEY)
    table = RESTORABLE_TABLES.get(name) if isinstance(name, str) else None
    if table is None:
        raise ImportRefused(
            f"{str(name)[:40]!r} is not a known type.",
            line=line,
            expected=", ".join(RESTORABLE_TABLES),
        )
    fields = upgrade_fields(fields, table)
    columns = list_dump_columns(table)
    unknown = sorted(fields.keys() - columns.keys() - {TYPE_KEY})
    missing = sorted(columns.keys() - fields.keys())
    if unknown or missing:
        what = f"unknown: {unknown[0][:40]}" if unknown else f"missing: {missing[0]}"
        raise ImportRefused(
            f"the columns of {table.name} do not match ({what}).",
            line=line,
            expected=", ".join(columns),
        )
    record = {
        column: parse_value(fields[column], kind, f"{table.name}.{column}", line)
        for column, kind in columns.items()
    }
    return ExportRow(line=line, table=table, record=record)


def upgrade_fields(fields: Mapping[str, object], table: StoredTable) -> Mapping[str, object]:
    """Upgrade a row of an older export: rename columns and fill in new ones."""
    new_names = {former: name for name, former in table.former_names.items()}
    return {**table.defaults, **{new_names.get(name, name): fields[name] for name in fields}}


def parse_value(value: object, kind: DumpColumnType, what: str, line: int) -> SqlValue:
    """Validate a value by its column type. Raises ImportRefused."""
    types, expected = TYPES_BY_KIND[kind]
    is_valid = isinstance(value, types) and not isinstance(value, bool)
    if is_valid and isinstance(value, int):
        is_valid = -INT64_LIMIT <= value < INT64_LIMIT
    if is_valid and isinstance(value, str):
        is_valid = sanitize_text(value) == value
    if not is_valid or not isinstance(value, str | int | float | None):
        raise ImportRefused(f"{what} is {describe_kind(value)}.", line=line, expected=expected)
    if isinstance(value, float) and not math.isfinite(value):
        raise ImportRefused(f"{what} is not a valid number.", line=line, expected=expected)
    if what.endswith(TIME_SUFFIX) and isinstance(value, int) and not is_representable(value):
        raise ImportRefused(
            f"{what} is {value}, which is not in the calendar.",
            line=line,
            expected="microseconds since 1970 in the years 2 to 9998",
        )
    return value
