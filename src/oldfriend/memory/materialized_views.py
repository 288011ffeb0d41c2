"""Materialized views: one row for each object, in the table of its class.

Only ``journal`` and the deletion write here; rows copy what was decided, and nothing is computed.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.errors import NotFound, RowCorrupt
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import Entity, JournalObject, Memory, ObjectKind, Summary
from oldfriend.memory.serialization import COLUMNS_BY_CLASS, from_row, get_class, get_kind, to_row

TABLE_BY_CLASS: Final[Mapping[type[JournalObject], str]] = {
    Memory: "memory",
    Entity: "entity",
    Summary: "summary",
}


def build_upsert(object_class: type[JournalObject]) -> str:
    """Build the statement that inserts or updates the view row of an object."""
    columns, table = COLUMNS_BY_CLASS[object_class], TABLE_BY_CLASS[object_class]
    copied = [name for name in columns if name not in {"id", "person"}]
    return f"""INSERT INTO {table} ({", ".join(columns)}, change_seq)
        VALUES ({", ".join(f":{name}" for name in columns)}, :change_seq)
        ON CONFLICT (id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in copied)},
          change_seq = excluded.change_seq
        WHERE {table}.person = excluded.person"""


UPSERT_BY_CLASS: Final = {shape: build_upsert(shape) for shape in TABLE_BY_CLASS}


async def upsert_view(tx: Transaction, after: JournalObject, *, seq: int) -> None:
    """Write the view row of one object. Raises NotFound if the id belongs to another person."""
    touched = await tx.run(UPSERT_BY_CLASS[type(after)], change_seq=seq, **to_row(after))
    if touched == 0:
        raise NotFound(f"There is no {get_kind(after)} {after.id}.")


async def insert_views(
    tx: Transaction, rows: Sequence[tuple[ObjectKind, dict[str, SqlValue]]]
) -> None:
    """Insert the complete rows of many objects into empty views."""
    for object_class, table in TABLE_BY_CLASS.items():
        matching = [row for kind, row in rows if get_class(kind) is object_class]
        if matching:
            names = list(matching[0])
            await tx.run_many(
                f"""INSERT INTO {table} ({", ".join(names)})
                   VALUES ({", ".join(f":{name}" for name in names)})""",
                matching,
            )


async def clear_views(tx: Transaction, person: PersonId) -> None:
    """Delete all view rows of a person, before a rebuild."""
    for table in TABLE_BY_CLASS.values():
        await tx.run(f"DELETE FROM {table} WHERE person = :person", person=person)


async def load_views(
    tx: Transaction, person: PersonId
) -> dict[ObjectId, tuple[JournalObject, int]]:
    """Load all view rows of a person, each with the seq of its decision.

    A corrupt row is left out, as if it were missing.
    """
    views: dict[ObjectId, tuple[JournalObject, int]] = {}
    for shape, table in TABLE_BY_CLASS.items():
        rows = await tx.rows(
            f"SELECT {', '.join(COLUMNS_BY_CLASS[shape])}, change_seq FROM {table} WHERE person = "
            ":person",
            person=person,
        )
        for row in rows:
            with suppress(RowCorrupt):
                believed = from_row(shape, row[:-1])
                views[believed.id] = believed, row[-1]
    return views
