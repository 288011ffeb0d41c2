"""What was meant by a word that nobody ever said? Its nearest spellings among the person's words.

"Barcelna" is one letter from "Barcelona".
"""

import string
import zlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from oldfriend.memory.search.asking import Asked, QueryWord
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.words import stem_of

_SHORTEST: Final = 5
_LONGEST: Final = 20
_MOST_GUESSED: Final = 2


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
    stems = {stem_of(word.surface, language) for language in languages[:3]}
    spellings = {
        zlib.crc32(spelling.encode()): spelling for stem in stems for spelling in _one_off(stem)
    }
    known = index.known_among(np.fromiter(spellings, np.uint32, len(spellings)))
    if not known:
        return word
    # What was asked stands nowhere; a reason must name what does.
    return replace(word, surface=spellings[known[0]], terms=(known[0],))


def _one_off(stem: str) -> Iterator[str]:
    """All spellings one slip away: a letter left out, doubled, changed, or two exchanged."""
    for at in range(len(stem) + 1):
        head, tail = stem[:at], stem[at:]
        if tail:
            yield head + tail[1:]
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        for letter in string.ascii_lowercase:
            yield head + letter + tail
            if tail:
                yield head + letter + tail[1:]
