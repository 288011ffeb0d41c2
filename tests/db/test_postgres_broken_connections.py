"""A line that breaks: what was not committed is gone, and the next transaction works."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from oldfriend.db.postgres.postgres_database import MAX_WRITERS, PostgresDatabase
from oldfriend.domain.errors import StoreBusy, StoreError
from tests.db.breaking import cut, names, write
from tests.postgres import Server


@pytest.fixture
def engine() -> str:
    """All of this is about PostgreSQL."""
    return "postgres"


async def test_broken_idle_connection_is_replaced_without_an_error(
    db: PostgresDatabase, postgres: Server
) -> None:
    """Nobody has to try again because the server was restarted at night."""
    await write(db, "a")
    assert await names(db) == ["a"]
    cut(postgres, db)

    await write(db, "b")
    assert await names(db) == ["a", "b"]


async def test_connection_lost_in_a_transaction_rolls_it_back(
    db: PostgresDatabase, postgres: Server
) -> None:
    """And says that nothing was saved."""
    with pytest.raises(StoreBusy, match="was lost.*not saved.*Try again"):
        async with db.begin_write() as tx:
            await tx.run("INSERT INTO companion (id, name, created_at) VALUES ('a', 'a', 0)")
            cut(postgres, db)
            await tx.rows("SELECT 1")
    await write(db, "b")

    assert await names(db) == ["b"]


async def test_connection_lost_during_commit_reports_an_unknown_outcome(
    db: PostgresDatabase, postgres: Server
) -> None:
    """Nobody may believe that it was kept, nor that it was not: the answer is what was lost."""
    with pytest.raises(StoreBusy, match="may have been saved.*/history.*Try again") as caught:
        async with db.begin_write() as tx:
            await tx.run("INSERT INTO companion (id, name, created_at) VALUES ('a', 'a', 0)")
            cut(postgres, db)

    assert "not saved" not in str(caught.value)
    assert await names(db) == []


async def test_swallowed_statement_error_fails_the_commit(db: PostgresDatabase) -> None:
    """After a failed statement PostgreSQL keeps nothing, and answers COMMIT all the same."""
    with pytest.raises(StoreError, match="nothing of its transaction was kept"):
        async with db.begin_write() as tx:
            await tx.run("INSERT INTO companion (id, name, created_at) VALUES ('a', 'a', 0)")
            with pytest.raises(StoreError):
                await tx.run("INSERT INTO companion (id) VALUES ('b')")

    assert await names(db) == []


async def test_a_cancelled_statement_frees_its_connection(db: PostgresDatabase) -> None:
    """Whoever waits for a lock can be told to stop; as many times as there are connections."""
    await write(db, "a")
    async with db.begin_write() as holder:
        await holder.lock("SELECT 1 FROM companion FOR UPDATE")
        for _ in range(10):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05), db.begin_write() as tx:
                    await tx.lock("SELECT 1 FROM companion FOR UPDATE")
    await write(db, "b")

    assert await names(db) == ["a", "b"]


async def test_urgent_write_does_not_wait_for_a_free_connection(db: PostgresDatabase) -> None:
    """However many are writing just now."""
    async with AsyncExitStack() as writers:
        for _ in range(MAX_WRITERS):
            await writers.enter_async_context(db.begin_write())
        async with asyncio.timeout(10), db.begin_write(urgent=True) as tx:
            await tx.run("INSERT INTO companion (id, name, created_at) VALUES ('a', 'a', 0)")

        assert await names(db) == ["a"]
