"""Time-only queries: questions that ask for a time and nothing else ("What happened in May?").

Whatever was said at that time answers, although it contains no word of the question; among
beliefs, only events of that time do.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.search.date_parser import DateSpan, parse_date_spans
from oldfriend.search.tokenizer import is_stop_word, tokenize
from oldfriend.search.types import SearchQuery

EVENT_QUESTIONS: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(
        r"\b(?:happen(?:ed|ing)?|(?:been )?going on"
        r"|(?:did|have) (?:i|we) (?:do|done|(?:tell|told) you|say|said)"
        r"|(?:was|were) (?:i|we) (?:doing|up to)|(?:was|is) new)\b",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"\b(?:pasó|ocurrió|sucedió|pasaba|ha pasado|hice|hicimos|hacía|te conté|te dije)\b",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"\b(?:s['’]est[- ](?:il )?passé|est[- ]il arrivé"
        r"|(?:j['’]ai|je t['’]ai|ai-je|t['’]ai-je|avons-nous|on a)"
        r" (?:fait|dit|raconté))\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:passiert|geschehen|geschah|los|gemacht|tat ich|erzählt|gesagt)\b", re.IGNORECASE
    ),
    "zh": re.compile(
        "发生了?(?:什么|哪些)(?:事情?)?|(?:[跟和对][你您])?(?:做|说|干)(?:了|过)(?:什么|啥)(?:事情?)?"
        "|告诉(?:了|过)?[你您](?:了|过)?(?:什么|啥)了?"
    ),
}
"""Phrases that ask what happened."""
_SAID: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(r"\b(?:tell|told|say|said)\b", re.IGNORECASE),
    "es": re.compile(r"\b(?:conté|dije)\b", re.IGNORECASE),
    "fr": re.compile(r"\b(?:dit|raconté)\b", re.IGNORECASE),
    "de": re.compile(r"\b(?:erzählt|gesagt)\b", re.IGNORECASE),
    "zh": re.compile("说|告诉"),
}
"""Phrases that ask what was said rather than what happened."""
MAX_WORDS: Final = 8


def is_time_only_query(query: SearchQuery, spans: tuple[DateSpan, ...]) -> bool:
    """Tell whether a question asks what happened at a time and nothing else."""
    pattern = EVENT_QUESTIONS.get(query.language)
    if not spans or pattern is None or not pattern.search(query.text):
        return False
    rest = pattern.sub(" ", query.text)
    if _times(rest, query) != spans:
        return False
    words = [word for word in tokenize(rest) if not is_stop_word(word, query.language)]
    return len(words) <= MAX_WORDS and all(_is_of_time(word, rest, query) for word in words)


def is_recap_query(query: SearchQuery, spans: tuple[DateSpan, ...]) -> bool:
    """Tell whether a question asks only what was said at a time; other times cannot answer it."""
    pattern = _SAID.get(query.language)
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
