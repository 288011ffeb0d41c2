"""WordPiece tokenizer: the token ids of an uncased BERT model.

Gives the same ids as the `tokenizers` library, without that dependency and for any string; except
that a typed "[SEP]" and the like stay text and never act as control tokens.
"""

import string
import unicodedata
from collections.abc import Sequence
from itertools import islice

from oldfriend.domain.unicode_text import normalize

MAX_WORD_LENGTH = 100  # BERT maps a longer word to [UNK]
MAX_TEXT_LENGTH = 32_768  # characters; far beyond any model's token limit
# Cn is kept: an unassigned code point may be a newer emoji.
REMOVED_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs"})
CHINESE_RANGES = (
    range(0x3400, 0x4DC0),
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2B820),
    range(0x2B920, 0x2CEB0),
    range(0x2F800, 0x2FA20),
)


class WordPiece:
    """Tokenizer with a vocabulary; always takes the longest piece that fits."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Take the vocabulary in the order of ids; pieces that continue a word start with ##."""
        self._id_by_piece = {piece: number for number, piece in enumerate(vocabulary)}
        self._max_piece_length = max(map(len, vocabulary))
        self._unknown = self._id_by_piece["[UNK]"]
        self._start, self._end = self._id_by_piece["[CLS]"], self._id_by_piece["[SEP]"]
        self._char_map = _CharMap()

    def encode(self, text: str, *, limit: int) -> list[int]:
        """Return a text's ids between [CLS] and [SEP], at most `limit` in all."""
        words = text[:MAX_TEXT_LENGTH].translate(self._char_map).split()
        ids = (number for word in words for number in self._encode_word(word))
        return [self._start, *islice(ids, limit - 2), self._end]

    def _encode_word(self, word: str) -> Sequence[int]:
        whole = self._id_by_piece.get(word)
        if whole is not None:
            return (whole,)
        if len(word) > MAX_WORD_LENGTH:
            return (self._unknown,)
        ids = []
        start = 0
        while start < len(word):
            end, number = self._match_longest_piece(word, start)
            ids.append(number)
            start = end
        return (self._unknown,) if self._unknown in ids else ids

    def _match_longest_piece(self, word: str, start: int) -> tuple[int, int]:
        """Return end and id of the longest piece from `start`; if none, word end and [UNK]."""
        prefix = "##" if start else ""
        for end in range(min(len(word), start + self._max_piece_length), start, -1):
            number = self._id_by_piece.get(prefix + word[start:end])
            if number is not None:
                return end, number
        return len(word), self._unknown


class _CharMap(dict[int, str]):
    """Translation table of BERT's character normalization, filled lazily."""

    def __missing__(self, code: int) -> str:
        self[code] = reading = _normalize_char(chr(code))
        return reading


def _normalize_char(char: str) -> str:
    """Lowercase, strip accents, drop controls, and pad Chinese and punctuation with spaces."""
    if char in "\t\n\r":
        return " "
    if unicodedata.category(char) in REMOVED_CATEGORIES or char == "\ufffd":
        return ""
    if char.isspace():
        return " "
    bare = "".join(c for c in normalize("NFD", char) if unicodedata.category(c) != "Mn")
    stands_alone = any(ord(char) in block for block in CHINESE_RANGES)
    return f" {bare} " if stands_alone else "".join(map(_pad_punctuation, bare.lower()))


def _pad_punctuation(char: str) -> str:
    is_punctuation = char in string.punctuation or unicodedata.category(char).startswith("P")
    return f" {char} " if is_punctuation else char
