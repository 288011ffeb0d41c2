"""Units: their dimensions and factors, so that a value keeps its unit and can be compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType
from typing import Final, Literal

Dimension = Literal[
    "",
    "mass",
    "length",
    "duration",
    "volume",
    "temperature",
    "energy",
    "speed",
    "pressure",
    "rate",
    "data",
    "area",
    "money",
    "concentration",
]

CURRENCIES: Final = ("EUR", "USD", "GBP", "CHF", "CNY", "JPY", "MXN")
"""ISO 4217 codes; none of them is converted into another, as that changes by the day."""

CONCENTRATIONS: Final = ("mmol/L", "mg/dL", "g/L")
"""Of a substance in the blood: how many of one are another depends on the substance."""
NOT_CONVERTED: Final[frozenset[Dimension]] = frozenset({"money", "concentration"})


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: how many of the dimension's base unit it is, after its zero is moved."""

    symbol: str
    dimension: Dimension
    factor: Decimal
    offset: Decimal = Decimal(0)  # in units of this unit, so that 0 here is the base's zero


def build_units() -> Mapping[str, Unit]:
    """Build the table of units by symbol."""
    rows: tuple[tuple[str, Dimension, str], ...] = (
        ("kg", "mass", "1"),
        ("g", "mass", "0.001"),
        ("mg", "mass", "0.000001"),
        ("t", "mass", "1000"),
        ("lb", "mass", "0.45359237"),
        ("oz", "mass", "0.028349523125"),
        ("st", "mass", "6.35029318"),
        ("jin", "mass", "0.5"),
        ("m", "length", "1"),
        ("km", "length", "1000"),
        ("cm", "length", "0.01"),
        ("mm", "length", "0.001"),
        ("mi", "length", "1609.344"),
        ("yd", "length", "0.9144"),
        ("ft", "length", "0.3048"),
        ("in", "length", "0.0254"),
        ("nmi", "length", "1852"),
        ("s", "duration", "1"),
        ("min", "duration", "60"),
        ("h", "duration", "3600"),
        ("d", "duration", "86400"),
        ("wk", "duration", "604800"),
        ("mo", "duration", "2629746"),
        ("y", "duration", "31556952"),
        ("l", "volume", "1"),
        ("ml", "volume", "0.001"),
        ("cl", "volume", "0.01"),
        ("gal", "volume", "3.785411784"),
        ("pt", "volume", "0.473176473"),
        ("cup", "volume", "0.2365882365"),
        ("floz", "volume", "0.0295735295625"),
        ("tbsp", "volume", "0.01478676478125"),
        ("tsp", "volume", "0.00492892159375"),
        ("kcal", "energy", "4184"),
        ("cal", "energy", "4.184"),
        ("kJ", "energy", "1000"),
        ("J", "energy", "1"),
        ("kWh", "energy", "3600000"),
        ("m/s", "speed", "1"),
        ("km/h", "speed", "0.277777777777777777777777777778"),
        ("mph", "speed", "0.44704"),
        ("kn", "speed", "0.514444444444444444444444444444"),
        ("mmHg", "pressure", "1"),
        ("kPa", "pressure", "7.50061575845656"),
        ("bpm", "rate", "1"),
        ("B", "data", "1"),
        ("kB", "data", "1000"),
        ("MB", "data", "1000000"),
        ("GB", "data", "1000000000"),
        ("TB", "data", "1000000000000"),
        ("m2", "area", "1"),
        ("km2", "area", "1000000"),
        ("ha", "area", "10000"),
        *((each, "concentration", "1") for each in CONCENTRATIONS),
        ("acre", "area", "4046.8564224"),
        *((each, "money", "1") for each in CURRENCIES),
    )
    units = {symbol: Unit(symbol, dimension, Decimal(factor)) for symbol, dimension, factor in rows}
    units["°C"] = Unit("°C", "temperature", Decimal(1))
    units["°F"] = Unit("°F", "temperature", Decimal(5) / Decimal(9), Decimal(32))
    units["K"] = Unit("K", "temperature", Decimal(1), Decimal("273.15"))
    return MappingProxyType(units)


UNITS: Final = build_units()
"""Every unit that can be converted, by its symbol."""


def convert(value: Decimal, unit: str, target: str) -> Decimal | None:
    """Convert a value; None if the units do not measure the same."""
    if unit == target:
        return value
    source, wanted = UNITS.get(unit), UNITS.get(target)
    if source is None or wanted is None or source.dimension != wanted.dimension:
        return None
    if source.dimension in NOT_CONVERTED:
        return None
    return (value - source.offset) * source.factor / wanted.factor + wanted.offset


def convert_float(value: float, unit: str, target: str) -> float | None:
    """Convert a stored value; None if the units do not measure the same."""
    converted = convert(Decimal(repr(value)), unit, target)
    return None if converted is None else float(converted)
