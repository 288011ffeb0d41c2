"""By which steps did the tables become what they are, and who may write into them?

The steps are SQL files, written once, in SQLite's spelling. Upgrades expand first and contract
later: a step that only adds says in its first lines which schema's programs may go on writing
beside it ("-- Oldest writer: 2"); one that says nothing shuts all older ones out. The row in
``schema_state`` keeps that, for programs that know less than the database. Knows no engine.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from importlib import resources
from typing import Final

from oldfriend.db.database import Row, TableShape
from oldfriend.domain.errors import SchemaTooNew

OLDEST_WRITER: Final = re.compile(r"^-- Oldest writer: (\d+)$", re.MULTILINE)

MAKE_STATE: Final = """CREATE TABLE IF NOT EXISTS schema_state (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL,       -- the newest step that was applied,
    name TEXT NOT NULL,            -- and its name
    oldest_writer BIGINT NOT NULL  -- the oldest schema whose programs may still write
)"""
READ_STATE: Final = "SELECT version, name, oldest_writer FROM schema_state"
WRITE_STATE: Final = """INSERT INTO schema_state (id, version, name, oldest_writer)
    VALUES (1, :version, :name, :oldest_writer)
    ON CONFLICT (id) DO UPDATE SET version = excluded.version, name = excluded.name,
      oldest_writer = excluded.oldest_writer"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One numbered step of the schema."""

    version: int
    name: str
    sql: str

    @property
    def oldest_writer(self) -> int:
        """The oldest schema whose programs may write after this step."""
        stated = OLDEST_WRITER.search(self.sql)
        return self.version if stated is None else int(stated[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """How far a database has come."""

    version: int = 0
    name: str = ""
    oldest_writer: int = 0

    def after(self, steps: Sequence[Migration]) -> "SchemaState":
        """The state once these steps are applied."""
        oldest = max(step.oldest_writer for step in steps)
        return SchemaState(
            version=steps[-1].version, name=steps[-1].name,
            oldest_writer=max(self.oldest_writer, oldest),
        )  # fmt: skip


def load_migrations() -> tuple[Migration, ...]:
    """The steps that this version knows, in order."""
    folder = resources.files("oldfriend.db") / "migrations"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda f: f.name
    )
    return tuple(
        Migration(version=int(file.name[:4]), name=file.name[:-4], sql=file.read_text("utf-8"))
        for file in files
    )


def state_from(row: Row) -> SchemaState:
    """A state from its row."""
    version, name, oldest_writer = row
    return SchemaState(version=version, name=name, oldest_writer=oldest_writer)


def refuse_overtaken(state: SchemaState, known: int, where: str) -> None:
    """Raise SchemaTooNew when a newer version has taken over what programs like this one write."""
    if known < state.oldest_writer:
        raise SchemaTooNew(
            f"{where} was written by a newer Oldfriend (its schema is {state.version}, this one "
            f"knows {known}). Nothing was changed. Update Oldfriend and start it again."
        )


def shapes_from(columns: Iterable[Row], references: Iterable[Row]) -> list[TableShape]:
    """Tables from (table, column, place in the key or 0) and (table, table it points to).

    Each stands after those that it points to.
    """
    described: dict[str, list[Row]] = {}
    for table, *column in columns:
        described.setdefault(table, []).append(tuple(column))
    order = TopologicalSorter[str](dict.fromkeys(sorted(described), ()))
    for table, parent in sorted(references):
        order.add(table, parent)
    return [shape_of(name, described[name]) for name in order.static_order()]


def shape_of(name: str, columns: Sequence[Row]) -> TableShape:
    """A table from its columns, each (name, place in the key or 0)."""
    key = sorted((place, column) for column, place in columns if place)
    return TableShape(
        name=name, columns=tuple(column for column, _ in columns),
        key=tuple(column for _, column in key),
    )  # fmt: skip
