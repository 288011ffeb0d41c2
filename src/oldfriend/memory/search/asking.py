"""What does a question ask for? Its telling words, who is meant, when, and which kind of answer."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from typing import Final

from oldfriend.memory.search.dates import Span, spans_in
from oldfriend.memory.search.values import Question
from oldfriend.memory.search.words import is_stop_word, is_unspaced, term_of, words_in

_MOST_WORDS: Final = 48
_SHORTEST_QUERY: Final = 3


class Wanted(IntFlag):
    """The kind of answer a question wants."""

    TIME = 1
    PLACE = 2
    PERSON = 4
    NUMBER = 8
    REASON = 16
    LATEST = 32
    EARLIEST = 64
    LIST = 128
    YES_NO = 256


# For each what must begin a word, and what may begin anywhere. They are looked for apart: where
# a pattern can only begin with certain letters, it skips all others at once.
_WANTED: Final[dict[Wanted, tuple[str, ...]]] = {
    Wanted.TIME: (
        r"\b(?:when\b|wann\b)",
        r"what (?:date|day|month|year|time)|which (?:day|month|year|week)|how long"
        r"|cuándo|cuando fue|qué (?:día|fecha|año|mes)|quand"
        r"|quel (?:jour|mois)|quelle (?:date|année)|welche[mnrs]? (?:tag|monat|jahr|datum)"
        r"|什么时候|哪天|哪年|几月|几号|何时|いつ|何月|何日",
    ),
    Wanted.PLACE: (
        r"\b(?:where\b|où\b|wo\b|wohin\b|woher\b)",
        r"which (?:city|country|place|town|state)|what (?:city|country|place|town)"
        r"|dónde|adónde|quelle ville|qué ciudad|哪里|哪儿|在哪|どこ",
    ),
    Wanted.PERSON: (
        r"\b(?:who(?:se|m)?\b|qui\b|wer\b|wem\b|wen\b)",
        r"quién|quienes|谁|誰|だれ",
    ),
    Wanted.NUMBER: (
        r"how (?:many|much|old|often|big|far|tall|long)|cuánt|combien"
        r"|wie ?viele?|wie (?:alt|oft|lange)|多少|几|多大|多久|いくら|いくつ|何人|何匹",
    ),
    Wanted.REASON: (
        r"\b(?:why\b|warum\b)",
        r"what (?:motivat|inspir|made)|how come|por qué|pourquoi|wieso|weshalb"
        r"|为什么|怎么会|なぜ|どうして",
    ),
    Wanted.LATEST: (
        r"\b(?:latest\b|most recent|recently\b|current|now\b|last time\b|newest\b)",
        r"ahora|últim|maintenant|dernier|dernière|jetzt|zuletzt|neueste|aktuell"
        r"|现在|最近|目前|最后|今は|最近|最新",
    ),
    Wanted.EARLIEST: (
        r"\b(?:first\b|earliest\b)",
        r"original|primer|premier|première|zuerst|erste|第一|最初|最早|初めて",
    ),
    Wanted.LIST: (
        r"what (?:are|\w+s)\b|which \w+s\b|quels|quelles|cuáles|welche\b|哪些|都有|list\b",
    ),
    Wanted.YES_NO: (r"^(?:do|does|did|is|are|was|were|has|have|had|would|could|can|will)\b",),
}
_WANTED_PATTERNS: Final = [
    (kind, re.compile(pattern)) for kind, patterns in _WANTED.items() for pattern in patterns
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
    """One telling word of a question as it was read, and the terms it may stand as."""

    surface: str
    terms: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question, taken apart."""

    words: tuple[QueryWord, ...]
    surfaces: frozenset[str]
    wanted: Wanted
    first_person: bool
    second_person: bool
    spans: tuple[Span, ...]


def take_apart(question: Question, languages: Sequence[str]) -> Asked:
    """What a question asks for; its words are stemmed as messages in `languages` are."""
    lowered = question.text[:2000].lower()
    surfaces = list(dict.fromkeys(words_in(question.text[:2000])))
    telling = [word for word in surfaces if not is_stop_word(word, question.language)] or surfaces
    if _is_too_short(lowered, surfaces):
        telling = []
    spoken = dict.fromkeys((question.language, *languages))
    return Asked(
        words=tuple(
            QueryWord(
                surface=word,
                terms=tuple(dict.fromkeys(term_of(word, language) for language in spoken)),
            )
            for word in telling[:_MOST_WORDS]
        ),
        surfaces=frozenset(surfaces),
        wanted=_wanted(lowered),
        first_person=bool(
            _FIRST_PERSON.search(lowered) or _PLAIN_FIRST_PERSON_VERB.search(lowered)
        ),
        second_person=_SECOND_PERSON.search(lowered) is not None,
        spans=()
        if question.is_timeless
        else spans_in(
            question.text, asked_at=question.asked_at, zone_offset_s=question.zone_offset_s
        ),
    )


def _wanted(lowered: str) -> Wanted:
    wanted = 0  # a plain number: arithmetic on an IntFlag costs a microsecond each time
    for kind, pattern in _WANTED_PATTERNS:
        if pattern.search(lowered):
            wanted |= kind.value
    return Wanted(wanted)


def _is_too_short(text: str, words: list[str]) -> bool:
    return len(text.strip()) < _SHORTEST_QUERY and not any(is_unspaced(word) for word in words)
