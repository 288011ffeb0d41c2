"""Unlearned languages: tells whether a text is in a language that nothing here was trained to read.

Without a model, facts are read from what is said in the languages of the fact tagger only.
"""

import unicodedata
from collections import Counter
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import get_traits, list_languages
from oldfriend.lang.message_acts import hash_word, list_words, load_words

UNKNOWN: Final = "unknown"
"""A language in Latin letters that is not registered."""
LATIN: Final = "LATIN"
MIN_WORDS: Final = 6
"""Words of a text in Latin letters that may be in no registered language."""
MAX_KNOWN: Final = 0.3
"""Share of its words that any language of the tagger then has at most."""
CACHE_SIZE: Final = 256


@text_lru_cache(CACHE_SIZE)
def find_unlearned_language(text: str) -> str:
    """Return which language that nothing was trained to read a text is in; "" if none, or unsure.

    A registered language is returned by its code, any other by its script, or as ``UNKNOWN``.
    """
    words = list_words(text)
    scripts = Counter(find_script(word[0]) for word in words)
    detected = detect_language(text, fallback="")
    if detected:
        return "" if get_traits(detected).is_tagged else detected
    script = max(scripts, key=lambda each: scripts[each], default=LATIN)
    if script != LATIN:
        return script.lower()
    return UNKNOWN if len(words) >= MIN_WORDS and is_unknown(words) else ""


def find_script(character: str) -> str:
    """Return the script of a letter, as Unicode names it first."""
    return unicodedata.name(character, LATIN).partition(" ")[0]


def is_unknown(words: list[str]) -> bool:
    """Tell whether no language of the tagger has more than a few of some words."""
    learned = load_words()
    return all(
        sum(bool(learned[hash_word(language, word)]) for word in words) <= MAX_KNOWN * len(words)
        for language in list_tagged_languages()
    )


def list_tagged_languages() -> list[str]:
    """List the languages in which the fact tagger reads."""
    return [code for code in list_languages() if get_traits(code).is_tagged]
