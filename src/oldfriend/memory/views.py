"""How do the views stand for what was decided? One row an object, in the table of its kind.

``changes`` alone writes here; it copies what was decided, and computes nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import Believed, Entity, Memory, ObjectKind, Summary
from oldfriend.memory.rows import COLUMNS, class_of, from_row, kind_of, to_row

TABLE_OF: Final[Mapping[type[Believed], str]] = {
    Memory: "memory", Entity: "entity", Summary: "summary",
}  # fmt: skip


def writing_of(shape: type[Believed]) -> str:
    """The statement that makes the row of an object what a change says."""
    columns, table = COLUMNS[shape], TABLE_OF[shape]
    copied = [name for name in columns if name not in {"id", "person"}]
    return f"""INSERT INTO {table} ({", ".join(columns)}, change_seq)
        VALUES ({", ".join(f":{name}" for name in columns)}, :change_seq)
        ON CONFLICT (id) DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in copied)},
          change_seq = excluded.change_seq
        WHERE {table}.person = excluded.person"""


WRITE: Final = {shape: writing_of(shape) for shape in TABLE_OF}


async def write_view(tx: Transaction, after: Believed, *, seq: int) -> None:
    """Make the row of one object what a change says. Raises NotFound if it is another's."""
    touched = await tx.run(WRITE[type(after)], change_seq=seq, **to_row(after))
    if touched == 0:
        raise NotFound(f"There is no {kind_of(after)} {after.id}.")


async def fill_views(
    tx: Transaction, rows: Sequence[tuple[ObjectKind, dict[str, SqlValue]]]
) -> None:
    """Write the rows of many objects into views that are empty, each with all its columns."""
    for shape, table in TABLE_OF.items():
        of_shape = [row for kind, row in rows if class_of(kind) is shape]
        if of_shape:
            names = list(of_shape[0])
            await tx.run_many(
                f"""INSERT INTO {table} ({", ".join(names)})
                   VALUES ({", ".join(f":{name}" for name in names)})""",
                of_shape,
            )


async def clear_views(tx: Transaction, person: PersonId) -> None:
    """Take all of a person's rows away, to be folded anew."""
    for table in TABLE_OF.values():
        await tx.run(f"DELETE FROM {table} WHERE person = :person", person=person)


async def remove_view(tx: Transaction, person: PersonId, object_id: ObjectId) -> None:
    """Take the row of one object away, whatever it is."""
    for table in TABLE_OF.values():
        await tx.run(
            f"DELETE FROM {table} WHERE id = :id AND person = :person", id=object_id, person=person
        )


async def read_views(tx: Transaction, person: PersonId) -> dict[ObjectId, tuple[Believed, int]]:
    """All that the views hold of a person, each with the change that it is from."""
    held: dict[ObjectId, tuple[Believed, int]] = {}
    for shape, table in TABLE_OF.items():
        rows = await tx.rows(
            f"SELECT {', '.join(COLUMNS[shape])}, change_seq FROM {table} WHERE person = :person",
            person=person,
        )
        for row in rows:
            believed = from_row(shape, row[:-1])
            held[believed.id] = believed, row[-1]
    return held
