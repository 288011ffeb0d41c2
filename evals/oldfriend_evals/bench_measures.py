"""Measures and targets, and fair timing: beside a reference, by turns, on the processor's clock.

A noisy machine slows both alike, so that their ratio holds where the milliseconds do not.
"""

import gc
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal, TypeAlias

Action: TypeAlias = Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """How much is measured, and what there is to measure with."""

    quick: bool  # smaller sizes, rougher numbers
    locomo: Path | None  # conversations that may not be shipped
    float_model: Path | None  # the float graph that the embedder is compared with
    postgres: str | None = None  # a database to make tables in, and to take them away again


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What must be reached: by the ratio to the reference where there is one, else by the value."""

    limit: float
    sense: Literal["at most", "at least"]

    def is_reached_by(self, number: float) -> bool:
        """Whether a number is on the right side of the limit."""
        return number <= self.limit if self.sense == "at most" else number >= self.limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One thing that was measured, or, without a value, the reason why it could not be."""

    name: str
    value: float | None
    unit: str
    reference: float | None = None  # in the same unit, measured in the same run
    target: Target | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The value as a multiple of its reference."""
        return self.value / self.reference if self.value is not None and self.reference else None

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None where there is none, or nothing was measured."""
        number = self.value if self.reference is None else self.ratio
        return None if self.target is None or number is None else self.target.is_reached_by(number)


def build_upper_target(limit: float) -> Target:
    """A target that a smaller number reaches."""
    return Target(limit=limit, sense="at most")


def build_lower_target(limit: float) -> Target:
    """A target that a larger number reaches."""
    return Target(limit=limit, sense="at least")


def build_unmeasured(name: str, why: str, *, target: Target | None = None) -> Measure:
    """A measure that could not be taken here."""
    return Measure(name=name, value=None, unit="", target=target, note=why)


async def measure_medians_ms(turns: Iterable[tuple[Action, ...]]) -> tuple[float, ...]:
    """The median processor milliseconds of each act, over all turns; acts of a turn alternate.

    Garbage of one act is not collected at the expense of another.
    """
    taken: list[list[float]] = []
    gc.collect()
    gc.disable()
    try:
        for number, acts in enumerate(turns):
            times = [0.0] * len(acts)
            order = range(len(acts)) if number % 2 == 0 else reversed(range(len(acts)))
            for place in order:
                times[place] = await measure_processor_ms(acts[place])
            taken.append(times)
            if number % 100 == 99:
                gc.collect()
    finally:
        gc.enable()
    return tuple(median(column) for column in zip(*taken, strict=True))


async def measure_processor_ms(act: Action) -> float:
    """The milliseconds that an act kept this process's threads busy."""
    before = time.process_time()
    await act()
    return (time.process_time() - before) * 1000
