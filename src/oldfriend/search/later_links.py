"""Later links: which later messages may correct, change or end what a message says.

A logistic regression over shared words and closeness in meaning; no word of any language.
"""

from collections.abc import Collection
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.search_index import PersonIndex
from oldfriend.search.tokenizer import is_stop_word, to_term, tokenize
from oldfriend.search.types import Floats

# Fitted by `oldfriend_evals.later_links` to the ended facts of the lives in `blind/` and to
# `corrections/`. Held out, the message that changes another comes first among some hundred later
# ones in 8 of 10 corrections, and in half of the facts that have ended.
IDF_WEIGHT: Final = 0.149
SHARE_WEIGHT: Final = 6.10
COSINE_WEIGHT: Final = 2.33
DEVIATION_WEIGHT: Final = 1.129
BIAS: Final = -6.66
BIAS_WITHOUT_VECTOR: Final = -5.57

# As in the full scan: in a history of a few messages every word is rare, and a cosine is its mean.
_PSEUDO_DOCUMENTS: Final = 20
_PRIOR_COSINE: Final = 0.2
_PRIOR_DEVIATION: Final = 0.1
_PRIOR_WEIGHT: Final = 10
_TINY: Final = 1e-6
MAX_NEXT: Final = 3
"""Messages after another that count as said right after it."""


class LaterLink(NamedTuple):
    """A later message, and the logit that it tells something else of the same matter."""

    seq: int
    logit: float
    is_next: bool  # one of the few that came right after


class LinkFeatures(NamedTuple):
    """What is compared of a message and each one after it, by position in the index."""

    idf: Floats  # of the words that both have
    share: Floats  # of the message's words, weighted by their rarity
    cosine: Floats
    deviation: Floats  # of the cosine from the mean, in standard deviations
    has_vector: bool


def list_later_links(
    index: PersonIndex,
    seq: int,
    terms: Collection[int],
    *,
    excluded_seqs: Collection[int] = (),
    limit: int,
) -> list[LaterLink]:
    """List the later messages likeliest to change what a message says, and those right after it.

    The likeliest first. ``terms`` are those of `extract_link_terms`. The companion changes nothing.
    """
    position = np.flatnonzero(index.build_mask([seq]))
    if not len(position):
        return []
    is_later = find_later(index, int(position[0])) & ~index.build_mask(excluded_seqs)
    later = np.flatnonzero(is_later)
    features = compute_link_features(index, int(position[0]), terms)
    logits = compute_logits(features)[later]
    following = np.flatnonzero(later > position[0])[:MAX_NEXT]
    best = np.argsort(-logits, kind="stable")
    best = best[(np.arange(len(best)) < limit) | np.isin(best, following)]
    return [
        LaterLink(int(seq), float(logit), bool(is_next))
        for seq, logit, is_next in zip(
            index.columns.seq[later[best]], logits[best], np.isin(best, following), strict=True
        )
    ]


def list_earlier_links(
    index: PersonIndex, seq: int, terms: Collection[int], *, limit: int
) -> list[int]:
    """List the messages before another that it is likeliest to change, and those just before it.

    A first choice by what is the same in both directions; `list_later_links` weighs each.
    """
    position = np.flatnonzero(index.build_mask([seq]))
    if not len(position):
        return []
    columns, own = index.columns, int(position[0])
    is_earlier = (columns.seq < seq) & ~columns.is_companion & (columns.length > 0)
    earlier = np.flatnonzero(is_earlier)
    logits = compute_logits(compute_link_features(index, own, terms))[earlier]
    best = np.argsort(-logits, kind="stable")[:limit]
    found: list[int] = columns.seq[np.union1d(earlier[best], earlier[-MAX_NEXT:])].tolist()
    return found


def extract_link_terms(text: str, language: str) -> frozenset[int]:
    """Return the stems of a text's content words; in unspaced scripts each character counts."""
    return frozenset(
        to_term(word, language) for word in tokenize(text) if not is_stop_word(word, language)
    )


def find_later(index: PersonIndex, position: int) -> NDArray[np.bool_]:
    """Return a mask of what others than the companion said after a message."""
    columns = index.columns
    at, seq = columns.said_at[position], columns.seq[position]
    is_later = (columns.said_at > at) | ((columns.said_at == at) & (columns.seq > seq))
    later: NDArray[np.bool_] = is_later & ~columns.is_companion & (columns.length > 0)
    return later


def compute_link_features(
    index: PersonIndex, position: int, terms: Collection[int]
) -> LinkFeatures:
    """Compare a message with all others."""
    count, idf = len(index), np.zeros(len(index), np.float32)
    hits = index.find_hits([[term] for term in terms])
    documents = np.bincount(hits.words, minlength=len(terms))
    weights = np.log1p((count + _PSEUDO_DOCUMENTS - documents + 0.5) / (documents + 0.5))
    np.add.at(idf, hits.messages, weights[hits.words].astype(np.float32))
    cosine, deviation = np.zeros(count, np.float32), np.zeros(count, np.float32)
    has_vector = bool(index.vector_mask[position])
    if has_vector:
        vector = index.vectors.get_rows(np.array([position]))[0]
        cosine = index.vectors.compute_cosines(vector) * index.vector_mask
        cosine[position] = 0
        known = float(index.vector_mask.sum()) - 1 + _PRIOR_WEIGHT
        mean = (float(cosine.sum()) + _PRIOR_WEIGHT * _PRIOR_COSINE) / known
        squares = float(cosine @ cosine) + _PRIOR_WEIGHT * (_PRIOR_COSINE**2 + _PRIOR_DEVIATION**2)
        spread = np.sqrt(max(squares / known - mean * mean, _TINY))
        deviation = ((cosine - mean) / spread * index.vector_mask).astype(np.float32)
    return LinkFeatures(
        idf=idf,
        share=idf / np.float32(max(float(weights.sum()), _TINY)),
        cosine=cosine,
        deviation=deviation,
        has_vector=has_vector,
    )


def compute_logits(features: LinkFeatures) -> Floats:
    """Return for each message the logit that it changes what the one compared says."""
    logits: Floats = (
        np.float32(BIAS if features.has_vector else BIAS_WITHOUT_VECTOR)
        + np.float32(IDF_WEIGHT) * features.idf
        + np.float32(SHARE_WEIGHT) * features.share
        + np.float32(COSINE_WEIGHT) * features.cosine
        + np.float32(DEVIATION_WEIGHT) * features.deviation
    )
    return logits
