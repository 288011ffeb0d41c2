"""JSON document: the text of the whole file, and which of its rows have changed.

Every row is kept as the text that it has in the file, so that a commit renders only the rows that
it touched. The database reports which rows those are.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from typing import Final

import apsw

from oldfriend.db.database import SqlValue
from oldfriend.db.json.document_schema import (
    CHUNK_ID_SQL,
    FIRST_VERSION_JOIN,
    LAYOUT_VERSION,
    JsonTable,
    encode_json,
    load_tables,
    row_to_entries,
    to_json_value,
)
from oldfriend.db.schema import READ_STATE, SchemaState, parse_state
from oldfriend.domain.json import JsonValue

RowKey = tuple[SqlValue, ...]
SortKey = tuple[tuple[int, SqlValue], ...]

ABOUT: Final = (
    "Everything that Oldfriend remembers. You may read it, and edit it while Oldfriend does not "
    "run: see docs/how-to/readable.md. What is under for_search follows from the rest."
)
CHECKSUM_PREFIX: Final = '\n  "seal": "'
"""Precedes a checksum of everything above it, which reveals edits."""
INDENT, OBJECT_INDENT, LIST_INDENT = "  ", "    ", "      "


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedRow:
    """A row as it stands in the file."""

    sort_key: SortKey
    group: str  # the person it is listed under; empty if rows are not grouped
    text: str
    search_text: str = ""  # its entry in the search section


@dataclass(slots=True, kw_only=True)
class RenderedTable:
    """The rows of one table, as text."""

    table: JsonTable
    key_positions: tuple[int, ...]  # the positions of the key among its columns
    rows_by_key: dict[RowKey, RenderedRow] = field(default_factory=dict)
    text: str | None = None  # of the whole table; None: to be rendered
    search_text: str = ""


class JsonDocument:
    """The text of the file, in step with a database that one connection writes."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Render everything, and track changed rows from now on."""
        self._connection = connection
        self._touched: dict[str, set[RowKey]] = {}
        self._tables: dict[str, RenderedTable] = {}
        self._changed_sessions: set[SqlValue] = set()  # sessions with changed segments
        self._schema = -1
        self._head = ""
        self.is_saved = False
        """Whether the file has exactly this content."""
        connection.preupdate_hook(self._on_row_update)
        self.refresh()

    def refresh(self) -> None:
        """Render the rows that were touched since the last refresh."""
        schema = int(self._connection.pragma("schema_version"))
        if schema != self._schema:
            self._render_all_rows()
            self._schema = schema
        for name, keys in list(self._touched.items()):
            self._render_rows(self._tables[name], keys)
        if "message" in self._tables:
            self._render_rows(self._tables["message"], self._list_rechunked_messages())

    def mark_saved(self) -> None:
        """Record that the text was written, in a transaction that can only succeed."""
        self.is_saved = True
        self._touched.clear()
        self._changed_sessions.clear()

    def render(self) -> bytes:
        """Return the whole file."""
        body = "".join(self._render_sections()).encode()
        return b'%s%s%s"\n}\n' % (body, CHECKSUM_PREFIX.encode(), compute_checksum(body).encode())

    def _render_all_rows(self) -> None:
        """Render every row of every table, whose columns may have changed."""
        (state,) = [parse_state(row) for row in self._connection.execute(READ_STATE)]
        self._head = format_head(state)
        self._tables = {
            name: RenderedTable(table=table, key_positions=find_key_positions(table))
            for name, table in sorted(load_tables(self._connection).items())
        }
        self._touched.clear()
        self.is_saved = False
        for rows in self._tables.values():
            for key, row in iter_rows(self._connection, rows.table):
                rows.rows_by_key[key] = render_row(rows.table, row)

    def _on_row_update(self, update: apsw.PreUpdate) -> None:
        """Record which row is about to change. Called by the database."""
        rows = self._tables.get(update.table_name)
        if rows is None:
            return  # the schema state, or a new table
        touched = self._touched.setdefault(update.table_name, set())
        if not rows.table.key:
            touched.update({(update.rowid,), (update.rowid_new,)})
            return
        for row in (update.old, update.new):
            if row is None:
                continue
            touched.add(tuple(row[at] for at in rows.key_positions))
            if update.table_name == "segment":
                self._changed_sessions.update(
                    value
                    for column, value in zip(rows.table.columns, row, strict=True)
                    if column.name == "session"
                )

    def _render_rows(self, rows: RenderedTable, keys: Iterable[RowKey]) -> None:
        """Render some rows again."""
        condition = " AND ".join(f't."{name}" IS ?' for name in list_key_columns(rows.table))
        for key in keys:
            row = dict(iter_rows(self._connection, rows.table, condition, key)).get(key)
            rendered = None if row is None else render_row(rows.table, row)
            if rendered == rows.rows_by_key.get(key):
                continue
            if rendered is None:
                del rows.rows_by_key[key]
            else:
                rows.rows_by_key[key] = rendered
            rows.text, self.is_saved = None, False

    def _list_rechunked_messages(self) -> list[RowKey]:
        """Return the messages whose chunk may have changed."""
        deleted = {
            key[0]
            for key in self._touched.get("message", ())
            if key not in self._tables["message"].rows_by_key
        }
        conditions = [("session", each) for each in self._changed_sessions] + [
            ("id", each) for each in deleted
        ]
        return [
            key
            for column, value in conditions
            for key in self._connection.execute(
                f"SELECT id, version FROM message WHERE {column} = ?", (value,)
            ).fetchall()
        ]

    def _render_sections(self) -> Iterator[str]:
        """Yield the text section by section, up to the checksum."""
        for rows in self._tables.values():
            if rows.text is None:
                render_table(rows)
        yield self._head
        for name in ("person", "message", "summary"):
            if name in self._tables:
                yield f"\n{self._tables[name].text},"
        others = [
            rows.text or ""
            for rows in self._tables.values()
            if rows.table.layout.placement == "others" and rows.rows_by_key
        ]
        yield f'\n  "tables": {format_braces(others)},'
        yield f'\n  "for_search": {format_braces(self._render_search_sections())},'

    def _render_search_sections(self) -> list[str]:
        """Return the sections that only search reads."""
        return [
            *(
                rows.search_text
                for rows in self._tables.values()
                if rows.table.layout.search_column
            ),
            *(
                rows.text or ""
                for rows in self._tables.values()
                if rows.table.layout.placement == "for search" and rows.rows_by_key
            ),
        ]


