"""How much does a belief weigh as an answer? By its worth, a little by its time and by its feeling.

What is added for time and feeling is small and capped, so that neither can put what does not
answer before what does.
"""

from typing import Final

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import Known, Memory
from oldfriend.memory.search.closeness_in_time import days_of
from oldfriend.memory.search.dates import spans_in
from oldfriend.memory.search.scorers import Scorer
from oldfriend.memory.search.values import Question
from oldfriend.memory.search.worth import worth_of

OF_ITS_TIME: Final = 1.2
MOVING: Final = 1.1
"""The most that each may add (ACCEPTANCE G21)."""
_TAGGED: Final = 0.5  # a feeling was named: as an impact of 5
_SECOND: Final = 1_000_000


class Scale:
    """What all beliefs are weighed on that may answer one question."""

    __slots__ = ("_now", "_scorer", "_spans")

    def __init__(self, question: Question, scorer: Scorer) -> None:
        """Weigh by a scorer, and by the times that the question names."""
        self._now = question.asked_at or 0
        self._scorer = scorer
        named = spans_in(
            question.text, asked_at=question.asked_at, zone_offset_s=question.zone_offset_s
        )
        ahead = question.zone_offset_s * _SECOND
        self._spans = [
            (first * DAY - ahead, end * DAY - ahead)
            for span in named
            for first, end in days_of(span)
        ]

    def score(self, known: Known, close: float, *, is_named: bool) -> float:
        """How well a belief answers that is so close to the question, 0 to 1."""
        worth = worth_of(known, self._now, is_named=is_named, scorer=self._scorer)
        timely = OF_ITS_TIME if self._is_of_its_time(known.memory) else 1.0
        return min(1.0, close * worth * timely * moving(known.memory))

    def _is_of_its_time(self, memory: Memory) -> bool:
        time = time_of(memory) if self._spans else None
        return time is not None and any(
            time[0] < end and time[1] >= first for first, end in self._spans
        )


def time_of(memory: Memory) -> tuple[Micros, Micros] | None:
    """When it happens, or from when until when it was so; of what still is, when it began."""
    if memory.happened_at is not None:
        return memory.happened_at, memory.happened_until or memory.happened_at
    if memory.due_at is not None:
        return memory.due_at, memory.due_at
    began = memory.holds_from
    return None if began is None else (began, memory.holds_until or began)


def moving(memory: Memory) -> float:
    """By how much a belief gains because it moved somebody, for better or worse."""
    aroused = (memory.arousal or 0) / 10
    moved = max(abs(memory.impact) / 10, aroused, _TAGGED if memory.tags else 0.0)
    return 1 + (MOVING - 1) * min(moved, 1.0)
