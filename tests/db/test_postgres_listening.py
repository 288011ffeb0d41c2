"""Who hears whom, by LISTEN and NOTIFY on a connection of its own."""

import asyncio
import resource
import time
from contextlib import suppress
from urllib.parse import quote

import pytest

from oldfriend.db.postgres import postgres_database as listening
from oldfriend.db.postgres.postgres_connections import parse_address
from oldfriend.db.postgres.postgres_database import PostgresDatabase, open_postgres
from tests.db.breaking import cut, write
from tests.postgres import Server
from tests.processes import line_of, python

LISTENER = """
import asyncio, sys
from oldfriend.runtime.wiring import open_database

async def listen():
    db = await open_database(sys.argv[1])
    await db.wait_for_change()
    print("listening", flush=True)
    await db.wait_for_change()
    async with db.begin_read() as tx:
        print(*await tx.row("SELECT name FROM companion"), flush=True)
    await db.close()

asyncio.run(listen())
"""


@pytest.fixture
def engine() -> str:
    """All of this is about PostgreSQL."""
    return "postgres"


async def test_waiting_process_is_woken_by_another_process_commit(
    db: PostgresDatabase, database_url: str
) -> None:
    """By whoever wakes, when that is committed."""
    with python(LISTENER, database_url) as other:
        assert line_of(other.stdout) == "listening"
        await asyncio.sleep(0.2)
        began = time.monotonic()
        await write(db, "Ada")

        assert line_of(other.stdout) == "Ada"
        assert time.monotonic() - began < 2


async def test_own_commits_and_commits_without_wake_do_not_wake_the_waiter(
    db: PostgresDatabase, database_url: str
) -> None:
    """Waiting is for others, and only for those who call."""
    other = await open_postgres(database_url)
    await db.wait_for_change()
    await write(db, "own")
    await write(other, "silent", wake=False)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.2):
            await db.wait_for_change()
    await write(other, "loud")
    async with asyncio.timeout(2):
        await db.wait_for_change()
    await other.close()


async def test_notification_between_two_waits_is_not_lost(
    db: PostgresDatabase, database_url: str
) -> None:
    """Between two waits nothing is lost."""
    other = await open_postgres(database_url)
    await db.wait_for_change()
    await write(other, "a")
    async with asyncio.timeout(1):
        await db.wait_for_change()
    await other.close()


async def test_waiting_for_a_notification_does_not_wake_the_process(db: PostgresDatabase) -> None:
    """Not even to look whether one has come, which would take a hundredth of a processor."""
    await db.wait_for_change()
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    with suppress(TimeoutError):
        async with asyncio.timeout(1):
            await db.wait_for_change()
    woken = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before

    assert woken < 5


async def test_listener_reconnects_after_a_lost_connection(
    db: PostgresDatabase, database_url: str, postgres: Server
) -> None:
    """What was told meanwhile counts as heard."""
    other = await open_postgres(database_url)
    await db.wait_for_change()
    cut(postgres, db)
    async with asyncio.timeout(2):
        await db.wait_for_change()
        await db.wait_for_change()
    await write(other, "later")
    async with asyncio.timeout(2):
        await db.wait_for_change()
    await other.close()


async def test_listener_polls_without_error_while_the_server_is_unreachable(
    db: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an error, and without hammering at its door."""
    monkeypatch.setattr(listening, "POLL_INTERVAL_S", 0.05)
    nowhere = listening.PostgresListener(parse_address("postgresql://127.0.0.1:1/db"), token="")
    began = time.monotonic()
    for _ in range(3):
        await nowhere.wait()

    assert 0.15 <= time.monotonic() - began < 2


async def test_listener_uses_a_separate_listen_address(database_url: str) -> None:
    """Where the usual address is a pooler's, the server's own is given beside it."""
    folder = quote(database_url.split("host=")[1], safe="")
    db = await open_postgres(f"{database_url}&listen={folder}")
    async with asyncio.timeout(2):
        await db.wait_for_change()
    await db.close()

    assert "listen" not in db.address.main_conninfo
    assert parse_address("postgresql://b:6432/m?listen=srv:5433").listen_conninfo.count("srv") == 1
    assert "host=srv port=5432" in parse_address("postgresql://b:6432/m?listen=srv").listen_conninfo