def iter_rows(
    connection: apsw.Connection,
    table: JsonTable,
    condition: str = "1 = 1",
    values: Sequence[SqlValue] = (),
) -> Iterator[tuple[RowKey, Mapping[str, SqlValue]]]:
    """Yield rows by key, with everything that the file shows of them."""
    names = [column.name for column in table.columns]
    selected, joined = ", ".join(f't."{name}"' for name in names), ""
    if table.name == "message":
        names, joined = [*names, "chunk_id"], FIRST_VERSION_JOIN
        selected += f", {CHUNK_ID_SQL}"
    key = list_key_columns(table)
    keys = ", ".join(f't."{name}"' for name in key)
    sql = f'SELECT {keys}, {selected} FROM "{table.name}" t {joined} WHERE {condition}'
    for row in connection.execute(sql, tuple(values)):
        yield tuple(row[: len(key)]), dict(zip(names, row[len(key) :], strict=True))


def find_key_positions(table: JsonTable) -> tuple[int, ...]:
    """Return the positions of the key among the columns."""
    return tuple(at for at, column in enumerate(table.columns) if column.name in table.key)


def list_key_columns(table: JsonTable) -> list[str]:
    """Return the key columns in the order of all columns; SQLite's rowid if there are none."""
    return [table.columns[at].name for at in find_key_positions(table)] or ["rowid"]


def render_row(table: JsonTable, row: Mapping[str, SqlValue]) -> RenderedRow:
    """Render a row as text."""
    order = tuple(to_sort_key(row[name]) for name in table.order)
    entries = row_to_entries(table, row)
    match table.layout.placement:
        case "one a person":
            text = (
                f"{OBJECT_INDENT}{encode_json(row['id'])}: {format_object(entries, OBJECT_INDENT)}"
            )
            return RenderedRow(sort_key=order, group="", text=text)
        case "many a person":
            text, person = f"{LIST_INDENT}{format_object(entries, LIST_INDENT)}", str(row["person"])
            return RenderedRow(
                sort_key=order, group=person, text=text, search_text=render_search_entry(table, row)
            )
        case "others":
            return RenderedRow(
                sort_key=order, group="", text=f"{LIST_INDENT}{format_object(entries, LIST_INDENT)}"
            )
        case "for search":
            return RenderedRow(
                sort_key=order, group="", text=f"{LIST_INDENT}{encode_json(entries)}"
            )


