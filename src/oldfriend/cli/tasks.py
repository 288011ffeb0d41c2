"""oldfriend tasks: lists reminders and to-dos, ends one, and exchanges them with calendars."""

import argparse
import asyncio
from dataclasses import asdict
from pathlib import Path

from oldfriend.cli.open_context import get_selected_person, open_from_options
from oldfriend.cli.output import dumps
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import MIN_ID_CHARS
from oldfriend.domain.json import JsonValue
from oldfriend.memory.calendar_feeds import renew_feed, revoke_feed
from oldfriend.presenters.task_schemas import TaskSchema
from oldfriend.proactive.look_planner import plan_next_look
from oldfriend.tasks.calendar_files import write_calendar
from oldfriend.tasks.calendar_imports import import_calendar as bring_calendar
from oldfriend.tasks.task_desk import TaskDesk
from oldfriend.tasks.task_edits import TaskAction, edit_task, open_desk
from oldfriend.tasks.task_store import list_tasks
from oldfriend.transfer.sandbox_process import read_calendar_in_sandbox

USAGE_HELP = (
    "Use `oldfriend tasks` to list them, `oldfriend tasks done NUMBER` to mark one as done, "
    "or `oldfriend tasks cancel NUMBER` to take one off the list (an id does as well); or export "
    "FILE, import FILE (.ics); "
    "`oldfriend tasks feed` makes a secret address for calendars, and `feed off` ends it."
)


async def run(options: argparse.Namespace) -> int:
    """List tasks, or end one. Raises InvalidInput."""
    match options.what:
        case []:
            return await print_tasks(options)
        case ["done", task]:
            return await end_task(options, task, "done")
        case ["cancel", task]:
            return await end_task(options, task, "cancel")
        case ["export", file]:
            return await export_tasks(options, Path(file))
        case ["import", file]:
            return await import_calendar(options, Path(file))
        case ["feed"]:
            return await make_feed(options)
        case ["feed", "off"]:
            return await end_feed(options)
    raise InvalidInput(f"{' '.join(options.what)[:40]!r} cannot be done with tasks. {USAGE_HELP}")


async def print_tasks(options: argparse.Namespace) -> int:
    """Print the tasks that are open."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
            desk = await open_desk(tx, person, now=app.clock())
        if options.json:
            rows: list[JsonValue] = [
                asdict(TaskSchema.from_domain(each, zone=person.zone)) for each in desk.tasks
            ]
            print(dumps(rows, indent=2))
        else:
            print(desk.wording.list_tasks(desk.tasks))
    return 0


async def end_task(options: argparse.Namespace, task: str, action: TaskAction) -> int:
    """Mark a task as done, or cancel it."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_write() as tx:
            person, now = await get_selected_person(tx, options), app.clock()
            desk = await open_desk(tx, person, now=now)
            _, decision = await edit_task(tx, person, find_id(desk, task), action, now=now)
        print(decision.text)
    return 0


def find_id(desk: TaskDesk, task: str) -> str:
    """Return the id of the task with a number in the list; what is no such number is an id."""
    number = int(task) if task.isdecimal() and len(task) < MIN_ID_CHARS else 0
    return desk.tasks[number - 1].id if 1 <= number <= len(desk.tasks) else task


async def export_tasks(options: argparse.Namespace, file: Path) -> int:
    """Write the open tasks to a calendar file. Raises InvalidInput."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        tasks = await list_tasks(tx, person.id)
    content = write_calendar(tasks)
    try:
        await asyncio.to_thread(file.write_bytes, content)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be written: {error.strerror}.") from error
    print(f"Wrote {len(tasks)} to {file}.")
    return 0


async def make_feed(options: argparse.Namespace) -> int:
    """Print the secret address of a new feed; an earlier one opens nothing any more."""
    async with open_from_options(options, create=False) as app, app.db.begin_write() as tx:
        person = await get_selected_person(tx, options)
        secret = await renew_feed(tx, person.id, now=app.clock())
    print(
        "Give your calendar this address of your Oldfriend's page; whoever knows it reads your "
        f"reminders: /calendar/{secret}.ics"
    )
    return 0


async def end_feed(options: argparse.Namespace) -> int:
    """Revoke the feed."""
    async with open_from_options(options, create=False) as app, app.db.begin_write() as tx:
        person = await get_selected_person(tx, options)
        await revoke_feed(tx, person.id)
    print("No calendar can read your reminders any more.")
    return 0


async def import_calendar(options: argparse.Namespace, file: Path) -> int:
    """Put what is to come in a calendar file on the list. Raises InvalidInput."""
    try:
        content = await asyncio.to_thread(file.read_bytes)
    except OSError as error:
        raise InvalidInput(f"{file} cannot be read: {error.strerror}.") from error
    async with open_from_options(options, create=False) as app:
        now = app.clock()
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        entries, refused = await asyncio.to_thread(
            read_calendar_in_sandbox, content, zone=person.zone, now=now
        )
        async with app.db.begin_write() as tx:
            done = await bring_calendar(tx, person, entries, content, file=file.name, now=now)
            await plan_next_look(tx, person.id, now=now)
    changes = [each for each in done.entries if each.decision.saved]
    ended = sum(bool(each.entry.ending) for each in changes)
    changed = len(changes) - ended
    full = sum(each.decision.is_full for each in done.entries)
    known = len(done.entries) - len(changes) - full
    refused += done.unused
    print(f"Added or moved {changed}; {known} were there, {len(refused)} are over or unusable.")
    if ended:
        print(f"Taken off, as the calendar says that it is over: {ended}.")
    if done.number is not None:
        print(f"This was import {done.number}; undo it with: oldfriend import undo {done.number}")
    if full:
        print(f"  The list is full: {full} not added.")
    for line in refused:
        print(f"  {line}")
    return 0
