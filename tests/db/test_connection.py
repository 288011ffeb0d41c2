"""A file that cannot be used is a clear error, and nothing is lost."""

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from oldfriend.db.sqlite.sqlite_database import SqliteDatabase, open_sqlite
from oldfriend.domain.errors import (
    InvalidInput,
    StoreCorrupt,
    StoreFull,
    StoreNotFound,
    StoreUnusable,
)
from tests.processes import line_of, python


@pytest.fixture
def engine() -> str:
    """All of this is about files."""
    return "sqlite"


def mode(path: Path) -> int:
    """The rights on a file."""
    return stat.S_IMODE(path.stat().st_mode)


async def add(db: SqliteDatabase, text: str) -> None:
    """Write one row, however long."""
    async with db.begin_write() as tx:
        await tx.run(
            "INSERT INTO companion (id, name, created_at) VALUES (:text, :text, 0)", text=text
        )


async def count(db: SqliteDatabase) -> int:
    """How many rows are there."""
    async with db.begin_read() as tx:
        return int((await tx.row("SELECT count(*) FROM companion") or (0,))[0])


async def test_new_database_folder_and_files_are_private_to_the_user(tmp_path: Path) -> None:
    """The folder, the file, and what SQLite keeps beside it."""
    before = os.umask(0)
    try:
        database = open_sqlite(tmp_path / "new" / "folder" / "a.db")
        await add(database, "a secret")
        files = list(database.path.parent.iterdir())

        assert {mode(file) for file in files} == {0o600}
        assert {file.name for file in files} >= {"a.db", "a.db-wal"}
        assert mode(database.path.parent) == 0o700
        await database.close()
    finally:
        os.umask(before)


async def test_world_readable_database_file_is_made_private(tmp_path: Path) -> None:
    """A copy that was brought back with wide rights does not keep them."""
    path = tmp_path / "a.db"
    await open_sqlite(path).close()
    path.chmod(0o644)

    await open_sqlite(path).close()

    assert mode(path) == 0o600


def test_missing_database_is_not_created_without_create(tmp_path: Path) -> None:
    """Looking into a memory that is not there must not begin one."""
    with pytest.raises(StoreNotFound, match="Talk first"):
        open_sqlite(tmp_path / "none" / "a.db", create=False)

    assert list(tmp_path.iterdir()) == []


def test_folder_that_cannot_be_created_is_named_in_the_error(tmp_path: Path) -> None:
    """And so is the way out."""
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(StoreUnusable, match=r"file.*--data DIR"):
        open_sqlite(tmp_path / "file" / "a.db")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("create", [True, False])
def test_folder_or_pipe_as_database_is_refused_untouched(tmp_path: Path, create: bool) -> None:
    """A folder, a pipe, a link to a device: nothing is opened, no rights are changed."""
    pipe, folder, link = tmp_path / "pipe", tmp_path / "folder", tmp_path / "link"
    os.mkfifo(pipe, 0o644)
    folder.mkdir(0o755)
    link.symlink_to(pipe)
    before = [mode(path) for path in (pipe, folder)]

    for path in (pipe, folder, link):
        with pytest.raises(StoreUnusable, match=r"a folder, a device or a pipe.*--database"):
            open_sqlite(path, create=create)
    assert [mode(path) for path in (pipe, folder)] == before


@pytest.mark.parametrize("create", [True, False])
def test_empty_database_file_is_refused_untouched(tmp_path: Path, create: bool) -> None:
    """It was cut off: whoever began anew in it would hide that, and lose the log beside it."""
    path, log = tmp_path / "a.db", tmp_path / "a.db-wal"
    path.touch(0o644)
    path.chmod(0o644)
    log.write_bytes(b"the last words")

    with pytest.raises(
        StoreCorrupt, match=r"is empty.*cut off.*move it away to start a new memory"
    ):
        open_sqlite(path, create=create)
    assert (mode(path), path.stat().st_size) == (0o644, 0)
    assert log.read_bytes() == b"the last words"


OPENER = """
import asyncio, sys
from pathlib import Path
from oldfriend.db.sqlite.sqlite_database import open_sqlite

sys.stdin.readline()
asyncio.run(open_sqlite(Path(sys.argv[1])).close())
print("opened")
"""


