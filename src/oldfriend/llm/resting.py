"""Which models are left alone for a while, because they did not answer?

Otherwise every turn would wait anew for a provider that is down before it asks the next one.
"""

from dataclasses import dataclass, field
from typing import Final

from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import ModelUnavailable, Outage

FAILURES_BEFORE_REST: Final = 3
"""In a row; a single failure is nothing unusual."""

LONGEST_REST_S: Final = 600.0
"""Whatever a provider asks for. A rest that ends later was set by a clock that went wrong."""


@dataclass(slots=True)
class Rests:
    """The rests of all models of a process. Times are by the house's clock."""

    rest_s: float = 30.0
    _failures: dict[str, int] = field(default_factory=dict)
    _ends: dict[str, Micros] = field(default_factory=dict)
    _outages: dict[str, Outage] = field(default_factory=dict)

    def left_s(self, model: str, now: Micros) -> float:
        """How many seconds a model still rests; 0: it may be asked."""
        left = (self._ends.get(model, now) - now) / SECOND
        return left if 0 < left <= LONGEST_REST_S else 0.0

    def outage_of(self, model: str) -> Outage:
        """In which way a model failed last."""
        return self._outages.get(model, "unavailable")

    def failed(self, model: str, now: Micros, error: ModelUnavailable) -> None:
        """It did not answer; and perhaps asked to be left alone."""
        self._failures[model] = self._failures.get(model, 0) + 1
        self._outages[model] = error.outage
        rest_s = error.retry_after_s or 0.0
        if self._failures[model] >= FAILURES_BEFORE_REST:
            rest_s = max(rest_s, self.rest_s)
        self._ends[model] = now + round(min(rest_s, LONGEST_REST_S) * SECOND)

    def answered(self, model: str) -> None:
        """It answered: all is forgiven."""
        self._failures.pop(model, None)
        self._ends.pop(model, None)
