"""Which terms does a text consist of, and how is each written as a number?

Words are folded and stemmed in the text's language; scripts without spaces become single
characters and pairs of characters. Knows nothing about messages or people.
"""

import re
import unicodedata
import zlib
from collections.abc import Callable
from functools import lru_cache
from typing import Final

import Stemmer

from oldfriend.domain.remembered import remembered
from oldfriend.domain.stop_words import STOP_WORDS

# Written without spaces, or (Korean) glued together so that whole words rarely repeat.
_UNSPACED: Final = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\U00020000-\U0002fa1f"
)
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_PIECE = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_CLIPPED: Final = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
_LONGEST_WORD: Final = 64
_KEPT_WORDS: Final = 65_536

_STEMMERS: Final = {
    "en": "english", "es": "spanish", "pt": "portuguese", "fr": "french",
    "de": "german", "it": "italian", "nl": "dutch", "ru": "russian",
}  # fmt: skip


def words_in(text: str) -> list[str]:
    """The words of a text in order, lower case, compatibility forms folded."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    words: list[str] = []
    for piece in _PIECE.findall(unicodedata.normalize("NFKC", text).lower()):
        if _UNSPACED_START.match(piece):
            words += _grams(piece)
        else:
            words.append(piece)
    return words


def _grams(run: str) -> list[str]:
    grams: list[str] = []
    for at, character in enumerate(run):
        grams.append(character)
        grams.append(run[at : at + 2])
    grams.pop()  # the last "pair" is the last character alone
    return grams


@remembered(_KEPT_WORDS)
def term_of(word: str, language: str) -> int:
    """The number of a word's stem; words with the same stem share it."""
    return zlib.crc32(stem_of(word, language).encode("utf-8", "surrogatepass"))


def stem_of(word: str, language: str) -> str:
    """The part of a word that its forms share, without accents."""
    if len(word) > _LONGEST_WORD:
        return word[:_LONGEST_WORD]
    stem = word if word.isdecimal() else _stemmer(language)(word)
    if stem.isascii():
        return stem
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", stem)))


@lru_cache(maxsize=16)
def _stemmer(language: str) -> Callable[[str], str]:
    name = _STEMMERS.get(language)
    if name is None:
        return str
    stem: Callable[[str], str] = Stemmer.Stemmer(name, 0).stemWord  # its results are kept here
    return stem


def is_stop_word(word: str, language: str) -> bool:
    """Does a word carry no matter of its own? What is left of "it's" and "I'll" neither."""
    return word in _CLIPPED or word in STOP_WORDS.get(language, ())


def is_unspaced(word: str) -> bool:
    """Is the word a piece of a script that is written without spaces?"""
    return _UNSPACED_START.match(word) is not None
