"""Two versions of the program run side by side while one takes over from the other."""

import asyncio
import gzip
import json
import re
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from oldfriend.config.settings import is_json_url
from oldfriend.db.database import Database
from oldfriend.db.schema import Migration, load_migrations
from oldfriend.db.sqlite.sqlite_database import open_sqlite
from oldfriend.db.table_copy import iter_row_batches, write_rows
from oldfriend.domain.errors import SchemaTooNew, SchemaUnknown, StoreError, StoreNotFound
from oldfriend.domain.ids import ObjectId, PersonId, SummaryId
from oldfriend.domain.memories import Summary
from oldfriend.forgetting.delete import forget
from oldfriend.memory.belief_views import list_summaries
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.journal import (
    Provenance,
    get_latest_seq,
    list_view_mismatches,
    record_decision,
)
from oldfriend.memory.people import list_people
from oldfriend.memory.receipts import list_receipts
from oldfriend.presenters.receipt_schemas import SURENESS, receipt_as_json, receipt_as_text
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.runtime.wiring import open_app
from oldfriend.turn.reason_texts import name_likelihood
from oldfriend_evals.temporary_stores import build_settings
from tests.db.conftest import OpenWith
from tests.engines import SEVERAL_PROCESSES
from tests.processes import python

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
async def test_schema_of_an_unreleased_version_is_refused_untouched(
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
async def test_older_program_can_write_after_an_additive_migration(
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
async def test_older_programs_are_refused_after_a_breaking_migration(
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


async def test_additive_migration_does_not_lower_the_oldest_writer(open_with: OpenWith) -> None:
    """The oldest that may write is the newest that any step has asked for."""
    adding = Migration(version=4, name="0004", sql="-- Oldest writer: 1\nCREATE TABLE x (id TEXT);")
    await (await open_with(FIRST, EXPANDING, CONTRACTING, adding)).close()

    with pytest.raises(SchemaTooNew):
        await open_with(FIRST)


async def test_failed_migration_leaves_the_schema_unchanged(open_with: OpenWith) -> None:
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
async def test_migration_waits_for_an_open_write_transaction(
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


async def test_missing_database_is_not_created_without_create(open_with: OpenWith) -> None:
    """Looking into a memory that is not there says so."""
    with pytest.raises(StoreNotFound, match="no memory.*oldfriend chat"):
        await open_with(FIRST, create=False)
    with pytest.raises(StoreNotFound):
        await open_with(FIRST, create=False)


def test_migration_declares_its_oldest_writer() -> None:
    """Or else shuts all older ones out."""
    assert [step.oldest_writer for step in (FIRST, EXPANDING, CONTRACTING)] == [1, 1, 3]
    assert all(1 <= step.oldest_writer <= step.version for step in load_migrations())


RELEASED = Path(__file__).parent / "released"
STEPS = load_migrations()
BEFORE = tuple(step for step in STEPS if step.version <= 20)
SAID = "I met Hiroshi at the botanical garden"
MANY = 500

KILLED_WHILE_CONVERTING = """
import os, sys
from pathlib import Path
from oldfriend.db import schema
from oldfriend.db.sqlite.sqlite_database import open_sqlite

done, pack = [], schema.{function}

def pack_and_die(*given):
    done.append(given)
    if len(done) == {after}:
        os.kill(os.getpid(), 9)
    return pack(*given)

schema.{function} = pack_and_die
open_sqlite(Path(sys.argv[1]))
"""


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """A store as the release before has left it, with two weeks and more of talk."""
    path = tmp_path / "oldfriend.db"
    path.write_bytes(gzip.decompress((RELEASED / "store_20.db.gz").read_bytes()))
    return path


REWORDED = {
    "so I looked whether it goes with something from before.": (
        "so I looked for anything earlier that it relates to."
    ),
    "Only shown to the model, as what was said before:": (
        "Only shown to the model, as earlier conversation:"
    ),
    "the messages around it hold": "the messages around it say",
    "it holds words like": "it says something like",
    "it holds": "it says",
    "it is close in meaning": "it means something similar",
    "it is reached through": "it is connected to",
}
"""Sentences and reasons of receipts that are worded better since that release."""
SCORED = re.compile(r" \(score -?[\d.]+\)$", re.MULTILINE)
ISO_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:[+-]\d\d:\d\d|Z)?")
"""What was told for programs, which people read now."""
LIKELY = re.compile(r"How likely it seemed that this answers you: (\d+)%\.")
"""What was told in numbers, which are words now."""


def as_it_was() -> dict[str, Any]:
    """What that release said of each reply in this store.

    It did not know which of all that a model was shown its reply came from: that is in mind now.
    Nothing of the memory was missing for any of them.
    """
    told = json.loads(gzip.decompress((RELEASED / "store_20.why.json.gz").read_bytes()))
    for reply in told.values():
        receipt = reply["json"]
        by_model = receipt.get("model") is not None
        receipt["missing"] = []
        receipt["also_in_mind"] = receipt["evidence"] if by_model else []
        if by_model:
            receipt["evidence"] = []
        heading = "Also in mind:" if by_model else "My reply is based on:"
        reply["text"] = reply["text"].replace("My reply stands on:", heading)
        for before, now in REWORDED.items():
            reply["text"] = reply["text"].replace(before, now)
            for item in (*receipt["evidence"], *receipt["also_in_mind"], *receipt["considered"]):
                if "why" in item:
                    item["why"] = [each.replace(before, now) for each in item["why"]]
        text = LIKELY.sub(in_words, SCORED.sub("", reply["text"]))
        text = ISO_TIME.sub(say_time, text)
        reply["text"] = cut_left_out(BECAUSE_SAID.sub(r"\g<0>, terminal", text))
    return told


BECAUSE_SAID = re.compile(r"because you said, \d+ \w+ \d{4} at \d\d:\d\d(?=:)")
"""Where something was said is told, too: all of this store was said in the terminal."""


def say_time(found: re.Match[str]) -> str:
    """A time as people read it."""
    at = datetime.fromisoformat(found[0])
    return f"{at.day} {at:%B %Y} at {at:%H:%M}"


def cut_left_out(text: str) -> str:
    """The first three of what was left out, and how many more there are."""
    before, heading, rest = text.partition("Also considered, and left out:\n")
    listed, gap, behind = rest.partition("\n\n")
    items = re.split(r"\n(?=  • )", listed)
    more = [f"  … and {len(items) - 3} more, which counted less"] if len(items) > 3 else []
    return before + heading + "\n".join([*items[:3], *more]) + gap + behind


def in_words(found: re.Match[str]) -> str:
    """How likely something was, in words."""
    return SURENESS.format(likelihood=name_likelihood(int(found[1]) / 100))


async def as_it_is(database: Database) -> dict[str, Any]:
    """What is said of each reply now."""
    async with database.begin_read() as tx:
        (person,) = await list_people(tx)
        receipts = [
            await resolve_receipt(tx, each)
            for each in await list_receipts(tx, person.id, limit=100)
        ]
        return {
            each.receipt.id: {"text": receipt_as_text(each), "json": receipt_as_json(each)}
            for each in receipts
        }


async def test_receipts_are_explained_the_same_after_migration(
    released: Path, open_with: OpenWith, new_url: str
) -> None:
    """On each engine: by the words of the release before, as text and as JSON."""
    source, target = open_sqlite(released, migrations=BEFORE), await open_with(*BEFORE)
    async with source.begin_read() as old, target.begin_write() as new:
        for table in await old.list_tables():
            async for rows in iter_row_batches(old, table):
                await write_rows(new, table, rows)
    await source.close()
    await target.close()

    database = await open_with(*STEPS)
    found = await as_it_is(database)
    wrong = await database.check_integrity()
    await database.close()

    assert found == as_it_was()
    assert wrong == []
    assert is_json_url(new_url) or len(found) == 24


def copy_receipts(path: Path) -> None:
    """Have many more receipts in a store of the release before, each like one that is there."""
    connection = apsw.Connection(str(path))
    with connection:
        for number in range(MANY):
            connection.execute(
                """INSERT INTO receipt SELECT :new, person, :new, asked, asked_seq, replied,
                     made_at, details FROM receipt ORDER BY id DESC LIMIT 1""",
                {"new": f"r{number:04}"},
            )
            connection.execute(
                """INSERT INTO receipt_item SELECT :new, ordinal, person, kind, object, version,
                     used, score, why FROM receipt_item
                   WHERE receipt = (SELECT max(receipt) FROM receipt_item WHERE receipt < 'r')""",
                {"new": f"r{number:04}"},
            )
    connection.close()


async def test_receipt_migration_shrinks_the_file(released: Path, tmp_path: Path) -> None:
    """The pages that are free go back to the disk at once; tables that came since are set apart."""
    await open_sqlite(tmp_path / "empty.db").close()
    empty = (tmp_path / "empty.db").stat().st_size
    copy_receipts(released)
    before = released.stat().st_size
    database = open_sqlite(released)
    unused = await database.free_bytes()
    await database.close()

    assert released.stat().st_size - empty < before / 3
    assert unused == 0


@pytest.mark.parametrize("function", ["build_receipt_rows", "build_call_row"])
@pytest.mark.parametrize("after", [1, 20])
async def test_migration_killed_midway_is_redone_without_loss(
    released: Path, function: str, after: int
) -> None:
    """The file is as it was; the next start converts all of it."""
    with python(KILLED_WHILE_CONVERTING.format(function=function, after=after), released) as other:
        assert other.wait(timeout=60) == -9

    connection = apsw.Connection(str(released))
    assert connection.pragma("user_version") == 20
    connection.close()
    database = open_sqlite(released)
    assert await as_it_is(database) == as_it_was()
    await database.close()


async def test_forgotten_message_is_gone_from_migrated_receipts(
    tmp_path: Path, released: Path
) -> None:
    """It is proved, and no receipt and no call names it any more, packed or not."""
    settings = replace(build_settings(tmp_path), database=f"sqlite:///{released}")
    async with open_app(settings) as app:
        async with app.db.begin_read() as tx:
            (person,) = await list_people(tx)
            rows = await tx.rows(
                "SELECT id FROM message WHERE person = :person AND text LIKE :begins",
                person=person.id,
                begins=f"{SAID}%",
            )
        (message,) = (row[0] for row in rows)
        before = [each for each in (await as_it_is(app.db)).values() if message in str(each)]
        report = await forget(app, person.id, DeletionRequest(ids=(message,)))
        after = [each for each in (await as_it_is(app.db)).values() if message in str(each)]

    assert before
    assert not after
    assert report.is_proved
    assert message in report.ids


def summary_of(person: PersonId, name: str, *sources: str, active: bool = True) -> Summary:
    """A summary, of a talk or of others."""
    return Summary(
        id=SummaryId(ObjectId(name)),
        person=person,
        level=2 if sources else 1,
        text=f"Of {name}.",
        language="en",
        sources=tuple(SummaryId(ObjectId(each)) for each in sources),
        from_at=0,
        until_at=1,
        is_active=active,
        learned_at=0,
    )


async def test_migration_drops_rule_made_summaries_and_restores_their_sources(
    open_with: OpenWith,
) -> None:
    """Also what a model made of such; what it made of real ones stays as it is."""
    database = await open_with(*(step for step in STEPS if step.version <= 26))
    async with database.begin_write() as tx:
        owner = PersonId("nora")
        await tx.run(
            """INSERT INTO person (id, name, is_owner, zone, created_at)
               VALUES (:id, 'Nora', 0, 'Etc/UTC', 0)""",
            id=owner,
        )
        for name, author, sources in (
            ("pasted", "rules/5", ()),
            ("real", "extract/4", ()),
            ("read", "extract/4", ()),
            ("folded by rules", "summarise-by-rules/1", ("pasted", "real")),
            ("folded of pasted", "summarise/1", ("folded by rules", "read")),
            ("early", "extract/3", ()),
            ("folded of real", "summarise/1", ("early",)),
        ):
            after, ground = summary_of(owner, name, *sources), Provenance(author=author)
            await record_decision(tx, after, op="learned", base=0, provenance=ground, now=0)
            for each in sources:
                base = await get_latest_seq(tx, owner, ObjectId(each))
                folded = summary_of(
                    owner, each, *(("pasted", "real") if "rules" in each else ()), active=False
                )
                await record_decision(tx, folded, op="revised", base=base, provenance=ground, now=0)
    await database.close()

    database = await open_with(*STEPS)
    async with database.begin_read() as tx:
        left = await list_summaries(tx, owner, active=False)
        mismatches = await list_view_mismatches(tx, owner)
    await database.close()

    active = {"real": True, "read": True, "early": False, "folded of real": True}
    assert {each.id: each.is_active for each in left} == active
    assert mismatches == []
