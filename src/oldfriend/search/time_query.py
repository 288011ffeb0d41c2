"""Time query: what a question asks of time: a date, the latest, or a time and nothing else.

Whatever was said at that time answers, although it contains no word of the question; among
beliefs, only events of that time do.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.lang.named_days import Granularity, load_event_patterns
from oldfriend.search.date_parser import DateSpan, parse_date_spans
from oldfriend.search.tokenizer import is_stop_word, tokenize
from oldfriend.search.types import Floats, SearchQuery

_DAY_US: Final = 86_400_000_000
_EPOCH_ORDINAL: Final = 719_163
_YEAR_OFFSETS: Final = range(-8, 2)
# Days of decay after a span: people talk about an event in the days after it.
_DECAY_DAYS: Final[dict[Granularity, float]] = {
    "day": 4,
    "week": 7,
    "month": 15,
    "season": 30,
    "year": 60,
}
_EARLY_PENALTY: Final = 3


def parse_query_spans(query: SearchQuery, *, about: str | None = None) -> tuple[DateSpan, ...]:
    """Return the spans of days that a question names; of a part of one, by what all is about."""
    patterns = load_event_patterns(query.language)
    whole = query.text if about is None else about
    return parse_date_spans(
        query.text,
        asked_at=query.asked_at,
        zone_offset_s=query.zone_offset_s,
        is_past=patterns is not None and patterns.is_about_past(whole),
    )


def score_dates(said_at: NDArray[np.int64], spans: tuple[DateSpan, ...]) -> tuple[Floats, Floats]:
    """Return whether each time lies in a span (0 or 1), and how close it is to one (0 to 1)."""
    is_inside = np.zeros(len(said_at), dtype=np.float32)
    closeness = np.zeros(len(said_at), dtype=np.float32)
    if not spans:
        return is_inside, closeness
    day = said_at / _DAY_US
    for span in spans:
        for first, end in to_day_ranges(span):
            gap = np.where(day < first, (first - day) * _EARLY_PENALTY, np.maximum(day - end, 0))
            is_inside = np.maximum(is_inside, (day >= first) & (day < end))
            closeness = np.maximum(closeness, np.exp(-gap / _DECAY_DAYS[span.granularity]))
    return is_inside.astype(np.float32), closeness.astype(np.float32)


def to_day_ranges(span: DateSpan) -> Iterator[tuple[int, int]]:
    """Yield first and end of the span in days since 1970, for every year that it may mean."""
    first = span.first.toordinal() - _EPOCH_ORDINAL
    length = span.end.toordinal() - span.first.toordinal()
    for years in _YEAR_OFFSETS if span.is_any_year else (0,):
        shifted = first + round(years * 365.2425)
        yield shifted, shifted + length


_UNITS = (
    r"(?:name|night|day|week|weekend|month|year|spring|summer|autumn|fall|winter|term|season"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d+|few|two|three|four|five|six)s?"
)
_UNIDADES = (
    r"(?:nombre|noche|día|dia|semana|mes|año|verano|invierno|otoño|primavera|\d+|dos|tres|cuatro"
    r"|cinco|seis|lunes|martes|miércoles|jueves|viernes|sábado|domingo)(?:e?s)?"
)
_UNITES = (
    r"(?:nom|nuit|jour|semaine|mois|an|année|été|hiver|automne|printemps|\d+|deux|trois|quatre"
    r"|cinq|six|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche)s?"
)
_EINHEITEN = (
    r"(?:name|nacht|tag|woche|wochenende|monat|jahr|sommer|winter|herbst|frühling|\d+|zwei|drei"
    r"|vier|fünf|sechs|paar|montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag)(?:e?[ns])?"
)
_LATEST: Final = re.compile(
    rf"\b(?:latest|newest|most recent(?:ly)?|(?<!at )last(?! {_UNITS}\b)"
    rf"|últim[oa]s?(?! {_UNIDADES}\b)|más recientes?"
    rf"|derni(?:er|ère)s?(?! {_UNITES}\b)|plus récente?s?"
    rf"|letzte[nrsm]?(?! {_EINHEITEN}\b)|neue?ste[nrsm]?|jüngste[nrsm]?|zuletzt)\b"
    r"|最近一|最近那|最新|上次|上一次|上回|最后一[次回个]"
)
_NOT_MEANT: Final = re.compile(rf"\b{_UNITES} derni(?:er|ère)s?\b|\bhow long\b.*")
"""No question for the latest: "la semaine dernière", or the verb in "how long does it last?"."""
_WHOM = r"[^\s?]+(?: [^\s?]+){0,5}"
_HOW_SOMEBODY_IS: Final = re.compile(
    r"(?:^|[.!?…,¿] *|\b(?:so|and|know|tell me|y|sabes|und|weißt du|et|sais) )(?:"
    r"how(?:'s|'re| is| are| has| have) (?!i\b|.*\b(?:called|named|related|tied|connected|made|done"
    rf"|written|spel(?:led|t)|pronounced|cooked|used)\b){_WHOM}"
    rf"|c[óo]mo (?:est[áa]n?|siguen?|andan?|l[ea]s? va|se (?:encuentran?|sienten?)) {_WHOM}"
    rf"|wie (?:geht(?:'?s| es)|steht es um|läuft es (?:bei|mit)) {_WHOM}"
    rf"|comment (?:vont|va|se port(?:e|ent)|se sent(?:ent)?) {_WHOM}"
    r")\s*[?!.]*\s*$"
    r"|(?<!我)(?<!我最近)(?<!我现在)(?<!我过得)(?:怎么样|怎样|还好|好点|好些|好吗)[了吗没有]*\s*[?？]*\s*$"
)
"""Questions about how somebody, or something of theirs, is doing now."""
COMPARABLE_SCORE: Final = 0.5
COMPARABLE_COVERAGE: Final = 0.8
"""Share of the best score, or of the best word coverage, from which on hits are sorted by time."""


def is_recency_query(text: str) -> bool:
    """Tell whether a question wants the newest of all that answers."""
    folded = _NOT_MEANT.sub(" ", text.casefold().replace("’", "'"))
    return _LATEST.search(folded) is not None or _HOW_SOMEBODY_IS.search(folded) is not None


class RecencyCandidate(NamedTuple):
    """What the newest-first order needs to know of a hit."""

    score: float
    word_coverage: float  # share of the question's words, by weight, that it contains
    timestamp: int


def rank_newest_first(best_first: Sequence[RecencyCandidate]) -> list[int]:
    """Return indices of hits: those comparable to the best, newest first, then the others."""
    if not best_first:
        return []
    best = best_first[0]
    comparable = [
        place
        for place, each in enumerate(best_first)
        if each.score >= COMPARABLE_SCORE * best.score
        or 0 < COMPARABLE_COVERAGE * best.word_coverage <= each.word_coverage
    ]
    newest = sorted(comparable, key=lambda place: -best_first[place].timestamp)
    return [*newest, *(place for place in range(len(best_first)) if place not in comparable)]


MAX_WORDS: Final = 8
MAX_QUESTION_CHARS: Final = 1_000
"""A longer text asks of more than a time: it has more than MAX_WORDS words of content."""


def is_time_only_query(query: SearchQuery, spans: tuple[DateSpan, ...]) -> bool:
    """Tell whether a question asks what happened at a time and nothing else."""
    if not spans or len(query.text) > MAX_QUESTION_CHARS:
        return False
    patterns = load_event_patterns(query.language)
    if patterns is None or not patterns.happened.search(query.text):
        return False
    rest = patterns.happened.sub(" ", query.text)
    if _times(rest, query) != spans:
        return False
    words = _list_content_words(rest, query.language)
    return len(words) <= MAX_WORDS and not _list_content_words(
        _blank(rest, [word for word in words if _is_of_time(word, rest, query)]), query.language
    )


def _list_content_words(text: str, language: str) -> list[str]:
    return [word for word in tokenize(text) if not is_stop_word(word, language)]


def _blank(text: str, words: Iterable[str]) -> str:
    """Return a text with words blanked out; in scripts without spaces they overlap."""
    spans = [
        found.span()
        for word in words
        for found in re.finditer(re.escape(word), text, re.IGNORECASE)
    ]
    blanked = {at for start, end in spans for at in range(start, end)}
    return "".join(" " if at in blanked else letter for at, letter in enumerate(text))


def is_recap_query(query: SearchQuery, spans: tuple[DateSpan, ...]) -> bool:
    """Tell whether a question asks only what was said at a time; other times cannot answer it."""
    patterns = load_event_patterns(query.language)
    is_about_words = patterns is not None and patterns.said.search(query.text) is not None
    return is_about_words and is_time_only_query(query, spans)


def find_recap_spans(query: SearchQuery, *, is_happening_known: bool) -> tuple[DateSpan, ...]:
    """Find the times of which a question asks only what was said, or what happened if unknown."""
    spans = _find_asked_spans(query)
    is_asked = is_recap_query if is_happening_known else is_time_only_query
    return spans if is_asked(query, spans) else ()


def list_non_events(query: SearchQuery, known: Iterable[MemoryState]) -> set[int]:
    """List the beliefs that cannot answer a time-only question: all but precisely dated events.

    "Three years ago" does not say that something happened in May.
    """
    spans = _find_asked_spans(query)
    if not is_time_only_query(query, spans):
        return set()
    max_days = max((span.end - span.first).days for span in spans)
    return {each.base_seq for each in known if not _happened_within(each.memory, max_days)}


def _happened_within(memory: StoredBelief, days: int) -> bool:
    """Tell whether a belief is an event whose date is known to within so many days."""
    if (during := memory.happened_during) is None:
        return False
    began, ended = during
    return ended - began <= days * DAY


def _is_of_time(word: str, text: str, question: SearchQuery) -> bool:
    """Tell whether a word is part of a date: without it the text names another date, or none."""
    without = re.sub(re.escape(word), " ", text, flags=re.IGNORECASE)
    return _times(without, question) != _times(text, question)


def _find_asked_spans(query: SearchQuery) -> tuple[DateSpan, ...]:
    """Find the times of a question that may ask of nothing else."""
    return () if len(query.text) > MAX_QUESTION_CHARS else _times(query.text, query)


def _times(text: str, question: SearchQuery) -> tuple[DateSpan, ...]:
    return parse_query_spans(replace(question, text=text), about=question.text)
