"""Table dump: stored tables as rows of plain values, for export and restore.

``db.stored_tables`` says which. The imprint of a message can be computed again, so only whether it
has one is dumped.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.db.stored_tables import (
    EXPORTED_TABLES,
    ColumnKind,
    StoredTable,
    parse_columns,
)
from oldfriend.domain.ids import PersonId
from oldfriend.memory.portable import (
    Record,
    from_portable,
    restore_receipt_items,
    restore_trace_details,
    to_portable,
)
from oldfriend.search.document_terms import encode_document_terms

DumpColumnType = Literal["text", "text?", "int", "int?", "real"]  # with "?" it may be NULL

ROWS_PER_READ: Final = 1000
SEARCHABLE_COLUMN: Final = "findable"
"""Replaces a message's imprint: whether search may find the message."""
DUMP_TYPES: Final[Mapping[ColumnKind, Literal["text", "int", "real"]]] = MappingProxyType(
    {"int": "int", "real": "real", "terms": "int"}
)
"""The type of a column in an export; all others are text."""
NULLABLE_TYPES: Final[Mapping[Literal["text", "int", "real"], DumpColumnType]] = MappingProxyType(
    {"text": "text?", "int": "int?", "real": "real"}
)

LEGACY_TABLES: Final = (
    StoredTable(
        name="receipt_item",
        key_columns=("receipt", "ordinal"),
        columns=parse_columns(
            """receipt text, ordinal int, person text, kind text, object text, version int,
            used int, score real, why text"""
        ),
    ),
)
"""Tables of older exports, whose rows are stored in other tables now."""

CONTENT_TABLES: Final = (
    "message",
    "change",
    "memory",
    "entity",
    "summary",
    "evidence",
    "segment",
    "receipt",
    "model_call",
    "tool_call",
)
"""Tables of messages and what came of them; all others are filled when a store is opened, or left
over by an undo.
"""


def list_dump_columns(table: StoredTable) -> dict[str, DumpColumnType]:
    """Return the columns of a table as an export has them, with their types."""
    columns: dict[str, DumpColumnType] = {}
    for name, column in table.columns.items():
        if name not in table.merged:
            kind = DUMP_TYPES.get(column.kind, "text")
            columns[get_dump_name(name, column.kind)] = (
                NULLABLE_TYPES[kind] if column.is_nullable else kind
            )
    return columns


def get_dump_name(name: str, kind: ColumnKind) -> str:
    """Return the name of a column in an export."""
    return SEARCHABLE_COLUMN if kind == "terms" else name


async def dump_rows(
    tx: Transaction, table: StoredTable, person: PersonId | None
) -> AsyncIterator[Record]:
    """Yield all rows of a table, of one person or of everybody, in the order of its key."""
    names = [get_dump_name(name, column.kind) for name, column in table.columns.items()]
    columns = ", ".join(
        f"CASE WHEN length({name}) > 0 THEN 1 ELSE 0 END" if column.kind == "terms" else f'"{name}"'
        for name, column in table.columns.items()
    )
    key = ", ".join(table.key_columns)
    parameters: dict[str, SqlValue] = {"limit": ROWS_PER_READ}
    owner_condition = ""
    if person is not None and table.person_column is not None:
        owner_condition, parameters["whose"] = f"AND {table.person_column} = :whose", person
    after = "1 = 1"
    while True:
        rows = await tx.rows(
            f"""SELECT {columns} FROM {table.name} WHERE {after} {owner_condition}
               ORDER BY {key} LIMIT :limit""",
            **parameters,
        )
        for row in rows:
            record = dict(zip(names, row, strict=True))
            yield await to_portable(tx, table.name, record)
        if len(rows) < ROWS_PER_READ:
            return
        last = dict(zip(names, rows[-1], strict=True))
        after = f"({key}) > ({', '.join(f':after_{name}' for name in table.key_columns)})"
        parameters |= {f"after_{name}": last[name] for name in table.key_columns}


async def is_store_empty(tx: Transaction) -> bool:
    """Whether the store has no messages and nothing derived from them."""
    rows = [await tx.row(f"SELECT 1 FROM {name} LIMIT 1") for name in CONTENT_TABLES]
    return not any(rows)


async def delete_dumped_tables(tx: Transaction) -> None:
    """Delete the rows of an empty store, before those of another are restored."""
    await tx.run("DELETE FROM letter WHERE person IS NOT NULL")
    for table in reversed(EXPORTED_TABLES):
        await tx.run(f"DELETE FROM {table.name}")


async def restore_rows(tx: Transaction, table: StoredTable, records: Sequence[Record]) -> None:
    """Insert dumped rows. Raises ValueError if part of one cannot be read."""
    if table in LEGACY_TABLES:
        await restore_receipt_items(tx, records)
        return
    rows = [await from_portable(tx, table.name, record) for record in records]
    await tx.run_many(
        f"""INSERT INTO {table.name} ({", ".join(f'"{name}"' for name in table.columns)})
           VALUES ({", ".join(f":{name}" for name in table.columns)})""",
        [restore_imprint(row) if SEARCHABLE_COLUMN in row else row for row in rows],
    )
    if table.name == "receipt":
        await restore_trace_details(tx, records)


def restore_imprint(record: Record) -> Record:
    """Return a message's row with its imprint computed again."""
    text, language = str(record["text"]), str(record["language"])
    imprint = encode_document_terms(text, language=language) if record[SEARCHABLE_COLUMN] else b""
    kept = {name: value for name, value in record.items() if name != SEARCHABLE_COLUMN}
    return {**kept, "imprint": imprint}
