"""Clauses: finds the clause of a message that states a claim, by the most shared words.

Does not interpret what the clause says of it.
"""

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.cue_words import fold_characters
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, stem_word, tokenize

CACHE_SIZE: Final = 1_024
"""Number of texts whose stems are cached, because several checks ask in turn."""
CLAUSE_BREAK: Final = re.compile(
    r"[,;:.!?\n…—()、。，：；！？（）]+(?!\d)|(?<=[\u3040-\u9fff]) +(?=[\u3040-\u9fff])"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """Clause: a part of a sentence, and the sentence before it; both folded."""

    text: str
    before: str
    index: int  # within its sentence, from 0

    @property
    def until(self) -> str:
        """The sentence up to the end of the clause."""
        return f"{self.before}{self.text}"


def split_clauses(sentence: str) -> list[Clause]:
    """Split a sentence into its clauses."""
    plain = fold_characters(sentence)
    bounds = [0, *(found.end() for found in CLAUSE_BREAK.finditer(plain)), len(plain)]
    spans = [(a, b) for a, b in pairwise(bounds) if plain[a:b].strip()]
    return [
        Clause(text=plain[a:b], before=plain[:a], index=number)
        for number, (a, b) in enumerate(spans)
    ]


def find_closest_clauses(claim: Claim, span: QuoteSpan) -> tuple[Clause, ...]:
    """Return the clauses around a quote that share most words with a claim; empty if none does."""
    language = span.message.language
    words = get_content_stems(f"{claim.text} {claim.value}", language)
    clauses = [each for sentence in span.iter_sentences() for each in split_clauses(sentence)]
    shared = [len(words & get_content_stems(each.text, language)) for each in clauses]
    max_shared = max(shared, default=0)
    return tuple(each for each, n in zip(clauses, shared, strict=True) if n == max_shared > 0)


@text_lru_cache(CACHE_SIZE)
def get_content_stems(text: str, language: str) -> frozenset[str]:
    """Return the stems of the content words; in scripts without spaces, of character pairs."""
    return frozenset(
        stem_word(word, language)
        for word in tokenize(text)
        if not is_stop_word(word, language) and not (is_unspaced(word) and len(word) == 1)
    )
