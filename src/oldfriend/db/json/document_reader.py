"""Document reader: parses a JSON file that people may have edited, and loads it into memory.

Nothing is guessed: what cannot be understood is an error that names the line and says what is
expected there.

A message whose text was edited gets new search terms; its vectors are deleted, and made again
later. What cannot be true (a dangling reference, a duplicate id) is an error that names the line.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

import apsw

from oldfriend.db.database import ExternalEdits, SqlValue
from oldfriend.db.json.document import (
    CHECKSUM_PREFIX,
    compute_checksum,
    hash_text,
    iter_rows,
    list_key_columns,
)
from oldfriend.db.json.document_schema import (
    LAYOUT_VERSION,
    InvalidValue,
    JsonTable,
    derive_fields,
    encode_json,
    load_tables,
    parse_base64,
    parse_row,
)
from oldfriend.db.schema import Migration, SchemaState, check_schema_known
from oldfriend.db.sqlite.sqlite_database import create_in_memory
from oldfriend.domain.errors import SchemaTooNew, StoreCorrupt
from oldfriend.domain.json import JsonValue

SPACE: Final = " \t\n\r"
SPACES: Final = re.compile(f"[{SPACE}]*")
BRACKETS: Final = MappingProxyType({"{": "}", "[": "]"})
REPAIR_HINT: Final = (
    "Nothing was changed. Repair it in a text editor, or restore a copy; it is read again at the "
    "next start."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedValue:
    """A value with its path and offset in the file."""

    path: tuple[str, ...]
    value: JsonValue
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedRow:
    """A row as it stands in the file."""

    values: Mapping[str, SqlValue]
    derived_fields: Mapping[str, JsonValue]  # fields that follow from other rows
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTerms:
    """The stored search terms of a message."""

    digest: str  # the hash of their text
    imprint: bytes


@dataclass(slots=True, kw_only=True)
class ParsedStore:
    """The whole content of a file."""

    rows: dict[str, list[ParsedRow]] = field(default_factory=dict)  # by table
    terms: dict[tuple[str, str], StoredTerms] = field(default_factory=dict)  # by person and seq


class JsonText:
    """The text of the file, which can locate errors in it."""

    def __init__(self, path: Path, content: bytes) -> None:
        """Decode the content. Raises StoreCorrupt."""
        self.path = path
        self.has_valid_checksum = has_valid_checksum(content)
        try:
            self.text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise StoreCorrupt(f"{path}, line {line}: it is not UTF-8. {REPAIR_HINT}") from error

    def build_error(self, offset: int, message: str) -> StoreCorrupt:
        """Build the error for something wrong at an offset."""
        line = self.text.count("\n", 0, offset) + 1
        return StoreCorrupt(f"{self.path}, line {line}: {message}. {REPAIR_HINT}")

    def parse(self) -> list[ParsedValue]:
        """Parse everything in it, each row separately. Raises StoreCorrupt."""
        found: list[ParsedValue] = []
        at = self._parse_value(found, 0, ())
        if (rest := self.text[at:].strip(SPACE)) != "":
            raise self.build_error(
                at, f"the file should have ended here, not gone on with {rest[:20]!r}"
            )
        return found

    def _parse_value(self, values: list[ParsedValue], offset: int, path: tuple[str, ...]) -> int:
        """Collect the values that begin at an offset, and return where they end."""
        offset = self._skip_space(offset)
        closing = BRACKETS.get(self.text[offset : offset + 1])
        if closing is None or not is_container(path):
            value, end = self._decode(offset)
            values.append(ParsedValue(path=path, value=value, offset=offset))
            return end
        names: set[str] = set()
        offset = self._skip_space(offset + 1)
        if self.text[offset : offset + 1] == closing:
            return offset + 1
        while True:
            name, offset = self._parse_name(offset, names) if closing == "}" else ("", offset)
            offset = self._skip_space(self._parse_value(values, offset, (*path, name)))
            ends_with = self.text[offset : offset + 1]
            if ends_with == closing:
                return offset + 1
            if ends_with != ",":
                raise self.build_error(offset, f"here should stand a comma or {closing!r}")
            offset = self._skip_space(offset + 1)

    def _parse_name(self, offset: int, known: set[str]) -> tuple[str, int]:
        """Return the name that begins at an offset, and where its value begins."""
        name, end = self._decode(offset)
        end = self._skip_space(end)
        if not isinstance(name, str) or self.text[end : end + 1] != ":":
            raise self.build_error(
                offset, "here should stand a name in quotes, and a colon after it"
            )
        if name in known:
            raise self.build_error(offset, f"{name!r} stands here for the second time")
        known.add(name)
        return name, end + 1

    def _decode(self, offset: int) -> tuple[JsonValue, int]:
        """Return the value that begins at an offset, and where it ends."""
        try:
            value: tuple[JsonValue, int] = DECODER.raw_decode(self.text, offset)
        except json.JSONDecodeError as error:
            raise self.build_error(error.pos, f"it is not JSON ({error.msg})") from error
        except (InvalidJson, RecursionError) as error:
            raise self.build_error(offset, f"it cannot be read ({error})") from error
        return value

    def _skip_space(self, offset: int) -> int:
        match = SPACES.match(self.text, offset)
        assert match is not None
        return match.end()


class InvalidJson(Exception):
    """Valid JSON that cannot be read without loss; says what."""


def reject_duplicate_keys(entries: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    """Return an object. Raises InvalidJson if a key occurs twice."""
    result = dict(entries)
    if len(result) < len(entries):
        names = [name for name, _ in entries]
        raise InvalidJson(
            f"{next(name for name in names if names.count(name) > 1)!r} appears twice"
        )
    return result


def reject_constant(text: str) -> JsonValue:
    """Raise InvalidJson for a number that JSON does not have, such as NaN."""
    raise InvalidJson(f"{text} is no number")


DECODER: Final = json.JSONDecoder(
    object_pairs_hook=reject_duplicate_keys, parse_constant=reject_constant
)


def is_container(path: tuple[str, ...]) -> bool:
    """Return whether the value under a path is parsed part by part, and not as one value."""
    match path:
        case () | ("users" | "tables" | "for_search" | "messages" | "summaries",):
            return True
        case ("messages" | "summaries" | "tables" | "for_search", _):
            return True
        case ("for_search", "imprint", _):
            return True
        case _:
            return False


def has_valid_checksum(content: bytes) -> bool:
    """Return whether a file is exactly as it was written."""
    body, separator, rest = content.rpartition(CHECKSUM_PREFIX.encode())
    return bool(separator) and rest == b'%s"\n}\n' % compute_checksum(body).encode()


def parse_schema(json_text: JsonText, values: list[ParsedValue]) -> SchemaState:
    """Return the schema with which the file was written. Raises StoreCorrupt, SchemaTooNew."""
    for each in values:
        match each.path, each.value:
            case ("oldfriend",), {
                "layout": int(layout),
                "schema": {"version": int(v), "name": str(name), "oldest_writer": int(oldest)},
            }:
                if layout > LAYOUT_VERSION:
                    raise SchemaTooNew(
                        f"{json_text.path} was written by a newer Oldfriend. Nothing was changed. "
                        "Update Oldfriend and start it again."
                    )
                return SchemaState(version=v, name=name, oldest_writer=oldest)
    raise json_text.build_error(
        0, 'it is not an Oldfriend memory: "oldfriend" with its schema is missing'
    )


def parse_rows(
    json_text: JsonText, values: list[ParsedValue], tables: Mapping[str, JsonTable]
) -> ParsedStore:
    """Return everything in the file as rows. Raises StoreCorrupt."""
    store = ParsedStore()
    by_section = {table.layout.name: table for table in tables.values()}
    for each in values:
        match each.path, each.value:
            case ("oldfriend" | "seal",), _:
                continue
            case ("for_search", "imprint", person, seq), str(value):
                store.terms[person, seq] = parse_stored_terms(json_text, each.offset, value)
            case ("users", person), {"user_id": whose, **_entries} if whose == person:
                add_row(json_text, store, tables["person"], each)
            case ("messages" | "summaries", person, ""), {"user_id": whose, **_entries} if (
                whose == person
            ):
                add_row(json_text, store, by_section[each.path[0]], each)
            case ("tables" | "for_search", name, ""), dict() if name in tables:
                add_row(json_text, store, tables[name], each)
            case _:
                raise json_text.build_error(
                    each.offset, f"nothing of this kind can stand under {format_path(each)}"
                )
    return store


def format_path(value: ParsedValue) -> str:
    """Return where a value is, by the names above it."""
    return " / ".join(name for name in value.path if name) or "the beginning"


def add_row(json_text: JsonText, store: ParsedStore, table: JsonTable, value: ParsedValue) -> None:
    """Parse a row and add it. Raises StoreCorrupt."""
    assert isinstance(value.value, dict)
    try:
        values = parse_row(table, value.value)
    except InvalidValue as error:
        raise json_text.build_error(value.offset, str(error)) from error
    derived_fields = {
        name: value.value[name] for name in table.layout.derived_fields if name in value.value
    }
    row = ParsedRow(values=values, derived_fields=derived_fields, offset=value.offset)
    store.rows.setdefault(table.name, []).append(row)


def parse_stored_terms(json_text: JsonText, offset: int, value: str) -> StoredTerms:
    """Parse the stored search terms of a message. Raises StoreCorrupt."""
    digest, _, imprint = value.partition(" ")
    try:
        return StoredTerms(digest=digest, imprint=parse_base64(imprint))
    except InvalidValue as error:
        raise json_text.build_error(offset, str(error)) from error


class TermPacker(Protocol):
    """A function that packs the search terms of a text."""

    def __call__(self, text: str, *, language: str) -> bytes:
        """Return the packed search terms of a text in a language."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedDatabase:
    """An in-memory database, and what was found in the file."""

    connection: apsw.Connection
    schema: SchemaState
    external_edits: ExternalEdits | None  # None: it is exactly as it was written


