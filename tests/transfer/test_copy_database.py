"""Everything moves to the other engine: the same rows, the same bytes, or nothing at all."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oldfriend.db.database import Database, TableInfo
from oldfriend.domain.errors import InvalidInput, StoreCorrupt, StoreError
from oldfriend.memory.people import (
    ensure_companion,
    ensure_person,
    get_companion,
    rename_companion,
)
from oldfriend.queues.queue import enqueue
from oldfriend.runtime.wiring import open_database
from oldfriend.transfer import copy_database as converting
from oldfriend.transfer.copy_database import CopyProgress, copy_database
from oldfriend.transfer.export_run import export_lines
from tests.postgres import Server
from tests.processes import Program
from tests.transfer.conftest import NOW, Install
from tests.transfer.test_restore import everything_in, live_in


def not_shown(_: CopyProgress) -> None:
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


async def live_fully_in(install: Install, write) -> None:
    """Something in every table, also what an export leaves out."""
    await live_in(install, write)
    async with install.db.begin_write() as tx:
        for number in range(700):
            key = f"k{number}"
            await enqueue(
                tx,
                "inbox",
                "a chat",
                {"n": number},
                person=install.person.id,
                now=NOW,
                dedup_key=key,
            )
        for number in range(9):
            await tx.run(
                """INSERT INTO attachment VALUES (:id, :person, :id, 'spoken', 'a', 'audio/ogg', 3,
                   :bytes, 5)""",
                id=f"s{number}",
                person=install.person.id,
                bytes=b"Ogg" if number else None,
            )
        await tx.run("INSERT INTO embedder VALUES ('m', 5)")
        await tx.run(
            "INSERT INTO embedding_progress VALUES (:person, 'm', 1, 2, 0)",
            person=install.person.id,
        )
        await tx.run(
            "INSERT INTO memory_vector VALUES (:person, 'm', 'x', 1, :bytes)",
            person=install.person.id,
            bytes=bytes(4),
        )
        await tx.run(
            "INSERT INTO link_code VALUES ('1', :person, 's', 'p', 5, NULL, NULL)",
            person=install.person.id,
        )
        await tx.run("INSERT INTO link_attempt VALUES ('1', 'telegram', '7', 5)")
        await tx.run("INSERT INTO stranger VALUES ('telegram', '8', 5, 2)")
        await tx.run("INSERT INTO closed_place VALUES ('telegram', '9', 5, 'blocked')")
        await tx.run("INSERT INTO channel_cursor VALUES ('discord', '9', '12', 5)")
        await tx.run("INSERT INTO web_link VALUES ('p', :person, 5)", person=install.person.id)
        await tx.run(
            "INSERT INTO web_session VALUES ('s', :person, 5, 6, 'link', 'Firefox', 5, 'p')",
            person=install.person.id,
        )
        await tx.run(
            "INSERT INTO push_subscription VALUES ('s', :person, 'p', :sealed, 'words', 5)",
            person=install.person.id,
            sealed=b"sealed",
        )
        await tx.run("INSERT INTO web_attempt VALUES ('1', 5, '127.0.0.1', 'link')")
        await tx.run(
            "INSERT INTO web_invitation VALUES ('i', 'q', :person, 5, 6)", person=install.person.id
        )
        await tx.run(
            "INSERT INTO web_token VALUES ('t', 'r', :person, 'script', 'read', 5, 6, NULL, NULL)",
            person=install.person.id,
        )
        await tx.run(
            "INSERT INTO web_passkey VALUES ('k', :person, 'laptop', :key, 1, 5, NULL)",
            person=install.person.id,
            key=b"public",
        )
        await tx.run("INSERT INTO oauth_client VALUES ('c', 'Claude', '[]', 5, NULL)")
        await tx.run(
            """INSERT INTO oauth_grant VALUES ('g', :person, 'refresh', 'c', '', '', '', 'read',
                 't', 5, 6, NULL)""",
            person=install.person.id,
        )
        await tx.run("INSERT INTO web_challenge VALUES ('c', '', 6)")
        await tx.run(
            "INSERT INTO cleanup VALUES ('a', :person, 5, 'forget', 0, '[]', '{}', 1)",
            person=install.person.id,
        )
        await tx.run("INSERT INTO pace VALUES (:person, 5)", person=install.person.id)
        await tx.run(
            """INSERT INTO person_merge
               VALUES ('g', :person, 'o', 'Ola', '{}', 1, 2, 1, 2, 5, 6, NULL)""",
            person=install.person.id,
        )
        await tx.run(
            "INSERT INTO merged_row VALUES ('g', 'task', 't', :person, NULL)",
            person=install.person.id,
        )
        await tx.run(
            "INSERT INTO oura_connection VALUES (:person, 'asking', 's', 'r', 5, NULL, NULL)",
            person=install.person.id,
        )
        await tx.run(
            """INSERT INTO pending_call SELECT min(id), :person, 't', 'weather', '{}', 5 FROM chat
               WHERE person = :person""",
            person=install.person.id,
        )
        await tx.run(
            """INSERT INTO working_memory SELECT min(id), :person, '{}', 5 FROM session
               WHERE person = :person""",
            person=install.person.id,
        )


async def exported(db: Database) -> list[str]:
    """The whole export."""
    return [line async for line in export_lines(db, person=None, now=NOW)]


@pytest.mark.slow
async def test_copied_database_has_identical_rows_and_export(
    install: Install, write, elsewhere: Database
) -> None:
    """Vectors, lanes and all: no table is left out, and the exports are the same text."""
    await live_fully_in(install, write)
    told: list[CopyProgress] = []

    copied = await copy_database(install.db, elsewhere, progress=told.append)

    before, after = await everything_in(install.db), await everything_in(elsewhere)
    empty = [name for name, rows in before.items() if not rows]
    assert not empty, "a table that nothing fills here is not shown to arrive"
    assert before == after
    assert {name: len(rows) for name, rows in before.items()} == {
        name: table.rows for name, table in copied.items()
    }
    assert await exported(install.db) == await exported(elsewhere)
    assert told[-1].done == told[-1].total == sum(table.rows for table in copied.values())
    assert len(told) > len([table for table in copied.values() if table.rows])


async def test_copied_database_keeps_the_companion_name(
    install: Install, elsewhere: Database
) -> None:
    """It is the same one on the other engine, also for whoever asks for it there."""
    async with install.db.begin_write() as tx:
        named = await rename_companion(tx, install.companion, "Mira")
    await copy_database(install.db, elsewhere, progress=not_shown)

    async with elsewhere.begin_write() as tx:
        assert await ensure_companion(tx, now=NOW) == await get_companion(tx) == named


async def test_copy_into_a_nonempty_database_is_refused(
    install: Install, write, elsewhere: Database
) -> None:
    """Nothing is mixed."""
    await live_in(install, write)
    await copy_database(install.db, elsewhere, progress=not_shown)
    before = await everything_in(elsewhere)

    with pytest.raises(InvalidInput, match="is not empty.*Nothing was written"):
        await copy_database(install.db, elsewhere, progress=not_shown)
    assert await everything_in(elsewhere) == before


async def test_copy_into_a_database_of_another_schema_is_refused(
    install: Install, elsewhere: Database
) -> None:
    """Where would the column go that only one of them has?"""
    async with elsewhere.begin_write() as tx:
        await tx.run("ALTER TABLE person ADD COLUMN shoe_size BIGINT")
    try:
        with pytest.raises(InvalidInput, match="different versions"):
            await copy_database(install.db, elsewhere, progress=not_shown)
    finally:
        async with elsewhere.begin_write() as tx:
            await tx.run("ALTER TABLE person DROP COLUMN shoe_size")


async def test_copy_that_reads_back_differently_is_rolled_back(
    install: Install, write, elsewhere: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Everything is read back before it is committed."""
    await live_in(install, write)
    write_rows = converting.write_rows

    async def write_wrongly(tx, table: TableInfo, rows) -> None:
        await write_rows(tx, table, rows)
        if table.name == "message":
            await tx.run("UPDATE message SET text = 'edited ' WHERE text = 'edited'")

    monkeypatch.setattr(converting, "write_rows", write_wrongly)
    with pytest.raises(StoreCorrupt, match="message was not copied correctly.*Nothing was kept"):
        await copy_database(install.db, elsewhere, progress=not_shown)

    assert not any((await everything_in(elsewhere)).values())


