"""Two people whose merge is killed at any statement are still two, and one at the next try."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.db.merge_record import list_merges
from oldfriend.domain.ids import PersonId
from oldfriend.inbound.person_merge import undo_merge
from oldfriend.memory.people import find_person, get_person
from oldfriend.runtime.wiring import open_app
from tests.chat_fixtures import Say
from tests.conftest import SIZE
from tests.engines import SEVERAL_PROCESSES
from tests.merging import AFTER_COMMIT, BEFORE_COMMIT

MESSAGES, DEATHS = (100_000, 12) if SIZE == "full" else (300, 3)
"""Of each of the two, and how often the merge is killed on its way."""
LONGEST_S = 900
FILL = """WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < :count)
    INSERT INTO message (id, version, person, seq, chat, session, role, author, speaker, trust,
      text, said_at, zone, language, tokens, turn, external_id, batch, details, imprint, written_at)
    SELECT m.id || '/' || n.x, 1, m.person, p.last_seq + n.x, m.chat, m.session, m.role, m.author,
      m.speaker, m.trust, m.text || ' ' || n.x, m.said_at, m.zone, m.language, m.tokens, NULL,
      NULL, NULL, m.details, m.imprint, m.written_at
    FROM message m JOIN person p ON p.id = m.person, n
    WHERE m.person = :person AND m.role = 'person' AND m.version = 1"""
"""Multiplies the only message of a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """How many messages somebody has, and how many different numbers these have."""

    messages: int
    numbers: int


async def fill(app: AppContext, person: PersonId) -> None:
    """Let somebody have said much."""
    async with app.db.begin_write() as tx:
        await tx.run(FILL, person=person, count=MESSAGES)
        await tx.run(
            "UPDATE person SET last_seq = last_seq + :count WHERE id = :person",
            person=person,
            count=MESSAGES,
        )


async def read_log(settings: Settings, person: PersonId) -> Log:
    """Count what somebody has; opened anew, as after the end of a process."""
    async with open_app(settings) as app, app.db.begin_read() as tx:
        row = await tx.row(
            "SELECT count(*), count(DISTINCT seq) FROM message WHERE person = :person",
            person=person,
        )
    assert row is not None
    return Log(messages=row[0], numbers=row[1])


def merge(
    settings: Settings, kept: PersonId, former: PersonId, step: int = 0
) -> "subprocess.CompletedProcess[str]":
    """Merge two people in a process of its own."""
    database, folder = settings.database, str(settings.data)
    module = [sys.executable, "-m", "tests.merging"]
    return subprocess.run(
        [*module, database, folder, kept, former, str(step)],
        capture_output=True,
        text=True,
        timeout=LONGEST_S,
        env={"PATH": os.defpath, "HOME": folder, "OMP_NUM_THREADS": "1"},
        check=False,
    )


@pytest.mark.slow
@pytest.mark.timeout(2 * LONGEST_S)
@SEVERAL_PROCESSES
async def test_merge_that_is_killed_is_done_whole_or_not_at_all(
    app: AppContext, settings: Settings, say: Say
) -> None:
    """Before statements from the first to the commit, and right after that; then it is undone."""
    await say("I live in Lisbon.")
    await say("I live in Berlin.", person="Ben")
    async with app.db.begin_read() as tx:
        kept, former = (await get_person(tx, None)).id, (await get_person(tx, "Ben")).id
    for each in (kept, former):
        await fill(app, each)
    before = [await read_log(settings, each) for each in (kept, former)]

    counted = merge(settings, kept, former)
    assert counted.returncode == 0, counted.stderr
    steps, seconds = counted.stdout.split()
    began = time.monotonic()
    await undo_last(app, kept)
    undone = time.monotonic() - began
    sys.stdout.write(
        f"{MESSAGES} messages of each: {steps} statements, {seconds} s; undone in {undone:.3f} s\n"
    )
    assert [await read_log(settings, each) for each in (kept, former)] == before

    for step in (*range(1, int(steps), max(1, int(steps) // DEATHS)), BEFORE_COMMIT):
        died = merge(settings, kept, former, step)
        assert died.returncode == -9, died.stderr
        assert [await read_log(settings, each) for each in (kept, former)] == before
    assert merge(settings, kept, former, AFTER_COMMIT).returncode == -9

    whole = await read_log(settings, kept)
    assert whole.messages == whole.numbers == sum(each.messages for each in before)
    async with app.db.begin_read() as tx:
        assert await find_person(tx, "Ben") is None
    await undo_last(app, kept)
    assert [await read_log(settings, each) for each in (kept, former)] == before


async def undo_last(app: AppContext, person: PersonId) -> None:
    """Make two of one again."""
    async with app.db.begin_read() as tx:
        (last,) = await list_merges(tx, person, now=app.clock())
    await undo_merge(app.db, app.clock, app.settings, person, last.id)
