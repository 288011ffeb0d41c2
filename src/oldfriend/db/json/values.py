"""How does one value of the database stand in a file that people read, and come back the same?

Moments stand as people write them, to the microsecond; yes and no as true and false; what is JSON
already as JSON; bytes in base64. What would not come back exactly stands as it is. Knows columns
by their names, and nothing of tables.
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

Kind = Literal["text", "integer", "real", "bytes"]
Holds = Literal["plain", "moment", "truth", "json"]

KINDS: Final[Mapping[str, Kind]] = {
    "TEXT": "text", "BIGINT": "integer", "DOUBLE PRECISION": "real", "BLOB": "bytes",
}  # fmt: skip
MOMENTS: Final = frozenset({
    "happened_until", "holds_from", "holds_until", "first_seen", "last_seen", "lease_until",
})  # fmt: skip
JSON_TEXTS: Final = frozenset({
    "after", "aliases", "asked", "body", "cause", "counts", "cues", "details", "entities",
    "outcome", "relational", "relations", "segments", "shown", "sources", "tags", "topics", "why",
})  # fmt: skip
WANTED: Final[Mapping[Kind, str]] = {
    "text": 'text in quotes ("")', "integer": "a whole number", "real": "a number",
    "bytes": "bytes in base64",
}  # fmt: skip
EDGE: Final = 1 << 63
"""A whole number of the database lies below."""
ODD: Final = "$"
"""Begins the name of what a value is that its column is not made for."""

encoded = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class Misfit(ValueError):
    """What stands there cannot be a value of its column; says what must be so instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column, and how its values stand in the file."""

    name: str
    kind: Kind
    holds: Holds
    must_be: bool  # NOT NULL, and no default


def column_named(name: str, declared: str, *, must_be: bool) -> Column:
    """A column from its name and the type that the schema declares."""
    kind = KINDS.get(declared, "text")
    return Column(name=name, kind=kind, holds=held_in(name, kind), must_be=must_be)


def held_in(name: str, kind: Kind) -> Holds:
    """What stands in a column, told by its name."""
    if kind == "integer" and (name.endswith("_at") or name in MOMENTS):
        return "moment"
    if kind == "integer" and name.startswith("is_"):
        return "truth"
    return "json" if kind == "text" and name in JSON_TEXTS else "plain"


def shown(column: Column, value: SqlValue) -> JsonValue:
    """A value as it stands in the file; ``taken`` gives exactly the same value back."""
    match column.kind, value:
        case _, None:
            return None
        case "integer", int():
            return shown_integer(column, value)
        case "text", str():
            return shown_json(value) if column.holds == "json" else value
        case "real", float() if math.isfinite(value):
            return value
        case "bytes", bytes():
            return base64.b64encode(value).decode("ascii")
        case _:
            return shown_odd(value)


def shown_integer(column: Column, value: int) -> JsonValue:
    """A whole number, as what it counts."""
    if column.holds == "moment" and is_representable(value):
        return f"{from_micros(value).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"
    if column.holds == "truth" and value in (0, 1):
        return bool(value)
    return value


def shown_json(text: str) -> JsonValue:
    """A text that is JSON as JSON, where it comes back the same from it."""
    if not text.startswith(("[", "{")):
        return text
    try:
        value: JsonValue = json.loads(text)
        is_same = encoded(value) == text
    except (ValueError, RecursionError):
        return text
    is_taken_as_such = not (isinstance(value, dict) and is_odd(value))
    return value if is_same and is_taken_as_such else text


def shown_odd(value: SqlValue) -> JsonValue:
    """A value of another kind than its column's, under the name of its kind."""
    match value:
        case bytes():
            return {"$bytes": base64.b64encode(value).decode("ascii")}
        case float():
            return {"$real": repr(value)}
        case int():
            return {"$integer": value}
        case _:
            return {"$text": value}


def taken(column: Column, value: JsonValue) -> SqlValue:
    """The value that stands there. Raises Misfit."""
    if value is None and column.must_be:
        raise Misfit("cannot be empty")
    if value is None:
        return None
    if isinstance(value, dict) and is_odd(value):
        return taken_odd(value)
    return taken_integer(column, value) if column.kind == "integer" else taken_plain(column, value)


def taken_plain(column: Column, value: JsonValue) -> SqlValue:
    """Text, a number or bytes, as they stand there. Raises Misfit."""
    match column.kind, value:
        case "real", int() | float() if not isinstance(value, bool):
            return float(value)
        case "text", str():
            return value
        case "text", list() | dict() if column.holds == "json":
            return encoded(value)
        case "bytes", str():
            return bytes_in(value)
        case _:
            raise Misfit(f"must be {wanted(column)}")


def taken_integer(column: Column, value: JsonValue) -> int:
    """The whole number that stands there as what it counts. Raises Misfit."""
    match column.holds, value:
        case "truth", bool():
            return int(value)
        case "moment", str():
            return moment_in(value)
        case _, int() if not isinstance(value, bool) and -EDGE <= value < EDGE:
            return value
        case _:
            raise Misfit(f"must be {wanted(column)}")


def wanted(column: Column) -> str:
    """What may stand in a column."""
    match column.holds:
        case "moment":
            return "a moment, such as 2024-01-15T10:30:00Z"
        case "truth":
            return "true or false"
        case "json":
            return "a list, an object or text"
        case "plain":
            return WANTED[column.kind]


def is_odd(value: Mapping[str, JsonValue]) -> bool:
    """Whether an object stands for one value that its column is not made for."""
    return len(value) == 1 and next(iter(value)).startswith(ODD)


def taken_odd(value: Mapping[str, JsonValue]) -> SqlValue:
    """The one value that an object stands for. Raises Misfit."""
    match value:
        case {"$bytes": str(text)}:
            return bytes_in(text)
        case {"$real": str(text)}:
            return float(text)
        case {"$integer": int(number)} if not isinstance(number, bool):
            return number
        case {"$text": str(text)}:
            return text
        case _:
            raise Misfit(f"cannot be {encoded(value)}")


def moment_in(text: str) -> int:
    """The moment that a text names, in UTC where it names no offset. Raises Misfit."""
    try:
        moment = datetime.fromisoformat(text)
        micros = to_micros(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError) as error:
        raise Misfit(f"must be a moment, such as 2024-01-15T10:30:00Z, not {text!r}") from error
    if not is_representable(micros):
        raise Misfit(f"must lie in the years 2 to 9998, not {text!r}")
    return micros


def bytes_in(text: str) -> bytes:
    """The bytes that a text stands for. Raises Misfit."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Misfit("must be bytes in base64; leave them as they were") from error
