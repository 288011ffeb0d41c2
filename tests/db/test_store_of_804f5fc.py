"""A store that commit 804f5fc left, the version before names and storage changed, opens whole.

That version made it with its own commands (``released/make_store_804f5fc.py``): two people told it
things in four languages, a value was corrected, a belief denied, an old chat came in, one message
was forgotten, and it was killed before it had answered the last one. Beside the store lie what that
version exported of it, and what its commands said of it.
"""

import asyncio
import gzip
import json
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.cli.database_commands import find_mismatches
from oldfriend.config.keys import DELETION_KEY_VARIABLE
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.db.schema import load_migrations
from oldfriend.db.sqlite.sqlite_database import open_sqlite
from oldfriend.domain.clock import HOUR
from oldfriend.domain.ids import PersonId
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.people import list_people
from oldfriend.queues.queue import list_jobs
from oldfriend.runtime.schema_check import list_schema_faults
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from oldfriend.transfer.export_run import export_lines
from tests.clock import FrozenClock
from tests.processes import Program

RELEASED = Path(__file__).parent / "released"
TOLD: dict[str, Any] = json.loads((RELEASED / "store_804f5fc.json").read_text("utf-8"))
BEFORE = tuple(step for step in load_migrations() if step.version <= 20)
PACKED = {"receipt", "receipt_item"}
"""What is kept in another form now; ``test_conversions.py`` shows that it says the same."""
COUNTS = {"embedded", "weighed"}
"""How often something was changed, so that caches notice it: a restored store goes on counting."""
FORGOTTEN = ("gambling", "Golden Heron", "4711 euros")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A copy of that store."""
    path = tmp_path / "data" / "oldfriend.db"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(gzip.decompress((RELEASED / "store_804f5fc.db.gz").read_bytes()))
    return path


@pytest.fixture
def old_export(tmp_path: Path) -> Path:
    """What that version exported of it, as a file."""
    path = tmp_path / "old.jsonl"
    path.write_bytes(gzip.decompress((RELEASED / "store_804f5fc.jsonl.gz").read_bytes()))
    return path


@pytest.fixture
async def app(store: Path) -> AsyncIterator[AppContext]:
    """The store as it is opened today, an hour after it was left."""
    last = max(row["written_at"] for row in rows_of(unpacked_export(), "message"))
    settings = Settings(
        data=store.parent,
        database=f"sqlite:///{store}",
        zone="Etc/UTC",
        language="en",
        environment={DELETION_KEY_VARIABLE: TOLD["forgetting_key"]},
    )
    async with open_app(settings, clock=FrozenClock(last + HOUR)) as opened:
        yield opened


@pytest.fixture
def program(store: Path, tmp_path: Path) -> Program:
    """The command line of today on the store, with the key for forgetting where it was left."""
    keys = tmp_path / ".config" / "oldfriend" / "keys.toml"
    keys.parent.mkdir(mode=0o700, parents=True)
    keys.write_text(f'forgetting = "{TOLD["forgetting_key"]}"\n')
    keys.chmod(0o600)
    return Program(data=store.parent)


def unpacked_export() -> list[dict[str, Any]]:
    """What that version exported, row by row."""
    text = gzip.decompress((RELEASED / "store_804f5fc.jsonl.gz").read_bytes()).decode()
    return parse_rows(text.split("\n"))


def parse_rows(lines: list[str]) -> list[dict[str, Any]]:
    """The rows of an export, without its first and its last line."""
    return [row for row in map(json.loads, filter(None, lines)) if "type" in row]


def rows_of(rows: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """Those of one kind."""
    return [row for row in rows if row["type"] == kind]


async def rows_in(db: Database) -> list[dict[str, Any]]:
    """What is exported of a store now, row by row."""
    return parse_rows([line async for line in export_lines(db, person=None, now=0)])


def without_counts(row: dict[str, Any]) -> dict[str, Any]:
    """A row without what only counts changes."""
    return {name: value for name, value in row.items() if name not in COUNTS}


def beliefs_of(program: Program, person: str) -> dict[str, dict[str, Any]]:
    """All that is or was believed of somebody, as the command tells it, by its id."""
    shown = ("kind", "text", "status", "key", "value", "due_at")
    listed = program.done("--person", person, "memory", "list", "--all", "--json").json
    return {each["id"]: {name: each.get(name) for name in shown} for each in listed}


def exported(program: Program, path: Path) -> list[dict[str, Any]]:
    """All that is kept, row by row."""
    program.done("export", path)
    return parse_rows(path.read_text("utf-8").split("\n"))


async def test_migration_keeps_every_row_except_summaries(app: AppContext) -> None:
    """Each message, belief, decision, import, and all else, under its id and with each value.

    All but the summaries: they were sentences that rules had pasted, and are gone.
    """
    before, now = defaultdict(list), defaultdict(list)
    for row in unpacked_export():
        if "summary" not in (row["type"], row.get("kind")):
            before[row["type"]].append(row)
    for row in await rows_in(app.db):
        now[row["type"]].append(row)

    for kind in before.keys() - PACKED:
        known = before[kind][0].keys()  # today's rows may tell more
        assert [{name: row[name] for name in known} for row in now[kind]] == before[kind]
    assert now["summary"] == []
    replies = [(row["id"], row["asked"], row["replied"]) for row in before["receipt"]]
    assert [(row["id"], row["asked"], row["replied"]) for row in now["receipt"]] == replies


async def test_migrated_store_passes_integrity_and_schema_checks(app: AppContext) -> None:
    """Its bytes are sound, no table lacks anything, and each belief is what was decided of it."""
    async with app.db.begin_read() as tx:
        people = await list_people(tx)
        mismatches = [await find_mismatches(tx, person.id) for person in people]

    assert [person.name for person in people] == TOLD["people"]
    assert mismatches == [[], []]
    assert await list_schema_faults(app.db) == []
    assert await app.db.check_integrity() == []


async def test_migration_backup_opens_with_the_old_version(store: Path, app: AppContext) -> None:
    """A sound copy that the old version can go on with."""
    assert app.migration_backup == store.with_name("oldfriend.db.before-21")
    backup = open_sqlite(app.migration_backup, migrations=BEFORE)
    faults = await backup.check_integrity()
    async with backup.begin_read() as tx:
        messages = await tx.rows("SELECT id FROM message ORDER BY id")
    await backup.close()

    assert faults == []
    assert len(messages) == len(rows_of(unpacked_export(), "message"))


async def test_pending_inbox_job_is_answered_after_migration(app: AppContext) -> None:
    """By today's worker, once, in the words of the language it was said in."""
    (letter,) = (each for each in TOLD["letters"] if each["queue"] == "inbox")
    (waiting,) = (
        row for row in rows_of(unpacked_export(), "message") if row["text"] == TOLD["waiting"]
    )
    stopping = asyncio.Event()
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        tasks.create_task(run_worker(app, stopping=stopping))
        while letter["id"] in await open_jobs(app):  # noqa: ASYNC110 - nothing rings at its end
            await asyncio.sleep(0.02)
        stopping.set()

    async with app.db.begin_read() as tx:
        told = await list_messages(tx, PersonId(waiting["person"]))
    *_, asked, reply = told
    assert (asked.id, reply.role) == (waiting["id"], "companion")
    assert "the boat is moored at pier nine" in reply.text


