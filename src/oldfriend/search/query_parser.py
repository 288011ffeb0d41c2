"""Query parser: extracts a question's content words, dates, pronouns and answer type."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Final

from oldfriend.domain.unicode_text import fold_text
from oldfriend.search.date_parser import DateSpan
from oldfriend.search.time_query import parse_query_spans
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, to_term, tokenize
from oldfriend.search.types import SearchQuery

_MAX_WORDS: Final = 48
_MIN_QUERY_LENGTH: Final = 3


class AnswerType(IntFlag):
    """Kind of answer that a question asks for."""

    TIME = 1
    PLACE = 2
    PERSON = 4
    NUMBER = 8
    REASON = 16
    LATEST = 32
    EARLIEST = 64
    LIST = 128
    YES_NO = 256


# For each type the patterns that must begin a word, and those that may begin anywhere. They are
# compiled separately, because a pattern with few possible first letters is searched much faster.
_ANSWER_TYPE_SOURCES: Final[dict[AnswerType, tuple[str, ...]]] = {
    AnswerType.TIME: (
        r"\b(?:when\b|wann\b)",
        r"what (?:date|day|month|year|time)|which (?:day|month|year|week)|how long"
        r"|cuándo|cuando fue|qué (?:día|fecha|año|mes)|quand"
        r"|quel (?:jour|mois)|quelle (?:date|année)|welche[mnrs]? (?:tag|monat|jahr|datum)"
        r"|什么时候|哪天|哪年|几月|几号|何时|いつ|何月|何日",
    ),
    AnswerType.PLACE: (
        r"\b(?:where\b|où\b|wo\b|wohin\b|woher\b)",
        r"which (?:city|country|place|town|state)|what (?:city|country|place|town)"
        r"|dónde|adónde|quelle ville|qué ciudad|哪里|哪儿|在哪|どこ",
    ),
    AnswerType.PERSON: (
        r"\b(?:who(?:se|m)?\b|qui\b|wer\b|wem\b|wen\b)",
        r"quién|quienes|谁|誰|だれ",
    ),
    AnswerType.NUMBER: (
        r"how (?:many|much|old|often|big|far|tall|long)|cuánt|combien"
        r"|wie ?viele?|wie (?:alt|oft|lange)|多少|几|多大|多久|いくら|いくつ|何人|何匹",
    ),
    AnswerType.REASON: (
        r"\b(?:why\b|warum\b)",
        r"what (?:motivat|inspir|made)|how come|por qué|pourquoi|wieso|weshalb"
        r"|为什么|怎么会|なぜ|どうして",
    ),
    AnswerType.LATEST: (
        r"\b(?:latest\b|most recent|recently\b|current|now\b|last time\b|newest\b)",
        r"ahora|últim|maintenant|dernier|dernière|jetzt|zuletzt|neueste|aktuell"
        r"|现在|最近|目前|最后|今は|最近|最新",
    ),
    AnswerType.EARLIEST: (
        r"\b(?:first\b|earliest\b)",
        r"original|primer|premier|première|zuerst|erste|第一|最初|最早|初めて",
    ),
    AnswerType.LIST: (
        r"what (?:are|\w+s)\b|which \w+s\b|quels|quelles|cuáles|welche\b|哪些|都有|list\b",
    ),
    AnswerType.YES_NO: (r"^(?:do|does|did|is|are|was|were|has|have|had|would|could|can|will)\b",),
}
_ANSWER_TYPE_PATTERNS: Final = [
    (kind, re.compile(pattern))
    for kind, patterns in _ANSWER_TYPE_SOURCES.items()
    for pattern in patterns
]
_FIRST_PERSON = re.compile(
    r"\b(?:i|me|my|mine|myself|i'm|i've|yo|mi|mis|mío|mía|je|j|moi|mon|ma|mes|ich|mir|mich|meine?[mnrs]?)\b"
    r"|我(?!们)|[私僕俺](?!たち)|나|내|제"
)
_PLAIN_FIRST_PERSON_VERB = re.compile(
    r"\b(?:tengo|soy|estoy|fui|dije|hice|compré|quería|trabajo|vivo|gusta|conté)\b"
)
_SECOND_PERSON = re.compile(
    r"\b(?:you|your|yours|tú|tu|ti|usted|vous|toi|ton|ta|tes|votre|vos|du|dir|dich|deine?[mnrs]?)\b"
    r"|[你您]|あなた|君"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryWord:
    """One content word of a question as written, and the terms that it may be indexed under."""

    surface: str
    terms: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedQuery:
    """A question split into words, dates and flags."""

    words: tuple[QueryWord, ...]
    surfaces: frozenset[str]
    answer_types: AnswerType
    is_first_person: bool
    is_second_person: bool
    spans: tuple[DateSpan, ...]
    language: str


def parse_query(query: SearchQuery, languages: Sequence[str]) -> ParsedQuery:
    """Parse a question; its words are stemmed in its own language and in each of `languages`."""
    lowered = query.text[:2000].lower()
    surfaces = list(dict.fromkeys(tokenize(query.text[:2000])))
    content_words = [
        word for word in surfaces if not is_stop_word(word, query.language)
    ] or surfaces
    if _is_too_short(lowered, surfaces):
        content_words = []
    all_languages = tuple(dict.fromkeys((query.language, *languages)))
    return ParsedQuery(
        words=tuple(
            QueryWord(
                surface=word,
                terms=tuple(
                    dict.fromkeys(
                        to_term(each, language)
                        for each in (word, *_list_names(word, query.names_by_role))
                        for language in all_languages
                    )
                ),
            )
            for word in content_words[:_MAX_WORDS]
        ),
        surfaces=frozenset(surfaces),
        answer_types=_detect_answer_types(lowered),
        is_first_person=bool(
            _FIRST_PERSON.search(lowered) or _PLAIN_FIRST_PERSON_VERB.search(lowered)
        ),
        is_second_person=_SECOND_PERSON.search(lowered) is not None,
        spans=() if query.is_timeless else parse_query_spans(query),
        language=query.language,
    )


def _list_names(word: str, names_by_role: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the first words of the names of those whom a word calls by their role."""
    if not names_by_role:
        return
    folded = fold_text(word)
    for name in names_by_role.get(folded) or names_by_role.get(folded.removesuffix("s"), ()):
        yield from tokenize(name)[:1]


def _detect_answer_types(lowered: str) -> AnswerType:
    bits = 0  # a plain integer, because each operation on an IntFlag takes a microsecond
    for kind, pattern in _ANSWER_TYPE_PATTERNS:
        if pattern.search(lowered):
            bits |= kind.value
    return AnswerType(bits)


def _is_too_short(text: str, words: list[str]) -> bool:
    return len(text.strip()) < _MIN_QUERY_LENGTH and not any(is_unspaced(word) for word in words)
