"""Calendar imports: what a calendar file puts on the list, moves there, and takes back again."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import BatchId, PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Person, sanitize_text
from oldfriend.memory.import_batches import ImportSource, advance_batch, create_batch, finish_batch
from oldfriend.memory.people import lock_person
from oldfriend.tasks.calendar_files import OWN_UID_SUFFIX, CalendarEntry
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_edits import build_task, open_desk, store
from oldfriend.tasks.task_store import find_task

FORMAT: Final = "calendar"
DEFAULT_FILE_NAME: Final = "calendar.ics"
MOVED_FIELDS: Final = ("text", "due_at", "starts_at", "rrule", "zone", "is_date_only")
"""What an import changes of a task, and its undo sets back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTask:
    """A task that a calendar told, with what was told of it."""

    task: Task
    batch: BatchId
    told: list[JsonValue]
    former: dict[str, JsonValue] | None  # the task before its last import; None: it was new then
    former_batch: str | None
    former_told: list[JsonValue] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarImport:
    """What came of a calendar file."""

    decisions: Sequence[DeskDecision]
    number: int | None  # to undo it by; None if nothing was new


async def load_imported(tx: Transaction, person: PersonId) -> dict[str, ImportedTask]:
    """Return the tasks that calendars told, also those that are over, by the id there."""
    rows = await tx.rows(
        """SELECT id, batch, calendar_uid, calendar_state FROM task
           WHERE person = :person AND calendar_uid IS NOT NULL ORDER BY created_at, id""",
        person=person,
    )
    found: dict[str, ImportedTask] = {}
    for task_id, batch, uid, state in rows:
        task = await find_task(tx, person, task_id)
        values = json.loads(state)
        if task is not None:
            found[uid] = ImportedTask(
                task=task,
                batch=BatchId(batch),
                told=values["told"],
                former=values["former"],
                former_batch=values["former_batch"],
                former_told=values["former_told"],
            )
    return found


async def save_imported(tx: Transaction, person: PersonId, uid: str, each: ImportedTask) -> None:
    """Store what a calendar told of a task that is stored."""
    state = {
        "told": each.told,
        "former": each.former,
        "former_batch": each.former_batch,
        "former_told": each.former_told,
    }
    await tx.run(
        """UPDATE task SET batch = :batch, calendar_uid = :uid, calendar_state = :state
           WHERE id = :task AND person = :person""",
        batch=each.batch,
        uid=uid,
        state=json.dumps(state, ensure_ascii=False),
        task=each.task.id,
        person=person,
    )


def name_entries(entries: Sequence[CalendarEntry]) -> list[str]:
    """Return an id of each entry: its own, else one by what it tells; a second one is numbered.

    No number makes an id that another entry has.
    """
    own = [each.uid or f"{each.text}/{list_told(each)[1]}" for each in entries]
    taken, counts, names = set(own), Counter[str](), list[str]()
    for name in own:
        counts[name] += 1
        while counts[name] > 1 and f"{name}#{counts[name]}" in taken:
            counts[name] += 1
        names.append(f"{name}#{counts[name]}" if counts[name] > 1 else name)
        taken.add(names[-1])
    return names


def list_told(entry: CalendarEntry) -> list[JsonValue]:
    """List what a calendar tells of an entry, the same however often its series has come."""
    return [entry.text, entry.due_at if entry.rrule is None else entry.starts_at, entry.rrule]


def list_told_of(task: Task) -> list[JsonValue]:
    """List what our own calendar would tell of a task."""
    return [task.text, task.due_at, task.rrule]


async def load_own(
    tx: Transaction, person: PersonId, names: Sequence[str]
) -> dict[str, ImportedTask]:
    """Return the tasks whose own ids a calendar brings back, as it was made here."""
    found: dict[str, ImportedTask] = {}
    for name in names:
        task_id, suffix, _ = name.partition(OWN_UID_SUFFIX)
        task = await find_task(tx, person, task_id) if suffix else None
        if task is not None:
            found[name] = ImportedTask(
                task=task,
                batch=BatchId(""),
                told=list_told_of(task),
                former=None,
                former_batch=None,
                former_told=None,
            )
    return found


def decide_entry(desk: TaskDesk, entry: CalendarEntry, known: ImportedTask | None) -> DeskDecision:
    """Decide what becomes of an entry: it is put on the list, moves there, or is known.

    What the person ended stays ended, and what they changed stays until the calendar tells
    something else. Raises InvalidInput.
    """
    task = replace(
        build_task(desk, entry.text, due_at=entry.due_at, rrule=None),
        rrule=entry.rrule,
        starts_at=entry.starts_at,
        zone=entry.zone or desk.scope.zone,
    )
    if known is None:
        return desk.add(task)
    earlier = known.task
    is_over = not earlier.is_active or (earlier.status == "delivered" and entry.due_at is None)
    if is_over or known.told == list_told(entry):
        return DeskDecision(text=desk.wording.say("unchanged"))
    later = replace(
        earlier,
        status="open",
        question=None,
        kind=earlier.kind if task.due_at is None else earlier.timed_kind,
        changed_at=desk.scope.now,
        **{name: getattr(task, name) for name in MOVED_FIELDS},
    )
    return desk.replace(earlier, later, desk.wording.confirm(later))


