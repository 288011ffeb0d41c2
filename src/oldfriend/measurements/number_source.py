"""Number source: a kept number that is watched for a limit, as a watch of a page stores it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Self

from typing_extensions import override

from oldfriend.measurements.measurement_store import Measurement
from oldfriend.measurements.measures import Measure, from_compared, get_measure, to_compared
from oldfriend.measurements.statistics import list_days

PREFIX: Final = "measure:"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedLimit:
    """A value with which a limit was passed."""

    key: str  # which tells it from other passings
    value: float  # in the unit of the limit


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

    def find_passing(
        self, measured: Sequence[Measurement], limit: float, *, is_above: bool
    ) -> PassedLimit | None:
        """Return the last passing of a limit; None if the last value is within it.

        What grows over a day begins anew with each, so that each day passes it by itself.
        """
        bound = to_compared(self.measure, limit, self.unit)
        passed: PassedLimit | None = None
        for key, value in self.list_values(measured):
            if bound is None or value == bound or (value > bound) != is_above:
                passed = None
            elif passed is None or self.measure.is_growing:
                passed = PassedLimit(key=key, value=self.to_unit(value))
        return passed

    def list_values(self, measured: Sequence[Measurement]) -> Iterator[tuple[str, float]]:
        """Yield each value in the measure's unit, with what tells it from the others."""
        if self.measure.is_summed:
            yield from ((f"{each.day}", each.value) for each in list_days(self.measure, measured))
            return
        for each in measured:
            value = to_compared(self.measure, each.value, each.unit)
            if value is not None:
                is_of_day = self.measure.is_daily or self.measure.is_growing
                yield f"{each.day}" if is_of_day else each.id, value

    def to_unit(self, value: float) -> float:
        """Return a value of the measure's unit in the one in which the limit was told."""
        shown = from_compared(self.measure, value, self.unit)
        return value if shown is None or not self.measure.unit else round(shown, 2)
