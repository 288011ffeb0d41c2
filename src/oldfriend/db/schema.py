"""Schema: the migrations, the state of a database, and which versions may write to it.

Migrations are SQL files in SQLite's spelling and are never changed once released. They expand first
and contract later: a step that only adds says in its first lines from which schema version on
programs may go on writing beside it ("-- Oldest writer: 2"); one that says nothing shuts out all
older programs. The row in ``schema_state`` records that, for programs that are older than the
database.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from importlib import resources
from typing import Final

from oldfriend.db.conversions import CONVERSIONS, Conversion
from oldfriend.db.database import Row, TableInfo
from oldfriend.domain.errors import SchemaTooNew, SchemaUnknown

OLDEST_WRITER_PATTERN: Final = re.compile(r"^-- Oldest writer: (\d+)$", re.MULTILINE)
CONVERSION_PATTERN: Final = re.compile(r"^-- Then: (\w+)$", re.MULTILINE)
"""Marks where a migration continues with a conversion."""

CREATE_STATE: Final = """CREATE TABLE IF NOT EXISTS schema_state (
    id BIGINT PRIMARY KEY CHECK (id = 1),
    version BIGINT NOT NULL,       -- the newest step that was applied,
    name TEXT NOT NULL,            -- and its name
    oldest_writer BIGINT NOT NULL  -- the oldest schema whose programs may still write
)"""
READ_STATE: Final = "SELECT version, name, oldest_writer FROM schema_state"
TOUCH_STATE: Final = "UPDATE schema_state SET version = version"
"""A write that changes nothing."""
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
        """The oldest schema version whose programs may write after this step."""
        stated = OLDEST_WRITER_PATTERN.search(self.sql)
        return self.version if stated is None else int(stated[1])

    def iter_parts(self) -> Iterator[str | Callable[[], Conversion]]:
        """Yield the SQL of the step and the conversions in between, in order."""
        for number, part in enumerate(CONVERSION_PATTERN.split(self.sql)):
            if number % 2:
                yield CONVERSIONS[part]
            elif part.strip():
                yield part


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """Which migrations a database has, and which programs may write to it."""

    version: int = 0
    name: str = ""
    oldest_writer: int = 0

    def after_steps(self, steps: Sequence[Migration]) -> "SchemaState":
        """Return the state after these steps."""
        oldest = max(step.oldest_writer for step in steps)
        return SchemaState(
            version=steps[-1].version,
            name=steps[-1].name,
            oldest_writer=max(self.oldest_writer, oldest),
        )


def load_migrations() -> tuple[Migration, ...]:
    """Load the migrations that this version knows, in order."""
    folder = resources.files("oldfriend.db") / "migrations"
    files = sorted(
        (file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda f: f.name
    )
    return tuple(
        Migration(version=int(file.name[:4]), name=file.name[:-4], sql=file.read_text("utf-8"))
        for file in files
    )


def parse_state(row: Row) -> SchemaState:
    """Build a state from its row."""
    version, name, oldest_writer = row
    return SchemaState(version=version, name=name, oldest_writer=oldest_writer)


def check_schema_version(state: SchemaState, known: int, location: str) -> None:
    """Raise SchemaTooNew if a newer version has changed what this program writes."""
    if known < state.oldest_writer:
        raise SchemaTooNew(
            f"{location} was written by a newer Oldfriend (its schema is {state.version}, this one "
            f"knows {known}). Nothing was changed. Update Oldfriend and start it again."
        )


def check_schema_known(state: SchemaState, migrations: Sequence[Migration], location: str) -> None:
    """Raise SchemaUnknown if the database's last migration is not one of these.

    Such as one of an unreleased version: its tables may be anything.
    """
    if not 0 < state.version <= migrations[-1].version:
        return
    names = {step.version: step.name for step in migrations}
    known = names.get(state.version)
    if known is not None and state.name in {"", known}:  # empty: from before names were recorded
        return
    raise SchemaUnknown(
        f"{location} was made by a version of Oldfriend that was never released: its last step is "
        f"{state.name or state.version}, which this version does not have. Nothing was changed. "
        "Export it with the version that made it, and import that here; or put a copy from "
        "before in its place."
    )


def build_table_infos(columns: Iterable[Row], references: Iterable[Row]) -> list[TableInfo]:
    """Build tables from (table, column, key position or 0) and (table, referenced table) rows.

    Each table comes after those it references.
    """
    described: dict[str, list[Row]] = {}
    for table, *column in columns:
        described.setdefault(table, []).append(tuple(column))
    order = TopologicalSorter[str](dict.fromkeys(sorted(described), ()))
    for table, parent in sorted(references):
        order.add(table, parent)
    return [build_table_info(name, described[name]) for name in order.static_order()]


def build_table_info(name: str, columns: Sequence[Row]) -> TableInfo:
    """Build a table from its columns, each (name, key position or 0)."""
    key = sorted((index, column) for column, index in columns if index)
    return TableInfo(
        name=name,
        columns=tuple(column for column, _ in columns),
        key=tuple(column for _, column in key),
    )
