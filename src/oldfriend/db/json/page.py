"""What does the whole file say, and which of it has changed?

Every row is kept as the text that it is in the file, so that a commit makes anew only what it has
touched. Which rows those are the database tells itself. Knows nothing of disks.
"""

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import groupby
from typing import Final

import apsw

from oldfriend.db.database import SqlValue
from oldfriend.db.json.layout import (
    CHUNK_OF_MESSAGE,
    FIRST_VERSION,
    LAYOUT,
    Table,
    entries_of,
    tables_of,
)
from oldfriend.db.json.values import encoded, shown
from oldfriend.db.schema import READ_STATE, SchemaState, state_from
from oldfriend.domain.json import JsonValue

Key = tuple[SqlValue, ...]
Order = tuple[tuple[int, SqlValue], ...]

ABOUT: Final = (
    "Everything that Oldfriend remembers. You may read it, and edit it while Oldfriend does not "
    "run: see docs/how-to/readable.md. What is under for_search follows from the rest."
)
SEAL: Final = '\n  "seal": "'
"""Stands before a check over everything above it, by which an edit is noticed."""
IN_STEP, IN_OBJECT, IN_LIST = "  ", "    ", "      "


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A row as it stands in the file."""

    order: Order
    group: str  # the person under whom it stands; empty where rows stand ungrouped
    text: str
    apart: str = ""  # what of it is for search


@dataclass(slots=True, kw_only=True)
class Rows:
    """The rows of one table, as text."""

    table: Table
    key_places: tuple[int, ...]  # among its columns
    by_key: dict[Key, Written] = field(default_factory=dict)
    text: str | None = None  # of all of them; None: to be made anew
    apart: str = ""


class Page:
    """The text of the file, in step with a database. Its rows are written by one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        """Read everything, and notice from now on what is touched."""
        self._connection = connection
        self._touched: dict[str, set[Key]] = {}
        self._rows: dict[str, Rows] = {}
        self._read_anew: set[SqlValue] = set()  # sessions of which a segment was touched
        self._schema = -1
        self._head = ""
        self.is_kept = False
        """Whether what it says has been written as it is."""
        connection.preupdate_hook(self._notice)
        self.catch_up()

    def catch_up(self) -> None:
        """Take in what was touched since."""
        schema = int(self._connection.pragma("schema_version"))
        if schema != self._schema:
            self._begin_anew()
            self._schema = schema
        for name, keys in list(self._touched.items()):
            self._take_in(self._rows[name], keys)
        if "message" in self._rows:
            self._take_in(self._rows["message"], self._following())

    def kept(self) -> None:
        """What it says has been written, and the transaction that did so can only succeed."""
        self.is_kept = True
        self._touched.clear()
        self._read_anew.clear()

    def content(self) -> bytes:
        """The whole file."""
        body = "".join(self._sections()).encode()
        return b'%s%s%s"\n}\n' % (body, SEAL.encode(), seal_of(body).encode())

    def _begin_anew(self) -> None:
        """Read every row of every table, for they may have other columns than before."""
        (state,) = [state_from(row) for row in self._connection.execute(READ_STATE)]
        self._head = head_of(state)
        self._rows = {
            name: Rows(table=table, key_places=key_places(table))
            for name, table in sorted(tables_of(self._connection).items())
        }
        self._touched.clear()
        self.is_kept = False
        for rows in self._rows.values():
            for key, row in read_rows(self._connection, rows.table):
                rows.by_key[key] = written(rows.table, row)

    def _notice(self, update: apsw.PreUpdate) -> None:
        """Remember which row is about to change. Called by the database."""
        rows = self._rows.get(update.table_name)
        if rows is None:
            return  # the schema row, or a table that is just being made
        touched = self._touched.setdefault(update.table_name, set())
        if not rows.table.key:
            touched.update({(update.rowid,), (update.rowid_new,)})
            return
        for row in (update.old, update.new):
            if row is None:
                continue
            touched.add(tuple(row[at] for at in rows.key_places))
            if update.table_name == "segment":
                self._read_anew.update(
                    value for column, value in zip(rows.table.columns, row, strict=True)
                    if column.name == "session"
                )  # fmt: skip

    def _take_in(self, rows: Rows, keys: Iterable[Key]) -> None:
        """Make the text of some rows anew."""
        is_it = " AND ".join(f't."{name}" IS ?' for name in key_columns(rows.table))
        for key in keys:
            row = dict(read_rows(self._connection, rows.table, is_it, key)).get(key)
            text = None if row is None else written(rows.table, row)
            if text == rows.by_key.get(key):
                continue
            if text is None:
                del rows.by_key[key]
            else:
                rows.by_key[key] = text
            rows.text, self.is_kept = None, False

    def _following(self) -> list[Key]:
        """The messages that may be in another chunk now than they say."""
        gone = {
            key[0] for key in self._touched.get("message", ())
            if key not in self._rows["message"].by_key
        }  # fmt: skip
        asked = [("session", each) for each in self._read_anew] + [("id", each) for each in gone]
        return [
            key
            for column, value in asked
            for key in self._connection.execute(
                f"SELECT id, version FROM message WHERE {column} = ?", (value,)
            ).fetchall()
        ]

    def _sections(self) -> Iterator[str]:
        """The text, section by section, as far as the seal."""
        for rows in self._rows.values():
            if rows.text is None:
                write_out(rows)
        yield self._head
        for name in ("person", "message", "summary"):
            if name in self._rows:
                yield f"\n{self._rows[name].text},"
        others = [
            rows.text or "" for rows in self._rows.values()
            if rows.table.section.place == "others" and rows.by_key
        ]  # fmt: skip
        yield f'\n  "tables": {braced(others)},'
        yield f'\n  "for_search": {braced(self._for_search())},'

    def _for_search(self) -> list[str]:
        """What only search reads."""
        return [
            *(rows.apart for rows in self._rows.values() if rows.table.section.apart),
            *(
                rows.text or "" for rows in self._rows.values()
                if rows.table.section.place == "for search" and rows.by_key
            ),
        ]  # fmt: skip


