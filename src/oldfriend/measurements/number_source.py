"""Number source: a kept number that is watched for a limit, as a watch of a page stores it."""

from dataclasses import dataclass
from typing import Final, Self

from typing_extensions import override

from oldfriend.measurements.measurement_store import Measurement
from oldfriend.measurements.measures import Measure, get_measure, to_compared
from oldfriend.measurements.statistics import list_days
from oldfriend.measurements.units import convert_float

PREFIX: Final = "measure:"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberSource:
    """A measure, and the unit in which its limit was told."""

    name: str
    unit: str

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the source that a text names; None for an address."""
        if not text.startswith(PREFIX):
            return None
        unit, _, name = text.removeprefix(PREFIX).partition(":")
        return cls(name=name, unit=unit)

    @override
    def __str__(self) -> str:
        """Return it as it is stored."""
        return f"{PREFIX}{self.unit}:{self.name}"

    @property
    def measure(self) -> Measure:
        """What is measured."""
        return get_measure(self.name, self.unit)

    @property
    def is_known(self) -> bool:
        """Whether it is told in its unit; a measure of the person's own is told in any."""
        return bool(self.name) and to_compared(self.measure, 1.0, self.unit) is not None

    def find_beyond(
        self, measured: list[Measurement], limit: float, *, is_above: bool
    ) -> float | None:
        """Return the first value beyond a limit, both in its unit; None if none is.

        What adds up counts by the day, and can only rise.
        """
        bound = to_compared(self.measure, limit, self.unit)
        if self.measure.is_summed:
            values: list[float | None] = [each.value for each in list_days(self.measure, measured)]
        else:
            values = [to_compared(self.measure, each.value, each.unit) for each in measured]
        for value in values:
            if value is None or bound is None or value == bound:
                continue
            if (value > bound) == is_above:
                return self.to_unit(value)
        return None

    def to_unit(self, value: float) -> float:
        """Return a value of the measure's unit in the one in which the limit was told."""
        shown = convert_float(value, self.measure.unit, self.unit)
        return value if shown is None or not self.measure.unit else round(shown, 2)
