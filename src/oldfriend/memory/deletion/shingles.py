"""Shingles: runs of words long enough to identify a text.

A shingle is the shortest run, from a given token, that weighs enough: five words, eight characters
of a script without spaces, or a mixture. A text that contains such a run contains all its shingles,
so two texts share a shingle exactly when they share that much.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oldfriend.domain.unicode_text import normalize

_UNSPACED: Final = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_TOKEN: Final = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|[nrt\"\\/bf])")
_IS_UNSPACED: Final = re.compile(f"[{_UNSPACED}]")

_WORD_WEIGHT: Final = 8
_CHARACTER_WEIGHT: Final = 5
SHINGLE_WEIGHT: Final = 5 * _WORD_WEIGHT
"""The weight of a shingle: five words, or eight characters."""
PHRASE_WEIGHT: Final = 3 * _WORD_WEIGHT
"""The weight of a shared run that counts when one text is known to be made from the other."""
_MAX_WORD_LENGTH: Final = 24  # letters; anything longer is a sentence without spaces, or a key


def tokenize_casefolded(text: str) -> list[str]:
    """Split a text into words, and into single characters for scripts without spaces; case and
    width are ignored.
    """
    return _TOKEN.findall(normalize("NFKC", text).casefold())


def normalize_to_words(text: str) -> str:
    """Return the words of a text, normalized and joined by spaces."""
    return " ".join(tokenize_casefolded(text))


def hash_text_shingles(text: str, *, weight: int = SHINGLE_WEIGHT) -> frozenset[int]:
    """Return the hashed shingles of a text, including those of its text inside JSON."""
    return frozenset(
        shingle
        for tokens in tokenize_with_unescaped(text)
        for shingle in hash_shingles(tokens, weight=weight)
    )


def tokenize_with_unescaped(text: str) -> list[list[str]]:
    """Tokenize a text; if it contains escapes, also in its unescaped form."""
    lists = [tokenize_casefolded(text)]
    return [*lists, tokenize_casefolded(unescape_json(text))] if "\\" in text else lists


def hash_shingles(tokens: Sequence[str], *, weight: int = SHINGLE_WEIGHT) -> Iterator[int]:
    """Return the hashed shingles of a token sequence."""
    return map(hash, iterate_shingles(tokens, weight=weight))


def iterate_shingles(tokens: Sequence[str], *, weight: int = SHINGLE_WEIGHT) -> Iterator[str]:
    """Yield the shingles of a token sequence, one for each token with enough after it."""
    weights = [get_token_weight(token) for token in tokens]
    end, total = 0, 0
    for begin, own_weight in enumerate(weights):
        while total < weight and end < len(tokens):
            total += weights[end]
            end += 1
        if total < weight:
            return
        yield " ".join(tokens[begin:end])
        total -= own_weight


def find_shingle_at(tokens: Sequence[str], begin: int) -> str | None:
    """Return the shingle that starts at a token, or None if too little follows."""
    total = 0
    for end in range(begin, len(tokens)):
        total += get_token_weight(tokens[end])
        if total >= SHINGLE_WEIGHT:
            return " ".join(tokens[begin : end + 1])
    return None


def get_token_weight(token: str) -> int:
    """Return how much a token counts towards a shingle."""
    if len(token) > _MAX_WORD_LENGTH:
        return SHINGLE_WEIGHT
    return _CHARACTER_WEIGHT if _IS_UNSPACED.match(token) else _WORD_WEIGHT


def is_distinctive(text: str) -> bool:
    """Whether a text is long enough to be identified by its words alone."""
    return sum(map(get_token_weight, tokenize_casefolded(text))) >= SHINGLE_WEIGHT


def unescape_json(text: str) -> str:
    """Return a text with its JSON escapes resolved."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else " ", text)


def compute_overlap(one: frozenset[int], other: frozenset[int]) -> float:
    """Return how much of the shorter of two texts, as shingles, occurs in the other: 0 to 1."""
    return len(one & other) / max(1, min(len(one), len(other)))