async def test_interrupted_copy_is_rolled_back(
    install: Install, write, elsewhere: Database
) -> None:
    """However far it had come."""
    await live_in(install, write)

    def stop(moving: CopyProgress) -> None:
        if moving.table == "message":
            raise StoreError("The disk is full.")

    with pytest.raises(StoreError, match="full"):
        await copy_database(install.db, elsewhere, progress=stop)

    assert not any((await everything_in(elsewhere)).values())


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
ROWS = st.fixed_dictionaries(
    {
        "companion": st.lists(
            st.tuples(TEXT, TEXT, st.integers(-(2**63), 2**63 - 1), st.none()),
            unique_by=(lambda row: row[0], lambda row: row[1]),
            max_size=4,
        ),
        "model_call": st.lists(
            st.tuples(TEXT, TEXT, st.integers(-(2**40), 2**60), st.none() | TEXT),
            max_size=4,
            unique_by=lambda row: row[0],
        ),
        "message_vector": st.lists(
            st.tuples(st.integers(0, 2**62), st.binary(max_size=9)),
            unique_by=lambda row: row[0],
            max_size=4,
        ),
        "score": st.floats(allow_nan=False, allow_infinity=False),
        "body": st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
            lambda each: st.lists(each) | st.dictionaries(TEXT, each),
            max_leaves=5,
        ),
    }
)


