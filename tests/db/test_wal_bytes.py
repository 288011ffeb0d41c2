"""The bytes of an open database can be looked at, and its log of writes be emptied."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from oldfriend.db.sqlite import sqlite_database as bytes_held
from oldfriend.db.sqlite.sqlite_database import SqliteDatabase, open_sqlite

SECRET = "the tiger sleeps in the pantry"


@pytest.fixture
async def db(tmp_path: Path) -> Iterator[SqliteDatabase]:
    """An open database with a table."""
    database = open_sqlite(tmp_path / "oldfriend.db")
    async with database.begin_write() as tx:
        await tx.run("CREATE TABLE note (id BIGINT PRIMARY KEY, text TEXT)")
    yield database
    await database.close()


async def holding(db: SqliteDatabase) -> set[str]:
    """The names of the files in which the secret stands."""
    return {file.name async for file, piece in db.iter_raw_bytes() if SECRET.encode() in piece}


async def test_deleted_text_is_gone_from_disk_after_wal_truncation(db: SqliteDatabase) -> None:
    """Before that it stands in the log, which is looked at, too."""
    async with db.begin_write() as tx:
        await tx.run("INSERT INTO note VALUES (1, :text)", text=SECRET)
    assert await holding(db) == {"oldfriend.db-wal"}
    assert await db.truncate_wal()
    assert await holding(db) == {"oldfriend.db"}

    async with db.begin_write() as tx:
        await tx.run("DELETE FROM note")
    assert await db.truncate_wal()
    assert await holding(db) == set()
    assert db.list_files()[1].stat().st_size == 0


async def test_wal_truncation_fails_while_a_reader_is_open(
    db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which is waited for only a while, and said."""
    monkeypatch.setattr(bytes_held, "BUSY_TIMEOUT_S", 0.1)
    async with db.begin_read() as tx:
        await tx.rows("SELECT * FROM note")
        async with db.begin_write() as writing:
            await writing.run("INSERT INTO note VALUES (1, :text)", text=SECRET)

        assert not await db.truncate_wal()
    assert await db.truncate_wal()


async def test_raw_byte_chunks_overlap(db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece is a little into the next."""
    monkeypatch.setattr(bytes_held, "CHUNK_BYTES", 4096)
    async with db.begin_write() as tx:
        for number in range(300):
            await tx.run("INSERT INTO note VALUES (:id, :text)", id=number, text=SECRET * 3)
    await db.truncate_wal()
    whole = b"".join(
        [piece[:4096] async for file, piece in db.iter_raw_bytes() if file.suffix == ".db"]
    )

    assert whole.count(SECRET.encode()) > 800
    assert len(whole) == db.path.stat().st_size


async def test_migration_backups_are_listed_by_their_names(db: SqliteDatabase) -> None:
    """By their names; others are not."""
    copy = db.path.with_name("oldfriend.db.before-3")
    copy.touch()
    db.path.with_name("oldfriend.txt").touch()

    assert db.list_backups() == (copy,)
    assert copy in db.list_files()
