"""Time-only queries: questions that ask for a time and nothing else ("What happened in May?").

Whatever was said at that time answers, although it contains no word of the question; among
beliefs, only events of that time do.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, Literal

from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.search.date_parser import DateSpan, parse_date_spans
from oldfriend.search.tokenizer import is_stop_word, tokenize
from oldfriend.search.types import SearchQuery

MAX_WORDS: Final = 8


def is_time_only_query(query: SearchQuery, spans: tuple[DateSpan, ...]) -> bool:
    """Tell whether a question asks what happened at a time and nothing else."""
    pattern = _load_pattern("happened", query.language)
    if not spans or pattern is None or not pattern.search(query.text):
        return False
    rest = pattern.sub(" ", query.text)
    if _times(rest, query) != spans:
        return False
    words = [word for word in tokenize(rest) if not is_stop_word(word, query.language)]
    return len(words) <= MAX_WORDS and all(_is_of_time(word, rest, query) for word in words)


def is_recap_query(query: SearchQuery, spans: tuple[DateSpan, ...]) -> bool:
    """Tell whether a question asks only what was said at a time; other times cannot answer it."""
    pattern = _load_pattern("said", query.language)
    return bool(pattern and pattern.search(query.text)) and is_time_only_query(query, spans)


def list_non_events(query: SearchQuery, known: Iterable[MemoryState]) -> set[int]:
    """List the beliefs that cannot answer a time-only question: all but precisely dated events.

    "Three years ago" does not say that something happened in May.
    """
    spans = _times(query.text, query)
    if not is_time_only_query(query, spans):
        return set()
    max_days = max((span.end - span.first).days for span in spans)
    return {each.base_seq for each in known if not _happened_within(each.memory, max_days)}


@lru_cache(maxsize=64)
def _load_pattern(name: Literal["happened", "said"], language: str) -> re.Pattern[str] | None:
    """Load the phrases that ask what happened, or what was said rather than what happened."""
    source = load_language_pack(language).read("queries").get(name)
    return None if source is None else re.compile(source, re.IGNORECASE)


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
