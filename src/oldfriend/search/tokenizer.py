"""Tokenizer: splits a text into words and maps each to the number of its stem (term).

Words are case-folded and stemmed in the language of the text; scripts without spaces are split
into single characters and pairs of characters. In languages where it helps, words are also split
into character n-grams, by which compounds, unusual endings and typos are found.
"""

import re
import zlib
from collections.abc import Callable
from functools import lru_cache
from operator import add
from typing import Final

import Stemmer

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.domain.unicode_text import normalize
from oldfriend.lang.language_pack import get_traits

# Scripts without spaces; Korean because its words take suffixes, so that whole ones rarely repeat.
_UNSPACED: Final = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\uff66-\uff9d\U00020000-\U0002fa1f"
)
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_PIECE = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_UNSPACED_START = re.compile(f"[{_UNSPACED}]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_CONTRACTION_ENDINGS: Final = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
_MAX_WORD_LENGTH: Final = 64
_NGRAM_LENGTH: Final = 4
_WORD_EDGE: Final = "_"  # begins and ends a word, so that its ends weigh more than its middle
_CACHE_SIZE: Final = 65_536


def tokenize(text: str, *, limit: int | None = None) -> list[str]:
    """Return the first `limit` words of a text in order, lower case and NFKC-normalized."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())[:limit]
    words: list[str] = []
    for piece in _PIECE.findall(normalize("NFKC", text).lower()):
        if _UNSPACED_START.match(piece):
            words += _split_ngrams(piece[:limit])
        else:
            words.append(piece)
        if limit is not None and len(words) >= limit:
            break
    return words[:limit]


def _split_ngrams(run: str) -> list[str]:
    grams = [""] * (2 * len(run) - 1)
    grams[::2] = run
    grams[1::2] = map(add, run, run[1:])
    return grams


@text_lru_cache(_CACHE_SIZE)
def to_term(word: str, language: str) -> int:
    """Return the number of a word's stem (its term); words with the same stem share it."""
    return zlib.crc32(stem_word(word, language).encode("utf-8", "surrogatepass"))


def stem_word(word: str, language: str) -> str:
    """Return the stem of a word without accents; of a word over 64 characters, its start."""
    if len(word) > _MAX_WORD_LENGTH:
        return word[:_MAX_WORD_LENGTH]
    stem = word if word.isdecimal() else _load_stemmer(language)(word)
    if stem.isascii():
        return stem
    return normalize("NFC", _ACCENTS.sub("", normalize("NFKD", stem)))


@text_lru_cache(_CACHE_SIZE)
def to_ngrams(word: str, language: str) -> tuple[int, ...]:
    """Return the numbers of a content word's character n-grams, in languages that have them."""
    if not get_traits(language).has_ngrams or is_unspaced(word) or is_stop_word(word, language):
        return ()
    plain = word if word.isascii() else _ACCENTS.sub("", normalize("NFKD", word))
    edged = f"{_WORD_EDGE}{plain[:_MAX_WORD_LENGTH]}{_WORD_EDGE}"
    starts = range(max(len(edged) - _NGRAM_LENGTH, 0) + 1)
    grams = (edged[start : start + _NGRAM_LENGTH] for start in starts)
    return tuple(zlib.crc32(gram.encode("utf-8", "surrogatepass")) for gram in grams)


@lru_cache(maxsize=16)
def _load_stemmer(language: str) -> Callable[[str], str]:
    name = get_traits(language).stemmer
    if name is None:
        return str
    # Cache size 0, because `to_term` caches the results.
    stem: Callable[[str], str] = Stemmer.Stemmer(name, 0).stemWord
    return stem


def is_stop_word(word: str, language: str) -> bool:
    """Tell whether a word has no content of its own; so have the endings of "it's" and "I'll"."""
    return word in _CONTRACTION_ENDINGS or word in get_traits(language).stop_words


def collect_terms(text: str, language: str) -> frozenset[int]:
    """Return the terms of the content words of a text; of all its words, if it has no others."""
    content = collect_content_terms(text, language)
    return content or frozenset(to_term(each, language) for each in tokenize(text))


def collect_content_terms(text: str, language: str) -> frozenset[int]:
    """Return the terms of the content words of a text, also of single Chinese characters."""
    words = (each for each in tokenize(text) if not is_stop_word(each, language))
    return frozenset(to_term(each, language) for each in words)


def is_unspaced(word: str) -> bool:
    """Tell whether a word is of a script that is written without spaces."""
    return _UNSPACED_START.match(word) is not None
