"""Statistics of measurements: by day, summary, weeks, trend, and two measures side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import sqrt
from typing import Final

from oldfriend.measurements.measurement_store import Measurement
from oldfriend.measurements.measures import Measure, to_compared

MIN_TREND_DAYS: Final = 3
FEW_DAYS: Final = 10
"""With fewer days two measures cannot be said to go together."""
DAYS_PER_WEEK: Final = 7
WEAK: Final = 0.3
"""A correlation below this shows no connection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DayValue:
    """The value of one day, in the measure's unit."""

    day: date
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysSummary:
    """What some days have in common."""

    count: int
    mean: float
    least: DayValue
    most: DayValue
    start: DayValue
    end: DayValue
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The means of two groups of days."""

    count: int
    mean: float
    other_count: int
    other_mean: float

    @property
    def difference(self) -> float:
        """By how much the first is above the other."""
        return self.mean - self.other_mean

    @property
    def is_small(self) -> bool:
        """Tell whether either has too few days to say much."""
        return min(self.count, self.other_count) < FEW_DAYS


def list_days(measure: Measure, measured: Sequence[Measurement]) -> list[DayValue]:
    """Return one value for each day: the sum where a measure adds up, else the mean."""
    by_day: dict[date, list[float]] = {}
    for each in measured:
        value = to_compared(measure, each.value, each.unit)
        if value is not None:
            by_day.setdefault(each.day, []).append(value)
    return [
        DayValue(day=day, value=sum(values) / (1 if measure.is_summed else len(values)))
        for day, values in sorted(by_day.items())
    ]


def summarize(days: Sequence[DayValue]) -> DaysSummary | None:
    """Summarize some days; None without any."""
    if not days:
        return None
    return DaysSummary(
        count=len(days),
        mean=compute_mean([each.value for each in days]),
        least=min(days, key=lambda each: each.value),
        most=max(days, key=lambda each: each.value),
        start=days[0],
        end=days[-1],
        total=sum(each.value for each in days),
    )


def compute_mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    return sum(values) / len(values)


def group_by_week(days: Sequence[DayValue]) -> list[tuple[date, DaysSummary]]:
    """Return each week with values, by its Monday, with their summary."""
    weeks: dict[date, list[DayValue]] = {}
    for each in days:
        weeks.setdefault(each.day - timedelta(days=each.day.weekday()), []).append(each)
    return [
        (monday, summary)
        for monday, values in sorted(weeks.items())
        if (summary := summarize(values)) is not None
    ]


def compute_weekly_slope(days: Sequence[DayValue]) -> float | None:
    """Return by how much values rise a week, by least squares; None for too few days."""
    if len(days) < MIN_TREND_DAYS:
        return None
    at = [each.day.toordinal() / DAYS_PER_WEEK for each in days]
    mean_at, mean = compute_mean(at), compute_mean([each.value for each in days])
    spread = sum((each - mean_at) ** 2 for each in at)
    joint = sum((x - mean_at) * (each.value - mean) for x, each in zip(at, days, strict=True))
    return joint / spread if spread else None


def compare(days: Sequence[DayValue], others: Sequence[DayValue]) -> Comparison | None:
    """Compare two groups of days; None if either is empty."""
    if not (days and others):
        return None
    return Comparison(
        count=len(days),
        mean=compute_mean([each.value for each in days]),
        other_count=len(others),
        other_mean=compute_mean([each.value for each in others]),
    )


def split_by_days(
    days: Sequence[DayValue], others: Sequence[DayValue]
) -> tuple[list[DayValue], list[DayValue]]:
    """Split days into those on which another measure has a value above 0, and those without.

    Days before its first and after its last value are in neither: it may not have been kept then.
    """
    known = {each.day for each in others if each.value > 0}
    if not known:
        return [], list(days)
    within = [each for each in days if min(known) <= each.day <= max(known)]
    return (
        [each for each in within if each.day in known],
        [each for each in within if each.day not in known],
    )


def correlate(days: Sequence[DayValue], others: Sequence[DayValue]) -> tuple[int, float] | None:
    """Return on how many days both have values, and Pearson's r; None if it cannot be computed."""
    by_day: Mapping[date, float] = {each.day: each.value for each in others}
    pairs = [(each.value, by_day[each.day]) for each in days if each.day in by_day]
    if len(pairs) < MIN_TREND_DAYS:
        return None
    mean, other_mean = (compute_mean(values) for values in zip(*pairs, strict=True))
    joint = sum((x - mean) * (y - other_mean) for x, y in pairs)
    spread = sum((x - mean) ** 2 for x, _ in pairs) * sum((y - other_mean) ** 2 for _, y in pairs)
    return (len(pairs), joint / sqrt(spread)) if spread > 0 else None
