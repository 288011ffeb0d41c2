"""Task wording: what is said about reminders and to-dos, from what is stored."""

from collections.abc import Iterator, Sequence
from datetime import date, time
from functools import cache
from typing import Any, Final

from oldfriend.domain.buttons import MAX_COMMAND_BYTES, Button
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.lang.language_pack import choose_language_with, load_language_pack
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.tasks.recurrence import split_exceptions
from oldfriend.tasks.series_phrases import DAY_HOUR
from oldfriend.tasks.task import Task, find_end, list_days
from oldfriend.tasks.told_time import Ambiguous, decode_guess

MAX_LISTED: Final = 20
WORKDAYS: Final = {"MO", "TU", "WE", "TH", "FR"}
MAX_LABEL_CHARS: Final = 40
"""What a button shows on any channel; a longer time is shown by when it comes next."""


class TaskWording:
    """The words of one language about tasks, for a person in a zone at a moment."""

    def __init__(self, language: str, *, zone: str, now: Micros) -> None:
        """Take the language, the zone and the moment."""
        self._pack = load_task_pack(choose_language_with("tasks", language))
        self._months = load_phrases(choose_language(language)).date_formats.months
        self._zone = zone
        self._now = now

    def say(self, name: str, **values: object) -> str:
        """Return a phrase with values filled in."""
        return str(self._pack["phrases"][name]).format(**values)

    def format_when(self, at: Micros, *, is_date_only: bool = False) -> str:
        """Format a moment in the person's words and zone ("Tue 24 November, 10:00")."""
        local = from_micros(at, self._zone)
        day = self.format_date(local.date())
        if is_date_only:
            return day
        return str(self._pack["moment"]).format(day=day, time=f"{local:%H:%M}")

    def format_date(self, day: date) -> str:
        """Format a day with its weekday ("Tue 24 November"); with the year if it is another."""
        is_this_year = day.year == from_micros(self._now, self._zone).year
        date_text = self._pack["date" if is_this_year else "date_with_year"].format(
            day=day.day, month=self._months[day.month - 1], number=day.month, year=day.year
        )
        weekday = self._pack["weekdays"][day.weekday()]
        return str(self._pack["day"]).format(weekday=weekday, date=date_text)

    def format_task_time(self, task: Task) -> str:
        """Format when a task is due next; empty if it has no time."""
        at, end = task.begins_at, find_end(task)
        if at is None or end is None:
            return self.format_reminder_time(task)
        first, *others = list_days(task, at)
        if task.is_all_day:
            name, last = ("days", others[-1]) if others else ("all_day", first)
            day, to = self.format_date(first), self.format_date(last)
            return str(self._pack[name]).format(day=day, first=day, last=to)
        begins, ends = self.format_when(at), self.format_when(end)
        if from_micros(at, self._zone).date() != from_micros(end, self._zone).date():
            return str(self._pack["days"]).format(first=begins, last=ends)
        return f"{begins}–{from_micros(end, self._zone):%H:%M}"

    def format_reminder_time(self, task: Task) -> str:
        """Format when a task is said next: a day alone where it is said at the hour of days."""
        if task.due_at is None:
            return ""
        hour = from_micros(task.due_at, self._zone).time()
        is_day = task.is_told_by_day and (task.duration_s is None or hour == time(DAY_HOUR))
        return self.format_when(task.due_at, is_date_only=is_day)

    def confirm(self, task: Task) -> str:
        """Say how a task stands: on the list, with the time that is stored, or ended."""
        if not task.is_active:
            ended = "cancelled" if task.kind == "reminder" else "cancelled_todo"
            return self.say("done" if task.status == "done" else ended, text=task.text)
        if task.status == "asking":
            return self.ask(task)
        if task.kind == "todo" or task.due_at is None:
            return self.say("todo", text=task.text)
        when = self.format_reminder_time(task)
        if task.status == "delivered":
            return self.say("reopened", when=when, text=task.text)
        if task.kind == "action":
            key = "action_series" if task.rrule and task.time_words else "action"
            return self.say(key, words=task.time_words, text=task.text, when=when)
        if task.rrule and task.time_words:
            return self.say("set_series", words=task.time_words, text=task.text, when=when)
        return self.say("set", when=when, text=task.text)

    def confirm_move(self, task: Task, *, is_snooze: bool = False, is_once: bool = False) -> str:
        """Say when a task comes that was moved or put off, and of a series how it goes on."""
        phrase = "snoozed" if is_snooze else "changed"
        if task.rrule and not is_snooze:
            phrase = "changed_once" if is_once else "changed_series"
        elif task.kind == "action":
            phrase = "action_changed"
        return self.say(phrase, text=task.text, when=self.format_reminder_time(task))

    def ask(self, task: Task) -> str:
        """Ask about the time of a task."""
        name, options = self.ask_options(task)
        first, second = (*options, "", "")[:2]
        is_series = name == "guess" and "/" in (task.question or "")
        return self.say(
            "ask_guess_series" if is_series else f"ask_{name}",
            text=task.text,
            first=first,
            second=second,
            words=task.time_words,
        )

    def ask_options(self, task: Task) -> tuple[str, list[str]]:
        """Return what was asked about the time of a task, and the options in words."""
        name, *options = (task.question or "when").partition("\n")[0].split(" ")
        if name == "week":
            options = [self.format_date(date.fromisoformat(each)) for each in options]
        if name == "guess":
            guessed = (decode_guess(each, self._zone, DAY_HOUR) for each in options)
            options = [
                self.format_when(each.due_at, is_date_only=each.is_date_only) for each in guessed
            ]
        return name, options

    def list_choices(self, task: Task) -> tuple[tuple[str, str], ...]:
        """Return what a button may choose of the times in question: its label, and the answer."""
        stored = (task.question or "").partition("\n")[0].split(" ")[1:]
        name, labels = self.ask_options(task)
        if name not in {"half", "week", "guess"}:
            return ()
        if name == "guess" and "/" in stored[0] and 0 < len(task.time_words) <= MAX_LABEL_CHARS:
            labels = [task.time_words]
        return tuple(zip(labels, stored, strict=True))

    def build_choice_buttons(self, task: Task) -> tuple[Button, ...]:
        """Return the buttons that answer the question about a time, where it offers any."""
        commands = (
            (label, f"/remind {task.short_id} {answer}")
            for label, answer in self.list_choices(task)
        )
        return tuple(
            Button(label, command)
            for label, command in commands
            if len(command.encode()) <= MAX_COMMAND_BYTES
        )

    def list_tasks(self, tasks: Sequence[Task], *, among: Sequence[Task] = ()) -> str:
        """List tasks with the beginnings of their ids, and their numbers ``among`` others."""
        if not tasks:
            return self.say("empty")
        lines = [
            self.say(
                "list_line",
                number=number,
                text=task.text,
                at=self.format_listed_time(task)
                + (self.say("list_action") if task.kind == "action" else "")
                + self.name_project(task),
                id=task.short_id,
            )
            for number, task in number_tasks(tasks[:MAX_LISTED], among)
        ]
        if len(tasks) > MAX_LISTED:
            lines.append(self.say("more", count=len(tasks) - MAX_LISTED))
        return "\n".join([self.say("list_head"), *lines])

    def name_project(self, task: Task) -> str:
        """Name the project of a task behind its time in a list; empty if it is in none."""
        return self.say("list_project", project=task.project_name) if task.project_name else ""

    def format_listed_time(self, task: Task) -> str:
        """Format the time of a task behind its text in a list."""
        when = self.format_task_time(task)
        if task.status == "asking":
            return self.say("list_asking")
        if not when:
            return ""
        is_overdue = task.status == "open" and (task.due_at or 0) <= self._now
        is_on = (find_end(task) or 0) > self._now
        if (task.status == "delivered" or is_overdue) and not is_on:
            return self.say("list_delivered", when=when)
        if task.rrule:
            words = task.time_words or self._pack["repeats"].get(name_frequency(task.rrule))
            name = "list_series" if words else "list_series_next"
            return self.say(name, words=words, when=when)
        return self.say("at", when=when)

    def build_buttons(self, task: Task) -> tuple[Button, ...]:
        """Return the buttons below a reminder: done, or put off."""
        labels = self._pack["buttons"]
        return (
            Button(labels["done"], f"/done {task.short_id}"),
            Button(labels["minutes"], f"/snooze {task.short_id} 10m"),
            Button(labels["tomorrow"], f"/snooze {task.short_id} tomorrow"),
        )

    def remind(self, task: Task, *, is_late: bool) -> str:
        """Word the reminder itself; one whose time was never made clear says so."""
        if task.status == "asking":
            _, options = self.ask_options(task)
            if len(options) == 2:
                first, second = options
                return self.say("reminder_earlier", text=task.text, first=first, second=second)
            return self.say("reminder_unsaid", text=task.text)
        if is_late:
            return self.say("reminder_late", text=task.text, when=self.format_reminder_time(task))
        return self.say("reminder", text=task.text)


