"""Zone changes: what was told by the clock or the day goes by a person's new clocks.

That is a series and what is due on a day; a single time stays the moment that it was, unless nobody
knew by which clocks it was told.
"""

from dataclasses import replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros, to_micros
from oldfriend.domain.ids import PersonId
from oldfriend.tasks.recurrence import find_next, is_counted_in_elapsed_time, to_utc
from oldfriend.tasks.reminder_jobs import schedule_reminder
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.task_store import list_tasks, save_task


async def list_moved_tasks(
    tx: Transaction,
    person: PersonId,
    *,
    earlier: str,
    zone: str,
    now: Micros,
    is_guessed: bool = False,
) -> list[Task]:
    """List what is to come by the clocks of a zone as it comes by those of another.

    ``is_guessed``: nobody had said by which clocks the person lived; single times move, too.
    """
    if zone == earlier:
        return []
    coming = await list_tasks(tx, person, statuses=("open", "asking"))
    moved = []
    for task in coming:
        if task.zone != earlier or not (goes_by_clock(task) or is_guessed):
            continue
        later = move_to_zone(task, zone, now=now)
        is_ahead = (later.due_at or 0) > now  # else it would come at once, or has passed
        if goes_by_clock(task) or (is_told_by_clock(task) and is_ahead):
            moved.append(later)
    return moved


def goes_by_clock(task: Task) -> bool:
    """Whether a task comes at an hour or on a day wherever the person is."""
    if task.due_at is None:
        return False
    if task.rrule is not None:
        return not is_counted_in_elapsed_time(task.rrule)
    return task.is_date_only


def is_told_by_clock(task: Task) -> bool:
    """Whether the words of a single time name a day or an hour: not "in 20 minutes"."""
    if task.due_at is None or task.rrule is not None or not task.time_words:
        return False
    phrases = load_task_phrases(task.language)
    told = phrases.read_time(task.time_words)
    if told is None or not told.words:
        return phrases.bare_time(task.time_words) is not None  # "make it 10"
    return told.amount is None or not {"minute", "hour"} & set(told.amount.units)


async def move_tasks_to_zone(
    tx: Transaction,
    person: PersonId,
    *,
    earlier: str,
    zone: str,
    now: Micros,
    is_guessed: bool = False,
) -> None:
    """Have a person's tasks go by new clocks; the person is locked."""
    for task in await list_moved_tasks(
        tx, person, earlier=earlier, zone=zone, now=now, is_guessed=is_guessed
    ):
        await save_task(tx, task)
        await schedule_reminder(tx, task, now=now)


def move_to_zone(task: Task, zone: str, *, now: Micros) -> Task:
    """Return a task that comes at the same hour of the same day by other clocks."""
    moved = replace(
        task,
        zone=zone,
        due_at=shift(task.due_at, task.zone, zone),
        starts_at=shift(task.starts_at, task.zone, zone),
        changed_at=now,
    )
    if moved.rrule is None or moved.starts_at is None or (moved.due_at or 0) > now:
        return moved
    start = from_micros(moved.starts_at, zone).replace(tzinfo=None)
    following = find_next(moved.rrule, start, zone, after=now)
    return moved if following is None else replace(moved, due_at=following)


def shift(at: Micros | None, earlier: str, zone: str) -> Micros | None:
    """Return when the clocks of a zone show what those of another show at a moment."""
    if at is None:
        return None
    return to_micros(to_utc(from_micros(at, earlier).replace(tzinfo=None), zone))
