"""How does an older file become one that this version can use, without risk to what is in it?

Each step is one SQL file, applied in the transaction that also raises ``user_version``. Before
the first step on a file that holds something, the file is copied through SQLite's backup API
and the copy is checked. Which newer files may be written is told by their schema row; it is
only looked at when ``user_version``, which costs nothing to read, is another than expected.
"""

from pathlib import Path

import apsw

from oldfriend.db.schema import (
    MAKE_STATE,
    READ_STATE,
    WRITE_STATE,
    Migration,
    SchemaState,
    refuse_overtaken,
    state_from,
)
from oldfriend.db.sqlite.connection import APPLICATION_ID, our_errors
from oldfriend.domain.errors import StoreDamaged

MIGRATION_WAIT_MS = 60_000


def schema_version(connection: apsw.Connection) -> int:
    """The number of the newest step that was applied to this file."""
    return int(connection.execute("PRAGMA user_version").get)


def schema_state(connection: apsw.Connection) -> SchemaState:
    """How far the file has come, and who may write into it."""
    version = schema_version(connection)
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_state'").get:
        (row,) = connection.execute(READ_STATE)
        state = state_from(row)
        if state.version == version:
            return state
    return SchemaState(version=version, oldest_writer=version)  # by one that knew no such row


def migrate(
    connection: apsw.Connection, path: Path, migrations: tuple[Migration, ...]
) -> Path | None:
    """Bring the file up to date; the backup made first, or None if none was needed."""
    known = migrations[-1].version
    with our_errors(path):
        found = schema_version(connection)
        if found == known:
            return None
        if found > known:
            refuse_overtaken(schema_state(connection), known, str(path))
            return None
        connection.set_busy_timeout(MIGRATION_WAIT_MS)
        backup = apply_missing(connection, migrations, path)
        connection.set_busy_timeout(0)
    return backup


def apply_missing(
    connection: apsw.Connection, migrations: tuple[Migration, ...], path: Path
) -> Path | None:
    """Back the file up and apply the missing steps, all under one write lock; the backup made."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        state = schema_state(connection)  # another process may have been quicker
        refuse_overtaken(state, migrations[-1].version, str(path))
        missing = [migration for migration in migrations if migration.version > state.version]
        backup = back_up(path, state.version) if state.version and missing else None
        if missing:
            apply(connection, missing, state.after(missing))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return backup


def apply(connection: apsw.Connection, steps: list[Migration], state: SchemaState) -> None:
    """Run the steps, and note how far that is."""
    for step in steps:
        connection.execute(step.sql).fetchall()
    connection.execute(MAKE_STATE)
    connection.execute(
        WRITE_STATE,
        {"version": state.version, "name": state.name, "oldest_writer": state.oldest_writer},
    )
    connection.pragma("user_version", state.version)
    connection.pragma("application_id", APPLICATION_ID)


def back_up(path: Path, version: int) -> Path:
    """Copy the whole database beside itself and check the copy. Raises StoreDamaged.

    Reads through a connection of its own: SQLite copies nothing out of one that is writing.
    """
    target = path.with_name(f"{path.name}.before-{version + 1}")
    partial = target.with_name(target.name + ".partial")
    for leftover in (partial, partial.with_name(partial.name + "-journal")):
        leftover.unlink(missing_ok=True)
    source = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    copy = apsw.Connection(str(partial))
    try:
        partial.chmod(0o600)
        with copy.backup("main", source, "main") as backup:
            backup.step(-1)
        verdict = copy.pragma("integrity_check")
    finally:
        copy.close()
        source.close()
    if verdict != "ok":
        raise StoreDamaged(
            f"{path} was not changed: its backup did not pass the check ({verdict})."
        )
    return partial.replace(target)
