"""SQLite migrations: brings an older file up to date, with a checked backup.

Each step is one SQL file, applied in the transaction that also raises ``user_version``. Before the
first step on a file that is not new, the file is copied through SQLite's backup API and the copy is
checked. Whether a newer file may be written is decided by its schema row, which is read only when
``user_version``, which costs nothing to read, is not the expected one.
"""

from contextlib import suppress
from pathlib import Path

import apsw

from oldfriend.db.database import Row
from oldfriend.db.schema import (
    CREATE_STATE,
    READ_STATE,
    WRITE_STATE,
    Conversion,
    Migration,
    SchemaState,
    check_schema_known,
    check_schema_version,
    parse_state,
)
from oldfriend.db.sqlite.connection import APPLICATION_ID, map_sqlite_errors
from oldfriend.domain.errors import StoreCorrupt, StoreUnusable

LOCK_TIMEOUT_MS = 60_000


def get_schema_version(connection: apsw.Connection) -> int:
    """Return the version of the newest migration that was applied to this file."""
    return int(connection.execute("PRAGMA user_version").get)


def load_schema_state(connection: apsw.Connection) -> SchemaState:
    """Load the schema state of the file."""
    version = get_schema_version(connection)
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'schema_state'").get:
        (row,) = connection.execute(READ_STATE)
        state = parse_state(row)
        if state.version == version:
            return state
    return SchemaState(version=version, oldest_writer=version)  # by a version without the row


def migrate(
    connection: apsw.Connection, path: Path, migrations: tuple[Migration, ...]
) -> Path | None:
    """Bring the file up to date, and return the backup that was made, if any."""
    known = migrations[-1].version
    with map_sqlite_errors(path):
        state = load_schema_state(connection)
        check_schema_known(state, migrations, str(path))
        check_schema_version(state, known, str(path))
        if state.version >= known:
            return None
        check_not_read_only(connection, path)
        connection.set_busy_timeout(LOCK_TIMEOUT_MS)
        backup = apply_missing(connection, migrations, path)
        connection.set_busy_timeout(0)
    return backup


def check_not_read_only(connection: apsw.Connection, path: Path) -> None:
    """Raise StoreUnusable for an older file that cannot be brought up to date."""
    if connection.readonly("main"):
        raise build_read_only_error(path)


def build_read_only_error(path: Path) -> StoreUnusable:
    """Build the error for an older file that cannot be brought up to date."""
    return StoreUnusable(
        f"{path} was made by an older version and has to be updated, but it is read-only, or "
        "its disk is full. Make the file and its folder writable, then run: oldfriend migrate"
    )


def apply_missing(
    connection: apsw.Connection, migrations: tuple[Migration, ...], path: Path
) -> Path | None:
    """Back up the file and apply the missing steps under one write lock; return the backup."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        state = load_schema_state(connection)  # another process may have been quicker
        check_schema_known(state, migrations, str(path))
        check_schema_version(state, migrations[-1].version, str(path))
        missing = [migration for migration in migrations if migration.version > state.version]
        backup = back_up_database(path, state.version) if state.version and missing else None
        if missing:
            run_steps(connection, missing, state.after_steps(missing))
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return backup


def run_steps(connection: apsw.Connection, steps: list[Migration], state: SchemaState) -> None:
    """Run the steps, and record the new state."""
    for part in (part for step in steps for part in step.iter_parts()):
        if isinstance(part, str):
            connection.execute(part).fetchall()
        else:
            run_conversion(connection, part())
    connection.execute(CREATE_STATE)
    connection.execute(
        WRITE_STATE,
        {"version": state.version, "name": state.name, "oldest_writer": state.oldest_writer},
    )
    connection.pragma("user_version", state.version)
    connection.pragma("application_id", APPLICATION_ID)


def run_conversion(connection: apsw.Connection, conversion: Conversion) -> None:
    """Run the statements of a conversion, and send it the rows of each."""
    rows: list[Row] = []
    with suppress(StopIteration):
        statement = next(conversion)
        while True:
            if statement.values is None:
                connection.executemany(statement.sql, statement.batch)
            else:
                rows = connection.execute(statement.sql, statement.values).fetchall()
            statement = conversion.send(rows)


def back_up_database(path: Path, version: int) -> Path:
    """Copy the whole database beside itself and check the copy. Raises StoreCorrupt.

    It reads through a connection of its own: SQLite cannot copy from one that is writing.
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
        check_result = copy.pragma("integrity_check")
    finally:
        copy.close()
        source.close()
    if check_result != "ok":
        raise StoreCorrupt(
            f"{path} was not changed: its backup did not pass the check ({check_result})."
        )
    return partial.replace(target)
