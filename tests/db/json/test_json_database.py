"""One readable file keeps everything: as a whole or as it was, and for one process at a time."""

import asyncio
import stat
from pathlib import Path

import pytest

from oldfriend.db.database import Database
from oldfriend.db.json import json_database as json_database
from oldfriend.db.json.json_database import AtomicFile, open_json
from oldfriend.db.schema import load_migrations
from oldfriend.domain.errors import StoreBusy, StoreFull, StoreNotFound, StoreUnusable
from oldfriend.memory.message_log import edit_message
from oldfriend.search.document_terms import encode_document_terms
from tests.db.breaking import names, write
from tests.db.json.conftest import Open, content_of
from tests.processes import kill, line_of, python
from tests.two_people import Meet, meet

__all__ = ["meet"]

WRITER = """
import asyncio, sys
from pathlib import Path
from oldfriend.runtime.wiring import open_database

async def run():
    db = await open_database(sys.argv[1])
    for number in range(100_000):
        async with db.begin_write() as tx:
            await tx.run("INSERT INTO companion (id, name, created_at) VALUES (:n, :n, 0)",
                         n=f"{number:06} " + "x" * 2000)
        print(number, flush=True)

asyncio.run(run())
"""
FILLER = """
import asyncio, resource, sys
from oldfriend.runtime.wiring import open_database
from oldfriend.domain.errors import StoreFull

async def run():
    db = await open_database(sys.argv[1])
    size = await db.size_bytes()
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 4096, resource.RLIM_INFINITY))
    try:
        async with db.begin_write() as tx:
            await tx.run("INSERT INTO companion VALUES ('big', :n, 0, NULL)", n="x" * 8192)
    except StoreFull as error:
        print(error, flush=True)
    async with db.begin_read() as tx:
        print(await tx.rows("SELECT id FROM companion"), flush=True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    async with db.begin_write() as tx:
        await tx.run("INSERT INTO companion VALUES ('later', 'later', 0, NULL)")
    await db.close()

asyncio.run(run())
"""


