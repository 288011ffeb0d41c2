"""Two versions of the program run side by side while one takes over from the other."""

import asyncio

import pytest

from oldfriend.db.database import Database
from oldfriend.db.schema import Migration, load_migrations
from oldfriend.domain.errors import SchemaTooNew, SchemaUnknown, StoreError, StoreNotFound
from tests.db.conftest import OpenWith
from tests.engines import SEVERAL_PROCESSES

FIRST = Migration(
    version=1,
    name="0001_shelves",
    sql="-- Shelves: TEXT.\nCREATE TABLE shelf (id TEXT PRIMARY KEY);",
)
EXPANDING = Migration(
    version=2,
    name="0002_rooms",
    sql="-- Where they stand.\n-- Oldest writer: 1\n"
    "ALTER TABLE shelf ADD COLUMN room TEXT DEFAULT 'hall';\n"
    "CREATE TABLE room (id TEXT PRIMARY KEY, plan BLOB) WITHOUT ROWID;",
)
CONTRACTING = Migration(
    version=3, name="0003_only_rooms", sql="ALTER TABLE shelf RENAME COLUMN room TO place;"
)
BROKEN = Migration(version=2, name="0002_broken", sql="CREATE TABLE room (id TEXT); NONSENSE;")


async def put_up(db: Database, name: str) -> None:
    """What a program of the first version writes."""
    async with db.begin_write() as tx:
        await tx.run("INSERT INTO shelf (id) VALUES (:id)", id=name)


async def shelves(db: Database) -> list[str]:
    """What was written."""
    async with db.begin_read() as tx:
        return [row[0] for row in await tx.rows("SELECT id FROM shelf ORDER BY id")]


OF_ANOTHER_BRANCH = Migration(
    version=2, name="0002_cellars", sql="CREATE TABLE cellar (id TEXT PRIMARY KEY);"
)


@SEVERAL_PROCESSES
async def test_what_an_unreleased_version_has_made_is_refused_and_not_touched(
    open_with: OpenWith,
) -> None:
    """By the number of its last step alone it would pass for up to date."""
    for known in ((FIRST, EXPANDING), (FIRST, EXPANDING, CONTRACTING)):
        unreleased = await open_with(FIRST, OF_ANOTHER_BRANCH)
        await put_up(unreleased, f"shelf {len(known)}")
        with pytest.raises(SchemaUnknown, match="never released.*0002_cellars.*Nothing was"):
            await open_with(*known)
        async with unreleased.begin_read() as tx:
            state = await tx.row("SELECT version, name FROM schema_state")
        await unreleased.close()

        assert state == (2, "0002_cellars")


@SEVERAL_PROCESSES
async def test_an_older_program_goes_on_writing_beside_a_step_that_only_adds(
    open_with: OpenWith,
) -> None:
    """Whether it was running before, or is started again."""
    older = await open_with(FIRST)
    await put_up(older, "a")
    newer = await open_with(FIRST, EXPANDING)
    await put_up(older, "b")
    await put_up(newer, "c")
    again = await open_with(FIRST)
    await put_up(again, "d")

    assert await shelves(newer) == ["a", "b", "c", "d"]
    async with newer.begin_read() as tx:
        assert await tx.row("SELECT count(*) FROM shelf WHERE room = 'hall'") == (4,)
        state = await tx.row("SELECT version, name, oldest_writer FROM schema_state")
    assert state == (2, "0002_rooms", 1)
    for each in (older, newer, again):
        await each.close()


@SEVERAL_PROCESSES
async def test_once_a_step_takes_something_away_older_programs_are_refused(
    open_with: OpenWith,
) -> None:
    """Both those that run, at their next write, and those that are started."""
    older, newer = await open_with(FIRST), await open_with(FIRST, EXPANDING)
    newest = await open_with(FIRST, EXPANDING, CONTRACTING)

    for overtaken in (older, newer):
        with pytest.raises(SchemaTooNew, match="newer Oldfriend.*schema is 3.*Update"):
            await put_up(overtaken, "too late")
    with pytest.raises(SchemaTooNew):
        await open_with(FIRST, EXPANDING)
    await put_up(newest, "a")
    assert await shelves(newest) == ["a"]
    for each in (older, newer, newest):
        await each.close()


async def test_a_step_that_adds_lets_nobody_in_again(open_with: OpenWith) -> None:
    """The oldest that may write is the newest that any step has asked for."""
    adding = Migration(version=4, name="0004", sql="-- Oldest writer: 1\nCREATE TABLE x (id TEXT);")
    await (await open_with(FIRST, EXPANDING, CONTRACTING, adding)).close()

    with pytest.raises(SchemaTooNew):
        await open_with(FIRST)


async def test_a_step_that_fails_leaves_everything_as_it_was(open_with: OpenWith) -> None:
    """All missing steps are one transaction."""
    older = await open_with(FIRST)
    await put_up(older, "a")
    with pytest.raises(StoreError):
        await open_with(FIRST, BROKEN)

    await put_up(older, "b")
    async with older.begin_read() as tx:
        assert [table.name for table in await tx.list_tables()] == ["shelf"]
    assert await shelves(older) == ["a", "b"]
    await older.close()


@SEVERAL_PROCESSES
async def test_a_transaction_that_writes_is_over_before_the_steps_begin(
    open_with: OpenWith,
) -> None:
    """What it writes is still written by the rules that it knew."""
    older = await open_with(FIRST)
    async with older.begin_write() as tx:
        await tx.run("INSERT INTO shelf (id) VALUES ('a')")
        tried = asyncio.ensure_future(migrated_elsewhere(open_with))
        await asyncio.sleep(0.1)
        await tx.run("INSERT INTO shelf (id) VALUES ('b')")
        assert not tried.done()
    await tried

    assert await shelves(older) == ["a", "b"]
    with pytest.raises(SchemaTooNew):
        await put_up(older, "c")
    await older.close()


async def migrated_elsewhere(open_with: OpenWith) -> None:
    """Opening blocks on SQLite: it gets a thread and a loop of its own."""

    def run() -> None:
        asyncio.run(opened_and_closed())

    async def opened_and_closed() -> None:
        await (await open_with(FIRST, EXPANDING, CONTRACTING)).close()

    await asyncio.to_thread(run)


async def test_where_nothing_is_nothing_is_made_by_looking(open_with: OpenWith) -> None:
    """Looking into a memory that is not there says so."""
    with pytest.raises(StoreNotFound, match="no memory.*oldfriend chat"):
        await open_with(FIRST, create=False)
    with pytest.raises(StoreNotFound):
        await open_with(FIRST, create=False)


def test_a_step_says_who_may_still_write() -> None:
    """Or else shuts all older ones out."""
    assert [step.oldest_writer for step in (FIRST, EXPANDING, CONTRACTING)] == [1, 1, 3]
    assert all(1 <= step.oldest_writer <= step.version for step in load_migrations())
