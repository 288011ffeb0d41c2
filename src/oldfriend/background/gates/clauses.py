"""In which clause of a message is something claimed? In the one that shares most words with it.

What the clause says of it is not known here.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from oldfriend.background.extraction import Claim
from oldfriend.background.gates.places import Place
from oldfriend.background.gates.telltales import folded
from oldfriend.domain.remembered import remembered
from oldfriend.memory.search.words import is_stop_word, is_unspaced, stem_of, words_in

REMEMBERED: Final = 1_024
"""Of so many texts it is known of what they tell: several gates ask in turn."""
BREAK: Final = re.compile(r"[,;:.!?\n…—()、。，：；！？（）]+(?!\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """A part of a sentence, with the sentence up to it; both folded."""

    text: str
    before: str
    number: int  # of those of its sentence, from 0

    @property
    def until(self) -> str:
        """The sentence to the end of the clause."""
        return f"{self.before}{self.text}"


def clauses_of(sentence: str) -> list[Clause]:
    """The clauses of a sentence."""
    plain = folded(sentence)
    bounds = [0, *(found.end() for found in BREAK.finditer(plain)), len(plain)]
    spans = [(a, b) for a, b in pairwise(bounds) if plain[a:b].strip()]
    return [
        Clause(text=plain[a:b], before=plain[:a], number=number)
        for number, (a, b) in enumerate(spans)
    ]


def closest_clauses(claim: Claim, place: Place) -> tuple[Clause, ...]:
    """Of the clauses around a quote those that share most words with a claim; none, where none."""
    language = place.message.language
    words = terms_in(f"{claim.text} {claim.value}", language)
    clauses = [each for sentence in place.sentences() for each in clauses_of(sentence)]
    shared = [len(words & terms_in(each.text, language)) for each in clauses]
    most = max(shared, default=0)
    return tuple(each for each, n in zip(clauses, shared, strict=True) if n == most > 0)


@remembered(REMEMBERED)
def terms_in(text: str, language: str) -> frozenset[str]:
    """The stems of the words that carry matter; of scripts without spaces, pairs."""
    return frozenset(
        stem_of(word, language)
        for word in words_in(text)
        if not is_stop_word(word, language) and not (is_unspaced(word) and len(word) == 1)
    )
