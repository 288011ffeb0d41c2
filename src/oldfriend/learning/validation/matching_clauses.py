"""Matching clauses: finds the clauses of a message that share most words with a claim."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.lang.detection import detect_language
from oldfriend.learning.extraction import Claim
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.word_overlap import extract_terms, find_shared_terms
from oldfriend.turn.attribution.cues import (
    AttributionCues,
    fold_punctuation,
    list_cue_languages,
    load_cues,
)

CLAUSE_MARKS: Final = re.compile(
    r"[,;:.!?…()、。，：；！？（）]+(?!\d)|\s[-–—]+\s|(?<=[\u3040-\u9fff]) +(?=[\u3040-\u9fff])"
    r"|[\U0001f300-\U0001faff]\s"
)
"""Punctuation that separates clauses, besides conjunctions."""
SENTENCE_END: Final = re.compile(r"[.!?。！？\n]")
CACHE_SIZE: Final = 1_024
MAX_SENTENCE_LENGTH: Final = 1_200
"""Characters of a sentence that are examined around a quote."""
LOOKAHEAD: Final = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedClause:
    """Matched clause: the clause of a sentence that shares most words with a claim."""

    sentence: str
    plain: str  # the folded sentence
    start: int  # start of the clause
    end: int
    first_shared: int  # start of the first shared word; without one, the end of the sentence
    last_shared: int  # end of the last shared word of the clause
    next_sentence: str  # the folded next sentence of the message
    cues: AttributionCues

    @property
    def clause(self) -> str:
        """The folded clause."""
        return self.plain[self.start : self.end]

    @property
    def before(self) -> str:
        """The folded sentence up to the first shared word."""
        return self.plain[: self.first_shared]


def find_matched_clauses(
    claim: Claim, span: QuoteSpan, default_language: str
) -> list[MatchedClause]:
    """Return the clauses around a quote that share most words with a claim, its value first."""
    text = span.message.text
    language = detect_language(text, fallback=span.message.language or default_language)
    known = list_cue_languages(text, language)
    cues = load_cues(language if language in known else known[0])
    value = extract_terms(claim.value, language)
    words = extract_terms(claim.text, language)
    found: list[tuple[int, int, MatchedClause]] = []
    for sentence in _iter_sentences(span):
        plain = fold_punctuation(sentence)
        terms = extract_terms(sentence, language)
        valued = find_shared_terms(terms, value, language)
        shared = find_shared_terms(terms, [*value, *words], language)
        for start, end in split_clause_bounds(plain, cues):
            inside = [each for each in shared if start <= each.start < end]
            weight = len(inside) + sum(start <= each.start < end for each in valued)
            at = inside[0].start if inside else len(plain)
            last = inside[-1].end if inside else len(plain)
            following = _get_next_sentence(text, sentence)
            matched = MatchedClause(
                sentence=sentence,
                plain=plain,
                start=start,
                end=end,
                first_shared=at,
                last_shared=last,
                next_sentence=following,
                cues=cues,
            )
            found.append((weight, len(inside), matched))
    max_weight = max((weight for weight, _, _ in found), default=0)
    max_shared = max((n for _, n, _ in found), default=0)
    return [matched for weight, n, matched in found if weight == max_weight or n == max_shared]


def _get_next_sentence(text: str, sentence: str) -> str:
    """Return the folded sentence that follows another one in a message."""
    behind = text[text.find(sentence) + len(sentence) :][:LOOKAHEAD].lstrip(" .!?。！？…")
    return fold_punctuation(SENTENCE_END.split(behind, maxsplit=1)[0])


def _iter_sentences(span: QuoteSpan) -> Iterator[str]:
    """Yield the sentences around a quote, shortened to what is examined."""
    sentences = list(span.iter_sentences()) or [span.text]
    for sentence in sentences:
        at = max(0, sentence.find(span.text[:MAX_SENTENCE_LENGTH]))
        begin = max(0, at - MAX_SENTENCE_LENGTH // 2) if len(sentence) > MAX_SENTENCE_LENGTH else 0
        yield sentence[begin : begin + MAX_SENTENCE_LENGTH]


@text_lru_cache(CACHE_SIZE)
def split_clause_bounds(
    plain: str, cues: AttributionCues, *, with_and: bool = True
) -> list[tuple[int, int]]:
    """Return the bounds of the clauses of a folded sentence."""
    joints = [cues.contrast, cues.continuation] if with_and else [cues.contrast]
    ends = {each.end() for each in CLAUSE_MARKS.finditer(plain)}
    starts = {each.start() for joint in joints for each in joint.finditer(plain)}
    bounds = sorted({0, len(plain), *ends, *starts})
    return list(pairwise(bounds))
