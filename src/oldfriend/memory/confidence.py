"""Confidence and strength of a belief, computed from its live evidence alone.

Nothing is accumulated, so nothing drifts: reinforcement is one more piece of evidence, and
withdrawing it takes back exactly what it added.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import EvidenceSignal, EvidenceStance, EvidenceStats

MAX_STRENGTH = 20.0
SPACING_EFFECT_DAYS = 7.0
"""After this many days a repetition counts for about two thirds; an immediate one hardly counts."""
IMPLICIT_WEIGHT = 0.5
CONTRADICTION_PENALTY = 0.20


class ConfidenceGrowth(NamedTuple):
    """How much confidence grows with each further mention, and the maximum it can reach."""

    increment: float
    ceiling: float


DEFAULT_GROWTH = ConfidenceGrowth(0.10, 0.95)
RELATION_GROWTH = ConfidenceGrowth(0.05, 0.99)


class ScorableEvidence(Protocol):
    """The fields of evidence that count for statistics."""

    @property
    def id(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def stance(self) -> EvidenceStance: ...
    @property
    def signal(self) -> EvidenceSignal: ...
    @property
    def confidence(self) -> float: ...
    @property
    def said_at(self) -> Micros: ...


def compute_evidence_stats(
    evidence: Iterable[ScorableEvidence], growth: ConfidenceGrowth = DEFAULT_GROWTH
) -> EvidenceStats | None:
    """Compute statistics from evidence, or None if none supports the belief.

    Each message counts once, however often it is quoted.
    """
    distinct = dedup_by_message(evidence)
    supports = [each for each in distinct if each.stance == "supports"]
    if not supports:
        return None
    return EvidenceStats(
        strength=compute_strength(supports),
        confidence=compute_confidence(distinct, growth),
        times_seen=len(supports),
        first_seen=supports[0].said_at,
        last_seen=supports[-1].said_at,
    )


def compute_stats_history(
    evidence: Iterable[ScorableEvidence], growth: ConfidenceGrowth = DEFAULT_GROWTH
) -> list[tuple[Micros, EvidenceStats]]:
    """Compute the statistics after each piece of evidence, oldest first."""
    distinct = dedup_by_message(evidence)
    history = [
        (distinct[count - 1], compute_evidence_stats(distinct[:count], growth))
        for count in range(1, len(distinct) + 1)
    ]
    return [(each.said_at, stats) for each, stats in history if stats is not None]


def dedup_by_message(evidence: Iterable[ScorableEvidence]) -> list[ScorableEvidence]:
    """Keep the most confident evidence of each message and stance, oldest first, support before
    contradiction.
    """
    pieces = list(evidence)
    if len(pieces) == 1:
        return pieces
    best: dict[tuple[str, str], ScorableEvidence] = {}
    for each in pieces:
        key = (each.message, each.stance)
        if key not in best or best[key].confidence < each.confidence:
            best[key] = each
    return sorted(
        best.values(), key=lambda each: (each.said_at, each.stance == "contradicts", each.id)
    )


def compute_strength(supports: Sequence[ScorableEvidence]) -> float:
    """Return 1 for the first sighting, plus up to 1 for each further one depending on the time
    between them.
    """
    strength = 1.0
    for before, after in pairwise(supports):
        days = max(0, after.said_at - before.said_at) / DAY
        boost = 1.0 - math.exp(-days / SPACING_EFFECT_DAYS)
        strength += boost * (IMPLICIT_WEIGHT if after.signal == "implicit" else 1.0)
    return min(strength, MAX_STRENGTH)


def compute_confidence(
    evidence: Sequence[ScorableEvidence], growth: ConfidenceGrowth = DEFAULT_GROWTH
) -> float:
    """Start with the first confidence, raise it with each repetition and lower it with each
    contradiction.
    """
    confidence = 0.0
    for each in evidence:
        if each.stance == "contradicts":
            confidence = max(0.0, confidence - CONTRADICTION_PENALTY)
        elif confidence == 0.0:
            confidence = each.confidence
        else:
            most = max(growth.ceiling, each.confidence, confidence)
            confidence = min(most, max(confidence, each.confidence) + growth.increment)
    return round(confidence, 4)