@pytest.mark.slow
@given(ROWS)
def test_any_rows_survive_a_sqlite_to_json_to_sqlite_round_trip(rows: dict[str, Any]) -> None:
    """There and back again, whatever texts, numbers and bytes there are; also after a new start."""

    async def run(folder: Path) -> None:
        first = await open_database(f"sqlite:///{folder / 'first.db'}")
        await fill(first, rows)
        readable = await open_database(f"json:///{folder / 'memory.json'}")
        await copy_database(first, readable, progress=not_shown)
        await readable.close()
        readable = await open_database(f"json:///{folder / 'memory.json'}")
        last = await open_database(f"sqlite:///{folder / 'last.db'}")
        await copy_database(readable, last, progress=not_shown)

        assert readable.external_edits is None
        assert await everything_in(first) == await everything_in(last)
        for each in (first, readable, last):
            await each.close()

    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def fill(db: Database, rows: dict[str, Any]) -> None:
    """Write rows into tables of different kinds."""
    async with db.begin_write() as tx:
        person = await ensure_person(tx, "Nora", now=NOW, zone="UTC")
        for name, values in rows.items():
            if name == "companion":
                for row in values:
                    await tx.run(
                        "INSERT INTO companion VALUES (:a, :b, :c, :d)",
                        **dict(zip("abcd", row, strict=True)),
                    )
            elif name == "message_vector":
                for seq, vector in values:
                    await tx.run(
                        "INSERT INTO message_vector VALUES (:p, 'm', :seq, :vector)",
                        p=person.id,
                        seq=seq,
                        vector=vector,
                    )
            elif name == "model_call":
                for each, shown, number, answer in values:
                    await tx.run(
                        """INSERT INTO model_call (id, person, step, request, purpose, prompt,
                             model, outcome, shown, answer, tokens_in, tokens_cached, tokens_out,
                             latency, is_background, made_at)
                           VALUES (:id, :p, 0, '', '', '', '', '', :shown, :answer, :n, :n, :n,
                             :n, 1, :n)""",
                        id=each,
                        p=person.id,
                        shown=shown,
                        answer=answer,
                        n=number,
                    )
        await enqueue(tx, "inbox", "a chat", {"said": rows["body"]}, person=person.id, now=NOW)
        await tx.run(
            """INSERT INTO memory (id, person, kind, text, language, learned_at,
                          change_seq, importance) VALUES ('m', :p, 'fact', 't', 'en', 1, 1, :s)""",
            p=person.id,
            s=rows["score"],
        )


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_convert_command_copies_a_sqlite_file_to_a_postgres_server(
    oldfriend: Program, elsewhere_url: str
) -> None:
    """From a file to a server; the companion goes on there."""
    oldfriend.done("say", "Remember: the key is red")
    here = f"sqlite:///{oldfriend.data / 'oldfriend.db'}"

    said = oldfriend.done("convert", here, elsewhere_url).stdout
    assert "message_vector" in said
    assert "read back and found to be the same" in said
    hits = oldfriend.done("recall", "key", "--json", "--database", elsewhere_url).json
    assert hits[0]["text"] == "Remember: the key is red"
    again = oldfriend("convert", here, elsewhere_url)
    assert (again.code, again.stdout) == (2, "")
    assert "is not empty" in again.stderr
    missing = oldfriend("convert", f"sqlite:///{oldfriend.data / 'no.db'}", elsewhere_url)
    assert missing.code == 1
    assert "no memory" in missing.stderr
