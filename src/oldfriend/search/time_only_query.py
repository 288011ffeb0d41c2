"""Time-only queries: questions that ask for a time and nothing else ("What happened in May?").

Whatever was said at that time answers, although it contains no word of the question; among
beliefs, only events of that time do.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.search.date_parser import DateSpan, parse_date_spans
from oldfriend.search.tokenizer import is_stop_word, tokenize
from oldfriend.search.types import SearchQuery

MAX_WORDS: Final = 8


def is_time_only_query(query: SearchQuery, spans: tuple[DateSpan, ...]) -> bool:
    """Tell whether a question asks what happened at a time and nothing else."""
    patterns = _load_event_patterns(query.language)
    if not spans or patterns is None or not patterns.happened.search(query.text):
        return False
    rest = patterns.happened.sub(" ", query.text)
    if _times(rest, query) != spans:
        return False
    words = [word for word in tokenize(rest) if not is_stop_word(word, query.language)]
    return len(words) <= MAX_WORDS and all(_is_of_time(word, rest, query) for word in words)


def is_recap_query(query: SearchQuery, spans: tuple[DateSpan, ...]) -> bool:
    """Tell whether a question asks only what was said at a time; other times cannot answer it."""
    patterns = _load_event_patterns(query.language)
    is_about_words = patterns is not None and patterns.said.search(query.text) is not None
    return is_about_words and is_time_only_query(query, spans)


def list_non_events(query: SearchQuery, known: Iterable[MemoryState]) -> set[int]:
    """List the beliefs that cannot answer a time-only question: all but precisely dated events.

    "Three years ago" does not say that something happened in May.
    """
    spans = _times(query.text, query)
    if not is_time_only_query(query, spans):
        return set()
    max_days = max((span.end - span.first).days for span in spans)
    return {each.base_seq for each in known if not _happened_within(each.memory, max_days)}


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPatterns:
    """The phrases of a language that ask what happened, or what was said."""

    happened: re.Pattern[str]
    said: re.Pattern[str]  # rather than what happened


@lru_cache(maxsize=32)
def _load_event_patterns(language: str) -> EventPatterns | None:
    """Load the phrases that ask what happened, if the language has any."""
    words = load_language_pack(language).read("queries")
    if not words:
        return None
    return EventPatterns(
        happened=re.compile(words["happened"], re.IGNORECASE),
        said=re.compile(words["said"], re.IGNORECASE),
    )


def _happened_within(memory: Memory, days: int) -> bool:
    """Tell whether a belief is an event whose date is known to within so many days."""
    if (during := memory.happened_during) is None:
        return False
    began, ended = during
    return ended - began <= days * DAY


def _is_of_time(word: str, text: str, question: SearchQuery) -> bool:
    """Tell whether a word is part of a date: without it the text names another date, or none."""
    without = re.sub(re.escape(word), " ", text, flags=re.IGNORECASE)
    return _times(without, question) != _times(text, question)


def _times(text: str, question: SearchQuery) -> tuple[DateSpan, ...]:
    return parse_date_spans(text, asked_at=question.asked_at, zone_offset_s=question.zone_offset_s)
