"""Similarity of two sentences by their words, in any language with our stems.

Close wordings are alike; a number, or a "not" more, makes them different. Knows no truth.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from oldfriend.search.tokenizer import is_stop_word, is_unspaced, stem_word, tokenize

_DIGITS = re.compile(r"\d+")
_NOT: Final = {
    "en": re.compile(r"\b(?:not|cannot|never|no|nobody|nothing|without)\b|n['’]t\b", re.IGNORECASE),
    "es": re.compile(r"\b(?:no|nunca|jamás|ni|nadie|nada|sin|tampoco)\b", re.IGNORECASE),
    "zh": re.compile("不|没|無|无|别|未"),
}
_CANNOT_STAND: Final = re.compile(
    r"\b(?:can(?:not|['’]t)|could(?:n['’]t| not)) (?:stand|bear)\b"
    r"|\bno (?:soport|aguant)\w+|受不了",
    re.IGNORECASE,
)
"""Says "not" and means "hates"."""


def compute_similarity(one: str, other: str, language: str) -> float:
    """How much of the matter of two texts is shared, 0 to 1 (Dice over stems)."""
    ours, theirs = list_content_stems(one, language), list_content_stems(other, language)
    if not ours or not theirs:
        return 0.0
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))


def contains_text(text: str, part: str, language: str) -> bool:
    """Whether all the matter of a part stands in a text."""
    wanted = list_content_stems(part, language)
    if wanted and all(map(is_unspaced, wanted)):
        return part in text
    return bool(wanted) and wanted <= list_content_stems(text, language)


def is_negated(text: str, language: str) -> bool:
    """Whether a text says "not" an odd number of times."""
    return len(_NOT[language].findall(_CANNOT_STAND.sub(" ", text))) % 2 == 1


def list_numbers(texts: Iterable[str]) -> frozenset[int]:
    """The numbers in texts that are written in digits."""
    return frozenset(int(digits) for text in texts for digits in _DIGITS.findall(text))


@lru_cache(maxsize=8192)
def list_content_stems(text: str, language: str) -> frozenset[str]:
    """The stems of the words that carry a text's matter; of Chinese, pairs of characters."""
    words = tokenize(text)
    told = [word for word in words if not is_stop_word(word, language)] or words
    telling = [word for word in told if not is_unspaced(word) or len(word) > 1] or told
    return frozenset(stem_word(word, language) for word in telling)
