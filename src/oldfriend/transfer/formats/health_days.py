"""Health days: the values of each day of a health export, as one message a day."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Final

from oldfriend.domain.clock import MAX_YEAR, MIN_YEAR
from oldfriend.domain.json import JsonValue
from oldfriend.transfer.formats.imported_record import RECORD_KEY, encode_record
from oldfriend.transfer.formats.parsed_message import ParsedMessage

NOON: Final = time(12)
MAX_VALUE: Final = 1e12
MAX_NAMED: Final = 10


def parse_finite(text: str) -> float:
    """Return a number that somebody can have measured. Raises ValueError."""
    value = float(text)
    if not (math.isfinite(value) and abs(value) <= MAX_VALUE):
        raise ValueError(text)
    return value


def parse_usual_day(text: str) -> date:
    """Return a day of the years that can be stored. Raises ValueError."""
    day = date.fromisoformat(text)
    if not MIN_YEAR <= day.year < MAX_YEAR:
        raise ValueError(text)
    return day


def name_lines(lines: Sequence[int]) -> str:
    """Name the lines that are left out, or the first of them."""
    more = "…" if len(lines) > MAX_NAMED else "."
    return f"Left out: line {', '.join(map(str, lines[:MAX_NAMED]))}{more}"


@dataclass(frozen=True, slots=True)
class DayReading:
    """One value of a day."""

    name: str
    value: float
    unit: str
    second_value: float | None = None
    second_unit: str = ""

    def to_json(self) -> list[JsonValue]:
        """Return it as a list for the record."""
        return [self.name, self.value, self.unit, self.second_value, self.second_unit]

    def format(self) -> str:
        """Return it as a short text."""
        second = "" if self.second_value is None else f", {self.second_value:g} {self.second_unit}"
        unit = self.unit if self.unit.startswith("/") else f" {self.unit}"
        return f"{self.name.replace('_', ' ')} {self.value:g}{unit}{second}".rstrip()


@dataclass(slots=True)
class HealthDays:
    """The values of all days of one export."""

    title: str
    days: dict[date, list[DayReading]] = field(default_factory=dict)

    def add(self, day: date, reading: DayReading) -> None:
        """Add a value of a day."""
        self.days.setdefault(day, []).append(reading)

    def iterate_messages(self) -> Iterator[ParsedMessage]:
        """Yield one message for each day, oldest first."""
        for number, (day, readings) in enumerate(sorted(self.days.items()), 1):
            yield build_day_message(self.title, day, readings, number)


def build_day_message(
    title: str, day: date, readings: list[DayReading], line: int
) -> ParsedMessage:
    """Build the message of a day; it is kept, but never found by a search."""
    record: Mapping[str, JsonValue] = {
        "day": day.isoformat(),
        "rows": [each.to_json() for each in readings],
    }
    return ParsedMessage(
        line=line,
        chat=title,
        chat_title=title,
        speaker="",
        role="person",
        text=f"{day.isoformat()}: " + "; ".join(each.format() for each in readings),
        at=datetime.combine(day, NOON),
        external_id=f"day-{day.isoformat()}",
        has_own_id=True,
        outside=True,
        is_placeholder=True,
        details={RECORD_KEY: encode_record("measurements", record)},
    )
