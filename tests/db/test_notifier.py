"""A process that waits is woken when another one writes."""

import asyncio
import os
import shutil
import socket
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from oldfriend.db.sqlite import pool as doorbell
from oldfriend.db.sqlite.pool import get_socket_folder
from oldfriend.db.sqlite.sqlite_database import SqliteDatabase, open_sqlite
from tests.processes import kill, line_of, python


@pytest.fixture
def engine() -> str:
    """All of this is about files."""
    return "sqlite"


@pytest.fixture
def bells(db: SqliteDatabase) -> Path:
    """Where its bells would hang; nothing is left there of another run's test with this path."""
    folder = get_socket_folder(db.path)
    if folder.is_symlink():
        folder.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    return folder


LISTENER = """
import asyncio, sys
from pathlib import Path
from oldfriend.db.sqlite.sqlite_database import open_sqlite

async def listen():
    db = open_sqlite(Path(sys.argv[1]))
    waiting = asyncio.ensure_future(db.wait_for_change())
    await asyncio.sleep(0.1)
    print("listening", flush=True)
    await waiting
    async with db.begin_read() as tx:
        print(*await tx.row("SELECT name FROM companion"), flush=True)
    await db.close()

asyncio.run(listen())
"""


async def write(db: SqliteDatabase, name: str) -> None:
    """Commit something."""
    async with db.begin_write() as tx:
        await tx.run("DELETE FROM companion")
        await tx.run("INSERT INTO companion (id, name, created_at) VALUES (:id, :id, 0)", id=name)


async def test_waiting_process_is_woken_by_another_process_commit(
    db: SqliteDatabase,
) -> None:
    """Well before the look that it takes every five seconds anyway."""
    with python(LISTENER, db.path) as other:
        assert line_of(other.stdout) == "listening"
        began = time.monotonic()
        await write(db, "Ada")

        assert line_of(other.stdout) == "Ada"
        assert time.monotonic() - began < 2


async def test_commit_before_the_wait_is_noticed(db: SqliteDatabase) -> None:
    """The bell rang at an empty house; the version of the data tells all the same."""
    other = open_sqlite(db.path)
    await write(other, "Ada")
    async with asyncio.timeout(1):
        await db.wait_for_change()
    await other.close()


async def test_commit_while_the_socket_is_bound_is_noticed(
    db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listener looks once more after its bell hangs, not five seconds later."""
    put_up = doorbell.bind_socket

    def put_up_late(folder: Path) -> tuple[socket.socket | None, Path | None]:
        with closing(sqlite3.connect(db.path)) as other, other:
            other.execute("INSERT INTO companion (id, name, created_at) VALUES ('a', 'Ada', 0)")
        return put_up(folder)

    monkeypatch.setattr(doorbell, "bind_socket", put_up_late)
    async with asyncio.timeout(1):
        await db.wait_for_change()


async def test_own_commits_do_not_wake_the_waiter(db: SqliteDatabase) -> None:
    """Waiting is for others."""
    await write(db, "Ada")
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await db.wait_for_change()


async def test_commit_is_noticed_by_polling_without_sockets(
    db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bell only makes it prompt."""
    monkeypatch.setattr(doorbell, "bind_socket", lambda folder: (None, None))
    monkeypatch.setattr(doorbell, "POLL_INTERVAL_S", 0.05)
    other = open_sqlite(db.path)
    async with asyncio.timeout(2), asyncio.TaskGroup() as tasks:
        tasks.create_task(db.wait_for_change())
        await asyncio.sleep(0.02)
        await write(other, "Ada")
    await other.close()


async def test_socket_of_a_killed_process_is_removed(db: SqliteDatabase) -> None:
    """Dead bells do not pile up beside the database."""
    with python(LISTENER, db.path) as other:
        assert line_of(other.stdout) == "listening"
        kill(other)
    assert len(list(get_socket_folder(db.path).iterdir())) == 1

    await write(db, "Ada")

    assert list(get_socket_folder(db.path).iterdir()) == []


async def test_socket_is_removed_on_close_and_its_folder_is_private(tmp_path: Path) -> None:
    """And its folder is nobody else's business."""
    database = open_sqlite(tmp_path / "a.db")
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(database.wait_for_change())
        await asyncio.sleep(0.02)
        assert len(list(get_socket_folder(database.path).iterdir())) == 1
        assert get_socket_folder(database.path).stat().st_mode & 0o777 == 0o700
        waiting.cancel()
    await database.close()

    assert list(get_socket_folder(database.path).iterdir()) == []


async def test_overlong_socket_path_falls_back_to_the_temp_folder(tmp_path: Path) -> None:
    """A socket's path is short; a person's folders may not be."""
    deep = tmp_path / ("deep" * 20) / ("deeper" * 20)
    database = open_sqlite(deep / "a.db")
    bells = get_socket_folder(database.path)
    assert bells.parent == Path(tempfile.gettempdir())
    assert len(os.fsencode(bells)) + 20 <= doorbell.MAX_SOCKET_PATH

    with python(LISTENER, database.path) as other:
        assert line_of(other.stdout) == "listening"
        assert len(list(bells.iterdir())) == 1
        await write(database, "Ada")
        assert line_of(other.stdout) == "Ada"
        assert other.wait(20) == 0
    bells.rmdir()
    await database.close()


async def test_unreadable_socket_folder_does_not_fail_a_commit(
    db: SqliteDatabase, bells: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written stays written, and nobody is told otherwise."""
    bells.mkdir()

    def refuse(self: Path) -> list[Path]:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", refuse)
    await write(db, "Ada")

    async with db.begin_read() as tx:
        assert await tx.row("SELECT name FROM companion") == ("Ada",)


async def test_symlinked_socket_folder_is_not_used(
    db: SqliteDatabase, bells: Path, tmp_path: Path
) -> None:
    """A link in its place must not have us sweep away somebody's files."""
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "letter").write_text("dear Ada")
    bells.symlink_to(precious)

    await write(db, "Ada")
    assert not db._writer.notifier.listen()
    assert [file.name for file in precious.iterdir()] == ["letter"]


async def test_world_accessible_socket_folder_is_made_private(
    db: SqliteDatabase, bells: Path
) -> None:
    """A copy that was brought back with wide rights does not keep them."""
    bells.mkdir()
    bells.chmod(0o777)

    assert db._writer.notifier.listen()
    assert bells.stat().st_mode & 0o777 == 0o700
