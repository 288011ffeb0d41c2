"""Serialization of beliefs to JSON and table rows, and back.

Both use the same fields under the same names.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Final, TypeVar, cast

from oldfriend.db.database import Row, SqlValue
from oldfriend.domain.errors import RowCorrupt
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Entity, JournalObject, Memory, ObjectKind, ObjectLink, Summary

BelievedT = TypeVar("BelievedT", bound=Memory | Entity | Summary)

LIST_FIELDS: Final = frozenset(
    {
        "tags",
        "cues",
        "relational",
        "entities",
        "relations",
        "aliases",
        "topics",
        "segments",
        "sources",
    }
)
FLAG_FIELDS: Final = frozenset({"is_pinned", "is_by_person", "is_active"})

COLUMNS_BY_CLASS: Final[Mapping[type, tuple[str, ...]]] = {
    each: tuple(field.name for field in fields(each)) for each in (Memory, Entity, Summary)
}
"""The columns of each class, in the order of its fields."""


def to_plain_json(value: object) -> JsonValue:
    """Convert a field value to JSON."""
    if isinstance(value, tuple):
        return [[x.kind, x.target] if isinstance(x, ObjectLink) else str(x) for x in value]
    return cast("JsonValue", value)


def to_column_value(value: object) -> SqlValue:
    """Convert a field value to a column value."""
    if isinstance(value, tuple):
        return json.dumps(to_plain_json(value), ensure_ascii=False) if value else "[]"
    return int(value) if isinstance(value, bool) else cast("SqlValue", value)


LIST_FIELDS_BY_CLASS: Final = {
    each: [name for name in COLUMNS_BY_CLASS[each] if name in LIST_FIELDS]
    for each in COLUMNS_BY_CLASS
}
FLAG_FIELDS_BY_CLASS: Final = {
    each: [name for name in COLUMNS_BY_CLASS[each] if name in FLAG_FIELDS]
    for each in COLUMNS_BY_CLASS
}
EMPTY_ROW_BY_CLASS: Final[Mapping[type, Mapping[str, SqlValue]]] = {
    each: {
        field.name: None if field.default is MISSING else to_column_value(field.default)
        for field in fields(each)
    }
    for each in COLUMNS_BY_CLASS
}
"""The default value of each column."""


DEFAULTS_BY_CLASS: Final[Mapping[type, Mapping[str, object]]] = {
    each: {field.name: field.default for field in fields(each)} for each in COLUMNS_BY_CLASS
}
"""The value of each field that an entry does not name; a default must never be changed."""


ALWAYS_SERIALIZED: Final = frozenset({"subject", "status", "is_pinned", "is_active", "ended_at"})
"""The fields that an entry always names, because queries search for them in its text."""
SERIALIZED_WITH_TAGS: Final = frozenset({"relational"})
"""What an entry with tags also names, so that queries can tell where the tags end."""


def get_kind(believed: JournalObject) -> ObjectKind:
    """Return the kind of a belief."""
    if isinstance(believed, Memory):
        return believed.kind
    return "entity" if isinstance(believed, Entity) else "summary"


def get_class(kind: ObjectKind) -> type[JournalObject]:
    """Return the class for a kind."""
    if kind == "entity":
        return Entity
    return Summary if kind == "summary" else Memory


def to_json(believed: JournalObject) -> str:
    """Serialize a belief for the journal; fields with their default are left out."""
    defaults = DEFAULTS_BY_CLASS[type(believed)]
    required = ALWAYS_SERIALIZED | (
        SERIALIZED_WITH_TAGS if getattr(believed, "tags", ()) else frozenset()
    )
    values = {
        name: to_plain_json(value)
        for name in COLUMNS_BY_CLASS[type(believed)]
        if (value := getattr(believed, name)) != defaults[name] or name in required
    }
    return json.dumps(values, ensure_ascii=False)


def from_json(kind: ObjectKind, values: Mapping[str, JsonValue]) -> JournalObject:
    """Deserialize a belief; fields that an earlier version did not know get their default."""
    shape = get_class(kind)
    known = {name: values[name] for name in COLUMNS_BY_CLASS[shape] if name in values}
    return build_object(shape, known)


def build_row(kind: ObjectKind, values: Mapping[str, JsonValue]) -> dict[str, SqlValue]:
    """Build the column values from a journal entry's values, without building the object."""
    shape = get_class(kind)
    row: dict[str, Any] = {**EMPTY_ROW_BY_CLASS[shape], **values}
    for name in FLAG_FIELDS_BY_CLASS[shape]:
        row[name] = int(row[name])
    for name in LIST_FIELDS_BY_CLASS[shape]:
        if name in values:
            row[name] = json.dumps(row[name], ensure_ascii=False) if row[name] else "[]"
    return row


def to_row(believed: JournalObject) -> dict[str, SqlValue]:
    """Return a belief's column values."""
    return {
        name: to_column_value(getattr(believed, name)) for name in COLUMNS_BY_CLASS[type(believed)]
    }


def from_row(object_class: type[BelievedT], row: Row) -> BelievedT:
    """Parse a row with all columns in order. Raises RowCorrupt."""
    values = dict(zip(COLUMNS_BY_CLASS[object_class], row, strict=True))
    try:
        for name in LIST_FIELDS & values.keys():
            values[name] = json.loads(values[name]) if values[name] != "[]" else ()
        return build_object(object_class, values)
    except (TypeError, ValueError) as error:
        raise RowCorrupt(object_class.__name__.lower(), str(values["id"])) from error


def build_object(object_class: type[BelievedT], values: Mapping[str, Any]) -> BelievedT:
    """Build an object from plain values: lists become tuples, integers become flags."""
    ready: dict[str, Any] = {
        name: tuple(value) if name in LIST_FIELDS else bool(value) if name in FLAG_FIELDS else value
        for name, value in values.items()
    }
    if ready.get("relations"):
        ready["relations"] = tuple(ObjectLink(kind=k, target=o) for k, o in ready["relations"])
    return object_class(**ready)
