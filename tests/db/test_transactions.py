"""A transaction is one view of the data, and is kept as a whole or not at all."""

import asyncio
import sqlite3
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Timer

import pytest

from oldfriend.db.database import Database, Transaction
from oldfriend.db.sqlite import sqlite_transaction as transaction
from oldfriend.db.sqlite.sqlite_database import SqliteDatabase, open_sqlite
from oldfriend.domain.errors import OldfriendError, StoreBusy, StoreCorrupt, StoreError
from tests.engines import SQLITE_ONLY
from tests.processes import line_of, python

HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
connection.execute("UPDATE companion SET created_at = created_at + 1000")
connection.execute("COMMIT")
print("let go", flush=True)
sys.stdin.readline()
"""


async def add(tx: Transaction, name: str) -> None:
    """Write one row."""
    await tx.run(
        "INSERT INTO companion (id, name, created_at) VALUES (:id, :id, 0) ON CONFLICT DO NOTHING",
        id=name,
    )


async def write_one(db: Database, name: str) -> None:
    """Write one row and have it kept."""
    async with db.begin_write() as tx:
        await add(tx, name)


async def names(db: Database) -> list[str]:
    """The rows that are there."""
    async with db.begin_read() as tx:
        return [row[0] for row in await tx.rows("SELECT name FROM companion ORDER BY name")]


async def test_error_rolls_back_the_transaction(db: Database) -> None:
    """Also what had been written before the error goes."""
    with pytest.raises(ZeroDivisionError):
        async with db.begin_write() as tx:
            await add(tx, "half done")
            _ = 1 / 0

    assert await names(db) == []


async def test_cancelled_writer_is_rolled_back_and_releases_the_lock(db: Database) -> None:
    """The next one writes as if it had never been."""

    async def write_slowly() -> None:
        async with db.begin_write() as tx:
            await add(tx, "cancelled")
            await asyncio.sleep(60)

    async with asyncio.TaskGroup() as tasks:
        slow = tasks.create_task(write_slowly())
        await asyncio.sleep(0.01)
        slow.cancel()
    async with db.begin_write() as tx:
        await add(tx, "next")

    assert await names(db) == ["next"]


async def test_constraint_violation_raises_store_error(db: Database) -> None:
    """Callers know one tree of errors, not each engine's."""
    with pytest.raises(StoreError, match=r"(?i)not.null"):
        async with db.begin_write() as tx:
            await tx.run("INSERT INTO companion (id) VALUES ('x')")

    assert await names(db) == []


async def test_read_transaction_sees_one_snapshot(db: Database) -> None:
    """What is committed meanwhile belongs to the next reading."""
    async with db.begin_write() as tx:
        await add(tx, "a")
    async with db.begin_read() as reader:
        before = await reader.rows("SELECT name FROM companion")
        async with db.begin_write() as tx:
            await add(tx, "b")
        after = await reader.rows("SELECT name FROM companion")

    assert before == after == [("a",)]
    assert await names(db) == ["a", "b"]


async def test_concurrent_writers_are_serialized(db: Database) -> None:
    """None loses what another counted: a SELECT … FOR UPDATE waits for its turn."""
    async with db.begin_write() as tx:
        await add(tx, "counter")

    async def count() -> None:
        async with db.begin_write() as tx:
            (number,) = await tx.row("SELECT created_at FROM companion FOR UPDATE") or (0,)
            await asyncio.sleep(0)
            await tx.run("UPDATE companion SET created_at = :next", next=number + 1)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(20):
            tasks.create_task(count())

    async with db.begin_read() as tx:
        assert await tx.row("SELECT created_at FROM companion") == (20,)


@SQLITE_ONLY
async def test_many_readers_are_served_with_few_connections(db: SqliteDatabase) -> None:
    """With the writer there are at most four (ACCEPTANCE R1)."""
    most = 0

    async def read() -> None:
        nonlocal most
        async with db.begin_read() as tx:
            await tx.rows("SELECT 1")
            most = max(most, 3 - db._readers._slots._value)
            await asyncio.sleep(0.001)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(12):
            tasks.create_task(read())

    assert most == len(db._readers._idle) == 3


