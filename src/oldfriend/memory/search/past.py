"""Is a question about how it was once? By its words, or by the time that it names."""

import re
from datetime import UTC, datetime
from typing import Final

from oldfriend.domain.clock import to_micros
from oldfriend.domain.memories import Memory
from oldfriend.memory.search.dates import Span, spans_in
from oldfriend.memory.search.values import Question

_ONCE = re.compile(
    r"\b(?:before|used to|previous(?:ly)?|former(?:ly)?|back then|in the past|once lived"
    r"|antes|anterior(?:mente)?|antigu[oa]|solía\w*|vivía\w*|trabajaba\w*|en el pasado"
    r"|avant|auparavant|précédent\w*|ancien(?:ne)?|autrefois|habitais|travaillais"
    r"|früher\w*|vorher\w*|vorig\w*|ehemalig\w*|damals|wohnte\w*|arbeitete\w*)\b"
    r"|以前|之前|过去|原来|曾经|当时|那时|从前"
)
_KEYED: Final = frozenset({"fact", "preference"})


class Times:
    """Which time a question asks about."""

    __slots__ = ("_now", "_offset_s", "_spans", "is_past", "names_one")

    def __init__(self, question: Question) -> None:
        """Read it off the question."""
        self._now = question.asked_at
        self._offset_s = question.zone_offset_s
        spans = spans_in(
            question.text, asked_at=question.asked_at, zone_offset_s=question.zone_offset_s
        )
        self.names_one = bool(spans)
        self._spans = [span for span in spans if not span.any_year]
        self.is_past = _ONCE.search(question.text.casefold()) is not None or any(
            self._now is not None and self._bounds(span)[1] <= self._now for span in self._spans
        )

    @property
    def is_before_now(self) -> bool:
        """Whether it asks what came before what is so now, and names no time."""
        return self.is_past and not self._spans

    def fits(self, memory: Memory) -> bool:
        """Whether a belief was so at that time, or may have been."""
        if memory.ended_at is not None and not self.is_past:
            return False
        if memory.kind not in _KEYED or not self._spans or not self.is_past:
            return True
        until = memory.holds_until or memory.ended_at
        return any(
            (memory.holds_from is None or memory.holds_from < end)
            and (until is None or until > first)
            for first, end in map(self._bounds, self._spans)
        )

    def _bounds(self, span: Span) -> tuple[int, int]:
        first, end = (
            to_micros(datetime(day.year, day.month, day.day, tzinfo=UTC)) - self._offset_s * 10**6
            for day in (span.first, span.end)
        )
        return first, end
