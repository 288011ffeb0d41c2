"""How present is a belief still, so long after it was said? Three answers, of which one is chosen.

Each is told how the belief stands and how its kind decays. The times of all evidence are not kept
ready: between the first and the last, sightings count as evenly spread, which is exact for two.
"""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple, TypeAlias

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import Known, Standing

ScorerName = Literal["typed_decay", "dual_trace", "act_r"]


class Decay(NamedTuple):
    """After so many days half is lost of what there is above the floor."""

    half_life: float
    floor: float


Scorer: TypeAlias = Callable[[Known, Decay, Micros], float]
"""1 for what was just said once, less with time, more for what was said often."""

_STRENGTH_SHARE: Final = 0.25
_STRENGTH_MOST: Final = 2.0
_ONCE: Final = 1 + _STRENGTH_SHARE * math.log(2)  # what a pattern is worth that was seen once
MOST_PRESENT: Final = (1 + _STRENGTH_SHARE * _STRENGTH_MOST) / _ONCE
"""However often something is said, it counts no more than this (ACCEPTANCE J3)."""

# ACCEPTANCE G21: the fast trace has a half-life of 7 to 14 days, the slow one of 60 to 180.
_FAST: Final = (7.0, 14.0)
_SLOW: Final = (60.0, 180.0)
_FASTER: Final = 6.0  # so many times; both follow the half-life of the kind

_FORGETTING: Final = 0.5  # the exponent of ACT-R
_THRESHOLD: Final = -2.0  # the activation at which half comes to mind: said once, 54 days ago
_NOISE: Final = 1.0


def typed_decay(known: Known, decay: Decay, now: Micros) -> float:
    """By half each half-life of its kind, down to its floor; a pattern gains by repetition."""
    recency = _above(decay, math.pow(0.5, _days(now - known.standing.last_seen) / decay.half_life))
    if known.memory.kind != "pattern":
        return recency
    strength = min(math.log(1 + known.standing.strength), _STRENGTH_MOST)
    return recency * ((1 + _STRENGTH_SHARE * strength) / _ONCE)


def dual_trace(known: Known, decay: Decay, now: Micros) -> float:
    """A trace that fades in days and one that fades in months; each sighting deepens both."""
    fast = min(max(decay.half_life / _FASTER, _FAST[0]), _FAST[1])
    slow = min(max(decay.half_life, _SLOW[0]), _SLOW[1])
    traces = (_trace(known.standing, half_life, now) for half_life in (fast, slow))
    return _above(decay, math.log2(1 + sum(traces) / 2))


def act_r(known: Known, decay: Decay, now: Micros) -> float:
    """How likely it is to come to mind by its base-level activation, ln Σ t^-d over sightings."""
    activation = math.log(_power_sum(known.standing, now))
    return _above(decay, _likelihood(activation) / _likelihood(0.0))


SCORERS: Final[Mapping[ScorerName, Scorer]] = MappingProxyType(
    {"typed_decay": typed_decay, "dual_trace": dual_trace, "act_r": act_r}
)


def _above(decay: Decay, left: float) -> float:
    return min(decay.floor + (1 - decay.floor) * left, MOST_PRESENT)


def _days(span: Micros) -> float:
    return max(0, span) / DAY


def _trace(standing: Standing, half_life: float, now: Micros) -> float:
    """What the sightings have left of themselves; one that came at once after another is little."""
    newest = math.pow(0.5, _days(now - standing.last_seen) / half_life)
    if standing.times_seen < 2:
        return newest
    again = standing.times_seen - 1
    deepening = (standing.strength - 1) / again
    fading = math.pow(0.5, _days(standing.last_seen - standing.first_seen) / again / half_life)
    series = float(again) if fading == 1.0 else (1 - fading**again) / (1 - fading)
    oldest = newest * fading**again
    return oldest + deepening * newest * series


def _power_sum(standing: Standing, now: Micros) -> float:
    """Σ t^-d, where a day is added to each age so that what is of today is not infinite."""
    newest = 1 + _days(now - standing.last_seen)
    if standing.times_seen < 2:
        return math.pow(newest, -_FORGETTING)
    oldest = newest + _days(standing.last_seen - standing.first_seen)
    ends = math.pow(newest, -_FORGETTING) + math.pow(oldest, -_FORGETTING)
    # The mean of t^-½ from the newest to the oldest, for those that lie between.
    return ends + (standing.times_seen - 2) * 2 / (math.sqrt(newest) + math.sqrt(oldest))


def _likelihood(activation: float) -> float:
    return 1 / (1 + math.exp((_THRESHOLD - activation) / _NOISE))
