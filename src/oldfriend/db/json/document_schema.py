"""Document schema: where each table and column stands in the JSON file, and its written form.

People, messages and summaries stand where readers of chats expect them: by person, with ``role``,
``content``, ``created_at``, ``chunk_id``. All other tables keep their own names and columns. What
only search reads comes last.

Timestamps become ISO 8601 to the microsecond, booleans true and false, JSON text JSON, and bytes
base64. A value that would not come back exactly is stored as it is. The format of a column is
inferred from its name.
"""

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Final, Literal, get_args

import apsw

from oldfriend.db.database import SqlValue
from oldfriend.domain.clock import from_micros, is_representable, to_micros
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Role, TrustClass

ColumnType = Literal["text", "integer", "real", "bytes"]
ValueFormat = Literal["plain", "moment", "truth", "json"]

COLUMN_TYPES: Final[Mapping[str, ColumnType]] = {
    "TEXT": "text",
    "BIGINT": "integer",
    "DOUBLE PRECISION": "real",
    "BLOB": "bytes",
}
TIMESTAMP_COLUMNS: Final = frozenset(
    {
        "happened_until",
        "holds_from",
        "holds_until",
        "first_seen",
        "last_seen",
        "lease_until",
    }
)
JSON_COLUMNS: Final = frozenset(
    {
        "after",
        "aliases",
        "asked",
        "body",
        "cause",
        "counts",
        "cues",
        "details",
        "entities",
        "outcome",
        "payload",
        "relational",
        "relations",
        "segments",
        "shown",
        "sources",
        "tags",
        "topics",
        "why",
    }
)
CHOICES_BY_COLUMN: Final[Mapping[str, tuple[str, ...]]] = {
    "role": get_args(Role),
    "trust": get_args(TrustClass),
}
"""The values of columns that hold one of a few words."""
EXPECTED_BY_TYPE: Final[Mapping[ColumnType, str]] = {
    "text": 'text in quotes ("")',
    "integer": "a whole number",
    "real": "a number",
    "bytes": "bytes in base64",
}
INT64_LIMIT: Final = 1 << 63
"""The exclusive limit of whole numbers in the database."""
TYPE_TAG: Final = "$"
"""The prefix of the type name of a value that does not fit its column."""

encode_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class InvalidValue(ValueError):
    """A value that does not fit its column; says what is required instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column, and the format of its values in the file."""

    name: str
    type: ColumnType
    format: ValueFormat
    is_required: bool  # NOT NULL, and no default


def build_column(name: str, declared_type: str, *, is_required: bool) -> Column:
    """Build a column from its name and the type that the schema declares."""
    kind = COLUMN_TYPES.get(declared_type, "text")
    return Column(name=name, type=kind, format=infer_format(name, kind), is_required=is_required)


def infer_format(name: str, column_type: ColumnType) -> ValueFormat:
    """Infer the format of a column from its name."""
    if column_type == "integer" and (name.endswith("_at") or name in TIMESTAMP_COLUMNS):
        return "moment"
    if column_type == "integer" and name.startswith("is_"):
        return "truth"
    return "json" if column_type == "text" and name in JSON_COLUMNS else "plain"


def to_json_value(column: Column, value: SqlValue) -> JsonValue:
    """Return a value as it stands in the file; ``from_json_value`` restores it exactly."""
    match column.type, value:
        case _, None:
            return None
        case "integer", int():
            return integer_to_json(column, value)
        case "text", str():
            return json_text_to_json(value) if column.format == "json" else value
        case "real", float() if math.isfinite(value):
            return value
        case "bytes", bytes():
            return base64.b64encode(value).decode("ascii")
        case _:
            return to_tagged_value(value)


def integer_to_json(column: Column, value: int) -> JsonValue:
    """Return a whole number as a timestamp, a boolean or a number."""
    if column.format == "moment" and is_representable(value):
        return f"{from_micros(value).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
    if column.format == "truth" and value in (0, 1):
        return bool(value)
    return value


