"""Task changes: a reminder or to-do that a turn decided to store, change, finish or cancel."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.json import JsonValue
from oldfriend.memory.people import lock_person
from oldfriend.memory.receipts import MOVED_KEY, SET_KEY
from oldfriend.projects.project_store import find_open_project
from oldfriend.tasks.reminder_jobs import schedule_reminder
from oldfriend.tasks.task import STATUSES, Task
from oldfriend.tasks.task_store import catch_up, find_task, save_task
from oldfriend.turn.store_change import ChangeScope, StoreChange


def dump_times(task: Task) -> dict[str, JsonValue]:
    """Return where a task stands: its status and times, without its words."""
    return {
        "status": task.status,
        "due_at": task.due_at,
        "starts_at": task.starts_at,
        "rrule": task.rrule,
        "zone": task.zone,
        "is_date_only": task.is_date_only,
        **({} if task.duration_s is None else {"duration_s": task.duration_s}),
    }


def restore_times(task: Task, change: JsonValue, *, now: Micros) -> Task | None:
    """Return a task as it stood before a change; None if it has changed again since."""
    match change:
        case [
            {
                "status": str(status),
                "due_at": int() | None as due_at,
                "starts_at": int() | None as starts_at,
                "rrule": str() | None as rrule,
                "zone": str(zone),
                "is_date_only": bool(is_date_only),
                **others,
            },
            dict() as after,
        ] if after == dump_times(task):
            duration_s = others.get("duration_s")
            is_moved = due_at != task.due_at or rrule != task.rrule
            former = replace(
                task,
                status=next(each for each in STATUSES if each == status),
                time_words="" if is_moved else task.time_words,
                due_at=due_at,
                starts_at=starts_at,
                rrule=rrule,
                zone=zone,
                is_date_only=is_date_only,
                duration_s=duration_s if isinstance(duration_s, int) else None,
                changed_at=now,
            )
            return catch_up(former, now=now) if former.is_active else former
        case _:
            return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SaveTask:
    """A task as it is to be stored, and as it was before; None: it is new."""

    task: Task
    earlier: Task | None = None

    @property
    def is_setting(self) -> bool:
        """Whether the task is new, or has its first time by now."""
        return self.task.is_active and (self.earlier is None or self.earlier.status == "asking")

    @property
    def change(self) -> list[JsonValue]:
        """Where the task stood, and where it stands now; empty if it was set now.

        Also if only its words or question changed, which no receipt keeps: none can be put back.
        """
        if self.earlier is None or self.is_setting:
            return []
        before, after = dump_times(self.earlier), dump_times(self.task)
        return [] if before == after else [before, after]

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Store the task and schedule it. Raises StaleDecision if it has changed meanwhile.

        What was told already is kept to, unless the task has been forgotten.
        """
        await lock_person(tx, scope.person.id)
        stored = await find_task(tx, scope.person.id, self.task.id)
        if not is_unchanged(stored, self.earlier) and scope.may_redo:
            raise StaleDecision("The task has changed meanwhile.")
        if stored is None and self.earlier is not None:
            return
        task = replace(self.task, changed_at=scope.now)
        if self.earlier is None:
            task = await place_in_project(tx, task)
        await save_task(tx, task)
        await schedule_reminder(tx, task, now=scope.now)


def build_task_details(saved: Sequence[SaveTask]) -> dict[str, JsonValue]:
    """Return what the receipt keeps of the tasks that were set, moved or ended."""
    details: dict[str, JsonValue] = {}
    if made := [each.task.id for each in saved if each.is_setting]:
        details[SET_KEY] = [*dict.fromkeys(made)]
    if moved := [each for each in saved if each.change]:
        details[MOVED_KEY] = {each.task.id: each.change for each in moved}
    return details


async def place_in_project(tx: Transaction, task: Task) -> Task:
    """Return a new task as one of the project that is open in its chat, if any is."""
    opened = None
    if task.chat is not None and task.project is None:
        opened = await find_open_project(tx, task.person, task.chat)
    return task if opened is None else replace(task, project=opened.id)


def is_unchanged(stored: Task | None, earlier: Task | None) -> bool:
    """Tell whether a task is stored as it was when a change to it was decided."""
    if stored is None or earlier is None:
        return stored is earlier
    return replace(stored, changed_at=earlier.changed_at) == earlier


def fold_task_changes(changes: Sequence[StoreChange]) -> tuple[StoreChange, ...]:
    """Return the changes of a turn, one for each task: from what it was to what it becomes."""
    folded: dict[object, StoreChange] = {}
    for change in changes:
        key: object = change.task.id if isinstance(change, SaveTask) else id(change)
        first = folded.get(key)
        if isinstance(change, SaveTask) and isinstance(first, SaveTask):
            change = replace(change, earlier=first.earlier)
        folded[key] = change
    return tuple(folded.values())


def apply_to_list(tasks: Sequence[Task], changes: Sequence[StoreChange]) -> list[Task]:
    """Return the active tasks as they will be after changes that a turn has decided."""
    listed = {each.id: each for each in tasks}
    listed.update({each.id: each for each in reversed(list_saved(changes))})
    return [each for each in listed.values() if each.is_active]


def list_saved(changes: Sequence[StoreChange]) -> list[Task]:
    """Return the tasks that changes store, the last decided first."""
    return [each.task for each in reversed(changes) if isinstance(each, SaveTask)]