def load_database(
    json_text: JsonText, migrations: Sequence[Migration], imprint: TermPacker
) -> LoadedDatabase:
    """Load the content of a file into a database. Raises StoreCorrupt, SchemaTooNew."""
    found = json_text.parse()
    schema = parse_schema(json_text, found)
    check_schema_known(schema, migrations, str(json_text.path))
    if schema.version > migrations[-1].version:
        raise SchemaTooNew(
            f"{json_text.path} was written by a newer Oldfriend (its schema is {schema.version}, "
            f"this one knows {migrations[-1].version}). Nothing was changed. Update Oldfriend and "
            "start it again."
        )
    connection = create_in_memory([step for step in migrations if step.version <= schema.version])
    store = parse_rows(json_text, found, load_tables(connection))
    connection.execute("PRAGMA foreign_keys = OFF; BEGIN").fetchall()
    edited = tuple(insert_rows(connection, json_text, store, imprint))
    connection.execute("COMMIT")
    check_foreign_keys(connection, json_text, store)
    if json_text.has_valid_checksum:
        return LoadedDatabase(connection=connection, schema=schema, external_edits=None)
    tables = load_tables(connection)
    if "message_vector" in tables:
        delete_stale_vectors(connection, edited)
    for table in tables.values():
        check_derived_fields(json_text, store, table, connection)
    return LoadedDatabase(
        connection=connection, schema=schema, external_edits=ExternalEdits(message_ids=edited)
    )


