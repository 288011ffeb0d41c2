"""Does a question ask for a time and nothing else? "What happened in May?"

Then whatever was said at that time answers, though no word of it stands in the question; and of
what is believed, what happened then.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from oldfriend.domain.clock import DAY
from oldfriend.domain.memories import Known, Memory
from oldfriend.memory.search.dates import Span, spans_in
from oldfriend.memory.search.values import Question
from oldfriend.memory.search.words import is_stop_word, words_in

HAPPENED: Final[Mapping[str, re.Pattern[str]]] = {
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
"""How one asks what there was."""
_SAID: Final[Mapping[str, re.Pattern[str]]] = {
    "en": re.compile(r"\b(?:tell|told|say|said)\b", re.IGNORECASE),
    "es": re.compile(r"\b(?:conté|dije)\b", re.IGNORECASE),
    "fr": re.compile(r"\b(?:dit|raconté)\b", re.IGNORECASE),
    "de": re.compile(r"\b(?:erzählt|gesagt)\b", re.IGNORECASE),
    "zh": re.compile("说|告诉"),
}
"""How one asks what was said, not what there was."""
MOST_WORDS: Final = 8


def asks_only_when(question: Question, spans: tuple[Span, ...]) -> bool:
    """Whether a question asks what there was at a time, of nothing else."""
    happened = HAPPENED.get(question.language)
    if not spans or happened is None or not happened.search(question.text):
        return False
    rest = happened.sub(" ", question.text)
    if _times(rest, question) != spans:
        return False
    words = [word for word in words_in(rest) if not is_stop_word(word, question.language)]
    return len(words) <= MOST_WORDS and all(_is_of_time(word, rest, question) for word in words)


def asks_what_was_said(question: Question, spans: tuple[Span, ...]) -> bool:
    """Whether a question asks only what was said at a time: what was said at another is none."""
    said = _SAID.get(question.language)
    return bool(said and said.search(question.text)) and asks_only_when(question, spans)


def not_of_then(question: Question, known: Iterable[Known]) -> set[int]:
    """Which beliefs do not answer such a question: all but what happened, and is known so exactly.

    Of something that was "three years ago" nobody has said that it was in May.
    """
    spans = _times(question.text, question)
    if not asks_only_when(question, spans):
        return set()
    longest = max((span.end - span.first).days for span in spans)
    return {each.base for each in known if not _happened_within(each.memory, longest)}


def _happened_within(memory: Memory, days: int) -> bool:
    """Whether something happened, within so many days."""
    if (during := memory.happened_during) is None:
        return False
    began, ended = during
    return ended - began <= days * DAY


def _is_of_time(word: str, text: str, question: Question) -> bool:
    """Whether a word is part of what names a time: without it there is another, or none."""
    without = re.sub(re.escape(word), " ", text, flags=re.IGNORECASE)
    return _times(without, question) != _times(text, question)


def _times(text: str, question: Question) -> tuple[Span, ...]:
    return spans_in(text, asked_at=question.asked_at, zone_offset_s=question.zone_offset_s)
