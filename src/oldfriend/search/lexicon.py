"""Lexicon: how common the words of a language are, by a list that ships with Oldfriend."""

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.tokenizer import to_term

LANGUAGES: Final = ("de", "en", "es", "fr", "it", "nl", "pt", "ru")
STEPS_PER_BIT: Final = 8
"""Resolution of stored surprisal; set by `scripts/build_lexicon.py`, which writes the file."""
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
    """Return the lexicon of a language, or None where there is none. Takes a few milliseconds."""
    if language not in LANGUAGES:
        return None
    with (
        (resources.files("oldfriend.search") / "lexicon.npz").open("rb") as file,
        np.load(file) as arrays,
    ):
        terms, steps = arrays[f"{language}_terms"], arrays[f"{language}_steps"]
    return Lexicon(language=language, terms=terms, steps=steps)
