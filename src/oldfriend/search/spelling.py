"""Spelling correction: replaces a misspelled query word by the nearest word in the index.

"Barcelna" is one letter from "Barcelona". A word that its language's lexicon lists is never
corrected, however near it comes to another: "hiking" must not become "liking".
"""

import string
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.bundled_files import read_bundled_file
from oldfriend.search.query_parser import ParsedQuery, QueryWord
from oldfriend.search.search_index import PersonIndex
from oldfriend.search.term_columns import Terms
from oldfriend.search.tokenizer import stem_word, to_term

LANGUAGES: Final = ("de", "en", "es", "fr", "it", "nl", "pt", "ru")
STEPS_PER_BIT: Final = 8
"""Resolution of stored surprisal; set by `scripts/build_lexicon.py`, which writes the lexica."""
UNLISTED_SURPRISAL: Final = 22.0
"""Surprisal in bits of a word that is not listed, such as a name: once in four million words."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicon:
    """Most common word stems of one language."""

    language: str
    terms: NDArray[np.uint32]  # ascending
    steps: NDArray[np.uint8]  # surprisal of each, in steps

    def __contains__(self, word: str) -> bool:
        """Tell whether this is a form of a listed word."""
        return self._find_position(word) is not None

    def compute_surprisal(self, word: str) -> float:
        """Return the surprisal of a word in bits: 7 if very common, 22 if not listed."""
        place = self._find_position(word)
        return UNLISTED_SURPRISAL if place is None else float(self.steps[place]) / STEPS_PER_BIT

    def _find_position(self, word: str) -> int | None:
        term = to_term(word, self.language)
        place = int(np.searchsorted(self.terms, term))
        return place if place < len(self.terms) and self.terms[place] == term else None


@lru_cache(maxsize=len(LANGUAGES))
def find_lexicon(language: str) -> Lexicon | None:
    """Return the lexicon of a language, or None where there is none."""
    if language not in LANGUAGES:
        return None
    with np.load(BytesIO(read_bundled_file(get_lexicon_path(language)))) as arrays:
        return Lexicon(language=language, terms=arrays["terms"], steps=arrays["steps"])


def get_lexicon_path(language: str) -> Path:
    """Return the file of a language's lexicon: one for each, as few people need all."""
    return Path(__file__).parent / f"lexicon_{language}.npz"


_MIN_LENGTH: Final = 5
_MAX_LENGTH: Final = 20
_MAX_CORRECTED: Final = 2
_MAX_LANGUAGES: Final = 3
_LETTERS: Final = string.ascii_lowercase
# Replacing "a" by another letter changes a CRC by an amount that depends only on the number of
# letters after it, so the hundreds of variants of a word are hashed without being built.
_CRC_DELTAS: Final = np.array(
    [
        [
            zlib.crc32(letter.encode() + bytes(after)) ^ zlib.crc32(b"a" + bytes(after))
            for letter in _LETTERS
        ]
        for after in range(_MAX_LENGTH + 1)
    ],
    np.uint32,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpellingVariants:
    """All spellings at edit distance one from a word."""

    edits: tuple[str, ...]  # one letter deleted, or two adjacent ones swapped
    wildcards: tuple[tuple[str, str], ...]  # text before and after a letter that may be any

    def hash_spellings(self) -> Terms:
        """Return the term of each spelling."""
        whole = [zlib.crc32(spelling.encode()) for spelling in self.edits]
        with_a = [zlib.crc32(f"{head}a{tail}".encode()) for head, tail in self.wildcards]
        changes = _CRC_DELTAS[[len(tail) for _, tail in self.wildcards]]
        any_letter = np.array(with_a, np.uint32)[:, None] ^ changes
        return np.concatenate([np.array(whole, np.uint32), any_letter.ravel()])

    def get_spelling(self, at: int) -> str:
        """Return the spelling at an index of `hash_spellings`."""
        if at < len(self.edits):
            return self.edits[at]
        gap, letter = divmod(at - len(self.edits), len(_LETTERS))
        head, tail = self.wildcards[gap]
        return head + _LETTERS[letter] + tail


def correct_spelling(parsed: ParsedQuery, index: PersonIndex) -> ParsedQuery:
    """Replace unknown query words by the nearest known ones."""
    known = index.contains_words([word.terms for word in parsed.words])
    unknown = [
        word
        for word, is_known in zip(parsed.words, known, strict=True)
        if not is_known and _is_correctable(word)
    ][:_MAX_CORRECTED]
    if not unknown:
        return parsed
    languages = [parsed.language, *index.tables.languages.strings[:_MAX_LANGUAGES]]
    nearest = {
        word: _find_nearest(word, index, languages)
        for word in unknown
        if not _is_correct(word.surface, languages)
    }
    return replace(parsed, words=tuple(nearest.get(word, word) for word in parsed.words))


def _is_correctable(word: QueryWord) -> bool:
    surface = word.surface
    return _MIN_LENGTH <= len(surface) <= _MAX_LENGTH and surface.isascii() and surface.isalpha()


def _is_correct(surface: str, languages: Collection[str]) -> bool:
    """Tell whether one of these languages' lexicons lists a word."""
    lexica = map(find_lexicon, languages)
    return any(lexicon is not None and surface in lexicon for lexicon in lexica)


def _find_nearest(word: QueryWord, index: PersonIndex, languages: Collection[str]) -> QueryWord:
    stems = {stem_word(word.surface, language) for language in languages}
    variants = _build_variants({stem for stem in stems if len(stem) >= _MIN_LENGTH}, word.surface)
    if not variants.edits:
        return word
    terms = variants.hash_spellings()
    at = index.find_most_frequent(terms)
    if at is None:
        return word
    # Reasons must name the word that the messages contain, not the misspelled one.
    return replace(word, surface=variants.get_spelling(at), terms=(int(terms[at]),))


def _build_variants(stems: Collection[str], surface: str) -> SpellingVariants:
    """Build all spelling variants of the stems of a word.

    The last letter of a stem counts as inserted only if the word ends there: "entreno" must not
    become "entre".
    """
    halves = [(stem[:at], stem[at:]) for stem in stems for at in range(len(stem) + 1)]
    return SpellingVariants(
        edits=tuple(
            spelling
            for head, tail in halves
            for spelling in _list_edits(head, tail)
            if tail[1:] or head + tail == surface
        ),
        wildcards=(*halves, *[(head, tail[1:]) for head, tail in halves if tail]),
    )


def _list_edits(head: str, tail: str) -> Iterator[str]:
    if tail:
        yield head + tail[1:]
    if len(tail) > 1:
        yield head + tail[1] + tail[0] + tail[2:]
