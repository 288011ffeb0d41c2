"""Series moves: what becomes of a series one time of which is moved, for good or only this once."""

from dataclasses import replace
from datetime import datetime

from oldfriend.domain.clock import SECOND, from_micros
from oldfriend.domain.desk_scope import DeskScope
from oldfriend.tasks.recurrence import find_next, is_counted_in_elapsed_time, iterate_times
from oldfriend.tasks.series_phrases import DAY_NAMES
from oldfriend.tasks.task import Task
from oldfriend.tasks.told_time import Resolved, Told

RuleParts = dict[str, str]


def move_series(
    task: Task, found: Resolved, told: Told | None, desk_scope: DeskScope
) -> Task | None:
    """Return a series one time of which is moved; None if it is not clear which of its hours.

    Another hour is one for good. Another day is so if the rule has it, or if a weekday is named in
    place of the only one that the rule has; else it is only for this once.
    """
    assert task.rrule is not None
    assert task.due_at is not None
    parts = dict(part.split("=") for part in task.rrule.split(";"))
    is_here = task.zone == desk_scope.zone
    moved = from_micros(found.due_at, desk_scope.zone).replace(tzinfo=None, microsecond=0)
    if "," in parts.get("BYHOUR", ""):
        if not is_only_hour(task, moved, told, desk_scope):
            return move_once(task, found)
        return move_hour(task, parts, moved, desk_scope) if is_here else None
    if "BYHOUR" in parts:
        parts |= {"BYHOUR": str(moved.hour), "BYMINUTE": str(moved.minute)}
    is_weekly = parts["FREQ"] == "WEEKLY" and "," not in parts.get("BYDAY", ",")
    if is_weekly and (names_weekday(told) or not is_here):
        parts["BYDAY"] = DAY_NAMES[moved.weekday()]
    if "COUNT" in parts:
        parts["COUNT"] = str(count_left(task))
    rule = write_rule(parts)
    if next(iterate_times(rule, moved, since=moved), None) != moved:
        return move_once(task, found)
    return replace(
        task,
        due_at=found.due_at,
        starts_at=found.due_at - found.due_at % SECOND,
        zone=desk_scope.zone,
        is_date_only=found.is_date_only,
        duration_s=task.duration_s if task.is_date_only == found.is_date_only else None,
        rrule=rule,
        time_words="",
    )


def move_once(task: Task, found: Resolved) -> Task:
    """Return a series that comes at another time once, and then goes on as before."""
    return replace(task, due_at=found.due_at)


def move_hour(task: Task, parts: RuleParts, moved: datetime, desk_scope: DeskScope) -> Task | None:
    """Return a series with another hour in place of the nearest of its own; None if none is."""
    start = from_micros(task.starts_at or task.due_at or 0, task.zone).replace(tzinfo=None)
    hours = [int(each) for each in parts["BYHOUR"].split(",")]
    far = sorted((abs(each - moved.hour), each) for each in hours)
    is_clear = 0 < far[0][0] < far[1][0]
    if not is_clear or parts.get("BYMINUTE", str(start.minute)) != str(moved.minute):
        return None
    kept = [each for each in hours if each != far[0][1]]
    rule = write_rule({**parts, "BYHOUR": ",".join(map(str, sorted([*kept, moved.hour])))})
    due_at = find_next(rule, start, task.zone, after=desk_scope.now)
    if due_at is None:
        return None
    return replace(task, rrule=rule, due_at=due_at, time_words="")


def is_only_hour(task: Task, moved: datetime, told: Told | None, desk_scope: DeskScope) -> bool:
    """Whether a time is moved to another hour, and not to a day."""
    if told is not None and told.amount is None:
        return {each.kind for each in told.words} <= {"clock", "part"}
    return from_micros(task.due_at or 0, desk_scope.zone).date() == moved.date()


def names_weekday(told: Told | None) -> bool:
    """Whether words name a plain day of the week."""
    day = None if told is None else told.day
    return day is not None and "day" in day.groups and "mode" not in day.entry


def count_left(task: Task) -> int:
    """Return how often a series still comes, its next time included."""
    assert task.rrule is not None
    zone = "UTC" if is_counted_in_elapsed_time(task.rrule) else task.zone
    due_at = task.due_at or 0
    start, due = (
        from_micros(each, zone).replace(tzinfo=None) for each in (task.starts_at or due_at, due_at)
    )
    return 1 + sum(each > due for each in iterate_times(task.rrule, start, since=due))


def write_rule(parts: RuleParts) -> str:
    """Return the parts of a rule as it is stored."""
    return ";".join(f"{name}={value}" for name, value in parts.items())
