"""Language detection: by script, then by stop words and known words, for every language."""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.language_pack import Script, get_traits, list_languages
from oldfriend.lang.message_acts import count_known_words

_MAX_LOANWORDS: Final = 2
"""Latin words that also occur in a language of another script: "OK", "iPhone Pro"."""

_MAX_KANJI_ONLY: Final = 8
"""Chinese characters of a Japanese text without kana; one message in kana does not make all that
follow Japanese."""

# Enough of a text to detect its language; more would only cost time.
_HEAD_CHARS: Final = 400
MIN_HITS: Final = 2
MIN_FEW_WORDS: Final = 3
MAX_FEW_WORDS: Final = 12
"""Words of a text whose language is looked up word by word; more have stop words among them."""
SURE_MARGIN: Final = 2
"""Words by which another language must know more than the one that stop words tell."""
BARE_MARGIN: Final = 3
"""Words by which another language must know more if no small word or letter is its own: three
foreign names or loanwords are none of it."""
_CACHE_SIZE: Final = 1_024
"""Number of texts: a text that is analyzed has its language detected many times."""

_WORD = re.compile(r"[^\W\d_]+")
_LATIN_WORD = re.compile(r"[a-z]+")
_NUMBER_LETTERS = re.compile(r"(?<![a-z\d])[a-z]{0,8}\d[a-z\d]*")
"""Letters of a number or an id tell no language: "1e300", "5km", "b2"."""
_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9d]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002fa1f]")
_HANGUL = re.compile(r"[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]")
_CYRILLIC = re.compile(r"[\u0400-\u052f]")
_LETTER = re.compile(r"[^\W\d_]")
_NOT_LATIN = re.compile(r"[\u0400-\U0002fa1f]")


def detect_language(text: str, *, fallback: str, min_hits: int = MIN_HITS) -> str:
    """Return the language of a text, or the fallback if the text is inconclusive.

    In Latin script, ``min_hits`` stop words or letters of its own are conclusive.
    """
    return _detect_in_head(text[:_HEAD_CHARS].lower(), fallback, min_hits)


def is_possible_language(text: str, language: str) -> bool:
    """Return whether a text may be in a language, by its script: Chinese has few Latin words."""
    if get_traits(language).script == "latin":
        return True
    return _may_be_of_other_script(text[:_HEAD_CHARS].lower())


def _may_be_of_other_script(head: str) -> bool:
    """Tell whether a text may be of another script than Latin: "OK" and "Málaga" may."""
    return bool(_NOT_LATIN.search(head)) or len(_WORD.findall(head)) <= _MAX_LOANWORDS


@text_lru_cache(_CACHE_SIZE)
def _detect_in_head(head: str, fallback: str, min_hits: int) -> str:
    head = _NUMBER_LETTERS.sub(" ", head)
    likely = fallback if is_possible_language(head, fallback) else list_languages()[0]
    if head.isascii():
        return _detect_by_stop_words(_LATIN_WORD.findall(head), {}, likely, min_hits)
    if _NOT_LATIN.search(head):
        by_script = _detect_by_script(head, fallback)
        if by_script:
            return by_script
    hits: dict[str, int] = {}
    languages = _load_letters()
    for letter in filter(languages.__contains__, head):
        language = languages[letter]
        hits[language] = hits.get(language, 0) + 1
    return _detect_by_stop_words(_WORD.findall(head), hits, likely, min_hits)


def _detect_by_script(text: str, fallback: str) -> str | None:
    letters = len(_LETTER.findall(text))
    kana, han, hangul = (len(script.findall(text)) for script in (_KANA, _HAN, _HANGUL))
    # A CJK character carries about as much as three letters.
    if 3 * (kana + han + hangul) > letters - (kana + han + hangul):
        if hangul > kana + han:
            return _find_language("hangul")
        if kana or (han <= _MAX_KANJI_ONLY and _may_be_kanji_only(text, fallback)):
            return _find_language("kana")
        return _find_language("han") if han else None
    if 2 * len(_CYRILLIC.findall(text)) > letters:
        return _find_language("cyrillic")
    return None


def _may_be_kanji_only(text: str, fallback: str) -> bool:
    """Tell whether a text without kana may be Japanese, in a Japanese conversation."""
    if get_traits(fallback).script != "kana" or not _HAN.search(text):
        return False
    chinese = _find_language("han")
    return chinese is None or not set(get_traits(chinese).letters).intersection(text)


def _detect_by_stop_words(
    words: list[str], hits: dict[str, int], fallback: str, min_hits: int
) -> str:
    for languages in map(_load_stop_words().get, words):
        for language in languages or ():
            hits[language] = hits.get(language, 0) + 1
    most = max(hits.values(), default=0)
    if most < min_hits:
        rivals = [language for language in hits if hits[language] == most]  # "I" is Italian, too
        if fallback and fallback not in rivals:
            rivals = []
        found = _detect_by_known_words(words, hits, other_than=fallback, margin=1)
        is_few = len(words) == MIN_FEW_WORDS  # of which one more is not much
        return fallback if not found or (is_few and not _is_clear(found, rivals, words)) else found
    likeliest = [language for language in list_languages() if hits.get(language) == most]
    found = fallback if fallback in likeliest else likeliest[0]
    return _detect_by_known_words(words, hits, other_than=found, margin=SURE_MARGIN) or found


def _is_clear(found: str, rivals: Iterable[str], words: list[str]) -> bool:
    """Tell whether a language knows clearly more words than others with as many stop words."""
    known = count_known_words(words)
    return all(known[found] - known.get(each, 0) >= SURE_MARGIN for each in rivals if each != found)


def _detect_by_known_words(
    words: list[str], hits: Mapping[str, int], *, other_than: str, margin: int
) -> str | None:
    """Return the one Latin language that knows most of few words, and some more than another does.

    Stop words alone do not tell in which language "wo wohnt Lena?" is, or "Ma fille a six ans".
    """
    if not MIN_FEW_WORDS <= len(words) <= MAX_FEW_WORDS:
        return None
    known = {
        language: count
        for language, count in count_known_words(words).items()
        if get_traits(language).script == "latin"
    }
    is_unknown = other_than not in known and other_than in list_languages()
    if is_unknown and get_traits(other_than).script == "latin":
        return None  # a language whose words nobody has learned
    most = max(known.values())
    likeliest = [language for language, count in known.items() if count == most]
    others = [count for language, count in known.items() if language != likeliest[0]]
    rival = known.get(other_than, 0)
    if not hits.get(likeliest[0]):
        margin = BARE_MARGIN
        is_clear = most - max(others, default=0) >= SURE_MARGIN  # "Not Miso, Mia."
        if other_than not in known and not is_clear:
            return None
    is_sure = 2 * most > len(words) and most - rival >= margin
    return likeliest[0] if is_sure and len(likeliest) == 1 else None


@cache
def _find_language(script: Script) -> str | None:
    """Return the first language that is written in a script."""
    return next((code for code in list_languages() if get_traits(code).script == script), None)


@cache
def _load_letters() -> Mapping[str, str]:
    """Map the letters that only one Latin language has to that language."""
    return {letter: code for code in list_languages() for letter in get_traits(code).letters}


@cache
def _load_stop_words() -> Mapping[str, tuple[str, ...]]:
    """Map each stop word of the Latin languages to the languages that have it."""
    by_word: dict[str, tuple[str, ...]] = {}
    for code in list_languages():
        traits = get_traits(code)
        for word in traits.stop_words if traits.script == "latin" else ():
            by_word[word] = (*by_word.get(word, ()), code)
    return by_word
