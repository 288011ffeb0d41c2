"""Document schema: where each table stands in the JSON file, and how its columns are named there.

People, messages and summaries stand where readers of chats expect them: by person, with ``role``,
``content``, ``created_at``, ``chunk_id``. All other tables keep their own names and columns. What
only search reads comes last.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

import apsw

from oldfriend.db.database import SqlValue
from oldfriend.db.json.document_values import (
    Column,
    InvalidValue,
    build_column,
    from_json_value,
    to_json_value,
)
from oldfriend.domain.json import JsonValue

LAYOUT_VERSION: Final = 1
"""Raised when the layout changes so that an older program could not read the file."""
Placement = Literal["one a person", "many a person", "others", "for search"]

ROLE_TO_FILE: Final = MappingProxyType({"person": "user", "companion": "assistant"})
ROLE_MAPPING: Final = MappingProxyType(
    {**ROLE_TO_FILE, **{there: here for here, there in ROLE_TO_FILE.items()}}
)
"""Both ways, so that a role named like the display name of another one survives the round trip."""
CHUNK_ID_SQL: Final = """(SELECT s.id FROM segment s WHERE s.session = t.session
    AND s.status IN ('done', 'trivial') AND s.first_seq <= first_of.seq
    AND s.last_seq >= first_of.seq LIMIT 1)"""
FIRST_VERSION_JOIN: Final = (
    """LEFT JOIN message first_of ON first_of.id = t.id AND first_of.version = 1"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLayout:
    """Where the rows of a table are in the file, and how their fields are named."""

    name: str
    placement: Placement
    renames: Mapping[str, str] = field(default_factory=dict)  # by column, if the names differ
    leading_fields: tuple[str, ...] = ()  # the first fields of a row, by their names in the file
    order: tuple[str, ...] = ()  # columns that order the rows; empty: the key
    search_column: str | None = None  # a column that is in the search section
    derived_fields: tuple[str, ...] = ()  # fields that are shown but follow from other rows


TABLE_LAYOUTS: Final[Mapping[str, TableLayout]] = {
    "person": TableLayout(
        name="users",
        placement="one a person",
        renames={"id": "user_id", "last_seq": "next_message_id", "last_change": "next_change_id"},
        leading_fields=("user_id", "storage_type"),
        derived_fields=("storage_type",),
    ),
    "message": TableLayout(
        name="messages",
        placement="many a person",
        renames={
            "seq": "id",
            "person": "user_id",
            "text": "content",
            "said_at": "created_at",
            "id": "message_id",
        },
        leading_fields=("id", "user_id", "role", "content", "created_at", "is_active", "chunk_id"),
        order=("person", "seq"),
        search_column="imprint",
        derived_fields=("is_active", "chunk_id"),
    ),
    "summary": TableLayout(
        name="summaries",
        placement="many a person",
        renames={
            "person": "user_id",
            "text": "summary_text",
            "learned_at": "created_at",
            "segments": "source_chunk_ids",
            "sources": "source_summary_ids",
        },
        leading_fields=(
            "id",
            "user_id",
            "summary_text",
            "created_at",
            "level",
            "source_chunk_ids",
            "is_active",
        ),
        order=("person", "level", "from_at", "id"),
    ),
    "message_vector": TableLayout(name="message_vector", placement="for search"),
    "memory_vector": TableLayout(name="memory_vector", placement="for search"),
}
NEXT_NUMBER_FIELDS: Final = frozenset({"next_message_id", "next_change_id"})
"""In the file they are the next number, and in the table the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonTable:
    """A table of the database with its layout in the file."""

    name: str
    layout: TableLayout
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def order(self) -> tuple[str, ...]:
        """The columns that order its rows."""
        return self.layout.order or self.key or tuple(each.name for each in self.columns)

    def to_field_name(self, column: str) -> str:
        """Return the name of a column in the file."""
        return self.layout.renames.get(column, column)


def load_tables(connection: apsw.Connection) -> dict[str, JsonTable]:
    """Load the tables of a database by name, except the schema state."""
    described: dict[str, list[tuple[Column, int]]] = {}
    rows = connection.execute(
        """SELECT t.name, c.name, c.type, c."notnull" AND c.dflt_value IS NULL, c.pk
           FROM sqlite_schema t JOIN pragma_table_info(t.name) c
           WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
             AND t.name NOT IN ('schema_state', 'embedding_progress')
           ORDER BY t.name, c.cid"""
    )
    for table, name, declared, is_required, key_index in rows:
        column = build_column(name, declared, is_required=bool(is_required))
        described.setdefault(table, []).append((column, key_index))
    return {name: build_table(name, columns) for name, columns in described.items()}


def build_table(name: str, columns: Sequence[tuple[Column, int]]) -> JsonTable:
    """Build a table from its columns, each with its position in the key or 0."""
    key = sorted((index, column.name) for column, index in columns if index)
    return JsonTable(
        name=name,
        layout=TABLE_LAYOUTS.get(name) or TableLayout(name=name, placement="others"),
        columns=tuple(column for column, _ in columns),
        key=tuple(column for _, column in key),
    )


def row_to_entries(table: JsonTable, row: Mapping[str, SqlValue]) -> dict[str, JsonValue]:
    """Return a row as it stands in the file; empty values are left out."""
    entries = {
        table.to_field_name(column.name): to_file_value(
            table.to_field_name(column.name), to_json_value(column, row[column.name])
        )
        for column in table.columns
        if column.name != table.layout.search_column and row[column.name] is not None
    }
    entries |= derive_fields(table, row)
    return {
        name: entries[name] for name in table.layout.leading_fields if name in entries
    } | entries


def to_file_value(name: str, value: JsonValue) -> JsonValue:
    """Return a value as it stands in the file under a name."""
    if name in NEXT_NUMBER_FIELDS and isinstance(value, int):
        return value + 1
    return ROLE_MAPPING.get(value, value) if name == "role" and isinstance(value, str) else value


def derive_fields(table: JsonTable, row: Mapping[str, SqlValue]) -> dict[str, JsonValue]:
    """Return the fields that are shown with a row but follow from others; never read back."""
    if table.name == "person":
        return {"storage_type": "json"}
    if table.name == "message":
        chunk = row["chunk_id"]
        assert chunk is None or isinstance(chunk, str)
        return {"is_active": chunk is None, "chunk_id": chunk}
    return {}


def parse_row(table: JsonTable, entries: Mapping[str, JsonValue]) -> dict[str, SqlValue]:
    """Parse a row of the file, without its search column. Raises InvalidValue."""
    remaining = dict(entries)
    row: dict[str, SqlValue] = {}
    for column in table.columns:
        name = table.to_field_name(column.name)
        if column.name == table.layout.search_column:
            continue
        if name in remaining or column.is_required:
            row[column.name] = parse_value(column, name, remaining.pop(name, None))
    for name in table.layout.derived_fields:
        remaining.pop(name, None)
    if remaining:
        known = ", ".join(table.to_field_name(column.name) for column in table.columns)
        raise InvalidValue(f"{next(iter(remaining))!r} is unknown here; known are {known}")
    return row


def parse_value(column: Column, name: str, value: JsonValue) -> SqlValue:
    """Parse the value under a name of the file. Raises InvalidValue."""
    if name in NEXT_NUMBER_FIELDS and isinstance(value, int) and not isinstance(value, bool):
        value -= 1
    if name == "role" and isinstance(value, str):
        value = ROLE_MAPPING.get(value, value)
    try:
        return from_json_value(column, value)
    except InvalidValue as error:
        raise InvalidValue(f"{name!r} {error}") from error