async def test_null_parameter_can_be_tested_in_sql(db: Database) -> None:
    """A value that may be missing needs no statement of its own."""
    async with db.begin_write() as tx:
        await add(tx, "a")
        sql = "SELECT id FROM companion WHERE (:id IS NULL OR id = :id) AND created_at >= :at"

        assert await tx.rows(sql, id=None, at=0) == [("a",)]
        assert await tx.rows(sql, id="b", at=-(2**40)) == []


async def test_values_of_every_type_round_trip(db: Database) -> None:
    """Whole numbers of 64 bits, doubles to the last bit, bytes, every script, and nothing."""
    values = {
        "i": -(2**63),
        "r": 0.1 + 0.2,
        "b": bytes(range(256)),
        "t": "né 漢字 😀 %s :x",
        "n": None,
    }
    async with db.begin_read() as tx:
        assert await tx.row("SELECT :i, :r, :b, :t, :n", **values) == tuple(values.values())
        assert await tx.row("SELECT 'it''s :no %s parameter', :t", t="x") == (
            "it's :no %s parameter",
            "x",
        )


async def test_sum_and_count_return_integers(db: Database) -> None:
    """However an engine counts inside."""
    async with db.begin_write() as tx:
        await tx.run_many(
            "INSERT INTO companion (id, name, created_at, introduced_at) VALUES (:id, :id, 5, :at)",
            [{"id": f"{number}", "at": None if number % 2 else number} for number in range(3000)],
        )
        row = await tx.row("SELECT sum(created_at), count(introduced_at) FROM companion")

    assert row == (15_000, 1_500)
    assert row is not None
    assert [type(value) for value in row] == [int, int]


async def test_texts_are_ordered_by_their_code_points(db: Database) -> None:
    """The same order on every engine and in every country."""
    given = ["b", "B", "a", "A", "é", "Z", "z", "_", "漢", "😀", "ﬀ", "a b", "ab", "a_b"]
    async with db.begin_write() as tx:
        for name in given:
            await add(tx, name)

    assert await names(db) == sorted(given)


async def test_read_clock_returns_real_time(db: Database) -> None:
    """Whatever time the house believes it is."""
    async with db.begin_write() as tx:
        assert abs(await tx.read_clock() - time.time() * 1e6) < 60e6


async def test_list_tables_orders_tables_after_those_they_reference(db: Database) -> None:
    """Each after those that it points to, so that they can be copied in that order."""
    async with db.begin_read() as tx:
        tables = await tx.list_tables()

    names = [table.name for table in tables]
    message = tables[names.index("message")]
    assert names.index("person") < names.index("chat") < names.index("message")
    assert message.key == ("id", "version")
    assert message.columns[:4] == ("id", "version", "person", "seq")
    assert "schema_state" not in names
    assert all(table.key for table in tables)


async def test_run_returns_the_number_of_affected_rows(db: Database) -> None:
    """Whoever writes can tell new from known."""
    async with db.begin_write() as tx:
        sql = "INSERT INTO companion (id, name, created_at) VALUES ('a', 'a', 0)"

        assert await tx.run(f"{sql} ON CONFLICT DO NOTHING") == 1
        assert await tx.run(f"{sql} ON CONFLICT DO NOTHING") == 0
        assert await tx.run("UPDATE companion SET created_at = 1") == 1


@SQLITE_ONLY
async def test_writer_waiting_for_another_process_lock_does_not_block_readers(
    db: SqliteDatabase,
) -> None:
    """Readers go on beside it, and it writes as soon as it may."""
    async with db.begin_write() as tx:
        await add(tx, "a")
    with python(HOLDER, db.path) as other:
        assert line_of(other.stdout) == "held"

        async def write() -> None:
            async with db.begin_write() as tx:
                await tx.run("UPDATE companion SET created_at = created_at + 1")

        async with asyncio.TaskGroup() as tasks:
            writer = tasks.create_task(write())
            for _ in range(20):
                assert await names(db) == ["a"]
                await asyncio.sleep(0.005)
            assert not writer.done()
            other.stdin.write(b"go\n")
            other.stdin.flush()

    async with db.begin_read() as tx:
        assert await tx.row("SELECT created_at FROM companion") == (1001,)


