"""Is a question about how it was once? By its words, or by the time that it names."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from oldfriend.domain.clock import SECOND, Micros, to_micros
from oldfriend.domain.memories import Known, Status
from oldfriend.domain.ties import DATED, FOR_GOOD
from oldfriend.memory.overtaking import since
from oldfriend.memory.search.dates import Span, spans_in
from oldfriend.memory.search.questions import names_a_time_before
from oldfriend.memory.search.values import Question

_ONCE = re.compile(
    r"\b(?:before|used to|previous(?:ly)?|former(?:ly)?|back then|in the past|once lived"
    r"|antes|anterior(?:mente)?|antigu[oa]|solía\w*|vivía\w*|trabajaba\w*|en el pasado"
    r"|avant|auparavant|précédent\w*|ancien(?:ne)?|autrefois|habitais|travaillais"
    r"|früher\w*|vorher\w*|vorig\w*|ehemalig\w*|damals|wohnte\w*|arbeitete\w*)\b"
    r"|以前|之前|过去|原来|曾经|当时|那时|从前"
)
_KEYED: Final = frozenset({"fact", "preference", "triple"})
_ALWAYS: Final[frozenset[str]] = FOR_GOOD | {
    "name", "birthday", "birthplace", "hometown", "origin", "pronouns",
}  # fmt: skip
"""What is so for good: whenever it was said first, it was so before."""
_NEVER_SO: Final[frozenset[Status]] = frozenset({"rejected", "merged", "deprecated"})
"""What was only thought for a while, or is told by something else."""
_EVER: Final = -(2**62)


def tells_of_before(text: str) -> bool:
    """Whether words speak of how it was once."""
    return _ONCE.search(text.casefold()) is not None


def without_before(text: str) -> str:
    """What words tell besides that it was so once."""
    return _ONCE.sub(" ", text.casefold())


class Period(NamedTuple):
    """Since when and until when something held, as far as one knows."""

    since: Micros | None  # None: nobody has said
    until: Micros | None  # None: still


def held(known: Known) -> Period:
    """When in the world a belief holds or held: at least since it was said first.

    Nothing is known of its beginning where it was told of only afterwards.
    """
    memory = known.memory
    if memory.kind == "triple" and memory.key in DATED:
        return _time_of(known)
    begin, until = since(known), memory.holds_until
    return Period(None if until is not None and begin >= until else begin, until)


def _time_of(known: Known) -> Period:
    """When somebody was somewhere; or from when they planned it until it was to be."""
    memory, told_at = known.memory, known.standing.first_seen
    begin = memory.holds_from if memory.key == "visited" else told_at
    until = memory.holds_until or memory.holds_from or memory.ended_at
    if memory.key == "visited" and until is None:
        until = told_at
    return Period(begin, until if until is None or begin != until else until + 1)


class Times:
    """Which time a question asks about."""

    __slots__ = ("_now", "_offset_s", "_periods", "is_past", "names_one")

    def __init__(self, question: Question, *, asks_once: bool = False) -> None:
        """Read it off the question; ``asks_once`` where its form tells that it asks of before."""
        self._now = question.asked_at
        self._offset_s = question.zone_offset_s
        spans = spans_in(
            question.text, asked_at=question.asked_at, zone_offset_s=question.zone_offset_s
        )
        asks_once = asks_once or tells_of_before(question.text)
        self.names_one = bool(spans)
        periods = list(self._named(spans, asks_once=asks_once))
        if periods and names_a_time_before(question.text):
            periods = [(_EVER, periods[0][0])]
        self._periods = periods
        self.is_past = asks_once or any(
            self._now is not None and end <= self._now for _, end in periods
        )

    @property
    def is_before_now(self) -> bool:
        """Whether it asks what came before what is so now, and names no time."""
        return self.is_past and not self._periods

    def fits(self, known: Known) -> bool:
        """Whether a belief was so at that time, or may have been."""
        memory = known.memory
        if memory.ended_at is not None and (not self.is_past or memory.status in _NEVER_SO):
            return False
        lasts = memory.kind not in _KEYED or memory.key.rpartition(":")[2] in _ALWAYS
        if lasts or not self._periods or not self.is_past:
            return True
        begin, until = held(known)
        until = until or memory.ended_at
        return any(
            (begin is None or begin < end) and (until is None or until > first)
            for first, end in self._periods
        )

    def answers(self, known: Known) -> bool:
        """Whether a value is one that was so at that time, where its key is what is asked for."""
        if not self.fits(known):
            return False
        until = known.memory.holds_until or known.memory.ended_at
        is_over = until is not None and (self._now is None or until <= self._now)
        if not self.is_past:
            return not is_over
        return is_over or not self.is_before_now or known.memory.key in _ALWAYS

    def _named(self, spans: Iterable[Span], *, asks_once: bool) -> Iterator[tuple[int, int]]:
        """What is named without a year is the last one that has begun, where one asks of before."""
        for span in spans:
            first, end = self._moment(span.first), self._moment(span.end)
            if not span.any_year:
                yield first, end
            elif asks_once and self._now is not None:
                year = timedelta(days=365 if first > self._now else 0)
                yield self._moment(span.first - year), self._moment(span.end - year)

    def _moment(self, day: date) -> Micros:
        return to_micros(datetime(day.year, day.month, day.day, tzinfo=UTC)) - (
            self._offset_s * SECOND
        )
