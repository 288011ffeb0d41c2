"""Critical token words: what must agree before two sentences are duplicates, by language."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from oldfriend.lang.language_pack import load_language_pack

WordIndex = Mapping[str, int]
"""The position of each word in a table, in an order that all languages share."""

NO_WORDS: Final[WordIndex] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CriticalTokenWords:
    """Critical token words of one language; ``critical_tokens.toml`` of English says more."""

    months: WordIndex
    weekdays: WordIndex
    time_words: WordIndex
    numbers: WordIndex
    polarity_axes: Mapping[str, WordIndex]
    every_unit: re.Pattern[str] | None
    negations: re.Pattern[str] | None
    single_negations: re.Pattern[str] | None
    non_negating: re.Pattern[str] | None
    synonyms: tuple[tuple[str, ...], ...]
    synonym_index: WordIndex
    name_following_verbs: frozenset[str]


@lru_cache(maxsize=32)
def load_critical_token_words(language: str) -> CriticalTokenWords:
    """Load the critical token words of a language; where it lacks some, none match."""
    data = load_language_pack(language).read("critical_tokens")

    def compile_if_any(name: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str] | None:
        return re.compile(data[name], flags) if name in data else None

    return CriticalTokenWords(
        months=build_word_index(data.get("months", "")),
        weekdays=build_word_index(data.get("weekdays", "")),
        time_words=build_word_index(data.get("time_words", "")),
        numbers=build_word_index(data.get("numbers", "")),
        polarity_axes={
            axis: build_word_index(words) for axis, words in data.get("polarity_axes", {}).items()
        },
        every_unit=compile_if_any("every_unit"),
        negations=compile_if_any("negations", re.VERBOSE),
        single_negations=compile_if_any("single_negations"),
        non_negating=compile_if_any("non_negating"),
        synonyms=split_forms(data.get("synonyms", "")),
        synonym_index=build_word_index(data.get("synonyms", "")),
        name_following_verbs=frozenset(data.get("name_following_verbs", "").split()),
    )


def build_word_index(words: str) -> WordIndex:
    """Convert a table for lookup by word."""
    return {form: place for place, forms in enumerate(split_forms(words)) for form in forms}


def split_forms(words: str) -> tuple[tuple[str, ...], ...]:
    """Split a table into tokens, and each into its forms, which "/" separates."""
    return tuple(tuple(forms.split("/")) for forms in words.split())
