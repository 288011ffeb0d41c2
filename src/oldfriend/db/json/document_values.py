"""Document values: lossless conversion of single database values to readable JSON and back.

Timestamps become ISO 8601 to the microsecond, booleans true and false, JSON text JSON, and bytes
base64. A value that would not come back exactly is stored as it is. The format of a column is
inferred from its name.
"""

import base64
import binascii
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal

from oldfriend.db.database import SqlValue
from oldfriend.domain.clock import from_micros, is_representable, to_micros
from oldfriend.domain.json import JsonValue

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
