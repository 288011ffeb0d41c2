"""Day plans: the tasks and goals of each day, for the calendar."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Literal

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, from_micros, parse_timestamp
from oldfriend.domain.messages import Person
from oldfriend.goals.goal import Goal
from oldfriend.goals.goal_store import list_goals
from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.presenters.task_schemas import format_end
from oldfriend.tasks.task import Task, find_end, list_days
from oldfriend.tasks.task_store import find_next_time, list_begun_times, list_tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedItemSchema(Schema):
    """A task or a goal that is due on a day."""

    id: str
    kind: Literal["task", "goal"]
    text: str
    at: str | None = field(metadata=describe("When on this day; null if only the day was told."))
    until: str | None = field(
        default=None,
        metadata=describe("When it ends: a time, or the last of several days; null if not known."),
    )
    is_all_day: bool = field(
        default=False, metadata=describe("Whether a calendar told it as lasting for whole days.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """The active tasks and the open goals of a person."""

    tasks: Sequence[Task]
    goals: Sequence[Goal]
    zone: str

    def list_times(self, *, after: Micros) -> list[Micros]:
        """List when each is due next, and a series when it is due behind a moment, too."""
        times = [*(each.begins_at for each in self.tasks), *(each.deadline for each in self.goals)]
        times += [find_next_time(each, after=after) for each in self.tasks]
        return [each for each in times if each is not None]

    def group_by_day(self, since: Micros, until: Micros) -> dict[date, list[PlannedItemSchema]]:
        """Group what is due in a span by day, a series once a day; goals come last."""
        found = [
            (at, each) for each in self.tasks for at in self.list_task_times(each, since, until)
        ]
        days: defaultdict[date, list[PlannedItemSchema]] = defaultdict(list)
        first, last = from_micros(since, self.zone).date(), from_micros(until - 1, self.zone).date()
        for at, task in sorted(found, key=lambda each: each[0]):
            of_task = replace(task, zone=self.zone, due_at=at)
            when = None if task.is_told_by_day else format_time(at, self.zone)
            begins, *others = list_days(of_task, at)
            for day in (begins, *others):
                item = PlannedItemSchema(
                    id=task.id,
                    kind="task",
                    text=task.text,
                    at=when if day == begins else None,
                    until=format_end(
                        at, task.duration_s, is_all_day=task.is_all_day, zone=self.zone
                    ),
                    is_all_day=task.is_all_day,
                )
                if first <= day <= last:
                    days[day].append(item)
        for goal in self.goals:
            if goal.deadline is not None and since <= goal.deadline < until:
                item = PlannedItemSchema(id=goal.id, kind="goal", text=goal.text, at=None)
                days[from_micros(goal.deadline, self.zone).date()].append(item)
        return days

    def list_task_times(self, task: Task, since: Micros, until: Micros) -> list[Micros]:
        """List when a task is due in a span, or goes on in it, at most once a day."""
        at = task.begins_at
        lasts = 0 if at is None else (find_end(task) or at + 1) - at
        if at is None or not task.rrule or task.starts_at is None:
            return [at] if at is not None and at < until and at + lasts > since else []
        begun = list_begun_times(task, since=since)
        days = {from_micros(each, self.zone).date(): each for each in reversed(begun)}
        times = [each for each in reversed(days.values()) if each < until]
        if at + lasts <= since:
            at = find_next_time(task, after=since - lasts)
        while at is not None and at < until:
            times.append(at)
            following = from_micros(at, self.zone).date() + timedelta(days=1)
            morning = Micros(get_day_start(following, self.zone) - 1)
            at = find_next_time(task, after=morning)
        return times


def get_day_start(day: date, zone: str) -> Micros:
    """Return the start of a day in a zone."""
    at, _ = parse_timestamp(day.isoformat(), zone)
    return at


async def load_plans(tx: Transaction, person: Person) -> Plans:
    """Load what a person is to be reminded of, and their open goals."""
    goals = [each.goal for each in await list_goals(tx, person.id)]
    return Plans(tasks=await list_tasks(tx, person.id), goals=goals, zone=person.zone)
