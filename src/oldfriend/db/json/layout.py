"""Where in the file does each table stand, and by which names?

People, messages and summaries stand where and as readers of chats expect them: by person, with
``role``, ``content``, ``created_at``, ``chunk_id``. All other tables stand by their own names and
columns. What only search reads stands last. Knows nothing of how the file is written or read.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, Literal

import apsw

from oldfriend.db.database import SqlValue
from oldfriend.db.json.values import Column, Misfit, column_named, shown, taken
from oldfriend.domain.json import JsonValue

LAYOUT: Final = 1
"""Raised when a file is laid out so that an older program could not read it."""
Place = Literal["one a person", "many a person", "others", "for search"]

ROLES: Final = MappingProxyType({"person": "user", "companion": "assistant"})
ROLE_NAMES: Final = MappingProxyType({
    **ROLES, **{there: here for here, there in ROLES.items()}
})  # fmt: skip
"""Each way, so that also a role that is called as another is shown comes back."""
CHUNK_OF_MESSAGE: Final = """(SELECT s.id FROM segment s WHERE s.session = t.session
    AND s.status IN ('done', 'trivial') AND s.first_seq <= first_of.seq
    AND s.last_seq >= first_of.seq LIMIT 1)"""
FIRST_VERSION: Final = (
    """LEFT JOIN message first_of ON first_of.id = t.id AND first_of.version = 1"""
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """Where the rows of a table stand, and how what is in them is called there."""

    name: str
    place: Place
    names: Mapping[str, str] = field(default_factory=dict)  # by column, where they differ
    begins: tuple[str, ...] = ()  # with what a row begins, by the names in the file
    order: tuple[str, ...] = ()  # columns that order the rows; none: the key
    apart: str | None = None  # a column that stands with what is for search
    follows: tuple[str, ...] = ()  # what is shown too, and follows from other rows


SECTIONS: Final[Mapping[str, Section]] = {
    "person": Section(
        name="users", place="one a person",
        names={"id": "user_id", "last_seq": "next_message_id", "last_change": "next_change_id"},
        begins=("user_id", "storage_type"), follows=("storage_type",),
    ),
    "message": Section(
        name="messages", place="many a person",
        names={
            "seq": "id", "person": "user_id", "text": "content", "said_at": "created_at",
            "id": "message_id",
        },
        begins=("id", "user_id", "role", "content", "created_at", "is_active", "chunk_id"),
        order=("person", "seq"), apart="imprint", follows=("is_active", "chunk_id"),
    ),
    "summary": Section(
        name="summaries", place="many a person",
        names={
            "person": "user_id", "text": "summary_text", "learned_at": "created_at",
            "segments": "source_chunk_ids", "sources": "source_summary_ids",
        },
        begins=(
            "id", "user_id", "summary_text", "created_at", "level", "source_chunk_ids", "is_active",
        ),
        order=("person", "level", "from_at", "id"),
    ),
    "message_vector": Section(name="message_vector", place="for search"),
    "memory_vector": Section(name="memory_vector", place="for search"),
}  # fmt: skip
NEXT: Final = frozenset({"next_message_id", "next_change_id"})
"""Stand in the file as the number that comes next, and in the table as the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the database, and where it stands in the file."""

    name: str
    section: Section
    columns: tuple[Column, ...]
    key: tuple[str, ...]

    @property
    def order(self) -> tuple[str, ...]:
        """The columns that order its rows."""
        return self.section.order or self.key or tuple(each.name for each in self.columns)

    def named(self, column: str) -> str:
        """What a column is called in the file."""
        return self.section.names.get(column, column)


def tables_of(connection: apsw.Connection) -> dict[str, Table]:
    """The tables that a database has, the schema row's apart, by name."""
    described: dict[str, list[tuple[Column, int]]] = {}
    rows = connection.execute(
        """SELECT t.name, c.name, c.type, c."notnull" AND c.dflt_value IS NULL, c.pk
           FROM sqlite_schema t JOIN pragma_table_info(t.name) c
           WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'schema_state'
           ORDER BY t.name, c.cid"""
    )
    for table, name, declared, must_be, place in rows:
        column = column_named(name, declared, must_be=bool(must_be))
        described.setdefault(table, []).append((column, place))
    return {name: table_from(name, columns) for name, columns in described.items()}


def table_from(name: str, columns: Sequence[tuple[Column, int]]) -> Table:
    """A table from its columns, each with its place in the key or 0."""
    key = sorted((place, column.name) for column, place in columns if place)
    return Table(
        name=name, section=SECTIONS.get(name) or Section(name=name, place="others"),
        columns=tuple(column for column, _ in columns), key=tuple(column for _, column in key),
    )  # fmt: skip


def entries_of(table: Table, row: Mapping[str, SqlValue]) -> dict[str, JsonValue]:
    """A row as it stands in the file; what is empty is left out."""
    entries = {
        table.named(column.name): entry(table.named(column.name), shown(column, row[column.name]))
        for column in table.columns
        if column.name != table.section.apart and row[column.name] is not None
    }
    entries |= following(table, row)
    return {name: entries[name] for name in table.section.begins if name in entries} | entries


def entry(name: str, value: JsonValue) -> JsonValue:
    """A value under a name of the file."""
    if name in NEXT and isinstance(value, int):
        return value + 1
    return ROLE_NAMES.get(value, value) if name == "role" and isinstance(value, str) else value


def following(table: Table, row: Mapping[str, SqlValue]) -> dict[str, JsonValue]:
    """What is shown beside a row and follows from others; it is never read back."""
    if table.name == "person":
        return {"storage_type": "json"}
    if table.name == "message":
        chunk = row["chunk_id"]
        assert chunk is None or isinstance(chunk, str)
        return {"is_active": chunk is None, "chunk_id": chunk}
    return {}


def row_of(table: Table, entries: Mapping[str, JsonValue]) -> dict[str, SqlValue]:
    """The row that stands in the file, without what is apart. Raises Misfit."""
    left = dict(entries)
    row: dict[str, SqlValue] = {}
    for column in table.columns:
        name = table.named(column.name)
        if column.name == table.section.apart:
            continue
        if name in left or column.must_be:
            row[column.name] = value_of(column, name, left.pop(name, None))
    for name in table.section.follows:
        left.pop(name, None)
    if left:
        known = ", ".join(table.named(column.name) for column in table.columns)
        raise Misfit(f"{next(iter(left))!r} is unknown here; known are {known}")
    return row


def value_of(column: Column, name: str, value: JsonValue) -> SqlValue:
    """The value that stands under a name of the file. Raises Misfit."""
    if name in NEXT and isinstance(value, int) and not isinstance(value, bool):
        value -= 1
    if name == "role" and isinstance(value, str):
        value = ROLE_NAMES.get(value, value)
    try:
        return taken(column, value)
    except Misfit as error:
        raise Misfit(f"{name!r} {error}") from error
