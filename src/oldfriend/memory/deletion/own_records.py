"""Own records: numbers, diary entries, reminders, goals and the like, as a deletion sees them.

Some were made by a message, others by a program, on the page or from an import. A deletion finds
all of them by their own words, ids and times.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.db.stored_tables import TABLES_BY_NAME
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId

OwnRecordKind = Literal[
    "measurements",
    "diary_entries",
    "tasks",
    "goals",
    "watches",
    "projects",
    "skills",
    "limitations",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTable:
    """A table of own records, and what its columns mean to a deletion."""

    name: str
    shown: Sequence[str]  # by which a person recognizes a row
    telling: Sequence[str]  # the words of the person; empty: it has numbers
    times: Sequence[str]  # when it was made or happened
    made_at: str = "created_at"  # when it was made


TABLES: Final[Mapping[OwnRecordKind, RecordTable]] = {
    "measurements": RecordTable(
        name="measurement",
        shown=("day", "name", "value", "unit", "second_value"),
        telling=(),
        times=("measured_at", "recorded_at"),
        made_at="recorded_at",
    ),
    "diary_entries": RecordTable(
        name="diary_entry",
        shown=("day", "text"),
        telling=("text",),
        times=("written_at", "created_at"),
    ),
    "tasks": RecordTable(
        name="task", shown=("text",), telling=("text",), times=("created_at", "delivered_at")
    ),
    "goals": RecordTable(
        name="goal", shown=("text",), telling=("text", "next_action"), times=("created_at",)
    ),
    "watches": RecordTable(
        name="watch", shown=("text",), telling=("text", "url"), times=("created_at",)
    ),
    "projects": RecordTable(
        name="project", shown=("name",), telling=("name", "role"), times=("created_at",)
    ),
    "skills": RecordTable(
        name="skill", shown=("name",), telling=("name", "text"), times=("created_at",)
    ),
    "limitations": RecordTable(
        name="limitation",
        shown=("title",),
        telling=("title", "description", "plan"),
        times=("created_at",),
    ),
}
"""The table of each kind."""
ID_QUERY: Final = " UNION ALL ".join(
    f"SELECT '{kind}', id FROM {table.name} WHERE person = :person AND {{condition}}"
    for kind, table in TABLES.items()
)
"""The ids of all kinds, by a condition on the id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRecord:
    """A number, a diary entry, a reminder, a goal or the like."""

    kind: OwnRecordKind
    id: str
    text: str  # as a person recognizes it
    telling: tuple[str, ...]  # the words of the person in it
    searched: str  # everything in which deleted words or names may stand, line by line
    message: str | None  # the message that made it; None: a program did, or a page
    message_seq: int | None
    times: tuple[Micros, ...]
    made_at: Micros


async def list_own_records(tx: Transaction, person: PersonId) -> tuple[OwnRecord, ...]:
    """List all own records of a person, by kind."""
    found: list[OwnRecord] = []
    for kind, table in TABLES.items():
        searched = list_searched(table)
        own = (*table.shown, *searched, *table.telling, *table.times)
        columns = tuple(dict.fromkeys(("id", "message", "message_seq", *own)))
        rows = await tx.rows(
            f"SELECT {', '.join(columns)} FROM {table.name} WHERE person = :person ORDER BY id",
            person=person,
        )
        found += [build_record(kind, table, read_values(columns, row)) for row in rows]
    return tuple(found)


async def find_record_ids(
    tx: Transaction, person: PersonId, partial_id: Mapping[str, SqlValue], *, limit: int
) -> dict[str, OwnRecordKind]:
    """Return the kinds of the records whose id fits a partial one, by id."""
    condition = "(id LIKE :begins OR id LIKE :ends OR id LIKE :shown)"
    query = ID_QUERY.format(condition=condition)
    rows = await tx.rows(f"{query} ORDER BY 2 LIMIT :most", person=person, most=limit, **partial_id)
    return {row[1]: row[0] for row in rows}


def list_searched(table: RecordTable) -> list[str]:
    """Return the columns in which the erasure rules of a table look."""
    return [name for rule in TABLES_BY_NAME[table.name].erasure_rules for name in rule.searched]


def read_values(columns: Sequence[str], row: Row) -> dict[str, SqlValue]:
    """Return the values of a row by column."""
    return dict(zip(columns, row, strict=True))


def build_record(
    kind: OwnRecordKind, table: RecordTable, values: Mapping[str, SqlValue]
) -> OwnRecord:
    """Build a record from the values of its row."""
    message, seq = values["message"], values["message_seq"]
    searched = (values[name] for name in list_searched(table))
    return OwnRecord(
        kind=kind,
        id=str(values["id"]),
        text=format_record(values, table.shown),
        telling=tuple(str(values[name]) for name in table.telling if values[name]),
        searched="\n".join(str(each) for each in searched if each),
        message=None if message is None else str(message),
        message_seq=None if seq is None else int(str(seq)),
        times=tuple(int(str(values[name])) for name in table.times if values[name] is not None),
        made_at=int(str(values[table.made_at])),
    )


def format_record(values: Mapping[str, SqlValue], shown: Sequence[str]) -> str:
    """Return what a person recognizes a row by."""
    parts = (values[name] for name in shown)
    return " ".join(
        f"{each:g}" if isinstance(each, float) else str(each) for each in parts if each is not None
    )
