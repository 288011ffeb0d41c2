"""How does a belief stand? Computed from its live evidence alone, so that nothing drifts.

Reinforcement is one more piece of evidence; withdrawing it takes back exactly what it gave.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import Signal, Stance, Standing

STRONGEST = 20.0
SPACING_DAYS = 7.0
"""After so many days a repetition counts almost fully; at once, hardly (ACCEPTANCE G6)."""
IMPLICIT = 0.5
CONTRADICTED = 0.20


class Steps(NamedTuple):
    """By how much something becomes surer with each further mention, and how sure at most."""

    each: float
    most: float


USUAL = Steps(0.10, 0.95)
OF_TIES = Steps(0.05, 0.99)
"""ACCEPTANCE E8, H8."""


class Sighting(Protocol):
    """What counts of a piece of evidence."""

    @property
    def id(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def stance(self) -> Stance: ...
    @property
    def signal(self) -> Signal: ...
    @property
    def confidence(self) -> float: ...
    @property
    def said_at(self) -> Micros: ...


def standing_of(evidence: Iterable[Sighting], steps: Steps = USUAL) -> Standing | None:
    """How a belief stands on this evidence; None without any that supports it.

    Each message counts once, however often it is quoted.
    """
    told = each_once(evidence)
    supports = [each for each in told if each.stance == "supports"]
    if not supports:
        return None
    return Standing(
        strength=strength_of(supports),
        confidence=confidence_of(told, steps),
        times_seen=len(supports),
        first_seen=supports[0].said_at,
        last_seen=supports[-1].said_at,
    )


def course_of(evidence: Iterable[Sighting], steps: Steps = USUAL) -> list[tuple[Micros, Standing]]:
    """How a belief stood each time words for or against it were said, oldest first."""
    told = each_once(evidence)
    stands = [
        (told[count - 1], standing_of(told[:count], steps)) for count in range(1, len(told) + 1)
    ]
    return [(each.said_at, standing) for each, standing in stands if standing is not None]


def each_once(evidence: Iterable[Sighting]) -> list[Sighting]:
    """The surest evidence of each message for each side, the oldest first; pro before contra."""
    told = list(evidence)
    if len(told) == 1:
        return told
    best: dict[tuple[str, str], Sighting] = {}
    for each in told:
        place = (each.message, each.stance)
        if place not in best or best[place].confidence < each.confidence:
            best[place] = each
    return sorted(
        best.values(), key=lambda each: (each.said_at, each.stance == "contradicts", each.id)
    )


def strength_of(supports: Sequence[Sighting]) -> float:
    """1 for the first sighting, and up to 1 more for each further one that came after a while."""
    strength = 1.0
    for before, after in pairwise(supports):
        days = max(0, after.said_at - before.said_at) / DAY
        boost = 1.0 - math.exp(-days / SPACING_DAYS)
        strength += boost * (IMPLICIT if after.signal == "implicit" else 1.0)
    return min(strength, STRONGEST)


def confidence_of(told: Sequence[Sighting], steps: Steps = USUAL) -> float:
    """As sure as the first words, surer with each repetition, less with each contradiction."""
    confidence = 0.0
    for each in told:
        if each.stance == "contradicts":
            confidence = max(0.0, confidence - CONTRADICTED)
        elif confidence == 0.0:
            confidence = each.confidence
        else:
            most = max(steps.most, each.confidence, confidence)
            confidence = min(most, max(confidence, each.confidence) + steps.each)
    return round(confidence, 4)
