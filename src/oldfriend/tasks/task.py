"""Task: a reminder or a to-do that a person asked for, in their own words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Literal, get_args

from oldfriend.domain.clock import DAY, SECOND, Micros, from_micros, get_zone, to_micros
from oldfriend.domain.ids import SHORT_ID_CHARS, ChatId, MessageId, PersonId
from oldfriend.search.shared_topics import extract_meaning_terms

TaskKind = Literal["reminder", "todo", "action"]
"""Action: at its time it is done, and what came of it is told."""
TaskStatus = Literal["open", "asking", "delivered", "done", "cancelled"]
"""Asking: its time is in doubt; it comes at the earliest that was meant if nobody answers.
Delivered: it was said once, and is not done."""
KINDS: tuple[TaskKind, ...] = get_args(TaskKind)
STATUSES: tuple[TaskStatus, ...] = get_args(TaskStatus)
ACTIVE: tuple[TaskStatus, ...] = ("open", "asking", "delivered")


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A reminder or a to-do."""

    id: str
    person: PersonId
    chat: ChatId | None = None
    message: MessageId | None = None
    message_seq: int | None = None
    text: str
    time_words: str = ""
    language: str
    kind: TaskKind
    status: TaskStatus = "open"
    question: str | None = None  # and the words of the time that a move is asked about
    due_at: Micros | None = None
    starts_at: Micros | None = None
    zone: str
    is_date_only: bool = False
    duration_s: int | None = None  # as a calendar told it; of whole days, where only days are told
    rrule: str | None = None
    created_at: Micros
    changed_at: Micros
    delivered_at: Micros | None = None
    project: str | None = None  # that was open where it was made
    project_name: str | None = None  # read, never stored: a project may be deleted

    @property
    def short_id(self) -> str:
        """The id as people see and say it."""
        return self.id[:SHORT_ID_CHARS]

    @property
    def is_active(self) -> bool:
        """Whether it is neither done nor cancelled."""
        return self.status in ACTIVE

    @property
    def is_all_day(self) -> bool:
        """Whether a calendar told it as lasting for whole days."""
        return self.is_date_only and self.duration_s is not None

    @property
    def is_told_by_day(self) -> bool:
        """Whether its time is told as a day; a series that people ask for comes at an hour."""
        return self.is_date_only and (self.rrule is None or self.is_all_day)

    @property
    def begins_at(self) -> Micros | None:
        """When it begins: what has an end does not move when its reminder is put off."""
        is_put_off = self.rrule is None and self.duration_s is not None
        return (self.starts_at if is_put_off else None) or self.due_at

    @property
    def is_asked(self) -> bool:
        """Whether a question about its time, or about a new one, is open."""
        return self.question is not None

    @property
    def timed_kind(self) -> TaskKind:
        """Its kind once it has a time: what was a to-do is a reminder then."""
        return "reminder" if self.kind == "todo" else self.kind

    @property
    def spoken_of_at(self) -> Micros:
        """When it was set, changed or delivered last."""
        return max(self.changed_at, self.delivered_at or 0)


def find_end(task: Task, at: Micros | None = None) -> Micros | None:
    """Return when a task ends, or its time that comes ``at`` a moment; None if not known.

    Whole days end at the midnight after the last one.
    """
    begins = task.begins_at if at is None else at
    if begins is None or task.duration_s is None:
        return None
    if not task.is_all_day:
        return begins + task.duration_s * SECOND
    after = list_days(task, begins)[-1] + timedelta(days=1)
    return to_micros(datetime.combine(after, time(), get_zone(task.zone)))


def list_days(task: Task, at: Micros) -> list[date]:
    """List the days of a task that comes at a time, in its zone; one if its end is not known."""
    first = from_micros(at, task.zone).date()
    if task.duration_s is None:
        return [first]
    length = task.duration_s * SECOND
    more = (
        length // DAY - 1
        if task.is_all_day
        else (from_micros(at + max(length - 1, 0), task.zone).date() - first).days
    )
    return [first + timedelta(days=each) for each in range(max(more, 0) + 1)]


def list_last(tasks: Sequence[Task]) -> list[Task]:
    """Return the tasks that "the last one" may mean: last of the list, set or spoken of last."""
    made = max(tasks, key=lambda each: each.created_at, default=None)
    spoken_of = max(tasks, key=lambda each: each.spoken_of_at, default=None)
    return [each for each in tasks if each in {made, spoken_of, tasks[-1]}]


def list_about(tasks: Sequence[Task], words: str, language: str) -> list[Task]:
    """Return the tasks in another language that are about all that words name: "Zahnarzt"."""
    terms = extract_meaning_terms(words, language)
    return [
        each
        for each in tasks
        if each.language != language
        and terms
        and terms <= extract_meaning_terms(each.text, each.language)
    ]
