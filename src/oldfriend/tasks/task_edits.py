"""Task edits: what a person does with their tasks on the page or with a program, stored at once."""

from dataclasses import replace
from typing import Final, Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros, from_micros
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.messages import Person
from oldfriend.lang.language_pack import choose_language_with
from oldfriend.memory.people import lock_person
from oldfriend.prompts.locale_phrases import choose_language
from oldfriend.tasks.recurrence import find_next, validate_rule
from oldfriend.tasks.reminder_jobs import schedule_reminder
from oldfriend.tasks.snooze_times import SnoozeChoice
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_phrases import load_task_phrases
from oldfriend.tasks.task_store import get_task, list_tasks, save_task
from oldfriend.tasks.told_time import Resolved

TaskAction = Literal["done", "cancel", "snooze", "change", "reopen"]
ACTIONS: Final[tuple[TaskAction, ...]] = ("done", "cancel", "snooze", "change")
"""What a model may do with a task; that it goes back to what was is the person's own affair."""
MAX_TEXT_CHARS: Final = 300
ONCE: Final = "once"


async def open_desk(tx: Transaction, person: Person, *, now: Micros) -> TaskDesk:
    """Load a person's tasks, for changes from outside of a chat."""
    language = choose_language(person.language)
    scope = DeskScope(person=person.id, zone=person.zone, now=now, language=language)
    return TaskDesk(scope, load_task_phrases(language), await list_tasks(tx, person.id, now=now))


def build_task(desk: TaskDesk, text: str, *, due_at: Micros | None, rrule: str | None) -> Task:
    """Return a new task, a to-do without a time. Raises InvalidInput."""
    clean = " ".join(text.split())
    if not clean or len(clean) > MAX_TEXT_CHARS:
        raise InvalidInput(f"Say in 1 to {MAX_TEXT_CHARS} characters what is to be done.")
    task = replace(desk.build(clean, kind="todo" if due_at is None else ""), due_at=due_at)
    check_to_come(due_at, desk.scope.now)
    return with_series(task, rrule) if rrule else task


def check_to_come(due_at: Micros | None, now: Micros) -> None:
    """Raise InvalidInput for a time that has passed."""
    if due_at is not None and due_at <= now:
        raise InvalidInput("That time has passed. Name one to come.")


def with_series(task: Task, rrule: str) -> Task:
    """Return a reminder that repeats from its time on. Raises InvalidInput."""
    if task.due_at is None:
        raise InvalidInput("A reminder that repeats needs its first time.")
    begin = task.due_at - task.due_at % SECOND  # rules know no fractions of it
    start = from_micros(begin, task.zone).replace(tzinfo=None)
    rule = validate_rule(rrule, start)
    first = find_next(rule, start, task.zone, after=begin - 1)
    if first is None:
        raise InvalidInput("That rule never comes.")
    return replace(task, rrule=rule, starts_at=begin, due_at=first)


def decide(
    desk: TaskDesk,
    task: Task,
    action: TaskAction,
    *,
    due_at: Micros | None,
    later: SnoozeChoice | None = None,
) -> DeskDecision:
    """Decide what becomes of a task. Raises InvalidInput."""
    if action == "reopen":
        return desk.reopen(task)
    if not task.is_active:
        raise InvalidInput("That is over already.")
    if action == "done":
        return desk.finish(task)
    if action == "cancel":
        return desk.cancel(task)
    if later is not None and action == "snooze":
        return desk.put_off(task, later)
    if due_at is None:
        raise InvalidInput("Another time is needed: name when.")
    check_to_come(due_at, desk.scope.now)
    return desk.move_to(task, Resolved(due_at=due_at), is_snooze=action == "snooze")


def revise(
    desk: TaskDesk, task: Task, *, text: str, due_at: Micros | None, rrule: str
) -> DeskDecision:
    """Decide other words, another time or another rule for a task; what is empty stays.

    The rule "once" ends a series. Raises InvalidInput.
    """
    if not task.is_active:
        raise InvalidInput("That is over already.")
    due_at = due_at or task.due_at
    check_to_come(due_at, desk.scope.now)
    kept = "" if rrule == ONCE else rrule or task.rrule
    revised = build_task(desk, text or task.text, due_at=due_at, rrule=kept or None)
    is_date_only = task.is_date_only and due_at == task.due_at
    is_put_off = task.begins_at != task.due_at == due_at and not kept
    revised = replace(
        revised,
        starts_at=task.begins_at if is_put_off else revised.starts_at,
        id=task.id,
        kind=task.kind if due_at is None else task.timed_kind,
        is_date_only=is_date_only,
        duration_s=task.duration_s if task.is_date_only == is_date_only else None,
        created_at=task.created_at,
        chat=desk.scope.chat or task.chat,
    )
    return desk.replace(task, revised, desk.wording.confirm(revised))


async def add_task(
    tx: Transaction,
    person: Person,
    text: str,
    *,
    now: Micros,
    due_at: Micros | None = None,
    rrule: str | None = None,
) -> DeskDecision:
    """Put a task on the list, unless it is there already. Raises InvalidInput."""
    await lock_person(tx, person.id)
    desk = await open_desk(tx, person, now=now)
    decision = desk.add(build_task(desk, text, due_at=due_at, rrule=rrule))
    await store(tx, decision, now=now)
    return decision


async def edit_task(
    tx: Transaction,
    person: Person,
    partial_id: str,
    action: TaskAction,
    *,
    now: Micros,
    due_at: Micros | None = None,
    later: SnoozeChoice | None = None,
) -> tuple[Task, DeskDecision]:
    """End a task, give it another time or take that back. Raises NotFound, InvalidInput."""
    await lock_person(tx, person.id)
    desk = await open_desk(tx, person, now=now)
    task = await get_task(tx, person.id, partial_id)
    decision = decide(desk, task, action, due_at=due_at, later=later)
    if not decision.saved:
        raise InvalidInput(decision.text)
    await store(tx, decision, now=now)
    return decision.saved[0][0], decision


async def store(tx: Transaction, decision: DeskDecision, *, now: Micros) -> None:
    """Store what was decided, and schedule it."""
    for task, _ in decision.saved:
        await save_task(tx, task)
        await schedule_reminder(tx, task, now=now)
    await tx.notify()


def decide_answer(desk: TaskDesk, task: Task, words: str) -> DeskDecision | None:
    """Answer the question about a task's time in the language of the task; None: it is none."""
    if task.question is None:
        return None
    phrases = load_task_phrases(choose_language_with("tasks", task.language))
    return TaskDesk(desk.scope, phrases, desk.tasks).answer(task, words)


async def answer_task(
    tx: Transaction, person: Person, partial_id: str, words: str, *, now: Micros
) -> tuple[Task, DeskDecision]:
    """Answer the question about a task's time. Raises NotFound, InvalidInput."""
    await lock_person(tx, person.id)
    task = await get_task(tx, person.id, partial_id)
    desk = await open_desk(tx, person, now=now)
    decision = decide_answer(desk, task, words.strip()) if task.is_active else None
    if decision is None or not decision.saved:
        raise InvalidInput("That tells no time that was asked about.")
    await store(tx, decision, now=now)
    return decision.saved[0][0], decision
