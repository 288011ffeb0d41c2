"""Tense: whether a question asks about the past, by its words or by the dates that it names."""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Final, NamedTuple

from oldfriend.domain.belief_kinds import KEYED_KINDS
from oldfriend.domain.clock import SECOND, Micros, to_micros
from oldfriend.domain.memories import MemoryState, Status
from oldfriend.domain.relations import DATED, PERMANENT
from oldfriend.domain.supersession import get_valid_since
from oldfriend.search.date_parser import DateSpan
from oldfriend.search.question_patterns import is_before_named_time
from oldfriend.search.time_query import parse_query_spans
from oldfriend.search.types import SearchQuery

_ONCE = re.compile(
    r"\b(?:before|used to|previous(?:ly)?|former(?:ly)?|back then|in the past|once lived"
    r"|antes|anterior(?:mente)?|antigu[oa]|solía\w*|vivía\w*|trabajaba\w*|en el pasado"
    r"|avant|auparavant|précédent\w*|ancien(?:ne)?|autrefois|habitais|travaillais"
    r"|früher\w*|vorher\w*|vorig\w*|ehemalig\w*|damals|wohnte\w*|arbeitete\w*)\b"
    r"|以前|之前|过去|原来|曾经|当时|那时|从前"
)
_ALWAYS: Final[frozenset[str]] = PERMANENT | {
    "name",
    "birthday",
    "birthplace",
    "hometown",
    "origin",
    "pronouns",
}
"""Keys whose values do not change: they held before they were first mentioned, too."""
_NEVER_SO: Final[frozenset[Status]] = frozenset({"rejected", "merged", "deprecated"})
"""Statuses of beliefs that were never true or are replaced by another."""
_EVER: Final = -(2**62)


def is_about_past(text: str) -> bool:
    """Tell whether a text speaks of the past."""
    return _ONCE.search(text.casefold()) is not None


def strip_past_words(text: str) -> str:
    """Remove the words that mark a text as being about the past."""
    return _ONCE.sub(" ", text.casefold())


class ValidityPeriod(NamedTuple):
    """Period in which something held, as far as known."""

    since: Micros | None  # None: unknown
    until: Micros | None  # None: it still holds


def compute_validity(known: MemoryState) -> ValidityPeriod:
    """Return when a belief held in the world: at the latest since it was first said.

    The beginning is unknown where the belief was first mentioned after its end.
    """
    memory = known.memory
    if memory.kind == "triple" and memory.key in DATED:
        return _time_of(known)
    begin, until = get_valid_since(known), memory.holds_until
    return ValidityPeriod(None if until is not None and begin >= until else begin, until)


def _time_of(known: MemoryState) -> ValidityPeriod:
    """Return when somebody was somewhere, or the period from planning a visit until its date."""
    memory, first_said = known.memory, known.stats.first_seen
    begin = memory.holds_from if memory.key == "visited" else first_said
    until = memory.holds_until or memory.holds_from or memory.ended_at
    if memory.key == "visited" and until is None:
        until = first_said
    return ValidityPeriod(begin, until if until is None or begin != until else until + 1)


class TimeFrame:
    """Time that a question asks about."""

    __slots__ = ("_now", "_offset_s", "_periods", "has_explicit_time", "is_past")

    def __init__(self, query: SearchQuery, *, is_past: bool = False) -> None:
        """Read the time from the question; `is_past` if its form says that it is about the past."""
        self._now = query.asked_at
        self._offset_s = query.zone_offset_s
        spans = parse_query_spans(query)
        is_past = is_past or is_about_past(query.text)
        self.has_explicit_time = bool(spans)
        periods = list(self._named(spans, asks_once=is_past))
        if periods and is_before_named_time(query.text):
            periods = [(_EVER, periods[0][0])]
        self._periods = periods
        self.is_past = is_past or any(
            self._now is not None and end <= self._now for _, end in periods
        )

    @property
    def is_before_now(self) -> bool:
        """Whether the question asks for what preceded the present value, and names no time."""
        return self.is_past and not self._periods

    @property
    def end(self) -> Micros | None:
        """When the past that the question asks about ends; None if it names no time of the past."""
        return max(end for _, end in self._periods) if self.is_past and self._periods else None

    def is_valid(self, known: MemoryState) -> bool:
        """Tell whether a belief held, or may have held, at that time."""
        memory = known.memory
        if memory.ended_at is not None and (not self.is_past or memory.status in _NEVER_SO):
            return False
        is_lasting = memory.kind not in KEYED_KINDS or memory.key.rpartition(":")[2] in _ALWAYS
        if is_lasting or not self._periods or not self.is_past:
            return True
        begin, until = compute_validity(known)
        until = until or memory.ended_at
        return any(
            (begin is None or begin < end) and (until is None or until > first)
            for first, end in self._periods
        )

    def is_answer(self, known: MemoryState) -> bool:
        """Tell whether a value of the requested attribute held at that time."""
        if not self.is_valid(known):
            return False
        until = known.memory.holds_until or known.memory.ended_at
        has_ended = until is not None and (self._now is None or until <= self._now)
        if not self.is_past:
            return not has_ended
        return has_ended or not self.is_before_now or known.memory.key in _ALWAYS

    def _named(self, spans: Iterable[DateSpan], *, asks_once: bool) -> Iterator[tuple[int, int]]:
        """Yield the periods; about the past, one without a year means the last that has begun."""
        for span in spans:
            first, end = self._moment(span.first), self._moment(span.end)
            if not span.is_any_year:
                yield first, end
            elif asks_once and self._now is not None:
                year = timedelta(days=365 if first > self._now else 0)
                yield self._moment(span.first - year), self._moment(span.end - year)

    def _moment(self, day: date) -> Micros:
        return to_micros(datetime(day.year, day.month, day.day, tzinfo=UTC)) - (
            self._offset_s * SECOND
        )