async def decide_calendar(
    tx: Transaction, person: Person, entries: Sequence[CalendarEntry], *, now: Micros
) -> tuple[dict[str, DeskDecision], dict[str, ImportedTask]]:
    """Decide what becomes of each entry of a calendar, and return what was known of them."""
    desk = await open_desk(tx, person, now=now)
    names = name_entries(entries)
    known = await load_own(tx, person.id, names) | await load_imported(tx, person.id)
    return {
        name: decide_entry(desk, entry, known.get(name))
        for name, entry in zip(names, entries, strict=True)
    }, known


async def import_calendar(
    tx: Transaction,
    person: Person,
    entries: Sequence[CalendarEntry],
    content: bytes,
    *,
    file: str,
    now: Micros,
) -> CalendarImport:
    """Put on the list what a calendar tells and is not there yet, as an import with a number.

    Raises InvalidInput.
    """
    await lock_person(tx, person.id)
    decisions, known = await decide_calendar(tx, person, entries, now=now)
    told = {name: list_told(each) for name, each in zip(decisions, entries, strict=True)}
    changed = {name: each.saved[0] for name, each in decisions.items() if each.saved}
    for decision in decisions.values():
        await store(tx, decision, now=now)
    if not changed:
        return CalendarImport(decisions=tuple(decisions.values()), number=None)
    source = ImportSource(
        file=sanitize_text(file) or DEFAULT_FILE_NAME,
        format=FORMAT,
        sha256=sha256(content).hexdigest(),
        me="",
        zone=person.zone,
    )
    batch = await create_batch(tx, person.id, source, now=now)
    for name, (task, earlier) in changed.items():
        before = known.get(name)
        imported = ImportedTask(
            task=task,
            batch=batch.id,
            told=told[name],
            former=None
            if earlier is None
            else {each: getattr(earlier, each) for each in MOVED_FIELDS},
            former_batch=None if before is None else before.batch,
            former_told=None if before is None else before.told,
        )
        await save_imported(tx, person.id, name, imported)
    added = sum(earlier is None for _, earlier in changed.values())
    await advance_batch(tx, batch, added=added, known=len(entries) - added)
    await finish_batch(tx, batch, now=now)
    return CalendarImport(decisions=tuple(decisions.values()), number=batch.number)


async def undo_calendar(tx: Transaction, person: PersonId, batch: BatchId, *, now: Micros) -> int:
    """Take what a calendar put on the list off it, and set back what it moved; return how many."""
    await lock_person(tx, person)
    imported = await load_imported(tx, person)
    taken = {name: each for name, each in imported.items() if each.batch == batch}
    undone = await tx.rows(
        "SELECT id FROM import_batch WHERE person = :person AND status = 'undone'", person=person
    )
    gone = {row[0] for row in undone}
    for name, each in taken.items():
        if each.former is None or each.former_batch in gone:
            await tx.run(
                "DELETE FROM task WHERE id = :task AND person = :person",
                task=each.task.id,
                person=person,
            )
        else:
            await restore_former(tx, name, each, now=now)
    return len(taken)


async def restore_former(
    tx: Transaction, name: str, imported: ImportedTask, *, now: Micros
) -> None:
    """Set a task back to what it was before its last import, unless the person has ended it."""
    assert imported.former is not None and imported.former_told is not None
    former = build_former(imported.task, imported.former, now=now)
    if former.is_active:
        await store(tx, DeskDecision(text="", saved=((former, imported.task),)), now=now)
    earlier = ImportedTask(
        task=former,
        batch=BatchId(imported.former_batch or ""),
        told=imported.former_told,
        former=None,
        former_batch=None,
        former_told=None,
    )
    await save_imported(tx, former.person, name, earlier)


def build_former(task: Task, former: Mapping[str, JsonValue], *, now: Micros) -> Task:
    """Return a task with what an import had changed of it as it was. Raises ValueError."""
    match former:
        case {
            "text": str(text),
            "due_at": int() | None as due_at,
            "starts_at": int() | None as starts_at,
            "rrule": str() | None as rrule,
            "zone": str(zone),
            "is_date_only": bool(is_date_only),
        }:
            return replace(
                task,
                text=text,
                due_at=due_at,
                starts_at=starts_at,
                rrule=rrule,
                zone=zone,
                is_date_only=is_date_only,
                changed_at=now,
            )
    raise ValueError("no former task")
