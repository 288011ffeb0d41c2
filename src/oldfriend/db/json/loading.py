"""How does what stands in a file become a database in memory, with every edit taken over?

A message whose text was edited gets a new imprint; its vectors go, and are made anew. What cannot
be true (a row that points nowhere, the same id twice) is an error that names the line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import apsw

from oldfriend.db.database import ByHand, SqlValue
from oldfriend.db.json.layout import Table, following, tables_of
from oldfriend.db.json.page import digest_of, key_columns, read_rows
from oldfriend.db.json.reading import Kept, Read, Text, rows_in, schema_in
from oldfriend.db.json.values import encoded
from oldfriend.db.schema import Migration, SchemaState
from oldfriend.db.sqlite.in_memory import made_new
from oldfriend.domain.errors import SchemaTooNew


class Imprint(Protocol):
    """What search keeps of a text."""

    def __call__(self, text: str, *, language: str) -> bytes:
        """Its imprint, as it reads in a language."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A database in memory, and what was found in the file."""

    connection: apsw.Connection
    schema: SchemaState
    by_hand: ByHand | None  # what was edited; None: it is just as it was written


def load(text: Text, known: Sequence[Migration], imprint: Imprint) -> Loaded:
    """What stands in a file as a database. Raises StoreDamaged, SchemaTooNew."""
    found = text.found()
    schema = schema_in(text, found)
    if schema.version > known[-1].version:
        raise SchemaTooNew(
            f"{text.path} was written by a newer Oldfriend (its schema is {schema.version}, this "
            f"one knows {known[-1].version}). Nothing was changed. Update Oldfriend and start it "
            "again."
        )
    connection = made_new([step for step in known if step.version <= schema.version])
    read = rows_in(text, found, tables_of(connection))
    connection.execute("PRAGMA foreign_keys = OFF; BEGIN").fetchall()
    edited = tuple(fill(connection, text, read, imprint))
    connection.execute("COMMIT")
    refuse_pointing_nowhere(connection, text, read)
    if text.is_sealed:
        return Loaded(connection=connection, schema=schema, by_hand=None)
    tables = tables_of(connection)
    if "message_vector" in tables:
        drop_old_vectors(connection, edited)
    for table in tables.values():
        refuse_not_following(text, read, table, connection)
    return Loaded(connection=connection, schema=schema, by_hand=ByHand(messages=edited))


def fill(
    connection: apsw.Connection, text: Text, read: Read, imprint: Imprint
) -> list[tuple[str, str]]:
    """Write the rows; whose messages, and which, have another text than search knows."""
    edited: list[tuple[str, str]] = []
    for table, rows in read.rows.items():
        for row in rows:
            values = dict(row.values)
            if table == "message":
                kept = read.kept.get((str(values["person"]), str(values["seq"])))
                if kept is None or kept.digest != digest_of(str(values["text"])):
                    edited.append((str(values["person"]), str(values["id"])))
                values["imprint"] = imprint_for(values, kept, imprint)
            try:
                insert(connection, table, values)
            except apsw.Error as error:
                raise text.wrong(row.at, f"it cannot stand beside the rest ({error})") from error
    return edited


def imprint_for(values: dict[str, SqlValue], kept: Kept | None, imprint: Imprint) -> bytes:
    """What search keeps of a message; nothing of one that is not to be found."""
    content = str(values["text"])
    if kept is not None and (kept.digest == digest_of(content) or not kept.imprint):
        return kept.imprint
    return imprint(content, language=str(values["language"]))


def insert(connection: apsw.Connection, table: str, values: dict[str, SqlValue]) -> None:
    """Write a row; columns that it lacks are as the schema has them."""
    names = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join("?" * len(values))
    connection.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', tuple(values.values()))


def refuse_pointing_nowhere(connection: apsw.Connection, text: Text, read: Read) -> None:
    """Raise StoreDamaged where a row names another that is not there."""
    for table, number, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        rows = read.rows[table]
        at = rows[(number or 1) - 1].at  # written one after the other into an empty table
        raise text.wrong(at, f"it names an entry of {parent!r} that is not there")


def drop_old_vectors(connection: apsw.Connection, edited: Sequence[tuple[str, str]]) -> None:
    """Take away the vectors of texts that are no more; they are made anew."""
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


def refuse_not_following(
    text: Text, read: Read, table: Table, connection: apsw.Connection
) -> None:  # fmt: skip
    """Raise StoreDamaged where something was edited that only follows from something else."""
    if not table.section.follows:
        return
    now = {key: following(table, row) for key, row in read_rows(connection, table)}
    for row in read.rows.get(table.name, ()):
        follows = now[tuple(row.values[name] for name in key_columns(table))]
        for name, value in row.follows.items():
            if value != follows[name]:
                what = f"{name!r} follows from the rest and cannot be edited; it was"
                raise text.wrong(row.at, f"{what} {encoded(follows[name])}")