def read_rows(
    connection: apsw.Connection, table: Table, condition: str = "1 = 1",
    values: Sequence[SqlValue] = (),
) -> Iterator[tuple[Key, Mapping[str, SqlValue]]]:  # fmt: skip
    """Rows with all that is shown of them, by their keys."""
    names = [column.name for column in table.columns]
    wanted, joined = ", ".join(f't."{name}"' for name in names), ""
    if table.name == "message":
        names, joined = [*names, "chunk_id"], FIRST_VERSION
        wanted += f", {CHUNK_OF_MESSAGE}"
    key = key_columns(table)
    keys = ", ".join(f't."{name}"' for name in key)
    sql = f'SELECT {keys}, {wanted} FROM "{table.name}" t {joined} WHERE {condition}'
    for row in connection.execute(sql, tuple(values)):
        yield tuple(row[: len(key)]), dict(zip(names, row[len(key) :], strict=True))


def key_places(table: Table) -> tuple[int, ...]:
    """Where among the columns those of the key are."""
    return tuple(at for at, column in enumerate(table.columns) if column.name in table.key)


def key_columns(table: Table) -> list[str]:
    """The columns of the key, in the order of all columns; SQLite's own where there is none."""
    return [table.columns[at].name for at in key_places(table)] or ["rowid"]


def written(table: Table, row: Mapping[str, SqlValue]) -> Written:
    """A row as text."""
    order = tuple(orderly(row[name]) for name in table.order)
    entries = entries_of(table, row)
    match table.section.place:
        case "one a person":
            text = f"{IN_OBJECT}{encoded(row['id'])}: {spread(entries, IN_OBJECT)}"
            return Written(order=order, group="", text=text)
        case "many a person":
            text, whose = f"{IN_LIST}{spread(entries, IN_LIST)}", str(row["person"])
            return Written(order=order, group=whose, text=text, apart=apart_of(table, row))
        case "others":
            return Written(order=order, group="", text=f"{IN_LIST}{spread(entries, IN_LIST)}")
        case "for search":
            return Written(order=order, group="", text=f"{IN_LIST}{encoded(entries)}")