@SQLITE_ONLY
async def test_lock_that_is_never_released_raises_store_busy(
    db: SqliteDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing hangs for ever; trying again later works."""
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT_S", 0.05)
    with python(HOLDER, db.path) as other:
        assert line_of(other.stdout) == "held"
        began = time.monotonic()
        with pytest.raises(StoreBusy, match="Try again"):
            async with db.begin_write() as tx:
                await add(tx, "too early")

        assert time.monotonic() - began < 2
        other.stdin.write(b"go\n")
        other.stdin.flush()
        assert line_of(other.stdout) == "let go"
        async with db.begin_write() as tx:
            await add(tx, "later")
    assert await names(db) == ["later"]


@SQLITE_ONLY
async def test_sqlite_connection_uses_durable_and_secure_pragmas(db: SqliteDatabase) -> None:
    """WAL, full syncing, foreign keys, and deleted rows are wiped (ACCEPTANCE R1)."""
    async with db.begin_read() as tx:
        pragmas = [
            (await tx.row(f"PRAGMA {name}") or ("",))[0]
            for name in ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
        ]

    assert pragmas == ["wal", 2, 1, 1]


async def test_untouched_database_passes_the_integrity_check(db: Database) -> None:
    """check() has nothing to say."""
    assert await db.check_integrity() == []


@SQLITE_ONLY
async def test_dangling_foreign_key_is_reported_by_the_integrity_check(db: SqliteDatabase) -> None:
    """Another program may have deleted what it should not have."""
    with sqlite3.connect(db.path) as stranger:
        stranger.execute(
            "INSERT INTO identity (channel, address, person, created_at) VALUES ('a', 'b', 'c', 0)"
        )
    stranger.close()

    assert await db.check_integrity() == ["a row of identity points to a missing row of person"]


async def test_torn_pages_are_reported_as_corruption(tmp_path: Path) -> None:
    """A disk that lies is noticed, by check() or by the first statement that meets it."""
    path = tmp_path / "a.db"
    database = open_sqlite(path)
    async with database.begin_write() as tx:
        for number in range(2000):
            await add(tx, f"name {number:06d}")
    await database.close()
    content = bytearray(path.read_bytes())
    content[-20_000:-10_000] = bytes(10_000)
    path.write_bytes(content)

    assert await problems(path) != []


async def problems(path: Path) -> list[str]:
    """What opening and checking a file has to say about it."""
    try:
        database = open_sqlite(path)
    except StoreCorrupt as error:
        return [str(error)]
    try:
        return await database.check_integrity()
    except StoreCorrupt as error:
        return [str(error)]
    finally:
        await database.close()


@SQLITE_ONLY
async def test_concurrent_writes_share_a_group_commit(db: SqliteDatabase) -> None:
    """A commit waits for the disk; those who are ready share it. Each is kept when it returns."""
    commits: list[int] = []
    db._writer.connection.set_commit_hook(lambda: bool(commits.append(1)))

    async def write(name: str) -> None:
        async with db.begin_write() as tx:
            await add(tx, name)
        assert name in await names(db)

    async with asyncio.TaskGroup() as tasks:
        for number in range(50):
            tasks.create_task(write(f"{number:02}"))

    assert await names(db) == [f"{number:02}" for number in range(50)]
    assert 1 <= len(commits) <= 5


@SQLITE_ONLY
async def test_urgent_write_is_committed_before_waiting_writes(db: SqliteDatabase) -> None:
    """It is kept before anything else is begun; whoever gave up waiting is passed over."""
    kept: list[str] = []

    async def write(name: str, *, first: bool = False) -> None:
        async with db.begin_write(urgent=first) as tx:
            await add(tx, name)
        kept.append(name)

    async with asyncio.TaskGroup() as tasks:
        async with db.begin_write() as tx:
            for name in ("a", "b"):
                tasks.create_task(write(name))
            gone = tasks.create_task(write("gone", first=True))
            await asyncio.sleep(0.01)
            hurried = tasks.create_task(write("hurried", first=True))
            await asyncio.sleep(0.01)
            gone.cancel()
            await add(tx, "before")
        await hurried
        kept_by_then = [*kept]

    assert kept_by_then == ["hurried"]
    assert await names(db) == ["a", "b", "before", "hurried"]


@SQLITE_ONLY
async def test_failed_writer_in_a_group_commit_does_not_affect_the_others(
    db: SqliteDatabase,
) -> None:
    """By an error or by being cancelled, before, during or after writing."""

    async def write(number: int) -> None:
        async with db.begin_write() as tx:
            await add(tx, f"{number:02}")
            if number % 5 == 1:
                raise ValueError(number)
            if number % 5 == 2:
                await asyncio.sleep(0.001)

    tasks = [asyncio.ensure_future(write(number)) for number in range(60)]
    await asyncio.sleep(0)
    for task in tasks[3::5]:
        task.cancel()
    await asyncio.wait(tasks)

    kept = set(await names(db))
    for number, task in enumerate(tasks):
        if task.cancelled():
            continue  # before it wrote, or after
        assert (f"{number:02}" in kept) == (task.exception() is None)
    assert len(kept) >= 36
    async with db.begin_write() as tx:
        await add(tx, "and on it goes")


@dataclass
class SlowDisk:
    """A disk that has a commit wait until it is told how that ends."""

    db: SqliteDatabase
    asked: Event = field(default_factory=Event)
    told: Event = field(default_factory=Event)
    breaks: bool = False

    def __post_init__(self) -> None:
        """Be asked at each commit from now on."""
        self.db._writer.connection.set_commit_hook(self._commit)

    def _commit(self) -> bool:
        self.asked.set()
        assert self.told.wait(20), "the event loop stood still meanwhile"
        return self.breaks

    async def writers(self, *names: str) -> list[asyncio.Task[None]]:
        """These write together; as soon as that is being committed."""

        tasks = [asyncio.create_task(write_one(self.db, each)) for each in names]  # noqa: TID251
        await asyncio.to_thread(self.asked.wait, 20)
        return tasks

    def end(self) -> None:
        """It has done what it was asked for, from now on at once."""
        self.told.set()


@SQLITE_ONLY
async def test_slow_commit_does_not_block_readers(db: SqliteDatabase) -> None:
    """They read what was there before; whoever writes waits, and so does whoever is cancelled."""
    disk = SlowDisk(db)
    together = await disk.writers("a", "b", "c")
    assert await names(db) == []
    with suppress(TimeoutError):
        await asyncio.wait_for(db.wait_for_change(), 0.05)
    together[0].cancel()
    async with asyncio.TaskGroup() as tasks:
        after = tasks.create_task(write_one(db, "after"))
        await asyncio.sleep(0.05)
        assert not after.done()
        disk.end()

    await asyncio.wait(together)
    assert [each.cancelled() for each in together] == [True, False, False]
    assert together[1].exception() is together[2].exception() is None
    assert await names(db) == ["a", "after", "b", "c"]


@SQLITE_ONLY
async def test_failed_group_commit_is_reported_to_every_writer(db: SqliteDatabase) -> None:
    """And nothing of it is kept; the next one is."""
    disk = SlowDisk(db, breaks=True)
    together = await disk.writers("a", "b")
    disk.end()
    await asyncio.wait(together)
    assert all(isinstance(each.exception(), StoreError) for each in together)
    disk.breaks = False
    await write_one(db, "after")

    assert await names(db) == ["after"]


async def test_close_waits_for_a_pending_commit(tmp_path: Path) -> None:
    """Closing waits for the disk."""
    db = open_sqlite(tmp_path / "oldfriend.db")
    disk = SlowDisk(db)
    together = await disk.writers("a", "b")
    Timer(0.1, disk.end).start()
    await db.close()
    await asyncio.wait(together)
    assert [each.exception() for each in together] == [None, None]
    again = open_sqlite(tmp_path / "oldfriend.db")

    assert await names(again) == ["a", "b"]
    await again.close()


@SQLITE_ONLY
async def test_close_during_writes_ends_every_writer_with_an_error(
    db: SqliteDatabase,
) -> None:
    """As when a program fails while a worker writes: whoever comes then is told, and ends."""
    began = asyncio.Event()

    async def write() -> None:
        async with db.begin_write() as tx:
            await add(tx, "somebody")
            began.set()
            await asyncio.sleep(0.05)

    writers = [asyncio.create_task(write()) for _ in range(3)]  # noqa: TID251
    await began.wait()
    await db.close()
    ended, waiting = await asyncio.wait(writers, timeout=10)
    assert not waiting
    assert all(isinstance(each.exception(), OldfriendError) for each in ended)
