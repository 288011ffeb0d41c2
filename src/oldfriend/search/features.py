"""Ranking features: one row of numbers per candidate, in a fixed order.

The values do not depend on the length of the history, so that weights learned on short histories
hold for long ones. The feature names are the keys of the weights file.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.candidates import Candidates
from oldfriend.search.full_scan import ScanScores
from oldfriend.search.message_features import MessageFeature
from oldfriend.search.query_parser import AnswerType, ParsedQuery
from oldfriend.search.search_index import NO_NEIGHBOR, PersonIndex
from oldfriend.search.subject_query import SpeakerMatch
from oldfriend.search.time_query import score_dates
from oldfriend.search.types import Floats, multiply

FeatureColumn: TypeAlias = tuple[str, NDArray[np.generic]]

_SHORT_TEXT: Final = 40  # characters
_TYPICAL_DEVIATIONS: Final = 3.0
_TINY: Final = 1e-6


def _flag_name(flag: MessageFeature | AnswerType) -> str:
    return (flag.name or "").lower()


def _to_bitmasks(flags: Sequence[MessageFeature | AnswerType]) -> NDArray[np.uint32]:
    """Return the flags as a column of integers, to compare with a row of message features."""
    return np.array([[int(flag)] for flag in flags], np.uint32)


_MESSAGE_FEATURES: Final = (
    MessageFeature.NAME,
    MessageFeature.QUESTION,
    MessageFeature.ATTACHMENT,
    MessageFeature.NUMBER,
    MessageFeature.THANKS,
    MessageFeature.TIME,
    MessageFeature.EXCLAMATION,
    MessageFeature.RELATION,
    MessageFeature.REASON,
    MessageFeature.GREETING,
    MessageFeature.PAST,
    MessageFeature.SECOND_PERSON,
)
_ANSWER_PAIRS: Final = (
    (AnswerType.NUMBER, MessageFeature.NUMBER),
    (AnswerType.TIME, MessageFeature.TIME),
    (AnswerType.PLACE, MessageFeature.NAME),
    (AnswerType.TIME, MessageFeature.QUESTION),
    (AnswerType.REASON, MessageFeature.REASON),
    (AnswerType.PERSON, MessageFeature.NAME),
    (AnswerType.PERSON, MessageFeature.RELATION),
    (AnswerType.TIME, MessageFeature.FIRST_PERSON),
    (AnswerType.PLACE, MessageFeature.PLACE),
    (AnswerType.LIST, MessageFeature.ATTACHMENT),
)
_MESSAGE_FEATURE_NAMES: Final = tuple(f"sign_{_flag_name(sign)}" for sign in _MESSAGE_FEATURES)
_ANSWER_PAIR_NAMES: Final = tuple(
    f"{_flag_name(want)}_{_flag_name(sign)}" for want, sign in _ANSWER_PAIRS
)
# Plain integers, because each operation on an IntFlag takes a microsecond.
_MESSAGE_FEATURE_BITS: Final = _to_bitmasks(_MESSAGE_FEATURES)
_ANSWER_FEATURE_BITS: Final = _to_bitmasks([sign for _, sign in _ANSWER_PAIRS])
_ANSWER_TYPE_BITS: Final = _to_bitmasks([wanted for wanted, _ in _ANSWER_PAIRS])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankingContext:
    """Inputs of the ranking: the query, the scan and the candidates."""

    index: PersonIndex
    parsed: ParsedQuery
    speaker_match: SpeakerMatch
    scanned: ScanScores
    candidates: Candidates
    date_matches: Floats
    date_scores: Floats  # 0 to 1 for each candidate: how close it is to the dates in the question
    session_shares: Floats  # share of the total score that lies in the candidate's session


def build_ranking_context(
    index: PersonIndex,
    parsed: ParsedQuery,
    speaker_match: SpeakerMatch,
    scanned: ScanScores,
    candidates: Candidates,
) -> RankingContext:
    """Combine the inputs of the ranking, and compute date scores and session shares."""
    first_pass = scanned.first_pass[candidates.rows]
    weights = np.exp(first_pass - first_pass.max(initial=0))
    mass = np.bincount(candidates.sessions, weights, candidates.session_count)
    date_matches, date_scores = score_dates(index.columns.said_at[candidates.rows], parsed.spans)
    return RankingContext(
        index=index,
        parsed=parsed,
        speaker_match=speaker_match,
        scanned=scanned,
        candidates=candidates,
        date_matches=date_matches,
        date_scores=date_scores,
        session_shares=(mass[candidates.sessions] / max(float(mass.sum()), _TINY)).astype(
            np.float32
        ),
    )


def compute_features(context: RankingContext) -> tuple[tuple[str, ...], Floats]:
    """Return the names of all features, and an array of shape (candidates, features)."""
    parts = (
        _similarity_features,
        _coverage_features,
        _session_features,
        _speaker_features,
        _date_features,
        _shape_features,
        _turn_features,
        _ngram_features,
    )
    names, columns = zip(*[feature for part in parts for feature in part(context)], strict=True)
    table = np.concatenate(columns, dtype=np.float32).reshape(len(names), -1)
    return names, table.T


def _similarity_features(context: RankingContext) -> Iterator[FeatureColumn]:
    candidates, scanned = context.candidates, context.scanned
    lexical_scale = np.float32(1 / max(scanned.max_lexical, _TINY))
    around_scale = np.float32(1 / max(scanned.max_lexical_around, _TINY))
    lexical, around = scanned.lexical, scanned.lexical_around
    similarity, similarity_weight = scanned.similarity, scanned.similarity_weight
    words, similarities, words_around = (
        lexical[candidates.rows] * lexical_scale,
        similarity[candidates.rows],
        around[candidates.rows] * around_scale,
    )
    has_companion = float(context.index.has_companion)
    yield "words", words
    yield "words_share", scanned.lexical[candidates.rows] / scanned.max_possible
    yield "words_around", words_around
    yield "words_around_share", scanned.lexical_around[candidates.rows] / scanned.max_possible
    yield "words_before", lexical[candidates.before] * lexical_scale
    yield "words_after", lexical[candidates.after] * lexical_scale
    yield "words_before2", lexical[candidates.before2] * lexical_scale
    yield "words_around_before2", around[candidates.before2] * around_scale
    yield "words_around_after2", around[candidates.after2] * around_scale
    yield "meaning", similarities
    yield "meaning_squared", np.square(np.maximum(similarities, 0)) / 4
    yield "meaning_before", similarity[candidates.before]
    yield "meaning_after", similarity[candidates.after]
    yield "meaning_before2", similarity[candidates.before2]
    yield "words_and_meaning", words * np.maximum(similarities, 0) / _TYPICAL_DEVIATIONS
    yield "words_with_companion", words * has_companion
    yield "meaning_with_companion", similarities * has_companion
    yield "words_alone", words * (1 - similarity_weight)
    yield "words_around_alone", words_around * (1 - similarity_weight)
    yield (
        "words_around_for_time",
        words_around * bool(context.parsed.answer_types & AnswerType.TIME),
    )


def _coverage_features(context: RankingContext) -> Iterator[FeatureColumn]:
    candidates, idf = context.candidates, context.scanned.idf
    words = max(len(idf), 1)
    weights = idf / np.float32(max(context.scanned.idf_sum, _TINY))
    covered = multiply(candidates.matches, weights)
    around = multiply(candidates.matches_around, weights)
    without_similarity = 1 - context.scanned.similarity_weight
    rarest = max(float(idf.max(initial=0)), _TINY)
    yield "covered", covered
    yield "covered_squared", np.square(covered)
    yield "covered_with_before", multiply(candidates.matches_with_previous, weights)
    yield "covered_around", around
    yield "covered_around_alone", around * without_similarity
    word_count = candidates.matches.sum(axis=1)
    yield "rarest_word", (candidates.matches * idf).max(axis=1, initial=0) / rarest
    yield "any_word", word_count > 0
    yield "share_of_words", word_count / words
    yield "three_words", word_count >= 3
    yield "words_together", candidates.adjacent_pairs / max(words - 1, 1)


def _session_features(context: RankingContext) -> Iterator[FeatureColumn]:
    candidates, scanned = context.candidates, context.scanned
    first_pass = scanned.first_pass[candidates.rows]
    best = max(float(first_pass.max(initial=0)), _TINY)
    yield "matching", first_pass / best
    yield "session_best", _max_by_session(context, first_pass)[candidates.sessions] / best
    yield "session_mass", context.session_shares
    words = np.bincount(
        candidates.sessions, scanned.lexical[candidates.rows], candidates.session_count
    )
    yield "session_words", words[candidates.sessions] / max(float(words.max(initial=0)), _TINY)
    covered = np.zeros((candidates.session_count, len(scanned.idf)), np.bool_)
    np.logical_or.at(covered, candidates.sessions, candidates.matches)
    share = multiply(covered, scanned.idf) / max(scanned.idf_sum, _TINY)
    yield "session_covered", share[candidates.sessions]
    if scanned.similarity_weight:
        closest = _max_by_session(context, scanned.similarity[candidates.rows])[candidates.sessions]
        yield "session_meaning", closest / max(float(scanned.similarity.max()), _TINY)
    else:
        yield "session_meaning", np.zeros_like(first_pass)


def _max_by_session(context: RankingContext, values: Floats) -> Floats:
    most = np.full(context.candidates.session_count, -10, dtype=np.float32)
    np.maximum.at(most, context.candidates.sessions, values)
    return most


def _speaker_features(context: RankingContext) -> Iterator[FeatureColumn]:
    candidates, match, columns = context.candidates, context.speaker_match, context.index.columns
    speaker = columns.speaker[candidates.rows]
    is_one_named, is_any_named = len(match.speakers) == 1, bool(match.speakers)
    speaks = (
        np.isin(speaker, match.speakers)
        if is_any_named
        else np.zeros(len(candidates.rows), np.bool_)
    )
    is_own = columns.is_person[candidates.rows]
    companion = columns.is_companion[candidates.rows]
    words = context.scanned.lexical[candidates.rows] / max(context.scanned.max_lexical, _TINY)
    in_first_person = (columns.features[candidates.rows] & int(MessageFeature.FIRST_PERSON)) != 0
    yield "named_speaks", speaks & is_one_named
    yield "another_speaks", ~speaks & is_one_named
    yield "named_speaks_words", (speaks & is_one_named) * words
    yield "named_speaks_of_self", speaks & is_one_named & in_first_person
    yield "mentions_named", candidates.mentions & is_any_named
    yield "another_mentions_named", candidates.mentions & ~speaks & is_any_named
    yield "mentioned_before", candidates.mentions_before & is_any_named
    yield "mine", is_own
    yield "mine_when_asked_as_i", is_own & match.is_self
    yield "another_when_asked_as_i", ~is_own & match.is_self
    yield "companion", companion
    yield "companion_when_asked_as_you", companion & context.parsed.is_second_person


def _date_features(context: RankingContext) -> Iterator[FeatureColumn]:
    said_at = context.index.columns.said_at
    yield "date_inside", context.date_matches
    yield "date_close", context.date_scores
    yield "date_missed", (1 - context.date_scores) * bool(context.parsed.spans)
    first, last = context.index.first_at, context.index.last_at
    relative_age = (said_at[context.candidates.rows] - first) / max(last - first, 1)
    yield "late_when_latest", relative_age * bool(context.parsed.answer_types & AnswerType.LATEST)
    yield (
        "late_when_earliest",
        relative_age * bool(context.parsed.answer_types & AnswerType.EARLIEST),
    )


def _shape_features(context: RankingContext) -> Iterator[FeatureColumn]:
    columns, rows = context.index.columns, context.candidates.rows
    characters = columns.characters[rows]
    length = np.log1p(characters, dtype=np.float32) - np.float32(context.index.mean_log_length)
    yield "length", length
    yield "length_squared", np.square(length)
    yield "short", characters < _SHORT_TEXT
    yield "length_with_companion", length * float(context.index.has_companion)
    features = columns.features[rows]
    yield from zip(_MESSAGE_FEATURE_NAMES, (features & _MESSAGE_FEATURE_BITS) != 0, strict=True)
    asked_for = (_ANSWER_TYPE_BITS & np.uint32(context.parsed.answer_types)) != 0
    yield from zip(
        _ANSWER_PAIR_NAMES, ((features & _ANSWER_FEATURE_BITS) != 0) & asked_for, strict=True
    )


def _turn_features(context: RankingContext) -> Iterator[FeatureColumn]:
    index, candidates, lexical = context.index, context.candidates, context.scanned.lexical
    best = max(context.scanned.max_lexical, _TINY)
    question = int(MessageFeature.QUESTION)
    asks = (index.columns.features[candidates.rows] & question) != 0
    asked_before = (
        index.take_neighbors(index.columns.features, candidates.before, 0) & question
    ) != 0
    asked_after = (
        index.take_neighbors(index.columns.features, candidates.after, 0) & question
    ) != 0
    speaker = index.columns.speaker[candidates.rows]
    yield (
        "same_speaker_before",
        index.take_neighbors(index.columns.speaker, candidates.before, -1) == speaker,
    )
    yield "asked_before", asked_before
    yield "asked_before_words", asked_before * lexical[candidates.before] / best
    yield "asks_and_is_answered", asks & ~asked_after
    yield "asks_and_is_answered_words", asks * lexical[candidates.after] / best
    yield "opens_session", candidates.before == NO_NEIGHBOR
    yield "closes_session", candidates.after == NO_NEIGHBOR


def _ngram_features(context: RankingContext) -> Iterator[FeatureColumn]:
    candidates, ngrams = context.candidates, context.scanned.ngrams
    yield "ngrams", ngrams[candidates.rows]
    yield "ngrams_before", ngrams[candidates.before]
    yield "ngrams_after", ngrams[candidates.after]
