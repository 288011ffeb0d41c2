"""Document terms: the encoded terms of a message that the index keeps in place of its text.

The encoding (imprint) is a sequence of little-endian 32-bit numbers: version and feature bits,
length in characters, language or number of n-grams, one number per term in order, then the n-grams.
It is stored beside the message, so that an index is built without reading, tokenizing or stemming
any text again.
"""

import sys
from array import array
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import chain, islice
from operator import or_
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.language_pack import get_traits
from oldfriend.search.message_features import detect_text_features, detect_word_features
from oldfriend.search.tokenizer import to_ngrams, to_term, tokenize

DOCUMENT_TERMS_VERSION: Final = 1
NGRAM_TERMS_VERSION: Final = 2
"""Version in languages with n-grams; the other languages' terms are as they were without them."""
HEADER_WORDS: Final = 3
_MAX_TERMS: Final = 20_000
_MAX_NGRAMS: Final = 20_000
_CACHE_SIZE: Final = 8
"""Number of texts: a long one is encoded in a thread before it is stored."""


@text_lru_cache(_CACHE_SIZE)
def encode_document_terms(text: str, *, language: str) -> bytes:
    """Encode the terms of a text; a text without any word gives b"" and is never found."""
    words = tokenize(text, limit=_MAX_TERMS)
    if not words:
        return b""
    terms, word_features = zip(*[_encode_word(word, language) for word in words], strict=True)
    features = reduce(or_, word_features, detect_text_features(text))
    version = _get_version(language)
    ngrams = tuple(islice(_iterate_ngrams(words, language), _MAX_NGRAMS))
    last = len(ngrams) if version == NGRAM_TERMS_VERSION else _language_code(language)
    header = (version | features << 8, len(text), last)
    numbers = array("I", header + terms + ngrams)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def is_current_encoding(encoded: bytes, language: str) -> bool:
    """Tell whether the terms of a text in a language were encoded by the current version."""
    return not encoded or encoded[0] == _get_version(language)


def _get_version(language: str) -> int:
    return NGRAM_TERMS_VERSION if get_traits(language).has_ngrams else DOCUMENT_TERMS_VERSION


def _iterate_ngrams(words: Iterable[str], language: str) -> Iterator[int]:
    return chain.from_iterable(to_ngrams(word, language) for word in words)


@text_lru_cache(65_536)
def _encode_word(word: str, language: str) -> tuple[int, int]:
    return to_term(word, language), detect_word_features(word)


def _language_code(language: str) -> int:
    return int.from_bytes(language.encode("ascii", "replace")[:4], "little")
