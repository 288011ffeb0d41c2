"""Series exceptions: days that a calendar cancels, moves or leaves out of a series."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from datetime import datetime

from oldfriend.domain.clock import SECOND, Micros, from_micros, to_micros
from oldfriend.domain.json import JsonValue
from oldfriend.tasks.calendar_editions import normalize_uid
from oldfriend.tasks.calendar_files import CalendarEntry, to_local
from oldfriend.tasks.recurrence import (
    add_exceptions,
    find_next,
    is_counted_in_elapsed_time,
    to_utc,
)
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import find_next_time


def may_leave_out(task: Task) -> bool:
    """Whether a task is a series on the list that can go on without one of its times."""
    rule = task.rrule
    return rule is not None and task.is_active and not is_counted_in_elapsed_time(rule)


def leave_out_days(
    task: Task, told: Sequence[JsonValue], times: Sequence[Micros], *, now: Micros
) -> tuple[Task, CalendarEntry] | None:
    """Return a series without some times, and what is told of it so; None if nothing changes."""
    if task.rrule is None or not may_leave_out(task):
        return None
    text, begins, rule, *_ = told
    days = {from_micros(each, task.zone).replace(tzinfo=None) for each in times}
    rrule = add_exceptions(task.rrule, days)
    if rrule == task.rrule:
        return None
    later = replace(task, rrule=rrule, changed_at=now)
    if task.due_at in times:
        later = replace(later, due_at=find_next_time(later, after=task.due_at or 0))
    entry = CalendarEntry(
        text=str(text),
        due_at=later.due_at,
        rrule=add_exceptions(rule, days) if isinstance(rule, str) else rrule,
        starts_at=begins * SECOND if isinstance(begins, int) else None,
        zone=task.zone,
        is_date_only=task.is_date_only,
        duration_s=task.duration_s,
    )
    return later, entry


def leave_out_again(entry: CalendarEntry, times: Sequence[Micros], *, now: Micros) -> CalendarEntry:
    """Return a series that a calendar tells without the times that were told alone before."""
    rule, starts_at, zone = entry.rrule, entry.starts_at, entry.zone
    if not times or rule is None or starts_at is None or zone is None:
        return entry
    if is_counted_in_elapsed_time(rule):
        return entry
    days = {from_micros(each, zone).replace(tzinfo=None) for each in times}
    rrule = add_exceptions(rule, days)
    start = from_micros(starts_at, zone).replace(tzinfo=None)
    following = find_next(rrule, start, zone, after=now)
    ending = entry.ending if following is not None else "past"
    return replace(entry, rrule=rrule, due_at=following, ending=ending)


def end_days(
    series: str,
    tasks: Mapping[str, Iterable[Task]],
    kept: Set[Micros],
    *,
    zone: str,
    now: Micros,
) -> list[tuple[str, CalendarEntry]]:
    """List what ends the days of a series that are to come by themselves and were not told again.

    ``kept``: the times of the series that stay on their own.
    """
    ended: list[tuple[str, CalendarEntry]] = []
    for uid, found in tasks.items():
        replaces_at = find_replaced_time(uid, series, zone)
        if replaces_at is None or replaces_at in kept or normalize_uid(uid, zone) != uid:
            continue
        to_come = [each for each in found if each.is_active and (each.due_at or 0) > now]
        if to_come:
            text = to_come[0].text
            entry = CalendarEntry(text=text, ending="cancelled", uid=uid, series=series)
            ended.append((uid, entry))
    return ended


def find_replaced_time(uid: str, series: str, zone: str) -> Micros | None:
    """Return which time of a series an id names; None if it names none of it."""
    day = uid.removeprefix(f"{series}/")
    if day == uid or "-" not in day:
        return None
    try:
        stated = datetime.fromisoformat(day)
    except ValueError:
        return None
    return to_micros(to_utc(to_local(stated if "T" in day else stated.date(), zone), zone))
