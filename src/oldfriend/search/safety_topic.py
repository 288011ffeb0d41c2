"""Safety topic: whether a text is about food or health, so that what harms somebody matters."""

from collections.abc import Collection, Iterable
from functools import cache
from typing import Final, Literal, TypeAlias

from oldfriend.lang.language_pack import list_languages, load_language_pack
from oldfriend.search.tokenizer import is_unspaced, to_term, tokenize

SafetyTopic: TypeAlias = Literal["food", "health"]
_MAX_WORDS: Final = 200


def find_safety_topics(text: str, language: str) -> frozenset[SafetyTopic]:
    """Return which of the topics a text is about, in any of the languages that have words."""
    words = tokenize(text, limit=_MAX_WORDS)
    found: set[SafetyTopic] = set()
    for code in dict.fromkeys((language, *list_languages("safety"))):
        topics: tuple[SafetyTopic, ...] = ("food", "health")
        for topic in topics:
            unspaced, terms = _load_words(code, topic)
            if any(each in text for each in unspaced) or _has_term(words, terms, code):
                found.add(topic)
    return frozenset(found)


def list_health_words(languages: Iterable[str]) -> frozenset[str]:
    """List the words of languages for what may harm somebody."""
    return frozenset(
        word
        for each in languages
        for word in load_language_pack(each).read("safety").get("health", "").split()
    )


def _has_term(words: Collection[str], terms: frozenset[int], language: str) -> bool:
    return bool(terms) and any(to_term(each, language) in terms for each in words)


@cache
def _load_words(language: str, topic: SafetyTopic) -> tuple[tuple[str, ...], frozenset[int]]:
    """Load the words for a topic: those without spaces between them, and the terms of others."""
    words = load_language_pack(language).read("safety").get(topic, "").split()
    unspaced = tuple(each for each in words if is_unspaced(each))
    spaced = (each for each in words if not is_unspaced(each))
    return unspaced, frozenset(
        to_term(part, language) for each in spaced for part in tokenize(each)
    )