def apart_of(table: Table, row: Mapping[str, SqlValue]) -> str:
    """What search keeps of a message, with what tells whether it is still of that text."""
    column = next((each for each in table.columns if each.name == table.section.apart), None)
    if column is None:
        return ""
    kept = f"{digest_of(str(row['text']))} {shown(column, row[column.name])}"
    return f"{IN_LIST}{IN_STEP}{encoded(str(row['seq']))}: {encoded(kept)}"


def digest_of(text: str) -> str:
    """By which a text is known to be the same."""
    return blake2b(text.encode(), digest_size=4).hexdigest()


def spread(entries: Mapping[str, JsonValue], indent: str) -> str:
    """An object, one entry a line."""
    lines = [
        f"{indent}{IN_STEP}{encoded(name)}: {encoded(value)}" for name, value in entries.items()
    ]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def orderly(value: SqlValue) -> tuple[int, SqlValue]:
    """A value as it can be compared with any other."""
    match value:
        case None:
            return 0, 0
        case int() | float():
            return 1, value
        case str():
            return 2, value
        case _:
            return 3, value


def write_out(rows: Rows) -> None:
    """Put the rows of a table together."""
    table, ordered = rows.table, sorted(rows.by_key.values(), key=lambda each: each.order)
    texts = [each.text for each in ordered]
    match table.section.place:
        case "one a person":
            rows.text = f'{IN_STEP}"{table.section.name}": {braced(texts)}'
        case "many a person":
            grouped = [(group, list(each)) for group, each in groupby(ordered, lambda w: w.group)]
            lists = [
                named_list(group, [w.text for w in each], IN_OBJECT) for group, each in grouped
            ]
            rows.text = f'{IN_STEP}"{table.section.name}": {braced(lists)}'
            rows.apart = apart_as_text(rows, grouped)
        case "others" | "for search":
            rows.text = named_list(table.section.name, texts, IN_OBJECT)


def apart_as_text(rows: Rows, grouped: Iterable[tuple[str, list[Written]]]) -> str:
    """What of all rows is for search, by person; empty where a table has nothing of the kind."""
    if rows.table.section.apart is None:
        return ""
    of_all = [
        f"{IN_LIST}{encoded(group)}: {{\n"
        + ",\n".join(each.apart for each in of_one) + f"\n{IN_LIST}}}"
        for group, of_one in grouped
    ]  # fmt: skip
    return f'{IN_OBJECT}"{rows.table.section.apart}": {braced(of_all, IN_OBJECT)}'


def named_list(name: str, texts: Sequence[str], indent: str) -> str:
    """A list under its name."""
    return f"{indent}{encoded(name)}: [\n" + ",\n".join(texts) + f"\n{indent}]"


def braced(texts: Sequence[str], indent: str = IN_STEP) -> str:
    """An object of what stands in it already with its names."""
    return "{\n" + ",\n".join(texts) + f"\n{indent}}}" if texts else "{}"


def head_of(state: SchemaState) -> str:
    """How the file begins."""
    schema = {"version": state.version, "name": state.name, "oldest_writer": state.oldest_writer}
    return (
        f'{{\n{IN_STEP}"oldfriend": {{\n'
        f'{IN_OBJECT}"about": {encoded(ABOUT)},\n'
        f'{IN_OBJECT}"layout": {LAYOUT},\n'
        f'{IN_OBJECT}"schema": {encoded(schema)}\n{IN_STEP}}},'
    )


def seal_of(body: bytes) -> str:
    """A check over bytes."""
    return f"{zlib.crc32(body):08x}"
