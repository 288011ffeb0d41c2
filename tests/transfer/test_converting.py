"""Everything moves to the other engine: the same rows, the same bytes, or nothing at all."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.postgres import Server
from tests.processes import Program
from tests.transfer.conftest import NOW, House
from tests.transfer.test_restoring import everything_in, live_in

from oldfriend.app.wiring import open_database
from oldfriend.db.database import Database, TableShape
from oldfriend.domain.errors import InvalidInput, StoreDamaged, StoreError
from oldfriend.queues.lanes import put
from oldfriend.transfer import converting
from oldfriend.transfer.converting import Moving, convert
from oldfriend.transfer.exporting import export_lines


def not_shown(_: Moving) -> None:
    """Nobody is looking."""


@pytest.fixture
def elsewhere_url(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """An empty database of the other engine."""
    if engine == "postgres":
        yield f"sqlite:///{tmp_path / 'elsewhere.db'}"
        return
    server: Server = request.getfixturevalue("postgres")
    with server.database() as url:
        yield url


@pytest.fixture
async def elsewhere(elsewhere_url: str) -> AsyncIterator[Database]:
    """An empty database of the other engine, open."""
    database = await open_database(elsewhere_url)
    yield database
    await database.close()


async def live_fully_in(house: House, write) -> None:
    """Something in every table, also what an export leaves out."""
    await live_in(house, write)
    async with house.db.writing() as tx:
        for number in range(700):
            key = f"k{number}"
            await put(
                tx, "inbox", "a chat", {"n": number}, person=house.person.id, now=NOW, key=key
            )
        await tx.run("INSERT INTO embedder VALUES ('m', 5)")
        await tx.run(
            "INSERT INTO memory_vector VALUES (:person, 'm', 'x', 1, :bytes)",
            person=house.person.id, bytes=bytes(4),
        )  # fmt: skip
        await tx.run("INSERT INTO pace VALUES (:person, 5)", person=house.person.id)


async def exported(db: Database) -> list[str]:
    """The whole export."""
    return [line async for line in export_lines(db, person=None, now=NOW)]


async def test_everything_arrives_exactly_as_it_was(
    house: House, write, elsewhere: Database
) -> None:
    """Vectors, lanes and all: no table is left out, and the exports are the same text."""
    await live_fully_in(house, write)
    told: list[Moving] = []

    copied = await convert(house.db, elsewhere, progress=told.append)

    before, after = await everything_in(house.db), await everything_in(elsewhere)
    assert all(before.values()), "a table that nothing fills here is not shown to arrive"
    assert before == after
    assert {name: len(rows) for name, rows in before.items()} == {
        name: table.rows for name, table in copied.items()
    }
    assert await exported(house.db) == await exported(elsewhere)
    assert told[-1].done == told[-1].total == sum(table.rows for table in copied.values())
    assert len(told) > len([table for table in copied.values() if table.rows])


async def test_a_database_that_holds_something_is_left_alone(
    house: House, write, elsewhere: Database
) -> None:
    """Nothing is mixed."""
    await live_in(house, write)
    await convert(house.db, elsewhere, progress=not_shown)
    before = await everything_in(elsewhere)

    with pytest.raises(InvalidInput, match="holds something.*Nothing was written"):
        await convert(house.db, elsewhere, progress=not_shown)
    assert await everything_in(elsewhere) == before


async def test_one_of_another_version_is_refused(house: House, elsewhere: Database) -> None:
    """Where would the column go that only one of them has?"""
    async with elsewhere.writing() as tx:
        await tx.run("ALTER TABLE person ADD COLUMN shoe_size BIGINT")
    try:
        with pytest.raises(InvalidInput, match="different versions"):
            await convert(house.db, elsewhere, progress=not_shown)
    finally:
        async with elsewhere.writing() as tx:
            await tx.run("ALTER TABLE person DROP COLUMN shoe_size")


async def test_what_arrives_otherwise_is_noticed_and_nothing_of_it_kept(
    house: House, write, elsewhere: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is read back before it is committed."""
    await live_in(house, write)
    write_rows = converting.write_rows

    async def write_wrongly(tx, table: TableShape, rows) -> None:
        await write_rows(tx, table, rows)
        if table.name == "message":
            await tx.run("UPDATE message SET text = 'edited ' WHERE text = 'edited'")

    monkeypatch.setattr(converting, "write_rows", write_wrongly)
    with pytest.raises(StoreDamaged, match="message did not arrive.*Nothing was kept"):
        await convert(house.db, elsewhere, progress=not_shown)

    assert not any((await everything_in(elsewhere)).values())


async def test_one_that_breaks_off_leaves_nothing(house: House, write, elsewhere: Database) -> None:
    """However far it had come."""
    await live_in(house, write)

    def stop(moving: Moving) -> None:
        if moving.table == "message":
            raise StoreError("The disk is full.")

    with pytest.raises(StoreError, match="full"):
        await convert(house.db, elsewhere, progress=stop)

    assert not any((await everything_in(elsewhere)).values())


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_it_is_a_command(oldfriend: Program, elsewhere_url: str) -> None:
    """From a file to a server; the companion goes on there."""
    oldfriend.done("say", "Remember: the key is red")
    here = f"sqlite:///{oldfriend.data / 'oldfriend.db'}"

    said = oldfriend.done("convert", here, elsewhere_url).stdout
    assert "message_vector" in said
    assert "read back and found the same" in said
    hits = oldfriend.done("recall", "key", "--json", "--database", elsewhere_url).json
    assert hits[0]["text"] == "Remember: the key is red"
    again = oldfriend("convert", here, elsewhere_url)
    assert (again.code, again.stdout) == (2, "")
    assert "holds something" in again.stderr
    missing = oldfriend("convert", f"sqlite:///{oldfriend.data / 'no.db'}", elsewhere_url)
    assert missing.code == 1
    assert "no memory" in missing.stderr