async def test_committed_rows_are_in_the_file_and_are_reloaded(opened: Open, file: Path) -> None:
    """To be read by anybody's program; private to its owner."""
    db = opened()
    await write(db, "Ada")
    assert content_of(file)["tables"]["companion"] == [
        {"id": "Ada", "name": "Ada", "created_at": "1970-01-01T00:00:00.000000Z"}
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    await db.close()

    again = opened(create=False)
    assert again.external_edits is None
    assert await names(again) == ["Ada"]
    await again.close()
    assert [each.name for each in file.parent.iterdir()] == [file.name]


async def test_commit_without_changes_does_not_write_the_file(opened: Open, file: Path) -> None:
    """Each writing costs as much as the whole file."""
    db = opened()
    await write(db, "Ada")
    before = file.stat().st_ino

    async with db.begin_write() as tx:
        await tx.run("UPDATE companion SET created_at = 0")
        await tx.run("INSERT INTO companion VALUES ('x', 'x', 0, NULL)")
        await tx.run("DELETE FROM companion WHERE id = 'x'")

    assert file.stat().st_ino == before
    await db.close()


async def test_concurrent_commits_share_one_file_write(
    opened: Open, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nobody goes on before it is there."""
    db = opened()
    written: list[int] = []
    replace = AtomicFile.replace

    def counted(self: AtomicFile, content: bytes) -> None:
        replace(self, content)
        written.append(content.count(b'"created_at"'))

    monkeypatch.setattr(AtomicFile, "replace", counted)
    async with asyncio.TaskGroup() as tasks:
        for number in range(20):
            tasks.create_task(write(db, f"{number:02}"))

    assert len(written) < 5
    assert written[-1] == len(content_of(file)["tables"]["companion"]) == 20
    await db.close()


async def test_second_process_is_refused_naming_the_process_in_use(
    opened: Open, file: Path, database_url: str
) -> None:
    """And what to do; once the first has ended, however, it may."""
    with python(WRITER, database_url) as process:
        assert line_of(process.stdout) == "0"
        with pytest.raises(StoreBusy, match=f"in use by process {process.pid}.*oldfriend convert"):
            opened()
        kill(process)

    db = opened(create=False)
    assert len(await names(db)) >= 1
    await db.close()


@pytest.mark.parametrize("after", range(4))
async def test_process_killed_while_writing_loses_no_commit(
    opened: Open, file: Path, database_url: str, after: int
) -> None:
    """The file is always whole: the one before or the one after."""
    with python(WRITER, database_url) as process:
        for _ in range(20 + after * 7):
            last = int(line_of(process.stdout))
        await asyncio.sleep(0.003 * after)
        kill(process)
        last = max([last, *(int(line) for line in process.stdout or ())])
    whole = len(content_of(file)["tables"]["companion"])

    db = opened(create=False)
    assert db.external_edits is None
    assert whole == len(await names(db)) >= last + 1
    await write(db, "next")
    await db.close()
    assert [each.name for each in file.parent.iterdir()] == [file.name]


async def test_full_disk_leaves_file_and_memory_unchanged(
    opened: Open, file: Path, database_url: str
) -> None:
    """What could not be written was not done; once there is room, it goes on."""
    with python(FILLER, database_url) as process:
        assert "is full" in line_of(process.stdout)
        assert line_of(process.stdout) == "[]"
        process.wait(20)

    db = opened(create=False)
    assert await names(db) == ["later"]
    await db.close()


async def test_file_edited_while_open_is_not_overwritten(opened: Open, file: Path) -> None:
    """Somebody's edit is worth more than an error; nothing is in memory that is not in the file."""
    db = opened()
    await write(db, "Ada")
    file.write_text(file.read_text().replace("Ada", "Eva"))

    with pytest.raises(StoreUnusable, match="changed by another program"):
        await write(db, "Bob")
    assert await names(db) == ["Ada"]
    await db.close()

    again = opened()
    assert await names(again) == ["Eva"]
    await again.close()


async def test_oversized_store_is_refused_with_a_convert_hint(
    opened: Open, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was saved before stays."""
    db = opened()
    monkeypatch.setattr(json_database, "MAX_FILE_BYTES", 4096)

    with pytest.raises(
        StoreFull, match=r"oldfriend convert json:///.*/memory.json sqlite:///.*\.db"
    ):
        await write(db, "x" * 5000)

    assert await names(db) == []
    await write(db, "small")
    assert await names(db) == ["small"]
    await db.close()


async def test_read_transaction_sees_one_snapshot(opened: Open) -> None:
    """And sees nothing that is not committed."""
    db: Database = opened()
    await write(db, "a")
    async with db.begin_write() as tx:
        await tx.run("INSERT INTO companion VALUES ('b', 'b', 0, NULL)")
        async with db.begin_read() as reader:
            assert await reader.rows("SELECT id FROM companion") == [("a",)]
            with pytest.raises(StoreUnusable):
                await reader.run("DELETE FROM companion")
    assert await names(db) == ["a", "b"]
    await db.close()


def test_missing_file_is_not_created_without_create(opened: Open, file: Path) -> None:
    """Who only looks leaves no trace."""
    with pytest.raises(StoreNotFound):
        opened(create=False)
    assert not file.parent.exists()


def test_symlink_is_kept_and_its_target_is_written(
    opened: Open, file: Path, tmp_path: Path
) -> None:
    """The link stays one."""
    file.parent.mkdir()
    target = tmp_path / "elsewhere.json"
    file.symlink_to(target)

    asyncio.run(opened().close())

    assert file.is_symlink()
    assert target.is_file()
    assert file.readlink() == target


async def test_older_file_is_backed_up_before_migration(opened: Open, file: Path) -> None:
    """As any database is; the copy is private, too, and is the older file."""
    known = load_migrations()
    older = open_json(file, pack_terms=encode_document_terms, migrations=known[:-1])
    await write(older, "Ada")
    await older.close()
    before = file.read_bytes()

    db = opened()

    assert db.migration_backup == file.with_name(f"{file.name}.before-{known[-2].version + 1}")
    assert db.list_backups() == (db.migration_backup,)
    assert db.migration_backup.read_bytes() == before
    assert stat.S_IMODE(db.migration_backup.stat().st_mode) == 0o600
    assert content_of(file)["oldfriend"]["schema"]["version"] == known[-1].version
    assert await names(db) == ["Ada"]
    await db.close()


async def test_incremental_writes_equal_a_full_save(
    meet: Meet, db: Database, file: Path, opened: Open
) -> None:
    """What a commit made anew piece by piece is what would be written from the start."""
    nora = await meet("Nora")
    said = [await nora.says(f"Number {number}.") for number in range(6)]
    async with db.begin_write() as tx:
        first, last = said[0], said[3]
        assert first is not None
        assert last is not None
        await tx.run(
            """INSERT INTO segment (id, person, chat, session, first_seq, last_seq, messages,
                 tokens, from_at, until_at, status, cut_by, cut_at)
               VALUES ('s', :person, :chat, :session, :first, :last, 4, 9, 0, 1, 'done', 'idle', 2)
            """,
            person=first.person,
            chat=first.chat,
            session=first.session,
            first=first.seq,
            last=last.seq,
        )
    (messages,) = content_of(file)["messages"].values()
    assert [each["chunk_id"] for each in messages] == ["s"] * 4 + [None] * 2
    async with db.begin_write() as tx:
        await edit_message(tx, first.person, first.id, "Number zero.", now=5)
    async with db.begin_write() as tx:
        await tx.run("DELETE FROM message WHERE seq IN (1, 3)")
    async with db.begin_write() as tx:
        await tx.run("DELETE FROM segment")
    kept = file.read_bytes()
    await db.close()

    again = opened()
    assert again.external_edits is None
    again.save()
    assert file.read_bytes() == kept
    assert b'"chunk_id": "s"' not in kept
    await again.close()