def insert_rows(
    connection: apsw.Connection, json_text: JsonText, store: ParsedStore, imprint: TermPacker
) -> list[tuple[str, str]]:
    """Insert all rows, and return (person, id) of the messages whose text was edited."""
    edited: list[tuple[str, str]] = []
    for table, rows in store.rows.items():
        for row in rows:
            values = dict(row.values)
            if table == "message":
                stored_terms = store.terms.get((str(values["person"]), str(values["seq"])))
                if stored_terms is None or stored_terms.digest != hash_text(str(values["text"])):
                    edited.append((str(values["person"]), str(values["id"])))
                values["imprint"] = choose_search_terms(values, stored_terms, imprint)
            try:
                insert_row(connection, table, values)
            except apsw.Error as error:
                raise json_text.build_error(
                    row.offset, f"it cannot stand beside the rest ({error})"
                ) from error
    return edited


def choose_search_terms(
    values: dict[str, SqlValue], kept: StoredTerms | None, imprint: TermPacker
) -> bytes:
    """Return the search terms of a message; a message that is not searchable has none."""
    content = str(values["text"])
    if kept is not None and (kept.digest == hash_text(content) or not kept.imprint):
        return kept.imprint
    return imprint(content, language=str(values["language"]))


def insert_row(connection: apsw.Connection, table: str, values: dict[str, SqlValue]) -> None:
    """Insert a row; columns that it lacks get their defaults."""
    names = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join("?" * len(values))
    connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(values.values()))


def check_foreign_keys(
    connection: apsw.Connection, json_text: JsonText, store: ParsedStore
) -> None:
    """Raise StoreCorrupt if a row refers to another that does not exist."""
    for table, number, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        rows = store.rows[table]
        at = rows[(number or 1) - 1].offset  # inserted in order into an empty table
        raise json_text.build_error(at, f"it names an entry of {parent!r} that is not there")


def delete_stale_vectors(connection: apsw.Connection, edited: Sequence[tuple[str, str]]) -> None:
    """Delete the vectors of edited or deleted texts; they are made again later."""
    for person, message in edited:
        connection.execute(
            """DELETE FROM message_vector WHERE person = ?1 AND seq IN
               (SELECT seq FROM message WHERE person = ?1 AND id = ?2)""",
            (person, message),
        )
    connection.execute(
        """DELETE FROM message_vector WHERE NOT EXISTS (SELECT 1 FROM message m
           WHERE m.person = message_vector.person AND m.seq = message_vector.seq)"""
    )


def check_derived_fields(
    json_text: JsonText, store: ParsedStore, table: JsonTable, connection: apsw.Connection
) -> None:
    """Raise StoreCorrupt if a field was edited that only follows from others."""
    if not table.layout.derived_fields:
        return
    fields_by_key = {key: derive_fields(table, row) for key, row in iter_rows(connection, table)}
    for row in store.rows.get(table.name, ()):
        expected = fields_by_key[tuple(row.values[name] for name in list_key_columns(table))]
        for name, value in row.derived_fields.items():
            if value != expected[name]:
                what = f"{name!r} follows from the rest and cannot be edited; it was"
                raise json_text.build_error(row.offset, f"{what} {encode_json(expected[name])}")
