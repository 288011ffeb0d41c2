"""Belief weight: what a belief counts by kind, status and age, and for the time of a question.

Computed at query time and never stored, so that a change of scorer takes effect with the next
query.
"""

from collections.abc import Mapping
from typing import Final

from oldfriend.domain.belief_kinds import KINDS_BY_NAME
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import MemoryState, PatternKind, Status, StoredBelief
from oldfriend.search.score import Score, weigh_score
from oldfriend.search.scorers import Decay, Scorer, typed_decay
from oldfriend.search.time_query import parse_query_spans, to_day_ranges
from oldfriend.search.types import SearchQuery

PATTERN_DECAY: Final[Mapping[PatternKind, Decay]] = {
    "behavior": Decay(90, 0.45),
    "belief": Decay(90, 0.45),
    "goal": Decay(60, 0.35),
    "preference": Decay(90, 0.45),
    "emotion": Decay(14, 0.15),
    "temporal": Decay(365, 0.60),
    "causal": Decay(90, 0.45),
}
"""Half-life in days and floor for each kind of pattern."""
EVENT_DECAY: Final = Decay(14, 0.0)
ATTRIBUTE_DECAY: Final = Decay(365, 0.60)  # like temporal patterns, the slowest decay above

STATUS_WEIGHT: Final[Mapping[Status, float]] = {"active": 1.0, "tentative": 0.5, "disputed": 0.5}
"""Weight by status; an ended belief gets ENDED_WEIGHT instead."""
ENDED_WEIGHT: Final = 0.8

# Weights of an event, divided by those of a recent event of middling impact.
_CLOSE, _RECENT, _IMPACT, _TAGGED, _NAMED = 3.0, 0.5, 2.0, 0.5, 1.5
_MIDDLING_EVENT: Final = _CLOSE + _RECENT + _IMPACT / 2
# Weights of a fact or preference.
_SIMILAR, _LATELY, _IMPORTANT = 0.4, 0.3, 0.3


def compute_belief_weight(
    known: MemoryState, now: Micros, *, is_named: bool = False, scorer: Scorer = typed_decay
) -> float:
    """Return the weight of a belief among others that answer as well, 0 to 1.

    `is_named`: the question names an entity that the belief is about.
    """
    memory = known.memory
    weight = 1.0  # of the rule "constant"
    rule = KINDS_BY_NAME[memory.kind].score
    if rule == "pattern":
        decay = PATTERN_DECAY[memory.pattern or "behavior"]
        weight = min(1.0, compute_retention(known, decay, now, scorer) * known.stats.confidence)
    elif rule == "event":
        retention = compute_retention(known, EVENT_DECAY, now, scorer)
        weight = _weigh_event(known, retention, is_named=is_named)
    elif rule == "confidence":
        weight = known.stats.confidence
    elif rule == "attribute":
        retention = min(1.0, compute_retention(known, ATTRIBUTE_DECAY, now, scorer))
        weight = _SIMILAR + _LATELY * retention + _IMPORTANT * memory.importance
    return weight * (
        ENDED_WEIGHT if memory.ended_at is not None else STATUS_WEIGHT.get(memory.status, 0.0)
    )


def compute_retention(known: MemoryState, decay: Decay, now: Micros, scorer: Scorer) -> float:
    """Return how much is left of a belief; a pinned one counts as on the day it was last said."""
    return scorer(known, decay, known.stats.last_seen if known.memory.is_pinned else now)


def _weigh_event(known: MemoryState, retention: float, *, is_named: bool) -> float:
    memory = known.memory
    total = (
        _CLOSE
        + _RECENT * retention
        + _IMPACT * abs(memory.impact) / 10
        + _TAGGED * bool(memory.tags or memory.relational)
        + _NAMED * is_named
    )
    return min(1.0, total / _MIDDLING_EVENT)


TIME_BOOST: Final = 1.2
MAX_EMOTION_BOOST: Final = 1.1
"""Upper limit of each boost."""
_TAGGED_IMPACT: Final = 0.5  # a belief with emotion tags counts like one with an impact of 5
_SECOND: Final = 1_000_000


class BeliefRanker:
    """Scoring of beliefs as answers to one question."""

    __slots__ = ("_now", "_scorer", "_spans")

    def __init__(self, query: SearchQuery, scorer: Scorer) -> None:
        """Create a ranker from a retention scorer and the dates that the query names."""
        self._now = query.asked_at or 0
        self._scorer = scorer
        spans = parse_query_spans(query)
        offset = query.zone_offset_s * _SECOND
        self._spans = [
            (first * DAY - offset, end * DAY - offset)
            for span in spans
            for first, end in to_day_ranges(span)
        ]

    def weigh(self, score: Score, known: MemoryState, *, is_named: bool) -> Score:
        """Return the score of a belief that answers a question so well by its words alone."""
        weight = compute_belief_weight(known, self._now, is_named=is_named, scorer=self._scorer)
        return weigh_score(
            score,
            weight=weight,
            time_boost=TIME_BOOST if self._is_in_query_time(known.memory) else 1.0,
            emotion_boost=compute_emotion_boost(known.memory),
        )

    def _is_in_query_time(self, memory: StoredBelief) -> bool:
        time = find_time_range(memory) if self._spans else None
        return time is not None and any(
            time[0] < end and time[1] >= first for first, end in self._spans
        )


def find_time_range(memory: StoredBelief) -> tuple[Micros, Micros] | None:
    """Return when it happened, is due or held; what still holds counts at its beginning alone."""
    if memory.happened_at is not None:
        return memory.happened_at, memory.happened_until or memory.happened_at
    if memory.due_at is not None:
        return memory.due_at, memory.due_at
    began = memory.holds_from
    return None if began is None else (began, memory.holds_until or began)


def compute_emotion_boost(memory: StoredBelief) -> float:
    """Return the factor by which a belief gains for its emotional weight, good or bad."""
    arousal = (memory.arousal or 0) / 10
    intensity = max(abs(memory.impact) / 10, arousal, _TAGGED_IMPACT if memory.tags else 0.0)
    return 1 + (MAX_EMOTION_BOOST - 1) * min(intensity, 1.0)
