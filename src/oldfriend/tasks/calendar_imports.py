"""Calendar imports: what a calendar file puts on the list, moves there, and takes back again."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, SECOND, Micros
from oldfriend.domain.ids import BatchId, PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Person, sanitize_text
from oldfriend.memory.import_batches import (
    ImportSource,
    advance_batch,
    create_batch,
    finish_batch,
    list_batches,
)
from oldfriend.memory.people import lock_person
from oldfriend.tasks.calendar_editions import normalize_uid
from oldfriend.tasks.calendar_files import OWN_UID_SUFFIX, CalendarEntry, find_begin
from oldfriend.tasks.series_exceptions import (
    end_days,
    leave_out_again,
    leave_out_days,
    may_leave_out,
)
from oldfriend.tasks.task import ACTIVE, Task
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_edits import build_task, open_desk, store
from oldfriend.tasks.task_store import TIME_FIELDS, dump_former, find_task, restore_former

FORMAT: Final = "calendar"
DEFAULT_FILE_NAME: Final = "calendar.ics"
MOVED_FIELDS: Final = ("text", "time_words", *TIME_FIELDS)
"""What an import changes of a task, and its undo sets back."""
ENDED_FIELD: Final = "status"
"""What else it changes of a task that it ends."""
TOLD_WITHOUT_LENGTH: Final = 3
"""So many parts are told of what has no end; of anything, before lengths were kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportLevel:
    """What one import did to a task."""

    batch: str  # "": what the person had put on the list before any import
    told: list[JsonValue]
    former: dict[str, JsonValue] | None  # what it changed, as it was; None: it was new then
    sequence: int | None = None  # the edition that the calendar told
    alone: Sequence[Micros] = ()  # the times of a series that it told on their own


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedTask:
    """A task that a calendar told, with what was told of it."""

    task: Task
    uid: str
    levels: tuple[ImportLevel, ...]  # the first brought it, or is the person's own; others moved it

    @property
    def is_ended_by_calendar(self) -> bool:
        """Whether what was told of it last ended it."""
        former = self.levels[-1].former
        return former is not None and former.get(ENDED_FIELD) in ACTIVE

    @property
    def told(self) -> list[JsonValue]:
        """What was told of it last."""
        return self.levels[-1].told

    @property
    def sequence(self) -> int:
        """The newest edition that was told of it."""
        return max((each.sequence or 0 for each in self.levels), default=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedEntry:
    """An entry of a calendar, what of it was known, and what becomes of it."""

    entry: CalendarEntry
    name: str
    known: Sequence[ImportedTask]
    decision: DeskDecision
    alone: Sequence[Micros] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarImport:
    """What came of a calendar file."""

    entries: Sequence[DecidedEntry]
    unused: Sequence[str]  # a line for each entry that is over, and was on the list nowhere
    number: int | None = None  # to undo it by; None if nothing was new


async def list_imported(tx: Transaction, person: PersonId) -> list[ImportedTask]:
    """List the tasks that calendars told, also those that are over.

    After a merge of two people several may have one id.
    """
    rows = await tx.rows(
        """SELECT id, calendar_uid, calendar_state FROM task
           WHERE person = :person AND calendar_uid IS NOT NULL ORDER BY created_at, id""",
        person=person,
    )
    found: list[ImportedTask] = []
    for task_id, uid, state in rows:
        task = await find_task(tx, person, task_id)
        if task is not None:
            levels = tuple(ImportLevel(**each) for each in json.loads(state))
            found.append(ImportedTask(task=task, uid=uid, levels=levels))
    return found


async def save_imported(tx: Transaction, person: PersonId, each: ImportedTask) -> None:
    """Store which imports told of a task that is stored; its batch is the one that brought it."""
    is_own = [level.batch for level in each.levels] == [""]
    await tx.run(
        """UPDATE task SET batch = :batch, calendar_uid = :uid, calendar_state = :state
           WHERE id = :task AND person = :person""",
        batch=each.levels[0].batch or None,
        uid=None if is_own else each.uid,
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
    if entry.ending in {"cancelled", "done"}:
        return [entry.text, None, entry.ending]
    begins = entry.due_at if entry.rrule is None else entry.starts_at
    told = build_told(entry.text, begins, entry.rrule)
    return [*told, *tell_length(entry.duration_s, is_date_only=entry.is_date_only)]


def list_told_of(task: Task) -> list[JsonValue]:
    """List what our own calendar would tell of a task."""
    told = build_told(task.text, find_begin(task), task.rrule)
    is_day = task.is_date_only and task.due_at is not None
    return [*told, *tell_length(task.duration_s, is_date_only=is_day)]


def build_told(text: str, begins: Micros | None, rrule: str | None) -> list[JsonValue]:
    """Return what is told in whole seconds, with the parts of its rule in one order."""
    rule = None if rrule is None else ";".join(sorted(rrule.upper().split(";")))
    return [text, None if begins is None else begins // SECOND, rule]


def tell_length(duration_s: int | None, *, is_date_only: bool) -> list[JsonValue]:
    """Return what is told of how long something lasts; empty if it has an hour and no end."""
    if is_date_only:
        return ["days", duration_s or DAY // SECOND]
    return [] if duration_s is None else ["seconds", duration_s]


def tells_same_time(known: ImportedTask, entry: CalendarEntry) -> bool:
    """Whether a calendar tells the time, and how it repeats, as it did last."""
    return known.told[1:] == list_told(entry)[1:]


def is_older(entry: CalendarEntry, task: Task) -> bool:
    """Whether an entry of our own calendar was written before the task was changed last."""
    is_own, stamp = entry.uid == f"{task.id}{OWN_UID_SUFFIX}", entry.stamped_at
    return is_own and stamp is not None and stamp // SECOND < task.changed_at // SECOND


async def load_known(
    tx: Transaction, person: PersonId, names: Sequence[str]
) -> dict[str, list[ImportedTask]]:
    """Return what calendars told of some ids, else the task that a calendar made here names."""
    known: dict[str, list[ImportedTask]] = {}
    for each in await list_imported(tx, person):
        for uid in {each.uid, normalize_uid(each.uid, each.task.zone)}:
            known.setdefault(uid, []).append(each)
    for name in names:
        task_id, suffix, _ = name.partition(OWN_UID_SUFFIX)
        task = await find_task(tx, person, task_id) if suffix and name not in known else None
        if task is not None:
            own = ImportLevel(batch="", told=list_told_of(task), former=None)
            known[name] = [ImportedTask(task=task, uid=name, levels=(own,))]
    return known


def decide_known(desk: TaskDesk, entry: CalendarEntry, known: ImportedTask) -> DeskDecision:
    """Decide what becomes of a task of which a calendar tells again. Raises InvalidInput.

    What the person ended stays ended, and what they changed stays until the calendar tells
    something else. What the calendar ends, it may bring back. What is past stays as it is, unless
    the calendar has moved there what was to come.
    """
    earlier = known.task
    is_ended = not earlier.is_active and not known.is_ended_by_calendar
    is_past = earlier.status == "delivered" and entry.due_at is None
    is_outdated = is_older(entry, earlier) or (entry.sequence or 0) < known.sequence
    is_over = entry.ending == "past" and (
        earlier.status == "delivered"
        or known.told[:TOLD_WITHOUT_LENGTH] == list_told(entry)[:TOLD_WITHOUT_LENGTH]
    )
    if is_ended or is_past or is_outdated or is_over or known.told == list_told(entry):
        return DeskDecision(text=desk.wording.say("unchanged"))
    if known.told == list_told(entry)[:TOLD_WITHOUT_LENGTH]:
        return add_length(desk, entry, known)
    if entry.ending:
        done = desk.finish if entry.ending == "done" else desk.cancel
        return done(earlier) if earlier.is_active else DeskDecision(text="")
    task = build_entry(desk, entry)
    if tells_same_time(known, entry):
        task = replace(task, time_words=earlier.time_words)
    if earlier.due_at != earlier.begins_at == task.due_at and task.duration_s is not None:
        put_off = replace(task, due_at=earlier.due_at, starts_at=earlier.begins_at)
        task = replace(put_off, status=earlier.status)
    later = replace(
        earlier,
        status=task.status,
        question=None,
        kind=earlier.kind if task.due_at is None else earlier.timed_kind,
        changed_at=desk.scope.now,
        **{name: getattr(task, name) for name in MOVED_FIELDS},
    )
    return desk.replace(earlier, later, desk.wording.confirm(later))


def add_length(desk: TaskDesk, entry: CalendarEntry, known: ImportedTask) -> DeskDecision:
    """Decide how long a task lasts of which nothing else is new, if it has its calendar's time."""
    earlier = known.task
    begins = earlier.begins_at if earlier.rrule is None else earlier.starts_at
    if build_told(earlier.text, begins, earlier.rrule)[1:] != known.told[1:]:
        return DeskDecision(text=desk.wording.say("unchanged"))
    lasts = replace(earlier, is_date_only=entry.is_date_only, duration_s=entry.duration_s)
    later = replace(lasts, changed_at=desk.scope.now)
    return desk.replace(earlier, later, desk.wording.confirm(later))


def build_entry(desk: TaskDesk, entry: CalendarEntry) -> Task:
    """Return the task that an entry asks for; of what has begun no reminder comes.

    Raises InvalidInput.
    """
    task = build_task(desk, entry.text, due_at=None, rrule=None)
    has_begun = entry.due_at is not None and entry.due_at <= desk.scope.now
    return replace(
        task,
        kind=task.kind if entry.due_at is None else task.timed_kind,
        status="delivered" if has_begun else task.status,
        due_at=entry.due_at,
        rrule=entry.rrule,
        starts_at=entry.starts_at,
        is_date_only=entry.is_date_only,
        duration_s=entry.duration_s,
        zone=entry.zone or desk.scope.zone,
    )


def decide_entry(
    desk: TaskDesk, entry: CalendarEntry, known: Sequence[ImportedTask]
) -> DeskDecision:
    """Decide what becomes of an entry: it is put on the list, changes there, or is known.

    Raises InvalidInput.
    """
    if not known:
        return desk.add(build_entry(desk, entry))
    decisions: list[DeskDecision] = []
    for each in known:
        sequence = each.sequence if entry.sequence is None else entry.sequence
        decisions.append(decide_known(desk, replace(entry, sequence=sequence), each))
    saved = [pair for each in decisions for pair in each.saved]
    return replace(decisions[0], saved=tuple(saved))


async def decide_calendar(
    tx: Transaction, person: Person, entries: Sequence[CalendarEntry], *, now: Micros
) -> CalendarImport:
    """Decide what becomes of each entry of a calendar, and store nothing. Raises InvalidInput.

    What is over and changes nothing is told as not used.
    """
    desk = await open_desk(tx, person, now=now)
    named = [*zip(name_entries(entries), entries, strict=True)]
    in_file = {name for name, each in named if each.rrule is not None}
    days = [each for each in entries if each.series and each.series not in in_file]
    wanted = [*(name for name, _ in named), *(each.series for each in days)]
    known = await load_known(tx, person.id, wanted)
    left_out = leave_out(desk, days, known)
    named += list_ended_days(desk, named, known)
    decided: list[DecidedEntry] = []
    unused: list[str] = []
    for name, told in sorted(named, key=lambda each: bool(each[1].ending)):
        before = known.get(name, [])
        alone = [] if told.rrule is None else list_alone(told, before)
        entry = leave_out_again(told, alone, now=now)
        series = known.get(entry.series, []) if entry.series else []
        is_taken = entry.series in in_file or any(may_leave_out(each.task) for each in series)
        if entry.ending and not before and is_taken:
            continue
        if entry.ending and not before:
            unused.append(entry.refusal)
            continue
        decision = decide_entry(desk, entry, before)
        if entry.ending and not decision.saved:
            unused.append(entry.refusal)
            continue
        one = DecidedEntry(entry=entry, name=name, known=before, decision=decision, alone=alone)
        decided.append(one)
    return CalendarImport(entries=(*decided, *left_out), unused=tuple(unused))


def leave_out(
    desk: TaskDesk, alone: Sequence[CalendarEntry], known: Mapping[str, Sequence[ImportedTask]]
) -> list[DecidedEntry]:
    """Decide which series on the list go on without times that a calendar tells on their own.

    What the person changed of such a series stays as it is.
    """
    decided: list[DecidedEntry] = []
    for name in dict.fromkeys(each.series for each in alone):
        times = [each.replaces_at for each in alone if each.series == name and each.replaces_at]
        found = (leave_out_of(desk, series, times) for series in known.get(name, ()))
        decided += (each for each in found if each is not None)
    return decided


def leave_out_of(
    desk: TaskDesk, series: ImportedTask, times: Sequence[Micros]
) -> DecidedEntry | None:
    """Decide that a series goes on without some times; None if nothing changes."""
    task = series.task
    found = leave_out_days(task, series.told, times, now=desk.scope.now)
    if found is None:
        return None
    later, told = found
    told = replace(told, uid=series.uid, sequence=series.sequence)
    if later.due_at is None:
        decision = desk.cancel(task)
    else:
        decision = desk.replace(task, later, desk.wording.confirm(later))
    alone = (*list_alone(told, [series]), *times)
    return DecidedEntry(entry=told, name=series.uid, known=[series], decision=decision, alone=alone)


def list_alone(entry: CalendarEntry, known: Sequence[ImportedTask]) -> list[Micros]:
    """List the times that were told alone of a series of which this is no newer edition."""
    same = [each for each in known if (entry.sequence or 0) <= each.sequence]
    return [at for each in same for at in each.levels[-1].alone]


def list_ended_days(
    desk: TaskDesk,
    named: Sequence[tuple[str, CalendarEntry]],
    known: Mapping[str, Sequence[ImportedTask]],
) -> list[tuple[str, CalendarEntry]]:
    """List what ends the days that a file holds no more, though it tells their series whole."""
    in_file = {name for name, _ in named}
    tasks = {
        uid: [each.task for each in found] for uid, found in known.items() if uid not in in_file
    }
    ended: list[tuple[str, CalendarEntry]] = []
    for name, entry in named:
        before = known.get(name, ())
        is_whole = not entry.series and (entry.rrule is not None or entry.ending == "cancelled")
        edition = max((each.sequence for each in before), default=0)
        if is_whole and before and (entry.sequence is None or entry.sequence >= edition):
            kept = set() if entry.ending else set(list_alone(entry, before))
            now, zone = desk.scope.now, desk.scope.zone
            ended += end_days(name, tasks, kept, zone=zone, now=now)
    return ended


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
    decided = await decide_calendar(tx, person, entries, now=now)
    for each in decided.entries:
        await store(tx, each.decision, now=now)
    changed = [
        (each, later, earlier) for each in decided.entries for later, earlier in list_changes(each)
    ]
    if not changed:
        return decided
    source = ImportSource(
        file=sanitize_text(file) or DEFAULT_FILE_NAME,
        format=FORMAT,
        sha256=sha256(content).hexdigest(),
        me="",
        zone=person.zone,
    )
    batch = await create_batch(tx, person.id, source, now=now)
    for each, later, earlier in changed:
        level = ImportLevel(
            batch=batch.id,
            told=list_told(each.entry),
            sequence=each.entry.sequence,
            alone=each.alone,
            former=None if earlier is None else list_former(earlier, later),
        )
        levels = next((known.levels for known in each.known if known.task.id == later.id), ())
        imported = ImportedTask(task=later, uid=each.name, levels=(*levels, level))
        await save_imported(tx, person.id, imported)
    added = sum(earlier is None for _, _, earlier in changed)
    await advance_batch(tx, batch, added=added, known=len(entries) - added)
    await finish_batch(tx, batch, now=now)
    return replace(decided, number=batch.number)


def list_changes(decided: DecidedEntry) -> Sequence[tuple[Task, Task | None]]:
    """List the tasks that an entry makes or changes, without those that a new one replaces."""
    saved = decided.decision.saved
    return saved if decided.known else saved[:1]


def list_former(earlier: Task, later: Task) -> dict[str, JsonValue]:
    """Return what an import changes of a task, as it was; its status only if it ends or returns."""
    stays = later.is_active and earlier.is_active
    return dump_former(earlier, (*MOVED_FIELDS, *(() if stays else (ENDED_FIELD,))))


async def undo_calendar(
    tx: Transaction, person: PersonId, batch_id: BatchId, *, now: Micros
) -> int:
    """Take what only this import told off the list, and set back what it changed; return how many.

    What an import of somebody else told, before a merge was undone, counts no more.
    """
    await lock_person(tx, person)
    taken = [
        each
        for each in await list_imported(tx, person)
        if any(level.batch == batch_id for level in each.levels)
    ]
    own = {"", *(each.id for each in await list_batches(tx, person))} if taken else set()
    for each in taken:
        levels = drop_level(each.levels, batch_id)
        if not any(level.batch in own for level in levels):
            await tx.run(
                "DELETE FROM task WHERE id = :task AND person = :person",
                task=each.task.id,
                person=person,
            )
            continue
        last = each.levels[-1]
        if last.batch == batch_id and last.former is not None:
            former = undo_level(each.task, last.former, now=now)
            # What the person has ended stays as it is.
            if former.is_active or former.status != each.task.status:
                await store(tx, DeskDecision(text="", saved=((former, each.task),)), now=now)
        await save_imported(tx, person, replace(each, levels=levels))
    return len(taken)


def undo_level(task: Task, former: Mapping[str, JsonValue], *, now: Micros) -> Task:
    """Return a task without what an import had changed of it. Raises ValueError.

    Where it stands on the list changes only if the import ended it, or brought it back.
    """
    earlier = restore_former(task, former, now=now)
    if not (task.is_active and former.get(ENDED_FIELD) in ACTIVE):
        return earlier
    kept = {name: value for name, value in former.items() if name != ENDED_FIELD}
    return restore_former(task, kept, now=now)


def drop_level(levels: Sequence[ImportLevel], batch: str) -> tuple[ImportLevel, ...]:
    """Return what imports did to a task without one, whose next sets back to what was before it."""
    kept: list[ImportLevel] = []
    dropped: ImportLevel | None = None
    for level in levels:
        if level.batch == batch:
            dropped = level
        elif dropped is not None:
            kept.append(replace(level, former=join_former(dropped.former, level.former)))
            dropped = None
        else:
            kept.append(level)
    return tuple(kept)


def join_former(
    earlier: dict[str, JsonValue] | None, later: dict[str, JsonValue] | None
) -> dict[str, JsonValue] | None:
    """Return what was before two changes of a task."""
    return None if earlier is None else {**(later or {}), **earlier}
