"""A table that somebody has locked is not passed over when what was deleted is let go."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from oldfriend.db.postgres import postgres_database as database
from oldfriend.db.postgres.postgres_connections import connect
from oldfriend.db.postgres.postgres_database import PostgresDatabase, open_postgres
from oldfriend.db.schema import Migration
from tests.db.conftest import OpenWith

SHELF = Migration(version=1, name="0001_shelves", sql="CREATE TABLE shelf (id TEXT PRIMARY KEY);")
pytestmark = pytest.mark.parametrize("engine", ["postgres"], indirect=True)


@pytest.fixture
async def db(open_with: OpenWith) -> AsyncIterator[PostgresDatabase]:
    """A database with one table."""
    db = await open_with(SHELF)
    assert isinstance(db, PostgresDatabase)
    yield db
    await db.close()


@pytest.mark.slow
async def test_vacuum_of_a_table_that_stays_locked_reports_failure(
    db: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server only warns of it."""
    other = await connect(db.address)
    async with other, other.transaction():
        await other.execute(b"LOCK TABLE shelf IN SHARE MODE")
        with monkeypatch.context() as patch:
            patch.setattr(database, "VACUUM_TIMEOUT_S", 1.2)
            assert not await db.vacuum()
    assert await db.vacuum()


async def test_vacuum_of_a_briefly_locked_table_is_retried(db: PostgresDatabase) -> None:
    """As it is while the server itself vacuums it."""
    other = await connect(db.address)
    async with other, asyncio.TaskGroup() as group:
        async with other.transaction():
            await other.execute(b"LOCK TABLE shelf IN SHARE MODE")
            writing = group.create_task(db.vacuum())
            await asyncio.sleep(1.0)
            assert not writing.done()
        assert await writing


async def test_pages_are_filled_and_vacuumed_early_where_rows_come_in_order(
    new_url: str,
) -> None:
    """Else a message takes more than its share of the disk."""
    db = await open_postgres(new_url)
    async with db.begin_read() as tx:
        rows = await tx.rows(
            "SELECT relname, reloptions FROM pg_class WHERE reloptions IS NOT NULL"
        )
    await db.close()
    options = {str(name): str(given) for name, given in rows}

    assert {"message_pkey", "message_said", "receipt_made"} <= options.keys()
    assert "fillfactor=100" in options["message_seq"]
    assert "autovacuum_vacuum_insert_threshold=100" in options["model_call"]