@cache
def load_task_pack(language: str) -> dict[str, Any]:
    """Load the words of a language about tasks."""
    return load_language_pack(language).read("tasks")


def name_frequency(rule: str) -> str:
    """Return how often a rule comes, "daily"; empty where that is not all that it says."""
    rule, _ = split_exceptions(rule)
    parts = dict(each.split("=", 1) for each in rule.split(";"))
    often, days = parts["FREQ"].lower(), parts.get("BYDAY", "")
    is_spaced = int(parts.get("INTERVAL", 1)) > 1 and often != "minutely"
    if often in {"daily", "weekly"} and set(days.split(",")) == WORKDAYS and not is_spaced:
        return "" if "BYSETPOS" in parts else "workdays"
    is_on_some = "," in rule or (often == "daily" and bool(days))
    return "" if is_spaced or is_on_some else often


def encode_question(found: Ambiguous) -> str:
    """Return what was asked about a time as it is stored."""
    return " ".join((found.question, *found.options))


def number_tasks(tasks: Sequence[Task], among: Sequence[Task]) -> Iterator[tuple[int, Task]]:
    """Yield tasks with their numbers in a longer list, or in this one."""
    numbers = {each.id: number for number, each in enumerate(among or tasks, 1)}
    return ((numbers[each.id], each) for each in tasks)
