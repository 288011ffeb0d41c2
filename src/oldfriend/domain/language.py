"""In which language is this text? By script, then by its small words.

Knows eleven languages and nothing about people: who calls says what to fall back on.
"""

import re
from typing import Final

from oldfriend.domain.remembered import remembered
from oldfriend.domain.stop_words import STOP_WORDS

LANGUAGES: Final = ("en", "es", "pt", "fr", "de", "it", "nl", "ru", "zh", "ja", "ko")
CJK_LANGUAGES: Final = frozenset({"zh", "ja", "ko"})
_OTHER_LETTERS: Final = CJK_LANGUAGES | {"ru"}
_BORROWED: Final = 2
"""Words in Latin letters that are said in such a language as well: "OK", "iPhone Pro"."""

# Enough of a text to tell its language; the rest would only cost time.
_LOOKED_AT: Final = 400
_NEEDED_HITS: Final = 2
_REMEMBERED: Final = 1_024
"""Of so many texts: whoever looks closely at what was said asks for its language many times."""

_WORD = re.compile(r"[^\W\d_]+")
_LATIN_WORD = re.compile(r"[a-z]+")
_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9d]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002fa1f]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_LETTER = re.compile(r"[^\W\d_]")
_NOT_LATIN = re.compile(r"[\u0400-\U0002fa1f]")
_TELLING = re.compile(r"[¿¡ñßãõœ]")

_LANGUAGE_OF_LETTER: Final = {
    "¿": "es", "¡": "es", "ñ": "es", "ß": "de", "ã": "pt", "õ": "pt", "œ": "fr",
}  # fmt: skip
_ALPHABETIC: Final = ("en", "es", "pt", "fr", "de", "it", "nl")
_LANGUAGES_OF_WORD: Final[dict[str, tuple[str, ...]]] = {
    word: tuple(language for language in _ALPHABETIC if word in STOP_WORDS[language])
    for word in frozenset().union(*(STOP_WORDS[language] for language in _ALPHABETIC))
}


def detect_language(text: str, *, fallback: str) -> str:
    """The language of a text, or the fallback where the text does not tell."""
    return _language_of(text[:_LOOKED_AT].lower(), fallback)


def may_be_in(text: str, language: str) -> bool:
    """Whether a text may be in a language, by its letters: many Latin words are not Chinese."""
    if language not in _OTHER_LETTERS:
        return True
    head = text[:_LOOKED_AT].lower()
    return not head.isascii() or len(_LATIN_WORD.findall(head)) <= _BORROWED


@remembered(_REMEMBERED)
def _language_of(head: str, fallback: str) -> str:
    if head.isascii():
        likely = fallback if may_be_in(head, fallback) else _ALPHABETIC[0]
        return _by_small_words(_LATIN_WORD.findall(head), {}, likely)
    if _NOT_LATIN.search(head):
        by_script = _by_script(head, fallback)
        if by_script:
            return by_script
    hits: dict[str, int] = {}
    for letter in _TELLING.findall(head):
        language = _LANGUAGE_OF_LETTER[letter]
        hits[language] = hits.get(language, 0) + 1
    return _by_small_words(_WORD.findall(head), hits, fallback)


def _by_script(text: str, fallback: str) -> str | None:
    letters = len(_LETTER.findall(text))
    kana, han, hangul = (len(script.findall(text)) for script in (_KANA, _HAN, _HANGUL))
    # A CJK character says about as much as three letters.
    if 3 * (kana + han + hangul) > letters - (kana + han + hangul):
        if hangul > kana + han:
            return "ko"
        if kana or (fallback == "ja" and han):
            return "ja"
        return "zh" if han else None
    if 2 * len(_CYRILLIC.findall(text)) > letters:
        return "ru"
    return None


def _by_small_words(words: list[str], hits: dict[str, int], fallback: str) -> str:
    for languages in map(_LANGUAGES_OF_WORD.get, words):
        for language in languages or ():
            hits[language] = hits.get(language, 0) + 1
    if not hits:
        return fallback
    most = max(hits.values())
    if most < _NEEDED_HITS or hits.get(fallback) == most:
        return fallback
    return next(language for language in _ALPHABETIC if hits.get(language) == most)
