"""Content terms: the stems of a text's content words, by which two texts share a topic."""

from typing import Final

from oldfriend.domain.errors import InstallationDamaged
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.glossing import gloss
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, to_term, tokenize

GLOSSED: Final = "en"
"""The language of the glossaries."""
_CACHED_TEXTS: Final = 4096
"""The beliefs of a long life, which each segment that is read is compared with."""


@text_lru_cache(_CACHED_TEXTS)
def extract_content_terms(text: str, language: str) -> frozenset[int]:
    """Return the stems of a text's content words; in unspaced scripts, pairs of characters."""
    return frozenset(
        to_term(word, language)
        for word in tokenize(text)
        if not is_stop_word(word, language) and (len(word) > 1 or not is_unspaced(word))
    )


@text_lru_cache(_CACHED_TEXTS)
def extract_meaning_terms(text: str, language: str) -> frozenset[int]:
    """Return the stems of a text's content words in English, whatever language it is in.

    A glossary translates them word by word; what it does not list, such as a name, stays.
    """
    try:
        return extract_content_terms(gloss(text, language), GLOSSED)
    except InstallationDamaged:
        return extract_content_terms(text, language)
