"""Behind a PgBouncer in transaction mode, which gives each transaction another connection."""

import asyncio
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from oldfriend.db.postgres import postgres_database as listening
from oldfriend.db.postgres.postgres_database import PostgresDatabase, open_postgres
from oldfriend.domain.errors import StoreUnusable
from tests.db.breaking import names, write

PGBOUNCER = shutil.which("pgbouncer")
pytestmark = pytest.mark.skipif(PGBOUNCER is None, reason="pgbouncer is not installed here")

CONFIGURATION = """
[databases]
{name} = host={host} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 2
user = {user}
"""


@pytest.fixture
def engine() -> str:
    """All of this is about PostgreSQL."""
    return "postgres"


@pytest.fixture
def bouncer(database_url: str) -> Iterator[str]:
    """The address of a pooler with two connections to a database."""
    parts = urlsplit(database_url)
    host, name, port = parse_qs(parts.query)["host"][0], parts.path[1:], free_port()
    folder = Path(tempfile.mkdtemp(prefix="oldfriend-bouncer-"))
    folder.chmod(0o755)
    (folder / "users").write_text('"postgres" ""\n')
    (folder / "ini").write_text(
        CONFIGURATION.format(
            name=name, host=host, port=port, folder=folder, user=Path(host).owner()
        )
    )
    with subprocess.Popen([str(PGBOUNCER), "-q", folder / "ini"]) as process:
        yield f"postgresql://postgres@127.0.0.1:{port}/{name}"
        process.terminate()
    shutil.rmtree(folder)


def free_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def opened(url: str) -> PostgresDatabase:
    """Open it as soon as the pooler is there."""
    async with asyncio.timeout(20):
        while True:
            try:
                return await open_postgres(url)
            except StoreUnusable:
                await asyncio.sleep(0.05)


async def test_many_transactions_share_few_connections(bouncer: str) -> None:
    """Nothing of one is left behind for the next: no statement, no lock, no setting."""
    db = await opened(bouncer)

    async def count(number: int) -> None:
        async with db.begin_write() as tx:
            await tx.lock("SELECT 1 FROM companion FOR UPDATE")
            rows = [{"id": f"{number} {each}"} for each in range(10)]
            await tx.run_many(
                "INSERT INTO companion (id, name, created_at) VALUES (:id, :id, 0)", rows
            )
            await tx.rows("SELECT id FROM companion WHERE :name IS NULL OR name = :name", name=None)

    async with asyncio.TaskGroup() as tasks:
        for number in range(30):
            tasks.create_task(count(number))

    async with db.begin_read() as tx:
        assert await tx.row("SELECT count(*) FROM companion") == (300,)
    await db.close()


async def test_notifications_use_the_direct_listen_address_else_polling(
    bouncer: str, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or, where its own address is not known, are replaced by a look now and then."""
    direct = quote(parse_qs(urlsplit(database_url).query)["host"][0], safe="")
    db = await opened(bouncer)
    hearing = await open_postgres(f"{bouncer}?listen={direct}")
    await hearing.wait_for_change()
    await write(db, "Ada")
    async with asyncio.timeout(2):
        await hearing.wait_for_change()

    monkeypatch.setattr(listening, "POLL_INTERVAL_S", 0.3)
    await db.wait_for_change()
    began = time.monotonic()
    await db.wait_for_change()
    assert time.monotonic() - began >= 0.3
    await db.close()
    await hearing.close()


async def test_cancelled_lock_wait_returns_its_connection_to_the_pool(
    bouncer: str, database_url: str
) -> None:
    """Also when the pooler must pass the cancelling on."""
    db, direct = await opened(bouncer), await open_postgres(database_url)
    await write(db, "Ada", wake=False)
    async with direct.begin_write() as holder:
        await holder.lock("SELECT 1 FROM companion FOR UPDATE")
        for _ in range(5):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1), db.begin_write() as tx:
                    await tx.lock("SELECT 1 FROM companion FOR UPDATE")
    await write(db, "Bob", wake=False)

    assert await names(direct) == ["Ada", "Bob"]
    await db.close()
    await direct.close()
