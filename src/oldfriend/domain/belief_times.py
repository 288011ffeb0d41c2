"""Belief times: the time zone in which a belief's times are told, and whether it is overdue.

A day, month or year that was said is a date of the calendar: it is the same date wherever it is
read, and over when that date ends for the reader. A clock time is told as it was said.
"""

from datetime import datetime
from typing import Final

from oldfriend.domain.clock import Micros, from_micros, get_zone, to_micros
from oldfriend.domain.memories import StoredBelief

LAST_MINUTE: Final = (23, 59)
"""The hour and minute of a due time that stands for the whole day."""


def get_told_zone(memory: StoredBelief, zone: str) -> str:
    """Return the zone in which a belief's times were said; the reader's if that is unknown."""
    return memory.zone or zone


def is_whole_day(at: Micros, zone: str) -> bool:
    """Return whether a due time is the end of a day in a zone."""
    local = from_micros(at, zone)
    return (local.hour, local.minute) == LAST_MINUTE


def get_deadline(memory: StoredBelief, zone: str) -> Micros | None:
    """Return when a belief is overdue in the reader's zone; None if it is never due."""
    if memory.due_at is None:
        return None
    told_zone = get_told_zone(memory, zone)
    if not memory.grain and not is_whole_day(memory.due_at, told_zone):
        return memory.due_at
    said = from_micros(memory.due_at, told_zone)
    return to_micros(datetime.combine(said.date(), said.time(), get_zone(zone)))


def is_overdue(memory: StoredBelief, zone: str, *, now: Micros) -> bool:
    """Return whether a belief was due before now in the reader's zone."""
    deadline = get_deadline(memory, zone)
    return deadline is not None and deadline < now


def name_other_zone(memory: StoredBelief, zone: str) -> str:
    """Return the zone of a due clock time, where its clocks differ from the reader's; else ""."""
    told_zone, due_at = get_told_zone(memory, zone), memory.due_at
    if due_at is None or memory.grain or is_whole_day(due_at, told_zone):
        return ""
    offsets = {from_micros(due_at, each).utcoffset() for each in (told_zone, zone)}
    return told_zone if len(offsets) > 1 else ""
