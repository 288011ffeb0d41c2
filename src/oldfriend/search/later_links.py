"""Later links: which later messages may correct, change or end what a message says.

A logistic regression over shared words, closeness in meaning, and how much the later message reads
like an update; no list of words of any language.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from oldfriend.lang.update_detection import compute_update_logit
from oldfriend.search.search_index import PersonIndex
from oldfriend.search.tokenizer import is_stop_word, to_term, tokenize
from oldfriend.search.types import Floats

# Fitted by `oldfriend_evals.update_link_training` to the ended facts of the lives in `blind/` and
# to `corrections/`. Held out, the message that changes another comes first among some hundred later
# ones in 65 of 100 corrections, and in 4 of 10 facts that have ended.
IDF_WEIGHT: Final = 0.100
SHARE_WEIGHT: Final = 6.95
COSINE_WEIGHT: Final = 2.54
DEVIATION_WEIGHT: Final = 1.362
UPDATE_WEIGHT: Final = 2.11
BIAS: Final = -4.01
BIAS_WITHOUT_VECTOR: Final = -1.11

# As in the full scan: in a history of a few messages every word is rare, and a cosine is its mean.
_PSEUDO_DOCUMENTS: Final = 20
_PRIOR_COSINE: Final = 0.2
_PRIOR_DEVIATION: Final = 0.1
_PRIOR_WEIGHT: Final = 10
_TINY: Final = 1e-6
_COMPARED_AT_ONCE: Final = 16
MAX_NEXT: Final = 3
"""Messages after another that count as said right after it."""


class LaterLink(NamedTuple):
    """A later message, and the logit that it tells something else of the same matter.

    By what both have in common; `weigh_update` adds what the later message says.
    """

    seq: int
    logit: float
    is_next: bool  # one of the few that came right after
    among: int  # the later messages of which it is one


class LinkFeatures(NamedTuple):
    """What is compared of a message and each one after it, by position in the index."""

    idf: Floats  # of the words that both have
    share: Floats  # of the message's words, weighted by their rarity
    cosine: Floats
    deviation: Floats  # of the cosine from the mean, in standard deviations
    has_vector: bool


def list_later_links(
    index: PersonIndex,
    changed: Mapping[int, Collection[int]],
    *,
    excluded_seqs: Collection[int] = (),
    limit: int,
) -> dict[int, list[LaterLink]]:
    """List for each message the later ones likeliest to change what it says, the likeliest first.

    Those right after it are listed in any case. ``changed`` gives the terms of each message by seq,
    those of `extract_link_terms`. The companion changes nothing.
    """
    positions = index.find_known_positions(changed)
    may_change = ~index.build_mask(excluded_seqs)
    features = compare_messages(index, [*positions.values()], [changed[seq] for seq in positions])
    return {
        seq: select_later_links(index, position, compute_logits(compared), may_change, limit)
        for (seq, position), compared in zip(positions.items(), features, strict=True)
    }


def select_later_links(
    index: PersonIndex, position: int, logits: Floats, may_change: NDArray[np.bool_], limit: int
) -> list[LaterLink]:
    """Select the likeliest links of a message by the logits of all others, and the next ones."""
    later = np.flatnonzero(find_later(index, position) & may_change)
    following = later[np.searchsorted(later, position) :][:MAX_NEXT].tolist()
    best = later[list_highest(logits[later], limit)].tolist()
    rest = (each for each in following if each not in best)
    chosen = [*best, *sorted(rest, key=lambda each: -logits[each])]
    return [
        LaterLink(int(index.columns.seq[each]), float(logits[each]), each in following, len(later))
        for each in chosen
    ]


def list_earlier_links(
    index: PersonIndex, seq: int, terms: Collection[int], *, limit: int
) -> list[int]:
    """List the messages before another that it is likeliest to change, and those just before it.

    A first choice by what is the same in both directions; `list_later_links` weighs each.
    """
    positions = index.find_known_positions([seq])
    if not positions:
        return []
    columns = index.columns
    is_earlier = (columns.seq < seq) & ~columns.is_companion & (columns.length > 0)
    earlier = np.flatnonzero(is_earlier)
    (features,) = compare_messages(index, [positions[seq]], [terms])
    best = list_highest(compute_logits(features)[earlier], limit)
    found: list[int] = columns.seq[np.union1d(earlier[best], earlier[-MAX_NEXT:])].tolist()
    return found


def weigh_update(link: LaterLink, text: str) -> float:
    """Return the logit of a link to a message of a text: greater if it tells an update."""
    return link.logit + UPDATE_WEIGHT * compute_update_logit(text)


def list_highest(values: Floats, limit: int) -> NDArray[np.integer]:
    """Return the places of the highest values, the highest first; of equals the first."""
    places = np.arange(len(values))
    if limit < len(values):
        places = np.sort(np.argpartition(-values, limit)[:limit])
    return places[np.argsort(-values[places], kind="stable")]


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


def compare_messages(
    index: PersonIndex, positions: Sequence[int], terms: Sequence[Collection[int]]
) -> Iterator[LinkFeatures]:
    """Compare each of some messages, of the given terms, with all others."""
    for first in range(0, len(positions), _COMPARED_AT_ONCE):
        some = positions[first : first + _COMPARED_AT_ONCE]
        rows = np.array(some, np.int64)
        has_vector = index.vector_mask[rows] > 0
        cosines = index.vectors.compute_many_cosines(index.vectors.get_rows(rows))
        cosines *= index.vector_mask
        cosines *= has_vector[:, None]
        cosines[np.arange(len(some)), rows] = 0
        for own, cosine, is_known in zip(terms[first:], cosines, has_vector.tolist(), strict=False):
            yield build_link_features(index, own, cosine, has_vector=is_known)


def build_link_features(
    index: PersonIndex, terms: Collection[int], cosine: Floats, *, has_vector: bool
) -> LinkFeatures:
    """Return the features of a message's terms, and of its cosine with each other message."""
    hits = index.find_hits([[term] for term in terms])
    documents = np.bincount(hits.words, minlength=len(terms))
    weights = np.log1p((len(index) + _PSEUDO_DOCUMENTS - documents + 0.5) / (documents + 0.5))
    idf = np.bincount(hits.messages, weights[hits.words], len(index)).astype(np.float32)
    deviation = np.zeros(len(index), np.float32)
    if has_vector:
        known = float(index.vector_mask.sum()) - 1 + _PRIOR_WEIGHT
        mean = (float(cosine.sum()) + _PRIOR_WEIGHT * _PRIOR_COSINE) / known
        squares = float(cosine @ cosine) + _PRIOR_WEIGHT * (_PRIOR_COSINE**2 + _PRIOR_DEVIATION**2)
        spread = np.sqrt(max(squares / known - mean * mean, _TINY))
        deviation = (cosine - np.float32(mean)) * np.float32(1 / spread) * index.vector_mask
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


def compute_novelty(index: PersonIndex, seq: int, terms: Collection[int]) -> float:
    """Return the share of a message's terms that no earlier message holds; 0 if it has none.

    The companion's messages do not count. ``terms`` are those of `extract_link_terms`.
    """
    if not terms:
        return 0.0
    hits = index.find_hits([[term] for term in terms])
    is_earlier = (index.columns.seq < seq) & ~index.columns.is_companion
    known = np.unique(hits.words[is_earlier[hits.messages]])
    return 1 - len(known) / len(terms)
