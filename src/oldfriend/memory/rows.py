"""How does something believed become JSON or a row, and itself again?

The same fields under the same names in both; knows no table but by the names of its columns.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Final, TypeVar, cast

from oldfriend.db.database import Row, SqlValue
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Believed, Entity, Memory, ObjectKind, Relation, Summary

Shape = TypeVar("Shape", bound=Memory | Entity | Summary)

LISTS: Final = frozenset(
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
FLAGS: Final = frozenset({"is_pinned", "is_by_person", "is_active"})

COLUMNS: Final[Mapping[type, tuple[str, ...]]] = {
    each: tuple(field.name for field in fields(each)) for each in (Memory, Entity, Summary)
}
"""The columns of each kind of object, in order: the fields of its value."""


def plain(value: object) -> JsonValue:
    """A value as JSON has it."""
    if isinstance(value, tuple):
        return [[x.kind, x.other] if isinstance(x, Relation) else str(x) for x in value]
    return cast("JsonValue", value)


def storable(value: object) -> SqlValue:
    """A value as a column has it."""
    if isinstance(value, tuple):
        return json.dumps(plain(value), ensure_ascii=False) if value else "[]"
    return int(value) if isinstance(value, bool) else cast("SqlValue", value)


LISTS_OF: Final = {each: [name for name in COLUMNS[each] if name in LISTS] for each in COLUMNS}
FLAGS_OF: Final = {each: [name for name in COLUMNS[each] if name in FLAGS] for each in COLUMNS}
EMPTY: Final[Mapping[type, Mapping[str, SqlValue]]] = {
    each: {
        field.name: None if field.default is MISSING else storable(field.default)
        for field in fields(each)
    }
    for each in COLUMNS
}
"""What each column holds where nothing was said of it."""


def kind_of(believed: Believed) -> ObjectKind:
    """What sort of thing this is."""
    if isinstance(believed, Memory):
        return believed.kind
    return "entity" if isinstance(believed, Entity) else "summary"


def class_of(kind: ObjectKind) -> type[Believed]:
    """The value that holds an object of a kind."""
    if kind == "entity":
        return Entity
    return Summary if kind == "summary" else Memory


def to_json(believed: Believed) -> str:
    """Everything about it, as a change keeps it."""
    values = {name: plain(getattr(believed, name)) for name in COLUMNS[type(believed)]}
    return json.dumps(values, ensure_ascii=False)


def from_json(kind: ObjectKind, values: Mapping[str, JsonValue]) -> Believed:
    """The same again; what an earlier version did not know has its default."""
    shape = class_of(kind)
    known = {name: values[name] for name in COLUMNS[shape] if name in values}
    return built(shape, known)


def row_from_json(kind: ObjectKind, values: Mapping[str, JsonValue]) -> dict[str, SqlValue]:
    """The columns of an object as a change keeps it, without making a value of it."""
    shape = class_of(kind)
    row: dict[str, Any] = {**EMPTY[shape], **values}
    for name in FLAGS_OF[shape]:
        row[name] = int(row[name])
    for name in LISTS_OF[shape]:
        if name in values:
            row[name] = json.dumps(row[name], ensure_ascii=False) if row[name] else "[]"
    return row


def to_row(believed: Believed) -> dict[str, SqlValue]:
    """Its columns."""
    return {name: storable(getattr(believed, name)) for name in COLUMNS[type(believed)]}


def from_row(shape: type[Shape], row: Row) -> Shape:
    """An object from its columns, in order."""
    values = dict(zip(COLUMNS[shape], row, strict=True))
    for name in LISTS & values.keys():
        values[name] = json.loads(values[name]) if values[name] != "[]" else ()
    return built(shape, values)


def built(shape: type[Shape], values: Mapping[str, Any]) -> Shape:
    """An object from plain values: lists become tuples, numbers flags."""
    ready: dict[str, Any] = {
        name: tuple(value) if name in LISTS else bool(value) if name in FLAGS else value
        for name, value in values.items()
    }
    if ready.get("relations"):
        ready["relations"] = tuple(Relation(kind=k, other=o) for k, o in ready["relations"])
    return shape(**ready)
