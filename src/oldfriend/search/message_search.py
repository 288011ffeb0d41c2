"""Message search: scans all messages, selects a few hundred candidates, ranks and judges them."""

import re
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.lang.language_pack import get_traits
from oldfriend.search.candidates import MAX_CANDIDATES, build_candidates, select_candidates
from oldfriend.search.explanations import explain_hits
from oldfriend.search.features import RankingContext, build_ranking_context, compute_features
from oldfriend.search.full_scan import ScanScores, scan
from oldfriend.search.fusion import compute_answerability_features, load_weights
from oldfriend.search.message_scope import build_scope_mask
from oldfriend.search.own_names import find_own_names
from oldfriend.search.query_parser import ParsedQuery, QueryWord, parse_query
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
from oldfriend.search.tokenizer import is_unspaced, to_term
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
DATED_PROBABILITY = 0.7
"""Probability that a message of the named time answers a question for that time alone."""
_DATED_SPREAD = 0.1
_UNDATED_PENALTY = 30.0
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
        scores = _boost_dated(scores, is_dated)
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
    shares = np.exp(score_decay * (scores[best] - scores[best[0]]))
    if by_date:
        times = context.index.columns.said_at[rows[best]]
        recency = map(
            RecencyCandidate, shares.tolist(), explain_hits(context, best), times.tolist()
        )
        best, shares = best[rank_newest_first(list(recency))][:k], shares[:k]
    ranked = zip(seqs[best].tolist(), shares.tolist(), explain_hits(context, best), strict=True)
    return tuple(
        ScoredMessage(seq=seq, score=answer_probability * share, reasons=reasons)
        for seq, share, reasons in ranked
    )


def _boost_dated(scores: Floats, date_mask: NDArray[np.bool_]) -> Floats:
    """Lift the scores of messages of the named time to nearly the best, and sink all others."""
    best = float(scores[date_mask].max())
    compressed = best + _DATED_SPREAD * (scores - best)
    return np.where(date_mask, compressed, best - _UNDATED_PENALTY).astype(np.float32)


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
