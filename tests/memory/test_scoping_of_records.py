"""Reminders, diary entries and numbers are each person's own: every statement there is shows it.

As ``test_scoping`` does for the memory: two people keep the same, and no statement that is run for
one of them gives back anything of the other's.
"""

import ast
import importlib
import pkgutil
from datetime import date
from pathlib import Path
from types import ModuleType

import pytest

from oldfriend import diary, goals, measurements, proactive, projects, tasks, watches
from oldfriend.db.database import Database
from oldfriend.diary import diary_store
from oldfriend.diary.diary_store import DiaryEntry, DiaryFilter
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId, new_id, new_random_id
from oldfriend.measurements import measurement_store
from oldfriend.measurements.measurement_store import Measurement
from oldfriend.tasks import task_store
from oldfriend.tasks.task import Task
from tests.memory.test_scoping import (
    Recorder,
    ids_of,
    names_the_person,
    plain,
    recorded,
    sql_in,
    tables_of_people,
)
from tests.two_people import Friend, Meet

PACKAGES = (diary, goals, measurements, proactive, projects, tasks, watches)
SHOWN = (diary_store, measurement_store, task_store)
OF_EVERYBODY = {
    "has_connections": "whether anybody has a ring, whoever it is; nothing of theirs",
    "list_connected": "whose ring a process reads each day; nothing that was read",
    "list_unscheduled_tasks": "the reminders that a process that starts has to plan, each told "
    "only to its own person",
}


def statements(module: ModuleType) -> list[tuple[str, str]]:
    """The SQL of a module, each with the function or constant in which it stands."""
    assert module.__file__ is not None
    tree = ast.parse(Path(module.__file__).read_text("utf-8"))
    return [
        (getattr(part, "name", module.__name__), sql)
        for part in tree.body
        for sql in sql_in(part, vars(module))
    ]


async def test_every_statement_names_the_person(db: Database) -> None:
    """Read from the source of each package that keeps records of people."""
    async with db.begin_read() as tx:
        tables = await tables_of_people(tx)
    modules = [
        importlib.import_module(f"{package.__name__}.{each.name}")
        for package in PACKAGES
        for each in pkgutil.iter_modules(package.__path__)
    ]
    nameless = {
        name
        for module in modules
        for name, sql in statements(module)
        if not names_the_person(sql, tables)
    }
    assert nameless == OF_EVERYBODY.keys()


async def keep(tx: Recorder, friend: Friend) -> tuple[Task, DiaryEntry, Measurement]:
    """One record of each kind."""
    said = await friend.says_in(tx, f"{friend.person.name}'s secret")
    assert said is not None
    person, now = friend.person.id, friend.clock()
    task = Task(
        id=new_random_id(),
        person=person,
        chat=friend.chat.id,
        message=said.id,
        message_seq=said.seq,
        text=f"tell {friend.person.name}",
        language="en",
        kind="reminder",
        zone="UTC",
        due_at=now,
        created_at=now,
        changed_at=now,
    )
    entry = DiaryEntry(
        id=new_id(now),
        person=person,
        text=f"{friend.person.name} wrote",
        written_at=now,
        zone="UTC",
        created_at=now,
        modified_at=now,
        tags=(friend.person.name,),
        message=said.id,
        message_seq=said.seq,
    )
    number = Measurement(
        id=new_id(now),
        person=person,
        name="weight",
        day=entry.day,
        measured_at=now,
        zone="UTC",
        value=71.4,
        unit="kg",
        message=said.id,
        message_seq=said.seq,
    )
    await task_store.save_task(tx, task)
    await diary_store.save_entries(tx, person, [entry])
    await measurement_store.save_measurements(tx, person, [number], now=now)
    return task, entry, number


async def look(tx: Recorder, friend: Friend, others: tuple[Task, DiaryEntry, Measurement]) -> None:
    """Everything that reads, also by the ids of the other's records."""
    person, (task, entry, number) = friend.person.id, others
    assert await task_store.find_task(tx, person, task.id) is None
    with pytest.raises(NotFound):
        await task_store.get_task(tx, person, task.id)
    assert len(await task_store.list_tasks(tx, person)) == 1
    assert await diary_store.find_entry(tx, person, entry.id) is None
    assert len(await diary_store.list_entries(tx, person, DiaryFilter())) == 1
    assert len((await diary_store.list_entry_page(tx, person, limit=5))[0]) == 1
    assert len(await diary_store.list_tags(tx, person)) == 1
    if entry.message is not None:
        assert await diary_store.list_entries_of_message(tx, person, entry.message) == []
    assert (await diary_store.compute_stats(tx, person, DiaryFilter())).entries == 1
    day: date = entry.day
    await diary_store.list_on_this_day(tx, person, day.month, day.day, limit=5)
    assert not await diary_store.delete_entry(tx, person, entry.id)
    assert len(await measurement_store.list_measurements(tx, person, "weight")) == 1
    assert await measurement_store.find_latest(tx, person, "weight") is not None
    assert number.message is not None
    assert await measurement_store.list_of_message(tx, person, number.message) == []
    assert len(await measurement_store.list_told_lately(tx, person, since=0)) == 1
    assert len(await measurement_store.list_kept_measures(tx, person)) == 1
    assert len(await measurement_store.list_told_since(tx, person, "weight", since=0)) == 1
    await measurement_store.delete_message_measurements(tx, person, [MessageId(number.message)])
    assert not await measurement_store.delete_measurement(tx, person, number.id, now=0)


async def test_no_statement_gives_back_what_is_anothers(meet: Meet) -> None:
    """And each is run: a new one belongs into the tour above."""
    friends = [await meet("Nora"), await meet("Omar")]
    kept: list[tuple[Task, DiaryEntry, Measurement]] = []
    run: set[str] = set()
    for friend in friends:
        async with recorded(friend) as tx:
            kept.append(await keep(tx, friend))
        run |= {plain(sql) for sql, _, _ in tx.seen}
    for friend, other, theirs in zip(friends, friends[::-1], kept[::-1], strict=True):
        async with recorded(friend) as tx:
            await look(tx, friend, theirs)
        run |= {plain(sql) for sql, _, _ in tx.seen}
        foreign = await ids_of(friend.db, other.person.id)
        foreign -= await ids_of(friend.db, friend.person.id)
        leaked = {
            cell
            for _, _, rows in tx.seen
            for row in rows
            for cell in row
            if isinstance(cell, str) and cell in foreign
        }
        assert not leaked
    for friend, (_, _, number) in zip(friends, kept, strict=True):
        async with recorded(friend) as tx:
            assert await measurement_store.delete_measurement(
                tx, friend.person.id, number.id, now=0
            )
        run |= {plain(sql) for sql, _, _ in tx.seen}

    never = {
        name
        for module in SHOWN
        for name, sql in statements(module)
        if name not in OF_EVERYBODY and not any(begins_alike(sql, each) for each in run)
    }
    assert never == set()


def begins_alike(sql: str, run: str) -> bool:
    """Whether a statement that was run has the parts of one in the source, in order."""
    place = 0
    for part in sql.split("…"):
        place = run.find(part, place)
        if place < 0:
            return False
        place += len(part)
    return True
