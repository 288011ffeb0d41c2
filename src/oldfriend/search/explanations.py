"""Explanations: the strongest reasons why a message was found, in terms that a person can check."""

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.candidates import Bools
from oldfriend.search.features import RankingContext
from oldfriend.search.message_features import MessageFeature
from oldfriend.search.search_index import NO_NEIGHBOR
from oldfriend.search.tokenizer import to_ngrams
from oldfriend.search.types import Floats, Ints, Reason

_CLEAR_DEVIATION: Final = 1.5  # standard deviations above this person's mean cosine
_CLEAR_COSINE: Final = 0.5  # cosine
_WEAK_COSINE: Final = 0.3
_FULL_DEVIATION: Final = 4.0
_MIN_DATE_SCORE: Final = 0.5
_MIN_SESSION_SHARE: Final = 0.35
_NEARBY_FACTOR: Final = 0.5
_MIN_SIMILAR_SHARE: Final = 0.5  # of a word's n-grams
_MIN_SIMILAR_NGRAMS: Final = 2
_QUESTION: Final = int(MessageFeature.QUESTION)
_CONTENT_CAUSES: Final = frozenset(
    {"words", "words_near", "words_like", "answers", "meaning", "date"}
)


class CandidateFacts(NamedTuple):
    """Facts about one candidate as plain values, because reading array elements is slow."""

    matches: Bools  # which query words the message contains
    nearby_matches: Bools  # … only its neighbors contain
    similar_matches: Bools  # … it contains only words like them
    is_answer: bool  # the previous message is a question with query words
    deviation: float  # of the cosine, in standard deviations above the mean
    cosine: float
    speaker: int
    is_person: bool
    mentions: bool
    date_score: float
    session_share: float


class QueryFacts(NamedTuple):
    """Facts about the question that are the same for all candidates."""

    words: Sequence[str]
    idf: Floats
    idf_sum: float
    speakers: Sequence[str]
    named_speakers: Sequence[int]
    is_self: bool
    has_sessions: bool  # with a single session, matching it is no reason


def explain_hits(context: RankingContext, chosen: NDArray[np.intp]) -> list[tuple[Reason, ...]]:
    """Return the reasons for each of these candidates, strongest first."""
    query_facts = QueryFacts(
        words=[word.surface for word in context.parsed.words],
        idf=context.scanned.idf,
        idf_sum=max(context.scanned.idf_sum, 1e-6),
        speakers=context.index.tables.speakers.strings,
        named_speakers=context.speaker_match.speakers,
        is_self=context.speaker_match.is_self,
        has_sessions=context.candidates.session_count > 1,
    )
    return [
        _explain(query_facts, candidate) for candidate in _iter_candidate_facts(context, chosen)
    ]


def _iter_candidate_facts(
    context: RankingContext, chosen: NDArray[np.intp]
) -> Iterator[CandidateFacts]:
    candidates, scanned, columns = context.candidates, context.scanned, context.index.columns
    rows, before, matches = (
        candidates.rows[chosen],
        candidates.before[chosen],
        candidates.matches[chosen],
    )
    asked_before = (before != NO_NEIGHBOR) & (columns.features[before] & _QUESTION != 0)
    has_words_before = (candidates.matches_with_previous[chosen] & ~matches).any(axis=1)
    return map(
        CandidateFacts,
        matches,
        candidates.matches_around[chosen] & ~matches,
        _find_similar_words(context, rows) & ~matches,
        (asked_before & has_words_before).tolist(),
        scanned.similarity[rows].tolist(),
        scanned.cosine[rows].tolist(),
        columns.speaker[rows].tolist(),
        columns.is_person[rows].tolist(),
        candidates.mentions[chosen].tolist(),
        context.date_scores[chosen].tolist(),
        context.session_shares[chosen].tolist(),
    )


def _find_similar_words(context: RankingContext, rows: Ints) -> Bools:
    """Tell of each message and query word whether most of the word's n-grams stand in it."""
    words, language = context.parsed.words, context.parsed.language
    similar = np.zeros((len(rows), len(words)), np.bool_)
    if not context.index.has_ngrams:
        return similar
    held = context.index.list_ngrams(rows)
    for number, word in enumerate(words):
        ngrams = set(to_ngrams(word.surface, language))
        least = max(len(ngrams) * _MIN_SIMILAR_SHARE, _MIN_SIMILAR_NGRAMS)
        similar[:, number] = [len(ngrams & each) >= least for each in held]
    return similar


def _explain(query: QueryFacts, candidate: CandidateFacts) -> tuple[Reason, ...]:
    causes = [
        *_explain_words(query, candidate),
        *_explain_similarity(candidate),
        *_explain_speakers(query, candidate),
    ]
    causes += _explain_setting(query, candidate)
    if _CONTENT_CAUSES.isdisjoint([reason.cause for reason in causes]):
        causes += _explain_similarity(candidate, is_strict=False)
    causes.sort(key=_sort_key)
    return tuple(causes)


def _sort_key(reason: Reason) -> float:
    return -reason.strength


def _explain_words(query: QueryFacts, candidate: CandidateFacts) -> Iterator[Reason]:
    if words := tuple(compress(query.words, candidate.matches.tolist())):
        yield Reason(cause="words", words=words, strength=_idf_share(query, candidate.matches))
    if words := tuple(compress(query.words, candidate.nearby_matches.tolist())):
        share = _NEARBY_FACTOR * _idf_share(query, candidate.nearby_matches)
        yield Reason(cause="words_near", words=words, strength=share)
    if words := tuple(compress(query.words, candidate.similar_matches.tolist())):
        share = _NEARBY_FACTOR * _idf_share(query, candidate.similar_matches)
        yield Reason(cause="words_like", words=words, strength=share)
    if candidate.is_answer:
        yield Reason(cause="answers", strength=_NEARBY_FACTOR)


def _idf_share(query: QueryFacts, matches: Bools) -> float:
    return float(np.add.reduce(query.idf[matches])) / query.idf_sum


def _explain_similarity(candidate: CandidateFacts, *, is_strict: bool = True) -> Iterator[Reason]:
    if candidate.deviation >= _CLEAR_DEVIATION or candidate.cosine >= (
        _CLEAR_COSINE if is_strict else _WEAK_COSINE
    ):
        strength = min(max(candidate.deviation / _FULL_DEVIATION, candidate.cosine), 1.0)
        yield Reason(cause="meaning", strength=strength)


def _explain_speakers(query: QueryFacts, candidate: CandidateFacts) -> Iterator[Reason]:
    if candidate.speaker in query.named_speakers:
        yield Reason(cause="said_by", name=query.speakers[candidate.speaker], strength=0.3)
    elif candidate.mentions:
        yield Reason(cause="mentions", name=query.speakers[query.named_speakers[0]], strength=0.2)
    if query.is_self and candidate.is_person:
        yield Reason(cause="own_words", name=query.speakers[candidate.speaker], strength=0.3)


def _explain_setting(query: QueryFacts, candidate: CandidateFacts) -> Iterator[Reason]:
    if candidate.date_score >= _MIN_DATE_SCORE:
        yield Reason(cause="date", strength=0.6 * candidate.date_score)
    if query.has_sessions and candidate.session_share >= _MIN_SESSION_SHARE:
        yield Reason(cause="session", strength=0.4 * candidate.session_share)