async def open_jobs(app: AppContext) -> set[str]:
    """The names of all that waits."""
    async with app.db.begin_read() as tx:
        jobs = await list_jobs(tx, is_dead_letter=False)
    return {f"{job.queue}/{job.partition}/{job.seq}" for job in jobs}


@pytest.mark.slow
def test_commands_show_the_same_after_migration(program: Program) -> None:
    """Of each belief, import and job, and of who the companion is."""
    jobs = program.done("jobs", "--json").json
    former = [{name: each[name] for name in TOLD["letters"][0]} for each in jobs]
    assert former == TOLD["letters"]  # fields have got names beside these
    assert program.done("import", "list").stdout == TOLD["imports"]
    assert program.done("core", "--json").json == TOLD["core"]
    assert program.done("core", "name", "--json").json == TOLD["name"]
    assert {who: beliefs_of(program, who) for who in TOLD["people"]} == TOLD["beliefs"]
    for who in TOLD["people"]:
        program.done("--person", who, "rebuild", "--check")


@pytest.mark.slow
def test_forgotten_message_stays_forgotten_after_migration(
    program: Program, tmp_path: Path
) -> None:
    """It is in no file of the data folder, is not found, and does not come in again."""
    program.done("migrate")
    kept = b"".join(path.read_bytes() for path in program.data.rglob("*") if path.is_file())
    found = program("recall", "How high are my gambling debts?").stdout
    chat = tmp_path / "chat.txt"
    chat.write_text(f"03/05/2026, 18:30 - Nora: {TOLD['forgotten']}\n")
    again = program.done("import", chat, "--me", "Nora").stdout

    assert [words for words in FORGOTTEN if words.encode() in kept or words in found] == []
    assert "1 was forgotten and stays out" in again
    assert program("recall", "gambling debts at the Golden Heron").stdout.count("Heron") == 0


@pytest.mark.slow
def test_migrated_store_recalls_answers_learns_and_passes_doctor(program: Program) -> None:
    """Old words are found, what waits is done, what was denied stays so, and all is sound."""
    status = program.done("status").stdout
    found = program.done("recall", "Where is the spare key?", "--json").json
    answer = program.done("say", "Where does my brother live?").stdout
    program.done("say", "I play the cello.")
    program.done("consolidate", "--now")
    believed = {each["id"]: each for each in program.done("facts", "--json").json}
    doctor = program.done("doctor").stdout

    assert "to answer: 1 message" in status
    assert "Mrs. Lopes" in found[0]["text"]
    assert "Hamburg" in answer
    owned = TOLD["beliefs"]["owner"].items()
    denied = {name for name, each in owned if each["status"] == "rejected"}
    assert denied
    assert not denied & believed.keys()
    assert not any("green" in each["text"] for each in believed.values())
    assert "is sound" in doctor


@pytest.mark.slow
@pytest.mark.parametrize("by", ["that version", "this one"])
def test_export_restores_the_same_beliefs_into_an_empty_store(
    by: str, program: Program, old_export: Path, tmp_path: Path
) -> None:
    """An export of it, made by either version and restored elsewhere, gives the same beliefs."""
    rows = exported(program, tmp_path / "all.jsonl")
    elsewhere = Program(data=tmp_path / "elsewhere")
    elsewhere.done("import", old_export if by == "that version" else tmp_path / "all.jsonl")

    again = exported(elsewhere, tmp_path / "again.jsonl")  # to list beliefs reads what is unread
    assert [without_counts(row) for row in again] == [without_counts(row) for row in rows]
    assert {who: beliefs_of(elsewhere, who) for who in TOLD["people"]} == TOLD["beliefs"]


@pytest.mark.slow
def test_second_migration_changes_nothing(program: Program) -> None:
    """It is brought up to date once, and then not a byte is changed."""
    first = program.done("migrate").stdout
    kept = {
        path: path.read_bytes() for path in program.data.glob("oldfriend.db*") if path.is_file()
    }
    second = program.done("migrate").stdout

    assert "oldfriend.db.before-21" in first
    assert "up to date" in second
    assert len(kept) == 2
    assert {path: path.read_bytes() for path in kept} == kept
