"""Apple Health exports: ``export.xml`` or the whole ``.zip``, read as a stream, day by day.

Several devices count the same steps, so of each day the device with the most counts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Final
from xml.parsers import expat

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import localizable
from oldfriend.transfer.formats.health_days import (
    DayReading,
    HealthDays,
    parse_finite,
    parse_usual_day,
)
from oldfriend.transfer.formats.parsed_message import AddNotice, ChatFormat, ParsedMessage
from oldfriend.transfer.formats.source import (
    FormatProbe,
    SourceFile,
    open_bytes,
    wrap_read_errors,
)

ROOT: Final = "<HealthData"
CHUNK_BYTES: Final = 1 << 18
MAX_DAYS: Final = 40_000
MAX_SOURCES: Final = 200
EVENING_HOUR: Final = 18
"""Sleep that ends after this hour belongs to the night of the next day."""
QUANTITY: Final = "HKQuantityTypeIdentifier"
SLEEP: Final = "HKCategoryTypeIdentifierSleepAnalysis"
ASLEEP: Final = "HKCategoryValueSleepAnalysisAsleep"
WORKOUT: Final = "HKWorkoutActivityType"
UNITS: Final = {"count/min": "bpm", "count": "", "degC": "°C", "degF": "°F", "hr": "h"}
SPORTS: Final = {
    "Running": "running",
    "Walking": "walking",
    "Hiking": "walking",
    "Cycling": "cycling",
    "Swimming": "swimming",
}

Attributes = Mapping[str, str]


@dataclass(slots=True)
class Mean:
    """A running mean."""

    total: float = 0.0
    count: int = 0

    def add(self, value: float) -> None:
        """Add a value."""
        self.total += value
        self.count += 1


@dataclass(slots=True)
class Workout:
    """One workout while it is read."""

    name: str
    day: date
    minutes: float
    distance: float
    unit: str


@dataclass(slots=True)
class HealthReader:
    """Collects the values of each day while the file is parsed."""

    steps: dict[tuple[date, str], float] = field(default_factory=dict)
    sleep: dict[tuple[date, str], float] = field(default_factory=dict)
    weights: dict[date, tuple[str, float, str]] = field(default_factory=dict)
    fat: dict[date, tuple[str, float, str]] = field(default_factory=dict)
    heart: dict[date, Mean] = field(default_factory=dict)
    resting: dict[date, Mean] = field(default_factory=dict)
    workouts: list[Workout] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)
    unread: int = 0

    def start(self, name: str, attributes: Attributes) -> None:
        """Read the beginning of an element; one that cannot be read is counted."""
        try:
            if name == "Record":
                self.read_record(attributes)
            elif name == "Workout":
                self.read_workout(attributes)
            elif name == "WorkoutStatistics" and self.workouts:
                self.read_workout_distance(attributes)
        except (KeyError, ValueError, OverflowError):
            self.unread += 1

    def read_record(self, attributes: Attributes) -> None:
        """Read a record. Raises KeyError, ValueError."""
        kind = attributes["type"]
        if kind == SLEEP:
            if attributes["value"].startswith(ASLEEP):
                self.add_sleep(attributes)
            return
        name = kind.removeprefix(QUANTITY)
        if name not in READERS:
            return
        day = parse_day(attributes["startDate"])
        READERS[name](self, day, parse_finite(attributes["value"]), attributes)

    def add_steps(self, day: date, value: float, attributes: Attributes) -> None:
        """Add steps of a device."""
        key = day, self.find_source(attributes)
        self.steps[key] = self.steps.get(key, 0.0) + value

    def add_weight(self, day: date, value: float, attributes: Attributes) -> None:
        """Take the last weight of a day."""
        keep_last(self.weights, day, value, attributes)

    def add_fat(self, day: date, value: float, attributes: Attributes) -> None:
        """Take the last share of fat of a day, which is given from 0 to 1."""
        keep_last(self.fat, day, value * 100 if value <= 1 else value, attributes)

    def add_heart_rate(self, day: date, value: float, _: Attributes) -> None:
        """Add a heart rate."""
        self.heart.setdefault(day, Mean()).add(value)

    def add_resting(self, day: date, value: float, _: Attributes) -> None:
        """Add a resting heart rate."""
        self.resting.setdefault(day, Mean()).add(value)

    def add_sleep(self, attributes: Attributes) -> None:
        """Add time asleep to the day on which it ends."""
        start, end = parse_time(attributes["startDate"]), parse_time(attributes["endDate"])
        parse_usual_day(f"{end:%Y-%m-%d}")
        hours = (end - start).total_seconds() / 3600
        day = end.date() + timedelta(days=end.hour >= EVENING_HOUR)
        if 0 < hours < 24:
            key = day, self.find_source(attributes)
            self.sleep[key] = self.sleep.get(key, 0.0) + hours

    def read_workout(self, attributes: Attributes) -> None:
        """Read a workout; its distance may stand in it or follow."""
        name = SPORTS.get(attributes["workoutActivityType"].removeprefix(WORKOUT))
        if name is None:
            return
        self.workouts.append(
            Workout(
                name=name,
                day=parse_day(attributes["startDate"]),
                minutes=parse_finite(attributes.get("duration", "0")),
                distance=parse_finite(attributes.get("totalDistance", "0")),
                unit=attributes.get("totalDistanceUnit", "km"),
            )
        )

    def read_workout_distance(self, attributes: Attributes) -> None:
        """Read the distance of the workout that is open."""
        if attributes["type"].startswith(f"{QUANTITY}Distance"):
            self.workouts[-1].distance = parse_finite(attributes["sum"])
            self.workouts[-1].unit = attributes.get("unit", "km")

    def find_source(self, attributes: Attributes) -> str:
        """Return the device, or one for all where there are too many."""
        name = attributes.get("sourceName", "")
        if name not in self.sources and len(self.sources) >= MAX_SOURCES:
            return ""
        return self.sources.setdefault(name, name)  # one string for all records of a device

    def collect(self) -> HealthDays:
        """Return the values by day."""
        days = HealthDays(title="Apple Health")
        for name, unit, values in (("steps", "", self.steps), ("sleep", "h", self.sleep)):
            for day, value in take_most(values).items():
                days.add(day, DayReading(name, round(value, 2), unit))
        for name, found in (("weight", self.weights), ("body_fat", self.fat)):
            for day, (_, value, unit) in found.items():
                days.add(day, DayReading(name, round(value, 2), unit))
        for day, mean in {**self.heart, **self.resting}.items():
            days.add(day, DayReading("heart_rate", round(mean.total / mean.count, 1), "bpm"))
        for each in self.workouts:
            if each.distance > 0:
                unit = UNITS.get(each.unit, each.unit)
                minutes = round(each.minutes, 1) or None
                days.add(
                    each.day,
                    DayReading(each.name, round(each.distance, 3), unit, minutes, "min"),
                )
        return days


READERS: Final = {
    "StepCount": HealthReader.add_steps,
    "BodyMass": HealthReader.add_weight,
    "BodyFatPercentage": HealthReader.add_fat,
    "HeartRate": HealthReader.add_heart_rate,
    "RestingHeartRate": HealthReader.add_resting,
}


def keep_last(
    found: dict[date, tuple[str, float, str]], day: date, value: float, attributes: Attributes
) -> None:
    """Keep the value of a day that was measured last."""
    at, unit = attributes["startDate"], attributes.get("unit", "")
    if day not in found or at >= found[day][0]:
        found[day] = at, value, UNITS.get(unit, unit)


def take_most(values: Mapping[tuple[date, str], float]) -> dict[date, float]:
    """Return for each day the value of the device with the most."""
    most: dict[date, float] = {}
    for (day, _), value in values.items():
        most[day] = max(most.get(day, 0.0), value)
    return most


def parse_day(text: str) -> date:
    """Return the local day of a time. Raises ValueError."""
    return parse_usual_day(text[:10])


def parse_time(text: str) -> datetime:
    """Return a time such as "2024-05-03 07:10:00 +0200". Raises ValueError."""
    return datetime.fromisoformat(f"{text[:19]}{text[20:23]}:{text[23:25]}")


def can_parse(probe: FormatProbe) -> bool:
    """Return whether this is an XML file of health data."""
    return probe.is_text and probe.source.suffix == ".xml" and ROOT in probe.text


def parse(source: SourceFile, add_notice: AddNotice) -> Iterator[ParsedMessage]:
    """Yield one message for each day with values. Raises ImportRefused."""
    reader = read_health_data(source)
    days = reader.collect()
    if len(days.days) > MAX_DAYS:
        raise ImportRefused(f"it has values of {len(days.days):,} days; at most {MAX_DAYS:,}.")
    if reader.unread:
        count = reader.unread
        add_notice(
            localizable(
                "notice_health_unread",
                f"{count:,} health records could not be read and are left out.",
                count=count,
            )
        )
    yield from days.iterate_messages()


def read_health_data(source: SourceFile) -> HealthReader:
    """Read a file in chunks. Raises ImportRefused where it is no XML or declares entities."""
    reader = HealthReader()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EntityDeclHandler = refuse_entity
    with wrap_read_errors(source.path), open_bytes(source) as stream:
        try:
            while chunk := stream.read(CHUNK_BYTES):
                parser.Parse(chunk, False)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise ImportRefused(
                localizable(
                    "import_xml_broken", f"the XML is damaged here ({error}).", error=str(error)
                ),
                line=error.lineno,
                expected="whole XML, as it was exported",
            ) from error
    return reader


def refuse_entity(*_: object) -> None:
    """Refuse a file that declares entities, which may unfold without bounds."""
    raise ImportRefused("it declares XML entities, which no health export does.")


APPLE_HEALTH: Final = ChatFormat(
    name="apple_health",
    title="Apple Health: export.xml, or the whole .zip",
    chats_have_ids=True,
    can_parse=can_parse,
    parse=parse,
)
