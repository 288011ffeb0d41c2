"""Full scan: a cheap lexical and vector score for every message in one pass.

The scores only have to bring the right messages among a few hundred candidates; ranking is done
elsewhere.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.lang.language_pack import get_traits
from oldfriend.search.postings import TermHits
from oldfriend.search.query_parser import ParsedQuery
from oldfriend.search.search_index import BM25_K1, PersonIndex
from oldfriend.search.tokenizer import to_ngrams
from oldfriend.search.types import (
    TRAINING_BASELINE,
    Floats,
    Ints,
    SearchQuery,
    SimilarityBaseline,
    multiply,
)

Bools: TypeAlias = NDArray[np.bool_]

# The first pass only has to bring the right messages among a few hundred candidates.
_WORDS_WEIGHT: Final = 3.0
_NGRAMS_WEIGHT: Final = 3.0
_BEFORE_WEIGHT: Final = 0.3
_AFTER_WEIGHT: Final = 0.15
_TINY: Final = 1e-6
# Prior for the cosines of a query with messages. In a small history the observed ones say little
# about what is close: a single message is its own mean.
_PRIOR_COSINE: Final = 0.2
_PRIOR_DEVIATION: Final = 0.1
_PRIOR_WEIGHT: Final = 10  # messages
# Added to the document count: in a history of one message every word would be common.
_PSEUDO_DOCUMENTS: Final = 20
_BLOCK_CELLS: Final = 1 << 18  # words × messages: as many as stay in the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScanScores:
    """Scores of all messages; arrays by message have an extra zero at the end for NO_NEIGHBOR."""

    searchable: Bools  # messages that may be found; without the extra element
    lexical: Floats  # BM25
    lexical_around: Floats  # BM25 of a message with its neighbors
    max_lexical: float
    max_lexical_around: float
    ngrams: Floats  # BM25 of the words' character n-grams, as a share of the best message's
    similarity: Floats  # cosine, as standard deviations above the person's mean
    cosine: Floats
    first_pass: Floats  # weighted sum of the scores, which selects the candidates
    idf: Floats  # of each query word
    idf_sum: float
    is_known_word: tuple[bool, ...]  # whether any message holds it
    max_possible: float  # BM25 of a short message that holds every word
    similarity_weight: float  # 1, or 0 without usable vectors
    mean_cosine: float


def scan(
    index: PersonIndex, query: SearchQuery, parsed: ParsedQuery, searchable: Bools
) -> ScanScores:
    """Score every message; only those marked in `searchable` may be found."""
    lexical, lexical_around, idf, is_known = _score_terms(index, parsed, searchable)
    ngrams = _score_ngrams(index, parsed, searchable)
    cosine, similarity, mean_cosine = _score_vectors(index, query, searchable)
    has_similarity = bool(similarity.any())
    max_lexical, max_around, idf_sum = map(float, (lexical.max(), lexical_around.max(), idf.sum()))
    first_pass = lexical * np.float32(_WORDS_WEIGHT / max(max_lexical, _TINY))
    first_pass += lexical_around * np.float32(_WORDS_WEIGHT / max(max_around, _TINY))
    first_pass += np.float32(_NGRAMS_WEIGHT) * ngrams
    if has_similarity:
        # What has no vector yet is as close as its words are: the best by words as the closest.
        by_words = lexical * np.float32(float(similarity.max()) / max(max_lexical, _TINY))
        similarity += (similarity == 0) * by_words
        first_pass += similarity
        first_pass[:-1] += np.float32(_BEFORE_WEIGHT) * similarity[index.previous]
        first_pass[:-1] += np.float32(_AFTER_WEIGHT) * similarity[index.following]
    return ScanScores(
        searchable=searchable,
        lexical=lexical,
        lexical_around=lexical_around,
        max_lexical=max_lexical,
        max_lexical_around=max_around,
        ngrams=ngrams,
        similarity=similarity,
        cosine=cosine,
        first_pass=first_pass,
        idf=idf,
        idf_sum=idf_sum,
        is_known_word=is_known,
        max_possible=idf_sum * (BM25_K1 + 1) + _TINY,
        similarity_weight=float(has_similarity),
        mean_cosine=mean_cosine,
    )


def _score_terms(
    index: PersonIndex, parsed: ParsedQuery, searchable: Bools
) -> tuple[Floats, Floats, Floats, tuple[bool, ...]]:
    count = len(index)
    own = np.zeros(count + 1, np.float32)
    around = np.zeros(count + 1, np.float32)
    hits = index.find_hits([word.terms for word in parsed.words])
    document_counts = np.bincount(hits.words, minlength=len(parsed.words))
    weights = _compute_idf(document_counts, count)
    factors = (weights * (BM25_K1 + 1)).astype(np.float32)
    messages, counts = hits.messages, hits.counts
    counts *= searchable[messages]  # an excluded message adds nothing to its neighbors
    norms = index.length_norms[messages]
    np.add.at(own, messages, factors[hits.words] * counts / (counts + norms))
    at_once = max(_BLOCK_CELLS // (count + 1), 1)
    for first in range(0, len(factors), at_once):
        _add_around(around, index, hits.slice_words(first, first + at_once), factors[first:])
    return own, around, weights.astype(np.float32), tuple((document_counts > 0).tolist())


def _add_around(around: Floats, index: PersonIndex, hits: TermHits, factors: Floats) -> None:
    """Add the BM25 scores of some words in each message together with its neighbors."""
    width = len(around)
    table = np.zeros(width * (1 + int(hits.words.max(initial=-1))), np.float32)
    row = hits.words * width
    # NO_NEIGHBOR (-1) hits the last cell of the row before, which is cleared below.
    for messages in (hits.messages, index.previous[hits.messages], index.following[hits.messages]):
        table[row + messages] += hits.counts
    table[width - 1 :: width] = 0
    cells = np.flatnonzero(table > 0)
    word, message = np.divmod(cells, width)
    counts = table[cells]
    norms = index.context_length_norms
    np.add.at(around, message, factors[word] * counts / (counts + norms[message]))


def _score_ngrams(index: PersonIndex, parsed: ParsedQuery, searchable: Bools) -> Floats:
    """Score every message by the n-grams that its words share with the content words asked for."""
    scores = np.zeros(len(index) + 1, np.float32)
    ngrams = [gram for word in parsed.words for gram in to_ngrams(word.surface, parsed.language)]
    if not ngrams or not index.has_ngrams:
        return scores
    hits = index.find_ngram_hits(list(dict.fromkeys(ngrams)))
    document_counts = np.bincount(hits.words, minlength=1)
    weights = _compute_idf(document_counts, len(index)).astype(np.float32)
    counts = hits.counts * searchable[hits.messages]
    norms = index.ngram_length_norms[hits.messages]
    np.add.at(scores, hits.messages, weights[hits.words] * counts / (counts + norms))
    scores /= max(float(scores.max()), _TINY)
    return scores


def _compute_idf(document_counts: NDArray[np.integer], count: int) -> NDArray[np.float64]:
    """Return the weight of words by the number of messages that hold them."""
    weights: NDArray[np.float64] = np.log1p(
        (count + _PSEUDO_DOCUMENTS - document_counts + 0.5) / (document_counts + 0.5)
    )
    return weights


def _score_vectors(
    index: PersonIndex, query: SearchQuery, searchable: Bools
) -> tuple[Floats, Floats, float]:
    count = len(index)
    cosine = np.zeros(count + 1, np.float32)
    similarity = np.zeros(count + 1, np.float32)
    if not _has_usable_vectors(query):
        return cosine, similarity, 0.0
    means: list[tuple[float, float]] = []
    known = index.vector_mask * searchable
    embedding = query.embedding
    exact = _find_exact_cosines(index, query)
    if embedding is not None and index.vectors.dimension == len(embedding.vector) and known.any():
        cosine[:-1] = index.vectors.compute_cosines(embedding.vector)
        cosine[exact[0]] = exact[1]
        means.append(_standardize(cosine[:-1], similarity[:-1], known, embedding.baseline))
    for model, legacy in index.legacy_vectors.items():
        embedding, at = query.legacy_embeddings.get(model), legacy.positions
        known = legacy.mask * searchable[at]
        if (
            embedding is not None
            and legacy.vectors.dimension == len(embedding.vector)
            and known.any()
        ):
            cosines, standardized = (
                legacy.vectors.compute_cosines(embedding.vector),
                np.empty(len(at), np.float32),
            )
            _, here, there = np.intersect1d(at, exact[0], return_indices=True)
            cosines[here] = exact[1][there]
            means.append(_standardize(cosines, standardized, known, embedding.baseline))
            cosine[at] += cosines
            similarity[at] += standardized
    total = sum(count for count, _ in means)
    return cosine, similarity, sum(count * mean for count, mean in means) / max(total, 1)


def _has_usable_vectors(query: SearchQuery) -> bool:
    """Return whether vectors mean something in the language of a question."""
    traits, embedding = get_traits(query.language), query.embedding
    is_bundled = embedding is None or embedding.baseline is TRAINING_BASELINE
    return not traits.is_cjk or (is_bundled and traits.is_glossed)


def _find_exact_cosines(index: PersonIndex, query: SearchQuery) -> tuple[Ints, Floats]:
    """Return the positions whose exact cosines are known, and those cosines."""
    known = query.exact_cosines
    positions = np.flatnonzero(index.build_mask(known)).astype(np.int32)
    seqs = index.columns.seq[positions].tolist()
    return positions, np.fromiter(map(known.__getitem__, seqs), np.float32, len(seqs))


def _standardize(
    cosine: Floats, similarity: Floats, known: Floats, baseline: SimilarityBaseline
) -> tuple[float, float]:
    """Scale cosines to the training baseline and standardize them; return their count and mean."""
    if baseline is not TRAINING_BASELINE:
        cosine -= np.float32(baseline.mean)
        cosine *= np.float32(TRAINING_BASELINE.deviation / baseline.deviation)
        cosine += np.float32(TRAINING_BASELINE.mean)
    cosine *= known
    count = float(known.sum()) + _PRIOR_WEIGHT
    mean = (float(cosine.sum()) + _PRIOR_WEIGHT * _PRIOR_COSINE) / count
    spread = _PRIOR_WEIGHT * (_PRIOR_COSINE**2 + _PRIOR_DEVIATION**2)
    deviation = float(
        np.sqrt(max((float(multiply(cosine, cosine)) + spread) / count - mean * mean, _TINY))
    )
    np.multiply(cosine - np.float32(mean), known / np.float32(deviation), out=similarity)
    return count, mean