def json_text_to_json(text: str) -> JsonValue:
    """Return JSON text as JSON, if encoding it again gives the same text."""
    if not text.startswith(("[", "{")):
        return text
    try:
        value: JsonValue = json.loads(text)
        is_same = encode_json(value) == text
    except (ValueError, RecursionError):
        return text
    is_untagged = not (isinstance(value, dict) and is_tagged(value))
    return value if is_same and is_untagged else text


def to_tagged_value(value: SqlValue) -> JsonValue:
    """Return a value that does not fit its column under the name of its type."""
    match value:
        case bytes():
            return {"$bytes": base64.b64encode(value).decode("ascii")}
        case float():
            return {"$real": repr(value)}
        case int():
            return {"$integer": value}
        case _:
            return {"$text": value}


def from_json_value(column: Column, value: JsonValue) -> SqlValue:
    """Return the database value of a JSON value. Raises InvalidValue."""
    if value is None and column.is_required:
        raise InvalidValue("cannot be empty")
    if value is None:
        return None
    if isinstance(value, dict) and is_tagged(value):
        return from_tagged_value(value)
    return (
        integer_from_json(column, value)
        if column.type == "integer"
        else plain_from_json(column, value)
    )


def plain_from_json(column: Column, value: JsonValue) -> SqlValue:
    """Return text, a number or bytes from a JSON value. Raises InvalidValue."""
    match column.type, value:
        case "real", int() | float() if not isinstance(value, bool):
            return float(value)
        case "text", str():
            return value
        case "text", list() | dict() if column.format == "json":
            return encode_json(value)
        case "bytes", str():
            return parse_base64(value)
        case _:
            raise InvalidValue(f"must be {describe_expected(column)}")


def integer_from_json(column: Column, value: JsonValue) -> int:
    """Return the whole number of a timestamp, a boolean or a number. Raises InvalidValue."""
    match column.format, value:
        case "truth", bool():
            return int(value)
        case "moment", str():
            return parse_utc_timestamp(value)
        case _, int() if not isinstance(value, bool) and -INT64_LIMIT <= value < INT64_LIMIT:
            return value
        case _:
            raise InvalidValue(f"must be {describe_expected(column)}")


def describe_expected(column: Column) -> str:
    """Describe what may stand in a column."""
    match column.format:
        case "moment":
            return "a moment, such as 2024-01-15T10:30:00Z"
        case "truth":
            return "true or false"
        case "json":
            return "a list, an object or text"
        case "plain":
            return EXPECTED_BY_TYPE[column.type]


def is_tagged(value: Mapping[str, JsonValue]) -> bool:
    """Return whether an object is a tagged value."""
    return len(value) == 1 and next(iter(value)).startswith(TYPE_TAG)


def from_tagged_value(value: Mapping[str, JsonValue]) -> SqlValue:
    """Return the value in a tagged value. Raises InvalidValue."""
    match value:
        case {"$bytes": str(text)}:
            return parse_base64(text)
        case {"$real": str(text)}:
            return float(text)
        case {"$integer": int(number)} if not isinstance(number, bool):
            return number
        case {"$text": str(text)}:
            return text
        case _:
            raise InvalidValue(f"cannot be {encode_json(value)}")


def parse_utc_timestamp(text: str) -> int:
    """Parse a timestamp, in UTC if it has no offset. Raises InvalidValue."""
    try:
        moment = datetime.fromisoformat(text)
        micros = to_micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError) as error:
        raise InvalidValue(
            f"must be a moment, such as 2024-01-15T10:30:00Z, not {text!r}"
        ) from error
    if not is_representable(micros):
        raise InvalidValue(f"must lie in the years 2 to 9998, not {text!r}")
    return micros


def parse_base64(text: str) -> bytes:
    """Parse base64. Raises InvalidValue."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidValue("must be bytes in base64; leave them as they were") from error


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
        parsed = from_json_value(column, value)
    except InvalidValue as error:
        raise InvalidValue(f"{name!r} {error}") from error
    choices = CHOICES_BY_COLUMN.get(column.name, ())
    if choices and parsed not in choices:
        allowed = ", ".join(str(to_file_value(name, each)) for each in choices)
        raise InvalidValue(f"{name!r} must be one of {allowed}")
    return parsed
