"""Everything of one person becomes another's, and theirs again: row by row, on every engine."""

import re
from collections.abc import Mapping

from oldfriend.db.database import Database, Row
from oldfriend.db.merge_record import PersonMerge
from oldfriend.db.person_rows import (
    CHANGE_NUMBERS,
    DROPPED,
    MESSAGE_NUMBERS,
    SETTINGS,
    move_back,
    move_rows,
)
from oldfriend.db.stored_tables import STORED_TABLES
from oldfriend.domain.ids import PersonId
from oldfriend.memory.people import ensure_person, lock_person
from oldfriend.memory.table_dump import dump_rows
from tests.transfer.conftest import Install
from tests.transfer.test_copy_database import live_fully_in

MONTH = 30
NUMBERS = {
    (table, column)
    for columns in (MESSAGE_NUMBERS, CHANGE_NUMBERS)
    for table, names in columns.items()
    for column in names
}
NOT_OF_THE_LOG = {"job", *DROPPED}
NUMBERED = ("message", "receipt", "receipt_trace", "model_call")
"""What refers to messages by number: an export names them by id, the same before and after."""
COUNTERS = {"last_seq", "last_change", "rewritten", "tokens", "embedded", "weighed"}
CHANGED = {*NUMBERS, *(("person", each) for each in COUNTERS), ("session", "after_tokens")}


def test_every_number_of_a_log_is_known() -> None:
    """Whoever adds a column with one adds it to the list of those that a merge raises."""
    named = {
        (table.name, column)
        for table in STORED_TABLES
        if table.person_column == "person" and table.name not in NOT_OF_THE_LOG
        for column in table.columns
        if re.search(r"(^|_)seq$|^base$", column)
    }

    assert named == NUMBERS


async def rows_of(db: Database, person: PersonId) -> dict[str, list[Row]]:
    """All rows of a person, as an export would have them, by table."""
    found: dict[str, list[Row]] = {}
    async with db.begin_read() as tx:
        for table in STORED_TABLES:
            if table.person_column is not None and table.name != "job":
                found[table.name] = sorted(
                    [tuple(row.items()) async for row in dump_rows(tx, table, person)], key=repr
                )
    return found


def without_numbers(rows: Mapping[str, list[Row]]) -> dict[str, list[Row]]:
    """The same without what a merge changes for good."""
    return {
        name: sorted(
            (
                tuple(
                    (column, value)
                    for column, value in row
                    if (name, column) not in CHANGED
                    and (name, column) != ("session", "status")
                    and column not in {"closed_at", "close_trigger"}
                )
                for row in each
            ),
            key=repr,
        )
        for name, each in rows.items()
        if name not in DROPPED
    }


async def fill(install: Install, write) -> PersonId:
    """Something in every table, of Ana and, where an export has it, of Ben; his id."""
    await live_fully_in(install, write)
    async with install.db.begin_write() as tx:
        ben = await ensure_person(tx, "Ben", now=9, zone="UTC")
        for statement in (
            "UPDATE person SET last_change = 1",  # as the rows in the journal say
            """UPDATE delivered SET reply =
                 (SELECT min(m.id) FROM message m WHERE m.person = delivered.person)""",
            """UPDATE project_span SET chat =
                 (SELECT min(c.id) FROM chat c WHERE c.person = project_span.person)""",
            """UPDATE memory_vector SET memory =
                 (SELECT min(b.id) FROM memory b WHERE b.person = memory_vector.person)""",
        ):
            await tx.run(statement)
    return ben.id


async def merge_into_ben(install: Install) -> PersonMerge:
    """Merge the person of the install into Ben."""
    async with install.db.begin_write() as tx:
        ben = await ensure_person(tx, "Ben", now=9, zone="UTC")
        for each in sorted((ben.id, install.person.id)):
            await lock_person(tx, each)
        return await move_rows(tx, ben.id, install.person.id, now=9, undo_until=9 + MONTH)


async def test_every_row_moves_and_comes_back(install: Install, write) -> None:
    """In every table, also in what an export leaves out; only numbers stay raised."""
    ben = await fill(install, write)
    mine = await rows_of(install.db, install.person.id)
    bens = await rows_of(install.db, ben)
    assert all(rows for name, rows in mine.items() if name != "web_challenge")

    merge = await merge_into_ben(install)
    named = [row for name in NUMBERED for row in without_numbers(mine)[name]]

    left = await rows_of(install.db, install.person.id)
    together = await rows_of(install.db, ben)
    assert not any(left.values())
    for name, rows in mine.items():
        once = name in {"person", *SETTINGS, *DROPPED, "tombstone"}
        assert len(together[name]) >= len(bens[name]) + (0 if once else len(rows)), name
    known = {repr(row) for name in NUMBERED for row in without_numbers(together)[name]}
    assert {repr(row).replace(merge.former, merge.person) for row in named} <= known
    async with install.db.begin_read() as tx:
        for table in await tx.list_tables():
            for row in await tx.rows(f"SELECT * FROM {table.name}"):
                is_known = table.name in {"person_merge", "merged_row", "job", "job_partition"}
                assert is_known or install.person.id not in row, table.name

    async with install.db.begin_write() as tx:
        await lock_person(tx, ben)
        await move_back(tx, merge, install.person.name, now=10)

    assert without_numbers(await rows_of(install.db, install.person.id)) == without_numbers(mine)
    after = without_numbers(await rows_of(install.db, ben))
    before = without_numbers(bens)
    assert {**after, **dict.fromkeys(SETTINGS)} == {**before, **dict.fromkeys(SETTINGS)}
