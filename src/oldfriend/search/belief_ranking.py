"""Belief ranking: weighs a belief by similarity, belief score, date match and emotion.

The boosts for date and emotion are small and capped, so that neither can rank a belief that does
not answer above one that does.
"""

from typing import Final

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.search.belief_score import score_belief
from oldfriend.search.date_parser import parse_date_spans
from oldfriend.search.date_score import to_day_ranges
from oldfriend.search.scorers import Scorer
from oldfriend.search.types import SearchQuery

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
        spans = parse_date_spans(
            query.text, asked_at=query.asked_at, zone_offset_s=query.zone_offset_s
        )
        offset = query.zone_offset_s * _SECOND
        self._spans = [
            (first * DAY - offset, end * DAY - offset)
            for span in spans
            for first, end in to_day_ranges(span)
        ]

    def score(self, known: MemoryState, similarity: float, *, is_named: bool) -> float:
        """Return how well a belief with this similarity to the question answers it, 0 to 1."""
        belief_score = score_belief(known, self._now, is_named=is_named, scorer=self._scorer)
        time_boost = TIME_BOOST if self._is_in_query_time(known.memory) else 1.0
        return min(
            1.0, similarity * belief_score * time_boost * compute_emotion_boost(known.memory)
        )

    def _is_in_query_time(self, memory: Memory) -> bool:
        time = find_time_range(memory) if self._spans else None
        return time is not None and any(
            time[0] < end and time[1] >= first for first, end in self._spans
        )


def find_time_range(memory: Memory) -> tuple[Micros, Micros] | None:
    """Return when it happened, is due or held; what still holds counts at its beginning alone."""
    if memory.happened_at is not None:
        return memory.happened_at, memory.happened_until or memory.happened_at
    if memory.due_at is not None:
        return memory.due_at, memory.due_at
    began = memory.holds_from
    return None if began is None else (began, memory.holds_until or began)


def compute_emotion_boost(memory: Memory) -> float:
    """Return the factor by which a belief gains for its emotional weight, good or bad."""
    arousal = (memory.arousal or 0) / 10
    intensity = max(abs(memory.impact) / 10, arousal, _TAGGED_IMPACT if memory.tags else 0.0)
    return 1 + (MAX_EMOTION_BOOST - 1) * min(intensity, 1.0)
