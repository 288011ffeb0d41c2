"""Calendar imports: what a calendar file puts on the list, moves there, and takes back again."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.ids import BatchId, PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Person, sanitize_text
from oldfriend.memory.import_batches import ImportSource, advance_batch, create_batch, finish_batch
from oldfriend.memory.people import lock_person
from oldfriend.tasks.calendar_files import OWN_UID_SUFFIX, CalendarEntry, find_begin
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_edits import build_task, open_desk, store
from oldfriend.tasks.task_store import find_task

FORMAT: Final = "calendar"
DEFAULT_FILE_NAME: Final = "calendar.ics"
MOVED_FIELDS: Final = (
    "text",
    "time_words",
    "due_at",
    "starts_at",
    "rrule",
    "zone",
    "is_date_only",
)
"""What an import changes of a task, and its undo sets back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLevel:
    """What one import did to a task."""

    batch: str  # "": what the person had put on the list before any import
    told: list[JsonValue]
    former: dict[str, JsonValue] | None  # what it changed, as it was; None: it was new then


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTask:
    """A task that a calendar told, with what was told of it."""

    task: Task
    levels: tuple[ImportLevel, ...]  # the first brought it, or is the person's own; others moved it

    @property
    def told(self) -> list[JsonValue]:
        """What was told of it last."""
        return self.levels[-1].told


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarImport:
    """What came of a calendar file."""

    decisions: Sequence[DeskDecision]
    number: int | None  # to undo it by; None if nothing was new


async def load_imported(tx: Transaction, person: PersonId) -> dict[str, ImportedTask]:
    """Return the tasks that calendars told, also those that are over, by the id there."""
    rows = await tx.rows(
        """SELECT id, calendar_uid, calendar_state FROM task
           WHERE person = :person AND calendar_uid IS NOT NULL ORDER BY created_at, id""",
        person=person,
    )
    found: dict[str, ImportedTask] = {}
    for task_id, uid, state in rows:
        task = await find_task(tx, person, task_id)
        if task is not None:
            levels = tuple(ImportLevel(**each) for each in json.loads(state))
            found[uid] = ImportedTask(task=task, levels=levels)
    return found


async def save_imported(tx: Transaction, person: PersonId, uid: str, each: ImportedTask) -> None:
    """Store which imports told of a task that is stored; its batch is the one that brought it."""
    is_own = [level.batch for level in each.levels] == [""]
    await tx.run(
        """UPDATE task SET batch = :batch, calendar_uid = :uid, calendar_state = :state
           WHERE id = :task AND person = :person""",
        batch=each.levels[0].batch or None,
        uid=None if is_own else uid,
        state=None if is_own else json.dumps([*map(asdict, each.levels)], ensure_ascii=False),
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
    begins = entry.due_at if entry.rrule is None else entry.starts_at
    return build_told(entry.text, begins, entry.rrule)


def list_told_of(task: Task) -> list[JsonValue]:
    """List what our own calendar would tell of a task."""
    return build_told(task.text, find_begin(task), task.rrule)


def build_told(text: str, begins: Micros | None, rrule: str | None) -> list[JsonValue]:
    """Return what is told in whole seconds, with the parts of its rule in one order."""
    rule = None if rrule is None else ";".join(sorted(rrule.upper().split(";")))
    return [text, None if begins is None else begins // SECOND, rule]


def tells_same_time(known: ImportedTask, entry: CalendarEntry) -> bool:
    """Whether a calendar tells the time, and how it repeats, as it did last."""
    return known.told[1:] == list_told(entry)[1:]


def is_older(entry: CalendarEntry, task: Task) -> bool:
    """Whether an entry of our own calendar was written before the task was changed last."""
    is_own, stamp = entry.uid == f"{task.id}{OWN_UID_SUFFIX}", entry.stamped_at
    return is_own and stamp is not None and stamp // SECOND < task.changed_at // SECOND


async def load_own(
    tx: Transaction, person: PersonId, names: Sequence[str]
) -> dict[str, ImportedTask]:
    """Return the tasks whose own ids a calendar brings back, as it was made here."""
    found: dict[str, ImportedTask] = {}
    for name in names:
        task_id, suffix, _ = name.partition(OWN_UID_SUFFIX)
        task = await find_task(tx, person, task_id) if suffix else None
        if task is not None:
            own = ImportLevel(batch="", told=list_told_of(task), former=None)
            found[name] = ImportedTask(task=task, levels=(own,))
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
    if is_over or is_older(entry, earlier) or known.told == list_told(entry):
        return DeskDecision(text=desk.wording.say("unchanged"))
    if tells_same_time(known, entry):
        task = replace(task, time_words=earlier.time_words)
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
        level = ImportLevel(
            batch=batch.id,
            told=told[name],
            former=None
            if earlier is None
            else {each: getattr(earlier, each) for each in MOVED_FIELDS},
        )
        levels = (*(() if before is None else before.levels), level)
        await save_imported(tx, person.id, name, ImportedTask(task=task, levels=levels))
    added = sum(earlier is None for _, earlier in changed.values())
    await advance_batch(tx, batch, added=added, known=len(entries) - added)
    await finish_batch(tx, batch, now=now)
    return CalendarImport(decisions=tuple(decisions.values()), number=batch.number)


async def undo_calendar(
    tx: Transaction, person: PersonId, batch_id: BatchId, *, now: Micros
) -> int:
    """Take what only this import told off the list, and set back what it moved; return how many."""
    await lock_person(tx, person)
    taken = {
        name: each
        for name, each in (await load_imported(tx, person)).items()
        if any(level.batch == batch_id for level in each.levels)
    }
    for name, each in taken.items():
        levels = drop_level(each.levels, batch_id)
        if not levels:
            await tx.run(
                "DELETE FROM task WHERE id = :task AND person = :person",
                task=each.task.id,
                person=person,
            )
            continue
        if each.levels[-1].batch == batch_id and each.levels[-1].former is not None:
            former = build_former(each.task, each.levels[-1].former, now=now)
            if former.is_active:  # what the person has ended stays as it is
                await store(tx, DeskDecision(text="", saved=((former, each.task),)), now=now)
        await save_imported(tx, person, name, replace(each, levels=levels))
    return len(taken)


def drop_level(levels: Sequence[ImportLevel], batch: str) -> tuple[ImportLevel, ...]:
    """Return what imports did to a task without one, whose next sets back to what was before it."""
    kept: list[ImportLevel] = []
    dropped: ImportLevel | None = None
    for level in levels:
        if level.batch == batch:
            dropped = level
        elif dropped is not None:
            kept.append(replace(level, former=dropped.former))
            dropped = None
        else:
            kept.append(level)
    return tuple(kept)


def build_former(task: Task, former: Mapping[str, JsonValue], *, now: Micros) -> Task:
    """Return a task with what an import had changed of it as it was. Raises ValueError."""
    match former:
        case {
            "text": str(text),
            "time_words": str(time_words),
            "due_at": int() | None as due_at,
            "starts_at": int() | None as starts_at,
            "rrule": str() | None as rrule,
            "zone": str(zone),
            "is_date_only": bool(is_date_only),
        }:
            return replace(
                task,
                text=text,
                time_words=time_words,
                due_at=due_at,
                starts_at=starts_at,
                rrule=rrule,
                zone=zone,
                is_date_only=is_date_only,
                changed_at=now,
            )
    raise ValueError("no former task")
