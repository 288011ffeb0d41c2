"""An older file becomes a newer one, or is left exactly as it was."""

import stat
from pathlib import Path

import apsw
import pytest

from oldfriend.db.schema import Migration, load_migrations
from oldfriend.db.sqlite.connection import APPLICATION_ID
from oldfriend.db.sqlite.sqlite_database import SqliteDatabase, open_sqlite
from oldfriend.domain.errors import SchemaTooNew, StoreCorrupt, StoreError
from tests.processes import line_of, python

SHELVES = Migration(version=1, name="0001_shelves", sql="CREATE TABLE shelf (id TEXT PRIMARY KEY);")
BOOKS = Migration(
    version=2,
    name="0002_books",
    sql="CREATE TABLE book (title TEXT); ALTER TABLE shelf ADD COLUMN room TEXT DEFAULT 'hall';",
)
BROKEN = Migration(version=2, name="0002_broken", sql="CREATE TABLE book (title TEXT); NONSENSE;")


async def older_file(path: Path) -> None:
    """A file as a version that knew the first step only left it."""
    database = open_sqlite(path, migrations=(SHELVES,))
    await add_shelf(database, "blue")
    await database.close()


async def add_shelf(database: SqliteDatabase, name: str) -> None:
    """Write one row."""
    async with database.begin_write() as tx:
        await tx.run("INSERT INTO shelf (id) VALUES (:id)", id=name)


async def shelves(database: SqliteDatabase) -> list[str]:
    """The rows that were written."""
    async with database.begin_read() as tx:
        return [row[0] for row in await tx.rows("SELECT id FROM shelf ORDER BY id")]


async def test_older_database_is_migrated_with_its_data(tmp_path: Path) -> None:
    """New columns have defaults; what was there stays."""
    path = tmp_path / "a.db"
    await older_file(path)

    database = open_sqlite(path, migrations=(SHELVES, BOOKS))
    async with database.begin_read() as tx:
        rows = await tx.rows("SELECT id, room FROM shelf")
    await database.close()

    assert rows == [("blue", "hall")]


async def test_migration_first_makes_a_checked_private_backup(
    tmp_path: Path,
) -> None:
    """The copy is a whole database of the older version, for its owner's eyes only."""
    path = tmp_path / "a.db"
    await older_file(path)

    database = open_sqlite(path, migrations=(SHELVES, BOOKS))
    backup = database.migration_backup
    await database.close()

    assert backup == tmp_path / "a.db.before-2"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert not list(tmp_path.glob("*.partial*"))
    restored = open_sqlite(backup, migrations=(SHELVES,))
    assert await restored.check_integrity() == []
    assert await shelves(restored) == ["blue"]
    await restored.close()


async def test_migration_backup_includes_commits_in_the_wal(
    tmp_path: Path,
) -> None:
    """A copy of the file alone would miss the newest commits, which stand in the WAL."""
    path = tmp_path / "a.db"
    still_open = open_sqlite(path, migrations=(SHELVES,))
    await add_shelf(still_open, "newest")

    database = open_sqlite(path, migrations=(SHELVES, BOOKS))
    assert database.migration_backup is not None
    backup = open_sqlite(database.migration_backup, migrations=(SHELVES,))
    found = await shelves(backup)
    for each in (backup, database, still_open):
        await each.close()

    assert found == ["newest"]


async def test_new_or_current_database_gets_no_migration_backup(tmp_path: Path) -> None:
    """Opening twice changes nothing: the steps are applied once."""
    path = tmp_path / "a.db"
    first = open_sqlite(path, migrations=(SHELVES, BOOKS))
    await add_shelf(first, "blue")
    await first.close()

    second = open_sqlite(path, migrations=(SHELVES, BOOKS))
    kept = await shelves(second)
    await second.close()

    assert (first.migration_backup, second.migration_backup) == (None, None)
    assert kept == ["blue"]


async def test_failed_migration_leaves_the_database_unchanged(tmp_path: Path) -> None:
    """All missing steps are one transaction."""
    path = tmp_path / "a.db"
    await older_file(path)

    with pytest.raises(StoreError):
        open_sqlite(path, migrations=(SHELVES, BROKEN))

    older = open_sqlite(path, migrations=(SHELVES,))
    assert await shelves(older) == ["blue"]
    async with older.begin_read() as tx:
        assert await tx.rows("SELECT name FROM sqlite_schema WHERE name = 'book'") == []
    await older.close()


