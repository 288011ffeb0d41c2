"""Tasks: reminders and to-dos, for the API and the command line."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Literal, Self

from oldfriend.domain.clock import SECOND, Micros, from_micros
from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.tasks.calendar_files import CalendarEntry
from oldfriend.tasks.recurrence import list_exceptions, split_exceptions
from oldfriend.tasks.task import Task, TaskKind, TaskStatus
from oldfriend.tasks.task_desk import DeskDecision
from oldfriend.tasks.task_wording import TaskWording


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskChoiceSchema(Schema):
    """A time that the question about a task offers."""

    label: str
    answer: str = field(metadata=describe("The words that choose it."))


def format_end(
    due_at: Micros | None, duration_s: int | None, *, is_all_day: bool, zone: str
) -> str | None:
    """Format when something ends: a time, or the last of whole days; None if that is not known."""
    if due_at is None or duration_s is None:
        return None
    if not is_all_day:
        return format_time(due_at + duration_s * SECOND, zone)
    return str(from_micros(due_at, zone).date() + timedelta(seconds=duration_s, days=-1))


def format_left_out(rrule: str | None) -> tuple[str, ...]:
    """Format the days and local times that a series leaves out, the first of them first."""
    return tuple(
        datetime.fromisoformat(each).isoformat() if "T" in each else str(date.fromisoformat(each))
        for each in list_exceptions(rrule or "")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSchema(Schema):
    """A reminder or a to-do."""

    id: str
    text: str = field(metadata=describe("What to do, in the person's words."))
    kind: TaskKind
    status: TaskStatus = field(
        metadata=describe(
            "`asking`: its time is not known yet; `delivered`: it was said, and is not done."
        )
    )
    due: str | None = field(metadata=describe("When it is due next; null without a time."))
    until: str | None = field(
        metadata=describe("When it ends: a time, or the last of whole days; null if not known.")
    )
    is_date_only: bool = field(metadata=describe("Whether only a day was told."))
    is_all_day: bool = field(
        metadata=describe("Whether a calendar told it as lasting for whole days.")
    )
    rrule: str | None = field(metadata=describe("How it repeats, by RFC 5545; null: once."))
    left_out: tuple[str, ...] = field(
        metadata=describe(
            "The days, or local times of a day with several, that a series leaves out."
        )
    )
    repeats: str | None = field(
        metadata=describe("How it repeats in the person's words; null if it was not said in words.")
    )
    question: str | None = field(metadata=describe("What is asked about its time, if it is."))
    choices: tuple[TaskChoiceSchema, ...] = field(
        metadata=describe("The times that the question offers; empty if it offers none.")
    )
    created: str
    delivered: str | None = field(metadata=describe("When it was said last."))
    message: str | None = field(metadata=describe("The message that asked for it."))
    project: str | None = field(
        metadata=describe("The name of the project that was open where it was made.")
    )

    @classmethod
    def from_domain(cls, task: Task, *, zone: str) -> Self:
        """Present a task, with times in the person's zone."""
        wording = TaskWording(task.language, zone=zone, now=task.changed_at)
        is_asking = task.status == "asking"
        choices = wording.list_choices(task) if is_asking else ()
        return cls(
            id=task.id,
            text=task.text,
            kind=task.kind,
            status=task.status,
            due=format_time(task.begins_at, zone),
            until=format_end(
                task.begins_at, task.duration_s, is_all_day=task.is_all_day, zone=zone
            ),
            is_date_only=task.is_date_only,
            is_all_day=task.is_all_day,
            rrule=None if task.rrule is None else split_exceptions(task.rrule)[0],
            left_out=format_left_out(task.rrule),
            repeats=(task.time_words or None) if task.rrule else None,
            question=wording.ask(task) if is_asking else None,
            choices=tuple(TaskChoiceSchema(label=label, answer=said) for label, said in choices),
            created=format_time(task.created_at, zone),
            delivered=format_time(task.delivered_at, zone),
            message=task.message,
            project=task.project_name,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskListSchema(Schema):
    """A person's tasks, the next due first."""

    items: tuple[TaskSchema, ...]
    answer: str | None = field(
        default=None, metadata=describe("What is said about words that were sent.")
    )
    next: str | None = field(
        default=None, metadata=describe("The cursor of the next page; null on the last page.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarEntrySchema(Schema):
    """What a calendar file asks to be reminded of."""

    text: str
    due: str | None = field(metadata=describe("When it is due next; null without a time."))
    until: str | None = field(
        metadata=describe("When it ends: a time, or the last of whole days; null if not known.")
    )
    is_all_day: bool = field(metadata=describe("Whether it lasts for whole days."))
    rrule: str | None = field(metadata=describe("How it repeats, by RFC 5545; null: once."))
    left_out: tuple[str, ...] = field(
        metadata=describe(
            "The days, or local times of a day with several, that a series leaves out."
        )
    )
    state: Literal["new", "moved", "ended", "known", "full"] = field(
        metadata=describe(
            "`moved`: it is on the list and changes; `ended`: the calendar cancelled it, or it is "
            "over, and it leaves the list; `known`: it is there already, or was ended; "
            "`full`: the list has no room."
        )
    )

    @classmethod
    def from_domain(cls, entry: CalendarEntry, decision: DeskDecision, *, zone: str) -> Self:
        """Present an entry with what becomes of it."""
        is_move = any(earlier and earlier.id == later.id for later, earlier in decision.saved)
        changed: Literal["ended", "moved", "new"] = "moved" if is_move else "new"
        changed = "ended" if entry.ending else changed
        return cls(
            text=entry.text,
            due=format_time(entry.due_at, zone),
            until=format_end(
                entry.due_at, entry.duration_s, is_all_day=entry.is_date_only, zone=zone
            ),
            is_all_day=entry.is_date_only,
            rrule=None if entry.rrule is None else split_exceptions(entry.rrule)[0],
            left_out=format_left_out(entry.rrule),
            state=changed if decision.saved else "full" if decision.is_full else "known",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarImportSchema(Schema):
    """What of a calendar file is put on the list, or would be."""

    items: tuple[CalendarEntrySchema, ...]
    number: int | None = field(
        metadata=describe("The number of the import to undo it by; null if nothing was new.")
    )
    unused: tuple[str, ...] = field(
        metadata=describe("A line for each entry that is over or cannot be kept.")
    )
    is_preview: bool = field(metadata=describe("Whether nothing was stored."))


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarFeedSchema(Schema):
    """The address at which a calendar reads a person's reminders."""

    made: str | None = field(metadata=describe("When it was made; null: there is none."))
    path: str | None = field(
        default=None,
        metadata=describe("The secret address on this server; only in the answer that makes it."),
    )

    @classmethod
    def from_domain(cls, made_at: Micros | None, *, zone: str, path: str | None = None) -> Self:
        """Present a feed, with the time in the person's zone."""
        return cls(made=format_time(made_at, zone), path=path)
