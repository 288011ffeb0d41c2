"""Measurement and diary schemas: a person's numbers and entries for the API and commands."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Self

from oldfriend.diary.diary_store import DiaryEntry
from oldfriend.domain.json import JsonValue
from oldfriend.measurements.measurement_store import Measurement
from oldfriend.measurements.measures import Measure, get_measure
from oldfriend.measurements.statistics import (
    DayValue,
    compute_mean,
    compute_weekly_slope,
    list_days,
    summarize,
)
from oldfriend.presenters.base_schema import Schema, describe, format_time


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSchema(Schema):
    """A kind of number that is kept."""

    name: str = field(metadata=describe(examples=["weight"]))
    count: int
    last: str = field(metadata=describe("The newest day.", examples=["2026-11-17"]))

    @classmethod
    def from_domain(cls, kept: tuple[str, int, date]) -> Self:
        """Present what is kept of one name."""
        name, count, last = kept
        return cls(name=name, count=count, last=last.isoformat())


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementSchema(Schema):
    """One value of a day."""

    id: str
    name: str
    day: str = field(metadata=describe(examples=["2026-11-17"]))
    value: float
    unit: str = field(metadata=describe("As it was told."))
    second_value: float | None = field(
        metadata=describe("Of a pair: 80 in 120/80, or how long a run took.")
    )
    second_unit: str
    origin: str = field(metadata=describe("`told`, `tool`, `import` or `api`."))
    message: str | None = field(metadata=describe("The message in which it was told."))

    @classmethod
    def from_domain(cls, measured: Measurement) -> Self:
        """Present a value."""
        return cls(
            id=measured.id,
            name=measured.name,
            day=measured.day.isoformat(),
            value=measured.value,
            unit=measured.unit,
            second_value=measured.second_value,
            second_unit=measured.second_unit,
            origin=measured.origin,
            message=measured.message,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DayValueSchema(Schema):
    """What a day comes to, in the unit of its series."""

    day: str = field(metadata=describe(examples=["2026-11-17"]))
    value: float = field(metadata=describe("The sum where values of a day add up, else the mean."))
    second_value: float | None = field(metadata=describe("Of a pair such as 120/80: the mean."))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSchema(Schema):
    """The values of a measure over some days, oldest first."""

    name: str
    unit: str = field(metadata=describe("The unit of the days, the mean, the extremes, the slope."))
    items: tuple[MeasurementSchema, ...]
    days: tuple[DayValueSchema, ...]
    mean: float | None = field(metadata=describe("Over days; null without values."))
    least: float | None
    most: float | None
    weekly_slope: float | None = field(
        metadata=describe("The change a week, by least squares; null for fewer than three days.")
    )

    @classmethod
    def from_domain(cls, name: str, measured: Sequence[Measurement]) -> Self:
        """Present the values of a measure."""
        measure = get_measure(name, measured[-1].unit if measured else "")
        days = list_days(measure, measured)
        summary = summarize(days)
        return cls(
            name=name,
            unit=measure.unit,
            items=tuple(map(MeasurementSchema.from_domain, measured)),
            days=present_days(measure, days, measured),
            mean=None if summary is None else round(summary.mean, 4),
            least=None if summary is None else summary.least.value,
            most=None if summary is None else summary.most.value,
            weekly_slope=compute_weekly_slope(days),
        )


def present_days(
    measure: Measure, days: Sequence[DayValue], measured: Sequence[Measurement]
) -> tuple[DayValueSchema, ...]:
    """Present the days of a series."""
    seconds: dict[date, list[float]] = {}
    for each in measured if measure.is_pair else ():
        if each.second_value is not None:
            seconds.setdefault(each.day, []).append(each.second_value)
    return tuple(
        DayValueSchema(
            day=each.day.isoformat(),
            value=round(each.value, 4),
            second_value=round(compute_mean(seconds[each.day]), 4) if each.day in seconds else None,
        )
        for each in days
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureListSchema(Schema):
    """What numbers are kept, the newest first."""

    items: tuple[MeasureSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedMeasurementsSchema(Schema):
    """The values that were saved."""

    items: tuple[MeasurementSchema, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryEntrySchema(Schema):
    """A diary entry."""

    id: str
    day: str = field(metadata=describe(examples=["2026-11-17"]))
    written_at: str
    text: str
    place: str
    city: str
    weather: str
    tags: tuple[str, ...]
    media: dict[str, int] = field(
        metadata=describe("How many photos, videos and so on an imported entry had, by kind.")
    )
    origin: str = field(metadata=describe("`told`, `tool`, `import` or `api`."))
    message: str | None = field(metadata=describe("The message in which it was told."))

    @classmethod
    def from_domain(cls, entry: DiaryEntry) -> Self:
        """Present an entry, in the zone in which it was written."""
        return cls(
            id=entry.id,
            day=entry.day.isoformat(),
            written_at=format_time(entry.written_at, entry.zone),
            text=entry.text,
            place=entry.place,
            city=entry.city,
            weather=entry.weather,
            tags=entry.tags,
            media=dict(entry.media),
            origin=entry.origin,
            message=entry.message,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DiaryPageSchema(Schema):
    """Diary entries, newest first."""

    items: tuple[DiaryEntrySchema, ...]
    next: str | None = field(
        metadata=describe("The cursor of the next page; null if there is none.")
    )


def measurement_as_json(measured: Measurement) -> dict[str, JsonValue]:
    """Return a value as JSON for commands."""
    shown = MeasurementSchema.from_domain(measured)
    return {
        "id": shown.id,
        "name": shown.name,
        "day": shown.day,
        "value": shown.value,
        "unit": shown.unit,
        "second_value": shown.second_value,
        "second_unit": shown.second_unit,
        "origin": shown.origin,
    }


def entry_as_json(entry: DiaryEntry) -> dict[str, JsonValue]:
    """Return a diary entry as JSON for commands."""
    return {
        "id": entry.id,
        "day": entry.day.isoformat(),
        "written_at": format_time(entry.written_at, entry.zone),
        "text": entry.text,
        "place": entry.place,
        "city": entry.city,
        "weather": entry.weather,
        "tags": [*entry.tags],
        "media": dict(entry.media),
        "origin": entry.origin,
    }
