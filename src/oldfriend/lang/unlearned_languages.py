"""Unlearned languages: tells whether a text is in a language that nothing here was trained to read.

Without a model, facts are read from what is said in the languages of the fact tagger only.
"""

import unicodedata
from collections import Counter
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.detection import detect_language
from oldfriend.lang.language_pack import get_traits, list_languages
from oldfriend.lang.message_acts import hash_word, list_lower_words, list_words, load_words

UNKNOWN: Final = "unknown"
"""A language in Latin letters that is not registered."""
LATIN: Final = "LATIN"
ACCENTED: Final = "àáâãäçèéêëìíîïñòóôõöùúûüÿœßªº"
"""The letters that the registered languages in Latin letters write beside those of ASCII."""
MIN_WORDS: Final = 6
"""Words of a text in Latin letters that may be in no registered language."""
MAX_KNOWN: Final = 0.3
"""Share of its words that any language of the tagger then has at most."""
MIN_CONTENT_WORDS: Final = 2
"""A text is in no language that knows none of so many of its words, beside stop words."""
MIN_FOREIGN_WORDS: Final = 2
"""Words with a letter that no registered language in Latin letters writes …"""
MIN_FOREIGN: Final = 0.25
"""… and their share of a text's words, from which it is in another language."""
MIN_LEAD: Final = 2
"""Words of a text that a language knows and the usual one does not, from which it is in it …"""
MIN_KNOWN: Final = 0.6
"""… and the share of its words that it has to know."""
CACHE_SIZE: Final = 256


@text_lru_cache(CACHE_SIZE)
def find_unlearned_language(text: str) -> str:
    """Return which language that nothing was trained to read a text is in; "" if none, or unsure.

    A registered language is returned by its code, any other by its script, or as ``UNKNOWN``.
    """
    words = list_words(text)
    scripts = Counter(find_script(word[0]) for word in words)
    detected = detect_spoken_language(text)
    if detected:
        return "" if get_traits(detected).is_tagged else detected
    script = max(scripts, key=lambda each: scripts[each], default=LATIN)
    if script != LATIN:
        return script.lower()
    is_other = has_foreign_letters(text, words) or (len(words) >= MIN_WORDS and is_unknown(words))
    return UNKNOWN if is_other else ""


def detect_spoken_language(text: str) -> str:
    """Return the language of a text, or "" if it is inconclusive.

    Stop words alone do not tell: the Hungarian "mi a … neve?" begins with two Spanish ones.
    """
    detected = detect_language(text, fallback="")
    if not detected or get_traits(detected).script != "latin":
        return detected
    words = list_words(text)
    if has_foreign_letters(text, words):
        return ""
    traits = get_traits(detected)
    content = {*words} & list_lower_words(text) - traits.stop_words
    is_judged = traits.has_learned_acts and len(content) >= MIN_CONTENT_WORDS
    if is_judged and not any(load_words()[hash_word(detected, each)] for each in content):
        return ""
    return detected


@text_lru_cache(CACHE_SIZE)
def guess_language(text: str, usual: str) -> str:
    """Return the one language that knows clearly more words of a text than the usual one, or "".

    For a few words whose stop words do not tell, such as "dónde vivo" in an English chat.
    """
    words = list_words(text)
    if any(find_script(word[0]) != LATIN for word in words):
        return ""
    learned = load_words()
    known = Counter(
        {
            language: sum(bool(learned[hash_word(language, word)]) for word in words)
            for language in list_tagged_languages()
        }
    )
    (best, most), (_, second) = known.most_common(2)
    is_clear = most > second and usual in known and most - known[usual] >= MIN_LEAD
    return best if is_clear and most >= MIN_KNOWN * len(words) else ""


def has_foreign_letters(text: str, words: list[str]) -> bool:
    """Tell whether many words have a letter that no registered language in Latin letters writes.

    Words with a capital letter may be names from anywhere.
    """
    foreign = {
        word
        for word in list_lower_words(text) & {*words}
        if any(each not in ACCENTED and is_latin(each) for each in word)
    }
    return len(foreign) >= max(MIN_FOREIGN_WORDS, MIN_FOREIGN * len(words))


def is_latin(letter: str) -> bool:
    """Tell whether a letter is one of the Latin script."""
    return not letter.isascii() and find_script(letter) == LATIN


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
