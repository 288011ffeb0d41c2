"""Document loader: loads a JSON file into an in-memory database and applies external edits.

A message whose text was edited gets new search terms; its vectors are deleted, and made again
later. What cannot be true (a dangling reference, a duplicate id) is an error that names the line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import apsw

from oldfriend.db.database import ExternalEdits, SqlValue
from oldfriend.db.json.document import hash_text, iter_rows, list_key_columns
from oldfriend.db.json.document_reader import (
    JsonText,
    ParsedStore,
    StoredTerms,
    parse_rows,
    parse_schema,
)
from oldfriend.db.json.document_schema import JsonTable, derive_fields, load_tables
from oldfriend.db.json.document_values import encode_json
from oldfriend.db.schema import Migration, SchemaState, check_schema_known
from oldfriend.db.sqlite.in_memory import create_in_memory
from oldfriend.domain.errors import SchemaTooNew


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
    text: JsonText, migrations: Sequence[Migration], imprint: TermPacker
) -> LoadedDatabase:
    """Load the content of a file into a database. Raises StoreCorrupt, SchemaTooNew."""
    found = text.parse()
    schema = parse_schema(text, found)
    check_schema_known(schema, migrations, str(text.path))
    if schema.version > migrations[-1].version:
        raise SchemaTooNew(
            f"{text.path} was written by a newer Oldfriend (its schema is {schema.version}, this "
            f"one knows {migrations[-1].version}). Nothing was changed. Update Oldfriend and "
            "start it "
            "again."
        )
    connection = create_in_memory([step for step in migrations if step.version <= schema.version])
    store = parse_rows(text, found, load_tables(connection))
    connection.execute("PRAGMA foreign_keys = OFF; BEGIN").fetchall()
    edited = tuple(insert_rows(connection, text, store, imprint))
    connection.execute("COMMIT")
    check_foreign_keys(connection, text, store)
    if text.has_valid_checksum:
        return LoadedDatabase(connection=connection, schema=schema, external_edits=None)
    tables = load_tables(connection)
    if "message_vector" in tables:
        delete_stale_vectors(connection, edited)
    for table in tables.values():
        check_derived_fields(text, store, table, connection)
    return LoadedDatabase(
        connection=connection, schema=schema, external_edits=ExternalEdits(message_ids=edited)
    )


def insert_rows(
    connection: apsw.Connection, text: JsonText, store: ParsedStore, imprint: TermPacker
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
                raise text.build_error(
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


def check_foreign_keys(connection: apsw.Connection, text: JsonText, store: ParsedStore) -> None:
    """Raise StoreCorrupt if a row refers to another that does not exist."""
    for table, number, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        rows = store.rows[table]
        at = rows[(number or 1) - 1].offset  # inserted in order into an empty table
        raise text.build_error(at, f"it names an entry of {parent!r} that is not there")


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
    text: JsonText, store: ParsedStore, table: JsonTable, connection: apsw.Connection
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
                raise text.build_error(row.offset, f"{what} {encode_json(expected[name])}")