async def test_database_of_a_newer_version_is_refused_untouched(tmp_path: Path) -> None:
    """Whoever went back to an older version loses nothing, and is told what to do."""
    path = tmp_path / "a.db"
    newer = open_sqlite(path, migrations=(SHELVES, BOOKS))
    await add_shelf(newer, "blue")
    await newer.close()
    before = path.read_bytes()

    with pytest.raises(SchemaTooNew, match="newer Oldfriend.*Nothing was changed.*Update"):
        open_sqlite(path, migrations=(SHELVES,))

    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["a.db"]


async def test_older_process_cannot_write_after_a_newer_one_migrated(
    tmp_path: Path,
) -> None:
    """It would write rows that lack what the newer version relies on."""
    path = tmp_path / "a.db"
    older = open_sqlite(path, migrations=(SHELVES,))
    await add_shelf(older, "before")
    newer = open_sqlite(path, migrations=(SHELVES, BOOKS))

    with pytest.raises(SchemaTooNew):
        await add_shelf(older, "after")

    assert await shelves(newer) == ["before"]
    await add_shelf(newer, "by the newer")
    await newer.close()
    await older.close()


OPENER = """
import sys
from pathlib import Path
from oldfriend.db.sqlite.sqlite_database import open_sqlite
from tests.db.test_migrations import BOOKS, SHELVES

print("ready", flush=True)
sys.stdin.readline()
print(open_sqlite(Path(sys.argv[1]), migrations=(SHELVES, BOOKS)).migration_backup is not None)
"""


async def test_concurrent_migration_is_done_by_one_process(tmp_path: Path) -> None:
    """The others see, under the lock, that it was quicker, and leave its backup alone."""
    path = tmp_path / "a.db"
    database = open_sqlite(path, migrations=(SHELVES,))
    async with database.begin_write() as tx:
        many = ({"id": f"{number:06d}" * 20} for number in range(20_000))
        await tx.run_many("INSERT INTO shelf (id) VALUES (:id)", many)
    await database.close()

    with python(OPENER, path) as one, python(OPENER, path) as two, python(OPENER, path) as three:
        processes = (one, two, three)
        assert {line_of(process.stdout) for process in processes} == {"ready"}
        for process in processes:
            process.stdin.write(b"go\n")
            process.stdin.flush()
        backed_up = sorted(line_of(process.stdout) for process in processes)

    assert backed_up == ["False", "False", "True"]
    backup = open_sqlite(tmp_path / "a.db.before-2", migrations=(SHELVES,))
    assert len(await shelves(backup)) == 20_000
    await backup.close()


@pytest.mark.parametrize("mark", [0, 0x12345678])
def test_database_of_another_program_is_refused_untouched(tmp_path: Path, mark: int) -> None:
    """A browser's history must not become a memory by a slip of the hand."""
    path = tmp_path / "theirs.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.pragma("application_id", mark)
    connection.close()
    path.chmod(0o644)
    before = path.read_bytes()

    with pytest.raises(StoreCorrupt, match="another program.*Name another file"):
        open_sqlite(path)

    assert path.read_bytes() == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert [each.name for each in tmp_path.iterdir()] == ["theirs.db"]


@pytest.mark.parametrize(
    "content", [b"These are my notes.\n" * 300, b"SQLite format 3\x00" + b"\xff" * 5000]
)
def test_non_database_file_is_refused_untouched(tmp_path: Path, content: bytes) -> None:
    """Neither a text nor a damaged file is written over."""
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    path.chmod(0o644)

    with pytest.raises(StoreCorrupt, match="damaged or not a database"):
        open_sqlite(path)

    assert path.read_bytes() == content
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


async def test_shipped_migrations_are_numbered_without_gaps(tmp_path: Path) -> None:
    """And a new file has applied them all, and says that it is ours."""
    steps = load_migrations()
    database = open_sqlite(tmp_path / "a.db")
    async with database.begin_read() as tx:
        version, mark = await tx.row("PRAGMA user_version"), await tx.row("PRAGMA application_id")
    await database.close()

    assert [step.version for step in steps] == list(range(1, len(steps) + 1))
    assert (version, mark) == ((len(steps),), (APPLICATION_ID,))
