"""How does an older file become one that this version can use, without risk to what is in it?

Each step is one SQL file, applied in the transaction that also raises ``user_version``. Before
the first step on a file that holds something, the file is copied through SQLite's backup API
and the copy is checked. A file from a newer version is refused.
"""

from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import apsw

from oldfriend.db.sqlite.connection import APPLICATION_ID, our_errors
from oldfriend.domain.errors import SchemaTooNew, StoreDamaged

MIGRATION_WAIT_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One numbered step of the schema."""

    version: int
    name: str
    sql: str


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


def schema_version(connection: apsw.Connection) -> int:
    """The number of the newest step that was applied to this file."""
    return int(connection.execute("PRAGMA user_version").get)


def refuse_newer(found: int, known: int, path: Path) -> None:
    """Raise SchemaTooNew when a newer version has taken over this file."""
    if found > known:
        raise SchemaTooNew(
            f"{path} was written by a newer Oldfriend (its schema is {found}, this one knows "
            f"{known}). Nothing was changed. Update Oldfriend and start it again."
        )


def migrate(
    connection: apsw.Connection, path: Path, migrations: tuple[Migration, ...]
) -> Path | None:
    """Bring the file up to date; the backup made first, or None if none was needed."""
    known = migrations[-1].version
    with our_errors(path):
        found = schema_version(connection)
        refuse_newer(found, known, path)
        if found == known:
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
        found = schema_version(connection)  # another process may have been quicker
        refuse_newer(found, migrations[-1].version, path)
        missing = [migration for migration in migrations if migration.version > found]
        backup = back_up(path, found) if found and missing else None
        for migration in missing:
            connection.execute(migration.sql).fetchall()
            connection.pragma("user_version", migration.version)
        connection.pragma("application_id", APPLICATION_ID)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    return backup


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
