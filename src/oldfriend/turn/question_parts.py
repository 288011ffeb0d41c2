"""Question parts: splits a message that asks two things into the questions that it asks."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, TypeVar

from oldfriend.lang.language_pack import get_traits, load_language_pack
from oldfriend.lang.message_acts import classify_act
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.search.tokenizer import tokenize
from oldfriend.turn.intent import EDGE_PUNCTUATION

MAX_CHARS: Final = 300
"""Characters of a message that is split; a longer one tells more than it asks."""
MAX_PARTS: Final = 3
MIN_WORDS: Final = 3
"""Words of a question of its own: "where" and "who with" are none. One less without a pronoun."""
MIN_ASKING: Final = 0.5
"""Probability that a part asks."""

T = TypeVar("T")


def split_question(text: str, language: str) -> tuple[str, ...]:
    """Return the questions that a text joins, or the text alone if it asks one thing."""
    between = compile_between(language) if language in OFFLINE_LANGUAGES else None
    if between is None or len(text) > MAX_CHARS:
        return (text,)
    parts: list[str] = []
    start = 0
    for found in between.finditer(text):
        before, behind = text[start : found.start()], text[found.end() :]
        if len(parts) + 1 == MAX_PARTS:
            break
        if is_asking(before, language) and is_asking(behind, language):
            parts.append(before.strip())
            start = found.end()
    return (*parts, text[start:].strip()) if parts else (text,)


@cache
def compile_between(language: str) -> re.Pattern[str] | None:
    """Compile the pattern of what stands between two questions, if the language has one."""
    pattern = load_language_pack(language).read("queries").get("between_questions")
    return None if pattern is None else re.compile(pattern)


def is_asking(part: str, language: str) -> bool:
    """Tell whether a part of a text is a question of its own."""
    plain = part.strip().strip(EDGE_PUNCTUATION.replace("\xbf", ""))
    if len(tokenize(plain)) < MIN_WORDS - get_traits(language).drops_pronouns:
        return False
    begins = load_phrases(language).patterns.asking.search(plain) is not None
    return begins and classify_act(plain)["question"] >= MIN_ASKING


def interleave(rankings: Sequence[Sequence[T]]) -> Iterator[T]:
    """Yield the first of each ranking, then the second of each, and so on."""
    for place in range(max(map(len, rankings), default=0)):
        yield from (ranking[place] for ranking in rankings if place < len(ranking))