@pytest.mark.slow
def test_concurrent_database_creation_succeeds_in_every_process(tmp_path: Path) -> None:
    """None takes what another has just begun for a file that was cut off."""
    path = tmp_path / "new" / "a.db"
    for _ in range(3):
        with python(OPENER, path) as one, python(OPENER, path) as two, python(OPENER, path) as last:
            processes = (one, two, last)
            for process in processes:
                process.stdin.write(b"go\n")
                process.stdin.flush()
            assert [line_of(process.stdout) for process in processes] == ["opened"] * 3
        assert {each.name for each in path.parent.iterdir() if each.is_file()} == {"a.db"}
        path.unlink()


async def test_lone_surrogate_is_refused_and_the_connection_stays_usable(
    db: SqliteDatabase,
) -> None:
    """The borders make texts storable; what slips through them is still no traceback."""
    for attempt in (
        add(db, "half \udcff"),
        nothing_found(db, "half \udcff"),
    ):
        with pytest.raises(InvalidInput, match="cannot be stored"):
            await attempt

    await add(db, "whole")
    assert await count(db) == 1


async def nothing_found(db: SqliteDatabase, text: str) -> None:
    """Look for a row."""
    async with db.begin_read() as tx:
        assert await tx.rows("SELECT 1 FROM companion WHERE name = :text", text=text) == []


def test_non_utf8_database_path_is_refused(tmp_path: Path) -> None:
    """SQLite takes names in UTF-8 only."""
    with pytest.raises(StoreUnusable, match="not UTF-8"):
        open_sqlite(tmp_path / "caf\udce9.db")
    assert list(tmp_path.iterdir()) == []


async def test_deleted_text_is_wiped_from_the_database_file(db: SqliteDatabase) -> None:
    """secure_delete wipes what is deleted."""
    await add(db, "the word Kaiserschmarrn")
    async with db.begin_write() as tx:
        await tx.run("DELETE FROM companion")
    async with db.begin_read() as tx:
        await tx.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    path = db.path
    await db.close()

    assert b"Kaiserschmarrn" not in path.read_bytes()


async def test_full_disk_raises_store_full_and_loses_nothing(db: SqliteDatabase) -> None:
    """What was there before stays, what did not fit leaves no trace, and later there is room."""
    await add(db, "before")
    pages = db._writer.connection.pragma("page_count")
    db._writer.connection.pragma("max_page_count", pages + 4)

    with pytest.raises(StoreFull, match=r"full.*saved before is safe.*Free some space"):
        await add(db, "x" * 200_000)

    assert await count(db) == 1
    assert await db.check_integrity() == []
    db._writer.connection.pragma("max_page_count", pages + 4000)
    await add(db, "x" * 200_000)
    assert await count(db) == 2


# The interpreter and its modules may lie where nobody else can read them (/root), so everything
# that is needed is imported before the rights are given up.
WITHOUT_RIGHTS = """
import asyncio, os, sys
import apsw
from pathlib import Path
from oldfriend.db.sqlite.sqlite_database import open_sqlite
from oldfriend.db.schema import load_migrations
from oldfriend.domain.errors import StoreError

steps = load_migrations()
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
try:
    open_sqlite(Path(sys.argv[1]), migrations=steps)
except StoreError as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that anybody may look into; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="rights work otherwise there")
async def test_read_only_folder_raises_store_unusable(public_folder: Path) -> None:
    """As a user without root's powers meets it, with and without a database inside."""
    existing = public_folder / "existing.db"
    database = open_sqlite(existing)
    await add(database, "before")
    await database.close()
    before = existing.read_bytes()
    public_folder.chmod(0o555)
    for path in (existing, public_folder / "new.db", public_folder / "deeper" / "a.db"):
        with python(WITHOUT_RIGHTS, path) as process:
            said = line_of(process.stdout)

        assert said.startswith("StoreUnusable")
        assert "--data DIR" in said
    assert existing.read_bytes() == before
    assert [file.name for file in public_folder.iterdir()] == ["existing.db"]
