"""Message acts: whether a message states, asks, commands or is small talk.

Learned by `oldfriend_evals.reader.train_acts` from the words and character n-grams of twelve
languages, so that a question is known without its mark, its accents or a list of question words.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from io import BytesIO
from itertools import accumulate, pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from oldfriend.domain.bundled_files import read_bundled_file
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.domain.unicode_text import normalize
from oldfriend.lang.language_pack import get_traits, list_languages

MessageAct: TypeAlias = Literal["statement", "question", "command", "smalltalk"]

ACTS: Final[tuple[MessageAct, ...]] = get_args(MessageAct)
BUCKETS: Final = 1 << 15
NGRAM_LENGTHS: Final = (2, 3, 4, 5)
MAX_CHARS: Final = 240
"""Characters of a message that are looked at, from its end: who tells and asks, asks last."""
CACHE_SIZE: Final = 256
WORD_PLACES: Final = 1 << 19
"""The words learned from are kept as a set of bits, each at a hash of its language and itself."""
MIN_KNOWN: Final = 0.5
"""More of a text's words must be of one language for it to be in that language."""
WEIGHTS_FILE: Final = Path(__file__).parent / "message_acts.npz"
ACCENTS: Final = re.compile("[\u0300-\u036f]")
WORD: Final = re.compile(r"[\u2e80-\U0003ffff]|[^\W_\u2e80-\U0003ffff]+|[^\w\s?\uff1f\xbf]")


@text_lru_cache(CACHE_SIZE)
def classify_act(text: str) -> Mapping[MessageAct, float]:
    """Return the probability of each act; question marks are not looked at."""
    weights, bias = load_weights()
    buckets = list_buckets(text)
    summed = weights[buckets].sum(axis=0, dtype=np.float32) / max(len(buckets), 1) ** 0.5 + bias
    likely = np.exp(summed - summed.max())
    shares = (likely / likely.sum()).tolist()
    return MappingProxyType(dict(zip(ACTS, shares, strict=True)))


@text_lru_cache(CACHE_SIZE)
def is_in_learned_language(text: str) -> bool:
    """Tell whether most words of a text, if any, are of one of the languages learned from."""
    words = list_words(text)
    return not words or max(count_known_words(words).values()) > MIN_KNOWN * len(words)


def count_known_words(words: Sequence[str]) -> dict[str, int]:
    """Count how many of some words in small letters each language learned from has."""
    learned = load_words()
    return {
        language: sum(bool(learned[hash_word(language, word)]) for word in words)
        for language in list_learned_languages()
    }


def list_learned_languages() -> list[str]:
    """List the languages that the acts were learned from."""
    return [code for code in list_languages() if get_traits(code).has_learned_acts]


def list_words(text: str) -> list[str]:
    """List the words of a text as they are written but for capitals, without numbers and marks."""
    folded = normalize("NFC", text[-MAX_CHARS:].lower())
    return [word for word in WORD.findall(folded) if word[0].isalpha()]


def list_lower_words(text: str) -> frozenset[str]:
    """List the words of a text that are written without capitals, and so are no names."""
    return frozenset(WORD.findall(normalize("NFC", text[-MAX_CHARS:])))


def hash_word(language: str, word: str) -> int:
    """Return the place of a language's word in the set of those learned from."""
    return zlib.crc32(f"{language} {word}".encode("utf-8", "surrogatepass")) % WORD_PLACES


@cache
def load_words() -> npt.NDArray[np.uint8]:
    """Return the set of the words learned from: 1 at the place of each, else 0."""
    with np.load(BytesIO(read_bundled_file(WEIGHTS_FILE))) as stored:
        return np.unpackbits(stored["words"])


@cache
def load_weights() -> tuple[npt.NDArray[np.float16], npt.NDArray[np.float32]]:
    """Return the weights, bucket × act, and the bias of each act."""
    with np.load(BytesIO(read_bundled_file(WEIGHTS_FILE))) as stored:
        return stored["weights"], stored["bias"]


@text_lru_cache(CACHE_SIZE)
def list_buckets(text: str) -> npt.NDArray[np.int64]:
    """Return the distinct buckets of a text's words, pairs of words and n-grams, ascending."""
    hashes = np.array(hash_features(text), dtype=np.int64)
    hashes %= BUCKETS
    hashes.sort()
    is_new = np.ones(len(hashes), np.bool_)
    np.not_equal(hashes[1:], hashes[:-1], out=is_new[1:])
    buckets = hashes[is_new]
    buckets.setflags(write=False)
    return buckets


def hash_features(text: str) -> list[int]:
    """Return the hashes of a text's words, pairs of words and character n-grams."""
    folded = ACCENTS.sub("", normalize("NFKD", text[-MAX_CHARS:].lower()))
    words = ["<", *WORD.findall(folded), ">"]
    named = [
        *(f"w {word}" for word in words),
        *(f"p {first} {second}" for first, second in pairwise(words)),
        *(f"b {word}" for word in words[1:4]),
        *(f"t {' '.join(words[:size])}" for size in (3, 4)),
    ]
    hashes = [zlib.crc32(each.encode("utf-8", "surrogatepass")) for each in named]
    return hashes + hash_ngrams(" ".join(words))


def hash_ngrams(text: str) -> list[int]:
    """Return the hashes of a text's character n-grams."""
    encoded, crc32 = text.encode("utf-8", "surrogatepass"), zlib.crc32
    starts: Sequence[int] = range(len(text) + 1)
    if not text.isascii():
        sizes = (len(each.encode("utf-8", "surrogatepass")) for each in text)
        starts = [*accumulate(sizes, initial=0)]
    return [
        crc32(encoded[start:end])
        for length in NGRAM_LENGTHS
        for start, end in zip(starts, starts[length:], strict=False)
    ]
