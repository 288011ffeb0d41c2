"""Retention scorers: three models of how much of a belief is left some time after it was last said.

Each gets the belief's evidence stats and the decay of its kind. The times of single sightings are
not kept: those between the first and the last count as evenly spread, which is exact for two.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import EvidenceStats, MemoryState

ScorerName = Literal["typed_decay", "dual_trace", "act_r"]


class Decay(NamedTuple):
    """Half-life in days of what lies above the floor."""

    half_life: float
    floor: float


Scorer: TypeAlias = Callable[[MemoryState, Decay, Micros], float]
"""Returns 1 for what was just said once, less with age, more if it was said often."""

_STRENGTH_SHARE: Final = 0.25
_MAX_STRENGTH: Final = 2.0
_SINGLE_STRENGTH: Final = 1 + _STRENGTH_SHARE * math.log(2)  # of a pattern that was seen once
MAX_RETENTION: Final = (1 + _STRENGTH_SHARE * _MAX_STRENGTH) / _SINGLE_STRENGTH
"""Upper limit, however often something is said."""

# Half-lives in days: 7 to 14 of the fast trace, 60 to 180 of the slow one.
_FAST: Final = (7.0, 14.0)
_SLOW: Final = (60.0, 180.0)
_FAST_DIVISOR: Final = 6.0  # the slow half-life is the kind's, the fast one that divided by this

_DECAY_EXPONENT: Final = 0.5  # d in ACT-R
_THRESHOLD: Final = -2.0  # activation of 50 % recall: said once, 54 days ago
_NOISE: Final = 1.0


def typed_decay(known: MemoryState, decay: Decay, now: Micros) -> float:
    """Halve once per half-life of the kind, down to its floor; repetition strengthens patterns."""
    recency = _apply_floor(
        decay, math.pow(0.5, _to_days(now - known.stats.last_seen) / decay.half_life)
    )
    if known.memory.kind != "pattern":
        return recency
    strength = min(math.log(1 + known.stats.strength), _MAX_STRENGTH)
    return recency * ((1 + _STRENGTH_SHARE * strength) / _SINGLE_STRENGTH)


def dual_trace(known: MemoryState, decay: Decay, now: Micros) -> float:
    """Add a trace that fades in days and one that fades in months; each sighting deepens both."""
    fast = min(max(decay.half_life / _FAST_DIVISOR, _FAST[0]), _FAST[1])
    slow = min(max(decay.half_life, _SLOW[0]), _SLOW[1])
    traces = (_compute_trace(known.stats, half_life, now) for half_life in (fast, slow))
    return _apply_floor(decay, math.log2(1 + sum(traces) / 2))


def act_r(known: MemoryState, decay: Decay, now: Micros) -> float:
    """Return the recall probability by ACT-R's base-level activation, ln Σ t^-d over sightings."""
    activation = math.log(_sum_power_law(known.stats, now))
    return _apply_floor(decay, _retrieval_probability(activation) / _retrieval_probability(0.0))


SCORERS: Final[Mapping[ScorerName, Scorer]] = MappingProxyType(
    {"typed_decay": typed_decay, "dual_trace": dual_trace, "act_r": act_r}
)


def _apply_floor(decay: Decay, retention: float) -> float:
    return min(decay.floor + (1 - decay.floor) * retention, MAX_RETENTION)


def _to_days(span: Micros) -> float:
    return max(0, span) / DAY


def _compute_trace(standing: EvidenceStats, half_life: float, now: Micros) -> float:
    """Sum what is left of each sighting; one that came right after another adds little."""
    newest = math.pow(0.5, _to_days(now - standing.last_seen) / half_life)
    if standing.times_seen < 2:
        return newest
    repeats = standing.times_seen - 1
    gain = (standing.strength - 1) / repeats
    ratio = math.pow(0.5, _to_days(standing.last_seen - standing.first_seen) / repeats / half_life)
    series = float(repeats) if ratio == 1.0 else (1 - ratio**repeats) / (1 - ratio)
    oldest = newest * ratio**repeats
    return oldest + gain * newest * series


def _sum_power_law(standing: EvidenceStats, now: Micros) -> float:
    """Return Σ t^-d over sightings; a day is added to each age, so that today's is finite."""
    newest = 1 + _to_days(now - standing.last_seen)
    if standing.times_seen < 2:
        return math.pow(newest, -_DECAY_EXPONENT)
    oldest = newest + _to_days(standing.last_seen - standing.first_seen)
    ends = math.pow(newest, -_DECAY_EXPONENT) + math.pow(oldest, -_DECAY_EXPONENT)
    # Those in between each add the mean of t^-½ from the newest to the oldest.
    return ends + (standing.times_seen - 2) * 2 / (math.sqrt(newest) + math.sqrt(oldest))


def _retrieval_probability(activation: float) -> float:
    return 1 / (1 + math.exp((_THRESHOLD - activation) / _NOISE))
