"""What was meant by a word that nobody ever said? Its nearest spellings among the person's words.

"Barcelna" is one letter from "Barcelona".
"""

import string
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from oldfriend.memory.search.asking import Asked, QueryWord
from oldfriend.memory.search.columns import Terms
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.words import stem_of

_SHORTEST: Final = 5
_LONGEST: Final = 20
_MOST_GUESSED: Final = 2
_LETTERS: Final = string.ascii_lowercase
# What a letter in place of "a" changes in a CRC depends only on how many letters follow it, so
# that a word's hundreds of misspellings are numbered without being written.
_IN_PLACE_OF_A: Final = np.array(
    [
        [zlib.crc32(letter.encode() + bytes(after)) ^ zlib.crc32(b"a" + bytes(after))
         for letter in _LETTERS]
        for after in range(_LONGEST + 1)
    ], np.uint32,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Slips:
    """All spellings that are one slip away from a word."""

    whole: tuple[str, ...]  # with a letter left out, or two exchanged
    gaps: tuple[tuple[str, str], ...]  # what stands before and behind any one letter

    def terms(self) -> Terms:
        """The number of each spelling."""
        whole = [zlib.crc32(spelling.encode()) for spelling in self.whole]
        with_a = [zlib.crc32(f"{head}a{tail}".encode()) for head, tail in self.gaps]
        changes = _IN_PLACE_OF_A[[len(tail) for _, tail in self.gaps]]
        any_letter = np.array(with_a, np.uint32)[:, None] ^ changes
        return np.concatenate([np.array(whole, np.uint32), any_letter.ravel()])

    def spelling(self, at: int) -> str:
        """The spelling whose number stands there among the terms."""
        if at < len(self.whole):
            return self.whole[at]
        gap, letter = divmod(at - len(self.whole), len(_LETTERS))
        head, tail = self.gaps[gap]
        return head + _LETTERS[letter] + tail


def corrected(asked: Asked, index: PersonIndex) -> Asked:
    """The question with unknown words read as the nearest known ones."""
    known = index.knows([word.terms for word in asked.words])
    doubtful = [
        word
        for word, is_known in zip(asked.words, known, strict=True)
        if not is_known and _may_be_misspelt(word)
    ][:_MOST_GUESSED]
    if not doubtful:
        return asked
    languages = index.numbering.languages.known
    nearest = {word: _nearest(word, index, languages) for word in doubtful}
    return replace(asked, words=tuple(nearest.get(word, word) for word in asked.words))


def _may_be_misspelt(word: QueryWord) -> bool:
    surface = word.surface
    return _SHORTEST <= len(surface) <= _LONGEST and surface.isascii() and surface.isalpha()


def _nearest(word: QueryWord, index: PersonIndex, languages: list[str]) -> QueryWord:
    slips = _slips({stem_of(word.surface, language) for language in languages[:3]})
    terms = slips.terms()
    at = index.most_frequent(terms)
    if at is None:
        return word
    # What was asked stands nowhere; a reason must name what does.
    return replace(word, surface=slips.spelling(at), terms=(int(terms[at]),))


def _slips(stems: Collection[str]) -> Slips:
    halves = [(stem[:at], stem[at:]) for stem in stems for at in range(len(stem) + 1)]
    return Slips(
        whole=tuple(spelling for head, tail in halves for spelling in _left_out(head, tail)),
        gaps=(*halves, *[(head, tail[1:]) for head, tail in halves if tail]),
    )


def _left_out(head: str, tail: str) -> Iterator[str]:
    if tail:
        yield head + tail[1:]
    if len(tail) > 1:
        yield head + tail[1] + tail[0] + tail[2:]
