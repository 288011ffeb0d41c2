"""Which pieces of its vocabulary does an uncased BERT model see in a text?

The same ids as the `tokenizers` library gives, without that dependency and for any string at all;
except that "[SEP]" and the like, typed by somebody, stay text and never steer the model.
It knows nothing of the model that reads the ids.
"""

import string
import unicodedata
from collections.abc import Sequence
from itertools import islice

LONGEST_WORD = 100  # BERT reads a longer word as unknown
LONGEST_TEXT = 32_768  # characters that are looked at: far more than any model's limit of pieces
REMOVED = frozenset({"Cc", "Cf", "Co", "Cs"})  # not Cn: the unassigned may be a newer emoji
CHINESE = (
    range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x2A6E0),
    range(0x2A700, 0x2B820), range(0x2B920, 0x2CEB0), range(0x2F800, 0x2FA20),
)  # fmt: skip


class WordPiece:
    """A vocabulary that turns texts into ids, always by the longest piece that fits."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Take the pieces in the order of their ids; those that go on with a word start with ##."""
        self._id_of = {piece: number for number, piece in enumerate(vocabulary)}
        self._longest = max(map(len, vocabulary))
        self._unknown = self._id_of["[UNK]"]
        self._start, self._end = self._id_of["[CLS]"], self._id_of["[SEP]"]
        self._reading = _Reading()

    def ids(self, text: str, *, limit: int) -> list[int]:
        """Return a text's ids between the marks of its start and end: at most `limit` in all."""
        words = text[:LONGEST_TEXT].translate(self._reading).split()
        ids = (number for word in words for number in self._ids_of_word(word))
        return [self._start, *islice(ids, limit - 2), self._end]

    def _ids_of_word(self, word: str) -> Sequence[int]:
        whole = self._id_of.get(word)
        if whole is not None:
            return (whole,)
        if len(word) > LONGEST_WORD:
            return (self._unknown,)
        ids = []
        start = 0
        while start < len(word):
            end, number = self._longest_piece(word, start)
            ids.append(number)
            start = end
        return (self._unknown,) if self._unknown in ids else ids

    def _longest_piece(self, word: str, start: int) -> tuple[int, int]:
        """Return where the longest piece from `start` ends, and its id; to the end if unknown."""
        mark = "##" if start else ""
        for end in range(min(len(word), start + self._longest), start, -1):
            number = self._id_of.get(mark + word[start:end])
            if number is not None:
                return end, number
        return len(word), self._unknown


class _Reading(dict[int, str]):
    """What BERT reads for a character, found out when it first appears."""

    def __missing__(self, code: int) -> str:
        self[code] = reading = _reading(chr(code))
        return reading


def _reading(char: str) -> str:
    """Lower case without accents; controls vanish, Chinese and punctuation stand alone."""
    if char in "\t\n\r":
        return " "
    if unicodedata.category(char) in REMOVED or char == "\ufffd":
        return ""
    if char.isspace():
        return " "
    bare = "".join(c for c in unicodedata.normalize("NFD", char) if unicodedata.category(c) != "Mn")
    stands_alone = any(ord(char) in block for block in CHINESE)
    return f" {bare} " if stands_alone else "".join(map(_spaced, bare.lower()))


def _spaced(char: str) -> str:
    is_punctuation = char in string.punctuation or unicodedata.category(char).startswith("P")
    return f" {char} " if is_punctuation else char
