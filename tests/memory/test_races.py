"""Many write at once, in this process and in others, and everything is as if they had queued."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from oldfriend.db.database import Database
from oldfriend.domain.clock import MINUTE
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.import_batches import ImportSource, start_or_resume_batch
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend.memory.journal import Provenance, list_journal, list_view_mismatches, record_decision
from oldfriend.memory.message_log import WriteTarget, edit_message, get_message, write_message
from oldfriend.memory.notes import learn_note, list_notes
from oldfriend.memory.people import ensure_chat, ensure_companion, ensure_owner, ensure_person
from oldfriend.memory.sessions import ensure_open_session
from tests.engines import SEVERAL_PROCESSES
from tests.processes import line_of, python
from tests.two_people import Friend

AT_ONCE = 24

MEETER = """
import asyncio, sys
from oldfriend.runtime.wiring import open_database
from tests.memory.test_races import get_to_know

async def run(url):
    db = await open_database(url)
    print("ready", flush=True)
    sys.stdin.readline()
    ids = [await get_to_know(db, f"friend {number}") for number in range(20)]
    await db.close()
    print(ids, flush=True)

asyncio.run(run(sys.argv[1]))
"""


async def all_at_once(work: Callable[[int], Awaitable[None]]) -> None:
    """Run it many times at once, each by number."""

    async def one(number: int) -> None:
        await work(number)

    async with asyncio.TaskGroup() as tasks:
        for number in range(AT_ONCE):
            tasks.create_task(one(number))


async def get_to_know(db: Database, name: str) -> tuple[str, str, str, str]:
    """What opening a line does."""
    async with db.begin_write() as tx:
        owner = await ensure_owner(tx, now=0, zone="UTC")
        person = await ensure_person(tx, name, now=0, zone="UTC")
        companion = await ensure_companion(tx, now=0)
        chat = await ensure_chat(
            tx, person, companion, channel="terminal", address=name, title="", now=0
        )
    return owner.id, person.id, companion.id, chat.id


async def test_concurrent_first_contacts_create_each_person_and_chat_once(db: Database) -> None:
    """The owner, the companion, a person and their chat, however many doors they come through."""
    found: list[tuple[str, ...]] = []

    async def meet(number: int) -> None:
        found.append(await get_to_know(db, f"friend {number % 3}"))

    await all_at_once(meet)

    assert len(set(found)) == 3
    assert len({(owner, companion) for owner, _, companion, _ in found}) == 1


@pytest.mark.slow
@SEVERAL_PROCESSES
async def test_concurrent_processes_create_the_same_person_once(
    db: Database, database_url: str
) -> None:
    """Also when nobody has ever talked here."""
    with python(MEETER, database_url) as one, python(MEETER, database_url) as two:
        assert line_of(one.stdout) == line_of(two.stdout) == "ready"
        for process in (one, two):
            process.stdin.write(b"go\n")
            process.stdin.flush()
        assert line_of(one.stdout) == line_of(two.stdout) != ""


async def test_concurrent_writes_get_gapless_unique_seqs_and_one_open_session(nora: Friend) -> None:
    """And at most one session is open, though each comes after a long pause."""

    async def say(number: int) -> None:
        at = number * 40 * MINUTE
        async with nora.db.begin_write() as tx:
            place = WriteTarget(
                chat=nora.chat, session=await ensure_open_session(tx, nora.chat, at)
            )
            spoken = UnloggedMessage(role="person", speaker="", text="x", at=at, trust="person")
            await write_message(tx, place, spoken, now=at)

    await all_at_once(say)

    async with nora.db.begin_read() as tx:
        seqs = [row[0] for row in await tx.rows("SELECT seq FROM message ORDER BY seq")]
        statuses = [row[0] for row in await tx.rows("SELECT status FROM session")]
        last = await tx.row("SELECT last_seq FROM person WHERE id = :id", id=nora.person.id)
    assert seqs == list(range(1, AT_ONCE + 1))
    assert last == (AT_ONCE,)
    assert statuses.count("open") == 1


async def test_concurrent_edits_become_consecutive_message_versions(nora: Friend) -> None:
    """Each is a version of its own, and one of them holds now."""
    said = await nora.says("first")
    assert said is not None

    async def edit(number: int) -> None:
        async with nora.db.begin_write() as tx:
            await edit_message(tx, nora.person.id, said.id, f"edit {number}", now=number)

    await all_at_once(edit)

    async with nora.db.begin_read() as tx:
        rows = await tx.rows("SELECT version, replaced_at FROM message ORDER BY version")
        newest = await get_message(tx, nora.person.id, said.id)
    assert [row[0] for row in rows] == list(range(1, AT_ONCE + 2))
    assert [row[1] is None for row in rows] == [False] * AT_ONCE + [True]
    assert newest.version == AT_ONCE + 1


async def test_concurrent_duplicate_notes_are_stored_once(nora: Friend) -> None:
    """With as much evidence, and a journal that folds to it."""

    async def remember(number: int) -> None:
        async with nora.db.begin_write() as tx:
            said = await nora.says_in(tx, f"Remember: the key is red ({number})")
            assert said is not None
            await learn_note(tx, "the key is red", source=said, author="rules/1", now=number)

    await all_at_once(remember)

    async with nora.db.begin_read() as tx:
        (note,) = await list_notes(tx, nora.person.id)
        assert len((await list_evidence(tx, nora.person.id))[note.id]) == AT_ONCE
        assert [change.seq for change in await list_journal(tx, nora.person.id)] == [1]
        assert await list_view_mismatches(tx, nora.person.id) == []


async def test_concurrent_decisions_on_the_same_base_keep_only_one(nora: Friend) -> None:
    """The others rest on what has changed, and their numbers are given to nobody else."""
    said = await nora.says("Remember: the key is red")
    assert said is not None
    async with nora.db.begin_write() as tx:
        note = await learn_note(tx, "the key is red", source=said, author="rules/1", now=0)
    stale = 0

    async def change(number: int) -> None:
        nonlocal stale
        try:
            async with nora.db.begin_write() as tx:
                ground = Provenance(author=f"{number}")
                await record_decision(tx, note, op="ended", base=1, provenance=ground, now=number)
        except StaleDecision:
            stale += 1

    await all_at_once(change)

    async with nora.db.begin_read() as tx:
        assert [each.seq for each in await list_journal(tx, nora.person.id)] == [1, 2]
    assert stale == AT_ONCE - 1


async def test_concurrent_overlapping_imports_store_each_message_once(nora: Friend) -> None:
    """Two exports that overlap, imported side by side."""
    target = ImportTarget(chat=nora.chat, language="en")
    told = [
        ImportedMessage(
            message=UnloggedMessage(
                role="person",
                speaker="Nora",
                text=f"said {number}",
                at=number * MINUTE,
                trust="person",
                external_id=f"id {number}",
            )
        )
        for number in range(20)
    ]
    added: list[int] = []

    async def bring_some(number: int) -> None:
        async with nora.db.begin_write() as tx:
            some = told[number % 5 :]
            added.append((await write_imported_messages(tx, target, some, now=number)).added)

    await all_at_once(bring_some)

    async with nora.db.begin_read() as tx:
        assert await tx.row("SELECT count(*), max(version) FROM message") == (20, 1)
    assert sum(added) == 20


async def test_concurrent_starts_of_one_import_share_a_batch(nora: Friend) -> None:
    """And imports of other files have numbers of their own."""
    numbers: list[int] = []

    async def begin(number: int) -> None:
        sha256 = f"{number % 4}"
        reading = ImportSource(file="f", format="text", sha256=sha256, me="", zone="UTC")
        async with nora.db.begin_write() as tx:
            numbers.append((await start_or_resume_batch(tx, nora.person.id, reading, now=0)).number)

    await all_at_once(begin)

    assert sorted(set(numbers)) == [1, 2, 3, 4]


@pytest.mark.parametrize("engine", ["postgres"], indirect=True)
async def test_writes_for_different_people_do_not_block_each_other_on_postgres(
    nora: Friend, omar: Friend
) -> None:
    """On a server; a file has one lock."""
    async with nora.db.begin_write() as hers:
        await nora.says_in(hers, "a long story")
        async with asyncio.timeout(2):
            said = await omar.says("meanwhile")

    assert said is not None
