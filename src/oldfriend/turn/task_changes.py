"""Task changes: a reminder or to-do that a turn decided to store, change, finish or cancel."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.json import JsonValue
from oldfriend.memory.people import lock_person
from oldfriend.memory.receipts import MOVED_KEY, SET_KEY
from oldfriend.projects.project_store import find_open_project
from oldfriend.tasks.reminder_jobs import schedule_reminder
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import (
    TIME_FIELDS,
    dump_former,
    find_task,
    restore_former,
    save_task,
)
from oldfriend.turn.store_change import ChangeScope, StoreChange

TIMES: Final = ("status", "kind", "is_asked", *TIME_FIELDS)
"""What a receipt keeps of where a task stood: no words, which would outlive forgetting."""


def restore_times(task: Task, change: JsonValue, *, now: Micros) -> Task | None:
    """Return a task as it stood before a change; None if it has changed again since."""
    match change:
        case [dict() as before, dict() as after] if after == dump_former(task, [*after]):
            return restore_former(task, before, now=now)
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

        Also if only its words changed, which no receipt keeps: none can be put back.
        """
        if self.earlier is None or self.is_setting:
            return []
        before, after = (dump_former(each, TIMES) for each in (self.earlier, self.task))
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
    """Return what the receipt keeps of the tasks that were set, moved or ended.

    Of one that was changed twice, how it stood first and stands last.
    """
    details: dict[str, JsonValue] = {}
    made = dict.fromkeys(each.task.id for each in saved if each.is_setting)
    moved: dict[str, JsonValue] = {}
    for folded in fold_task_changes(saved):
        if isinstance(folded, SaveTask) and folded.change and folded.task.id not in made:
            moved[folded.task.id] = folded.change
    if made:
        details[SET_KEY] = [*made]
    if moved:
        details[MOVED_KEY] = moved
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
