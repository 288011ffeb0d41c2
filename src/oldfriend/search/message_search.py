"""Message search: scans all messages, selects a few hundred candidates, ranks and judges them."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oldfriend.lang.language_pack import get_traits
from oldfriend.search.candidates import MAX_CANDIDATES, Bools, build_candidates, select_candidates
from oldfriend.search.features import RankingContext, build_ranking_context, compute_features
from oldfriend.search.full_scan import ScanScores, scan
from oldfriend.search.fusion import compute_answerability_features, load_weights
from oldfriend.search.message_features import MessageFeature
from oldfriend.search.message_scope import build_scope_mask
from oldfriend.search.own_names import find_own_names
from oldfriend.search.query_parser import ParsedQuery, QueryWord, parse_query
from oldfriend.search.score import (
    DATED_PROBABILITY,
    ScoreTerm,
    boost_dated,
    compute_shares,
    find_match,
    score_message,
)
from oldfriend.search.search_index import NO_NEIGHBOR, PersonIndex
from oldfriend.search.spelling import correct_spelling
from oldfriend.search.subject_query import SpeakerMatch, match_speakers, remove_speaker_names
from oldfriend.search.time_query import (
    RecencyCandidate,
    is_recap_query,
    is_recency_query,
    is_time_only_query,
    rank_newest_first,
)
from oldfriend.search.tokenizer import is_unspaced, to_ngrams, to_term
from oldfriend.search.types import Floats, Ints, ScoredMessage, SearchQuery, SearchResult, multiply

_PAST: Final = (
    "become became|begin began|bite bit|blow blew|break broke|bring brought|build built|burn burnt"
    "|buy bought|catch caught|choose chose|come came|dig dug|draw drew|dream dreamt"
    "|drink drank|drive drove|eat ate|fall fell|feed fed|feel felt|fight fought|find found|fly flew"
    "|forget forgot|forgive forgave|freeze froze|get got|give gave|go went|grow grew|hang hung"
    "|hear heard|hide hid|hold held|keep kept|know knew|lead led|learn learnt|leave left"
    "|lend lent|lose lost|make made|mean meant|meet met|pay paid|ride rode|ring rang|rise rose"
    "|run ran|say said|see saw|sell sold|send sent|shoot shot|sing sang"
    "|sit sat|sleep slept|speak spoke|spend spent|stand stood|steal stole|swim swam|take took"
    "|teach taught|tear tore|tell told|think thought|throw threw|understand understood|wake woke"
    "|wear wore|win won|write wrote"
)
_PAST_OF: Final = dict(each.split() for each in _PAST.split("|"))
_DID: Final = re.compile(rf"\bdid (?:(?!to\b)[\w'’-]+ ){{1,3}}?(?P<verb>{'|'.join(_PAST_OF)})\b")

CHAT_TYPES: Final = (
    "any",
    "with_companion",
    "without_meaning",
    "unspaced",
    "short_messages",
    "few_messages",
    "with_ngrams",
    "companion_share",
)
# Logarithms of characters: text messages have some 30, e-mails have hundreds.
_SHORT_LOG_LENGTH: Final = 3.5
_LONG_LOG_LENGTH: Final = 4.5
_FEW_MESSAGES: Final = 20  # messages

# Quantized vectors rank a few wrongly; twice as many candidates hold nearly all the right ones.
_MAX_RERANKED = 2 * MAX_CANDIDATES
_MIN_SORTED = 10  # minimum number of best hits among which the newest come first
EMPTY_RESULT = SearchResult(hits=(), answer_probability=0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CandidateSet:
    """Result of the first pass over all messages."""

    parsed: ParsedQuery
    speaker_match: SpeakerMatch
    scanned: ScanScores
    rows: Ints  # the candidates


def search(index: PersonIndex, query: SearchQuery, k: int) -> SearchResult:
    """Return the k messages that best answer a question, best first."""
    context = prepare_ranking(index, query)
    if context is None or k < 1:
        return EMPTY_RESULT
    weights = load_weights()
    _, features = compute_features(context)
    scores = weights.fusion.score(features, compute_chat_types(context))
    logit = (
        float(
            multiply(compute_answerability_features(context, scores), weights.answerability_weights)
        )
        + weights.answerability_bias
    )
    answer_probability = _sigmoid(logit)
    is_dated = context.date_matches > 0
    if is_dated.any() and is_time_only_query(query, context.parsed.spans):
        answer_probability = max(answer_probability, DATED_PROBABILITY)
        scores = boost_dated(scores, is_dated)
    elif is_recap_query(query, context.parsed.spans):
        answer_probability = 0.0
    return SearchResult(
        language=query.language,
        hits=_build_hits(
            context,
            scores,
            weights.score_decay,
            answer_probability,
            k,
            by_date=is_recency_query(query.text),
        ),
        answer_probability=answer_probability,
    )


def list_rerank_seqs(index: PersonIndex, query: SearchQuery) -> list[int]:
    """List the messages whose exact vectors the ranking needs; none if not quantized."""
    preselected = _preselect(index, query, _MAX_RERANKED) if index.is_quantized else None
    if preselected is None:
        return []
    rows, before = preselected.rows, index.previous[preselected.rows]
    before2 = index.take_neighbors(index.previous, before)
    near = np.unique(np.concatenate([rows, before, before2, index.following[rows]]))
    seqs: list[int] = index.columns.seq[near[near != NO_NEIGHBOR]].tolist()
    return sorted(seqs)


def prepare_ranking(index: PersonIndex, query: SearchQuery) -> RankingContext | None:
    """Collect all inputs of the ranking; None if there are no candidates."""
    preselected = _preselect(index, query)
    if preselected is None:
        return None
    candidates = build_candidates(
        index, preselected.rows, preselected.parsed, preselected.speaker_match.name_terms
    )
    return build_ranking_context(
        index, preselected.parsed, preselected.speaker_match, preselected.scanned, candidates
    )


def _preselect(
    index: PersonIndex, query: SearchQuery, limit: int = MAX_CANDIDATES
) -> CandidateSet | None:
    """Select the candidates for ranking; None if there are none."""
    searchable = ~index.build_mask(query.exclude)
    if query.scope is not None:
        searchable &= build_scope_mask(index, query.scope)
    if not searchable[index.columns.length > 0].any():
        return None
    parsed = parse_query(query, index.tables.languages.strings)
    if not (parsed.words or parsed.spans):
        return None
    parsed = correct_spelling(to_past_tense(parsed, query, index), index)
    own_names = find_own_names(query.text, query.own_names, query.language)
    speaker_match = match_speakers(index, parsed, own_names)
    parsed = remove_speaker_names(parsed, speaker_match)
    scanned = scan(index, query, parsed, searchable)
    rows = select_candidates(index, scanned, limit)
    if not len(rows):
        return None
    return CandidateSet(parsed=parsed, speaker_match=speaker_match, scanned=scanned, rows=rows)


def _build_hits(
    context: RankingContext,
    scores: Floats,
    score_decay: float,
    answer_probability: float,
    k: int,
    *,
    by_date: bool,
) -> tuple[ScoredMessage, ...]:
    """Build the best hits: the best gets the answer probability, the others less by their score."""
    rows = context.candidates.rows
    seqs = context.index.columns.seq[rows]
    best = np.lexsort((seqs, -scores))[: max(k, _MIN_SORTED) if by_date else k]
    shares = compute_shares(scores[best], score_decay)
    evidence = explain_hits(context, best)
    order = list(range(len(best)))
    if by_date:
        times = context.index.columns.said_at[rows[best]].tolist()
        matches = [find_match(terms, "words") for terms in evidence]
        order = rank_newest_first(list(map(RecencyCandidate, shares, matches, times)))[:k]
    found = seqs[best].tolist()
    return tuple(
        ScoredMessage(
            seq=found[place],
            score=score_message(answer_probability, share, evidence[place], by_date=by_date),
        )
        for place, share in zip(order, shares, strict=False)
    )


def _sigmoid(value: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(value, -30, 30))))


def compute_chat_types(context: RankingContext) -> Floats:
    """Return how far each of CHAT_TYPES applies, 0 to 1."""
    shortness = (_LONG_LOG_LENGTH - context.index.mean_log_length) / (
        _LONG_LOG_LENGTH - _SHORT_LOG_LENGTH
    )
    return np.array(
        [
            1,
            context.index.has_companion,
            1 - context.scanned.similarity_weight,
            any(is_unspaced(word.surface) for word in context.parsed.words),
            min(max(shortness, 0), 1),
            _FEW_MESSAGES / (_FEW_MESSAGES + len(context.index)),
            get_traits(context.parsed.language).has_ngrams,
            context.index.companion_share,
        ],
        dtype=np.float32,
    )


def to_past_tense(parsed: ParsedQuery, query: SearchQuery, index: PersonIndex) -> ParsedQuery:
    """Replace the verb of a "did" question by its past form, if any message contains that."""
    verb = _verb_of(query)
    if verb is None:
        return parsed
    past_form = _PAST_OF[verb]
    languages = dict.fromkeys((query.language, *index.tables.languages.strings))
    terms = tuple(dict.fromkeys(to_term(past_form, language) for language in languages))
    if not index.contains_words([terms])[0]:
        return parsed
    word = QueryWord(surface=past_form, terms=terms)
    words = tuple(word if each.surface == verb else each for each in parsed.words)
    return replace(parsed, words=words)


def _verb_of(question: SearchQuery) -> str | None:
    """Return the verb of a "did" question if it has an irregular past form."""
    found = _DID.search(question.text.lower()) if question.language == "en" else None
    return None if found is None else found["verb"]


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


def explain_hits(context: RankingContext, chosen: NDArray[np.intp]) -> list[tuple[ScoreTerm, ...]]:
    """Return what made the ranking find each of these candidates, what matches most first."""
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


def _explain(query: QueryFacts, candidate: CandidateFacts) -> tuple[ScoreTerm, ...]:
    terms = [
        *_explain_words(query, candidate),
        *_explain_similarity(candidate),
        *_explain_speakers(query, candidate),
    ]
    terms += _explain_setting(query, candidate)
    if _CONTENT_CAUSES.isdisjoint([term.cause for term in terms]):
        terms += _explain_similarity(candidate, is_strict=False)
    terms.sort(key=_sort_key)
    return tuple(terms)


def _sort_key(term: ScoreTerm) -> float:
    return -term.match


def _explain_words(query: QueryFacts, candidate: CandidateFacts) -> Iterator[ScoreTerm]:
    if words := tuple(compress(query.words, candidate.matches.tolist())):
        yield ScoreTerm(cause="words", words=words, match=_idf_share(query, candidate.matches))
    if words := tuple(compress(query.words, candidate.nearby_matches.tolist())):
        share = _NEARBY_FACTOR * _idf_share(query, candidate.nearby_matches)
        yield ScoreTerm(cause="words_near", words=words, match=share)
    if words := tuple(compress(query.words, candidate.similar_matches.tolist())):
        share = _NEARBY_FACTOR * _idf_share(query, candidate.similar_matches)
        yield ScoreTerm(cause="words_like", words=words, match=share)
    if candidate.is_answer:
        yield ScoreTerm(cause="answers", match=_NEARBY_FACTOR)


def _idf_share(query: QueryFacts, matches: Bools) -> float:
    return float(np.add.reduce(query.idf[matches])) / query.idf_sum


def _explain_similarity(
    candidate: CandidateFacts, *, is_strict: bool = True
) -> Iterator[ScoreTerm]:
    if candidate.deviation >= _CLEAR_DEVIATION or candidate.cosine >= (
        _CLEAR_COSINE if is_strict else _WEAK_COSINE
    ):
        match = min(max(candidate.deviation / _FULL_DEVIATION, candidate.cosine), 1.0)
        yield ScoreTerm(cause="meaning", match=match)


def _explain_speakers(query: QueryFacts, candidate: CandidateFacts) -> Iterator[ScoreTerm]:
    if candidate.speaker in query.named_speakers:
        yield ScoreTerm(cause="said_by", name=query.speakers[candidate.speaker], match=0.3)
    elif candidate.mentions:
        yield ScoreTerm(cause="mentions", name=query.speakers[query.named_speakers[0]], match=0.2)
    if query.is_self and candidate.is_person:
        yield ScoreTerm(cause="own_words", name=query.speakers[candidate.speaker], match=0.3)


def _explain_setting(query: QueryFacts, candidate: CandidateFacts) -> Iterator[ScoreTerm]:
    if candidate.date_score >= _MIN_DATE_SCORE:
        yield ScoreTerm(cause="date", match=0.6 * candidate.date_score)
    if query.has_sessions and candidate.session_share >= _MIN_SESSION_SHARE:
        yield ScoreTerm(cause="session", match=0.4 * candidate.session_share)


def search_with_undated(
    index: PersonIndex, query: SearchQuery, k: int, is_durable: Callable[[int], bool]
) -> SearchResult:
    """Return the best hits for a dated query; lasting beliefs rank as if it named no date.

    A date in a question says when something happened. Of a lasting belief it says which value is
    meant; `TimeFrame` selects that by when the value held, not by when somebody spoke of it.
    """
    dated = search(index, query, k)
    undated = search(index, replace(query, is_timeless=True), k)
    hits = [hit for hit in dated.hits if not is_durable(hit.seq)]
    hits += [hit for hit in undated.hits if is_durable(hit.seq)]
    return SearchResult(
        hits=tuple(hits),
        answer_probability=max(dated.answer_probability, undated.answer_probability),
        language=dated.language,
    )
