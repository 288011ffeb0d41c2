"""Measures: what is known of the numbers that many people keep, such as their weight."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from oldfriend.measurements.units import UNITS, Dimension, convert_float

GLUCOSE_UNITS: Final = (("mmol/L", 18.016), ("g/L", 100.0))
"""How many mg/dL of glucose one of each is."""
GLUCOSE_SIZES: Final = ((2.6, "g/L"), (36.0, "mmol/L"))
"""In which unit glucose is told that is told without one, by what it is below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A kind of number: its unit for comparing, and what a value of it can be."""

    name: str
    unit: str  # in which values are compared; "" for a count or a score
    least: float  # in that unit; what lies outside was misheard
    most: float
    is_daily: bool = False  # a later value of the same day replaces the earlier one
    needs_unit: bool = True  # a bare number beside its word is not enough
    second_unit: str = ""  # of a second value, such as how long a run took
    is_pair: bool = False  # told as 120/80
    scale: int = 0  # told as 7/10 with this as the highest; 0: not a score
    is_summed: bool = False  # values of one day add up
    is_counted: bool = False  # told as what a day's count has come to so far
    is_money: bool = False  # in any currency; none of them is converted
    factors: tuple[tuple[str, float], ...] = ()  # of units that only convert for it
    sizes: tuple[tuple[float, str], ...] = ()  # the units of bare numbers, by what they are below

    @property
    def dimension(self) -> Dimension:
        """What its unit measures."""
        return UNITS[self.unit].dimension if self.unit in UNITS else ""

    @property
    def is_growing(self) -> bool:
        """Whether today's value may still grow until the day is over."""
        return self.is_summed or self.is_counted

    @property
    def is_whole(self) -> bool:
        """Whether it is a count, which is never broken."""
        return self.unit == "" and self.name in MEASURES and not self.is_money

    def choose_unit(self, value: float) -> str:
        """Return the unit of a bare number."""
        return next((unit for below, unit in self.sizes if value < below), self.unit)


def build_measures() -> Mapping[str, Measure]:
    """Build the table of measures by name."""
    sports = ("running", "walking", "cycling", "swimming")
    measures = (
        Measure(
            name="weight",
            unit="kg",
            least=20,
            most=400,
            is_daily=True,
            needs_unit=False,
        ),
        Measure(name="body_fat", unit="%", least=2, most=75, is_daily=True, needs_unit=False),
        Measure(name="sleep", unit="h", least=0, most=24, is_daily=True),
        Measure(
            name="steps",
            unit="",
            least=50,  # less is told of a few paces
            most=200_000,
            is_daily=True,
            is_counted=True,
            needs_unit=False,
        ),
        Measure(
            name="blood_pressure",
            unit="mmHg",
            least=40,
            most=300,
            is_pair=True,
            needs_unit=False,
        ),
        Measure(name="heart_rate", unit="bpm", least=20, most=260, needs_unit=False),
        Measure(
            name="glucose",
            unit="mg/dL",
            least=10,
            most=1_000,
            needs_unit=False,
            factors=GLUCOSE_UNITS,
            sizes=GLUCOSE_SIZES,
        ),
        Measure(name="screen_time", unit="h", least=0, most=24, is_daily=True, is_counted=True),
        Measure(name="spending", unit="", least=0, most=1e9, is_summed=True, is_money=True),
        Measure(name="temperature", unit="°C", least=30, most=45, needs_unit=False),
        Measure(name="mood", unit="/10", least=0, most=10, scale=10, needs_unit=False),
        Measure(name="water", unit="l", least=0, most=30, is_summed=True),
        Measure(name="calories", unit="kcal", least=0, most=20_000, is_summed=True),
        *(
            Measure(name=each, unit="km", least=0, most=1_000, second_unit="min", is_summed=True)
            for each in sports
        ),
    )
    return MappingProxyType({each.name: each for each in measures})


MEASURES: Final = build_measures()
"""The measures that are known by name; a person may keep others under names of their own."""


def build_own_measure(name: str, unit: str) -> Measure:
    """Return a measure that the person has named."""
    return Measure(name=name, unit=unit, least=-1e12, most=1e12, needs_unit=False)


def get_measure(name: str, unit: str = "") -> Measure:
    """Return a known measure, or one that the person has named."""
    known = MEASURES.get(name)
    if known is None:
        return build_own_measure(name, unit)
    return replace(known, unit=unit) if known.is_money else known


def is_plausible(measure: Measure, value: float, unit: str) -> bool:
    """Tell whether a value can be one of this measure."""
    compared = to_compared(measure, value, unit)
    return compared is not None and measure.least <= compared <= measure.most


def to_compared(measure: Measure, value: float, unit: str) -> float | None:
    """Convert a value into the measure's unit; None if it measures something else."""
    if unit in {"", measure.unit} or (measure.is_money and not measure.unit):
        return value
    factor = find_factor(measure, unit)
    return convert_float(value, unit, measure.unit) if factor is None else value * factor


def from_compared(measure: Measure, value: float, unit: str) -> float | None:
    """Convert a value in the measure's unit into another; None if that measures something else."""
    factor = find_factor(measure, unit)
    return convert_float(value, measure.unit, unit) if factor is None else value / factor


def find_factor(measure: Measure, unit: str) -> float | None:
    """Return how many of a measure's unit one of another is, if that holds for it alone."""
    return next((factor for each, factor in measure.factors if each == unit), None)
