"""Quiet hours: the part of each day, in the person's zone, in which nothing is said unasked."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final

from oldfriend.domain.clock import MINUTE, Micros, from_micros, get_zone, to_micros

LOOK_MINUTES: Final = 30
"""Looks are aligned to the clock: the full and the half hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietHours:
    """A daily span in minutes of the local day; it may contain midnight. Equal ends: none."""

    begins: int = 22 * 60
    ends: int = 8 * 60

    def contains(self, at: Micros, zone: str) -> bool:
        """Return whether a moment is within the quiet hours."""
        local = from_micros(at, zone)
        minute = 60 * local.hour + local.minute
        if self.begins <= self.ends:
            return self.begins <= minute < self.ends
        return minute >= self.begins or minute < self.ends

    def get_end(self, at: Micros, zone: str) -> Micros:
        """Return when the quiet hours that contain a moment are over.

        Where clocks are put forward over the end, it is the first minute after the gap.
        """
        local = from_micros(at, zone)
        minute = 60 * local.hour + local.minute
        day = local.date() + timedelta(days=int(minute >= self.ends))
        ends_at = to_micros(datetime.combine(day, time(*divmod(self.ends, 60)), get_zone(zone)))
        while self.contains(ends_at, zone):  # the hour is there twice, or not at all
            ends_at += LOOK_MINUTES * MINUTE
        return ends_at


def format_clock_minute(minute: int) -> str:
    """Return a minute of the day as "08:30"."""
    return f"{minute // 60:02d}:{minute % 60:02d}"


def align_to_clock(at: Micros, zone: str) -> Micros:
    """Return the next full or half hour of the local clock, or the moment itself if it is one."""
    local = from_micros(at, zone)
    past = timedelta(
        minutes=local.minute % LOOK_MINUTES,
        seconds=local.second,
        microseconds=local.microsecond,
    )
    passed = past // timedelta(microseconds=1)
    return at if not passed else at - passed + LOOK_MINUTES * MINUTE


def get_local_time(
    day_of: Micros, zone: str, *, days: int = 0, hour: int, minute: int = 0
) -> Micros:
    """Return a clock time of the local day of a moment, or of a day before or after it."""
    day = from_micros(day_of, zone).date() + timedelta(days=days)
    return to_micros(datetime.combine(day, time(hour, minute), get_zone(zone)))
