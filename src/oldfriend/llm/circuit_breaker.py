"""Circuit breaker: skips models that failed repeatedly until their cooldown is over.

Without it every turn would wait for a provider that is down before it asks the next one.
"""

from dataclasses import dataclass, field
from typing import Final

from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import ModelUnavailable, OutageKind

FAILURE_THRESHOLD: Final = 3
"""Failures in a row; a single one is nothing unusual."""

MAX_COOLDOWN_S: Final = 600.0
"""Upper limit of a cooldown; a later retry time comes from a clock that was set wrong."""


@dataclass(slots=True)
class CircuitBreaker:
    """Cooldowns of all models of a process; times are those of the injected clock."""

    cooldown_s: float = 30.0
    _failures: dict[str, int] = field(default_factory=dict)
    _retry_at: dict[str, Micros] = field(default_factory=dict)
    _outages: dict[str, OutageKind] = field(default_factory=dict)

    def compute_wait_s(self, model: str, now: Micros) -> float:
        """Return for how many seconds a model must not be asked; 0: it may be."""
        wait_s = (self._retry_at.get(model, now) - now) / SECOND
        return wait_s if 0 < wait_s <= MAX_COOLDOWN_S else 0.0

    def get_outage(self, model: str) -> OutageKind:
        """Return the kind of a model's last failure."""
        return self._outages.get(model, "unavailable")

    def record_failure(self, model: str, now: Micros, error: ModelUnavailable) -> None:
        """Count a failure; start a cooldown if the provider asks for one or at the threshold."""
        self._failures[model] = self._failures.get(model, 0) + 1
        self._outages[model] = error.outage
        cooldown_s = error.retry_after_s or 0.0
        if self._failures[model] >= FAILURE_THRESHOLD:
            cooldown_s = max(cooldown_s, self.cooldown_s)
        self._retry_at[model] = now + round(min(cooldown_s, MAX_COOLDOWN_S) * SECOND)

    def record_success(self, model: str) -> None:
        """Reset failures and cooldown."""
        self._failures.pop(model, None)
        self._retry_at.pop(model, None)