def render_search_entry(table: JsonTable, row: Mapping[str, SqlValue]) -> str:
    """Render the search terms of a message with a hash that shows if they match its text."""
    column = next((each for each in table.columns if each.name == table.layout.search_column), None)
    if column is None:
        return ""
    kept = f"{hash_text(str(row['text']))} {to_json_value(column, row[column.name])}"
    return f"{LIST_INDENT}{INDENT}{encode_json(str(row['seq']))}: {encode_json(kept)}"


def hash_text(text: str) -> str:
    """Return a short hash by which a text is recognized as unchanged."""
    return blake2b(text.encode(), digest_size=4).hexdigest()


def format_object(entries: Mapping[str, JsonValue], indent: str) -> str:
    """Format an object, one entry per line."""
    lines = [
        f"{indent}{INDENT}{encode_json(name)}: {encode_json(value)}"
        for name, value in entries.items()
    ]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def to_sort_key(value: SqlValue) -> tuple[int, SqlValue]:
    """Return a key by which a value can be compared with any other."""
    match value:
        case None:
            return 0, 0
        case int() | float():
            return 1, value
        case str():
            return 2, value
        case _:
            return 3, value


def render_table(rows: RenderedTable) -> None:
    """Render a table from its rows."""
    table, ordered = rows.table, sorted(rows.rows_by_key.values(), key=lambda each: each.sort_key)
    texts = [each.text for each in ordered]
    match table.layout.placement:
        case "one a person":
            rows.text = f'{INDENT}"{table.layout.name}": {format_braces(texts)}'
        case "many a person":
            grouped = [(group, list(each)) for group, each in groupby(ordered, lambda w: w.group)]
            lists = [
                format_named_list(group, [w.text for w in each], OBJECT_INDENT)
                for group, each in grouped
            ]
            rows.text = f'{INDENT}"{table.layout.name}": {format_braces(lists)}'
            rows.search_text = render_search_table(rows, grouped)
        case "others" | "for search":
            rows.text = format_named_list(table.layout.name, texts, OBJECT_INDENT)


def render_search_table(
    rows: RenderedTable, grouped: Iterable[tuple[str, list[RenderedRow]]]
) -> str:
    """Render the search entries of all rows, by person; empty if the table has none."""
    if rows.table.layout.search_column is None:
        return ""
    groups = [
        f"{LIST_INDENT}{encode_json(group)}: {{\n"
        + ",\n".join(each.search_text for each in rows_of_person)
        + f"\n{LIST_INDENT}}}"
        for group, rows_of_person in grouped
    ]
    return (
        f'{OBJECT_INDENT}"{rows.table.layout.search_column}": '
        f"{format_braces(groups, OBJECT_INDENT)}"
    )


def format_named_list(name: str, texts: Sequence[str], indent: str) -> str:
    """Format a list under its name."""
    return f"{indent}{encode_json(name)}: [\n" + ",\n".join(texts) + f"\n{indent}]"


def format_braces(texts: Sequence[str], indent: str = INDENT) -> str:
    """Format an object from entries that have their names already."""
    return "{\n" + ",\n".join(texts) + f"\n{indent}}}" if texts else "{}"


def format_head(state: SchemaState) -> str:
    """Format the beginning of the file."""
    schema = {"version": state.version, "name": state.name, "oldest_writer": state.oldest_writer}
    return (
        f'{{\n{INDENT}"oldfriend": {{\n'
        f'{OBJECT_INDENT}"about": {encode_json(ABOUT)},\n'
        f'{OBJECT_INDENT}"layout": {LAYOUT_VERSION},\n'
        f'{OBJECT_INDENT}"schema": {encode_json(schema)}\n{INDENT}}},'
    )


def compute_checksum(body: bytes) -> str:
    """Return the checksum of bytes."""
    return f"{zlib.crc32(body):08x}"
