"""How does every message of a person stand to a question, at the price of a glance?

One pass over postings and vectors gives each message a lexical and a vector score; what the
best of them are worth is weighed elsewhere.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.language import CJK_LANGUAGES
from oldfriend.memory.search.asking import Asked
from oldfriend.memory.search.index import PersonIndex
from oldfriend.memory.search.values import Floats, Ints, Question

_SATURATION: Final = 1.2
_LENGTH_SHARE: Final = 0.6
_MOST_CANDIDATES: Final = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan:
    """Scores of all messages. Each array has one place more, a zero, for "no neighbour"."""

    lexical: Floats  # BM25
    lexical_around: Floats  # BM25 of a message with its neighbours
    meaning: Floats  # cosine, as standard deviations above the person's mean
    cosine: Floats
    matching: Floats  # the first weighing of them all
    idf: Floats  # of each query word
    possible: float  # BM25 of a short message that holds every word
    meaning_weight: float
    vector: Floats | None


def scan(index: PersonIndex, question: Question, asked: Asked) -> Scan:
    """Score every message."""
    lexical, around, idf = _lexical(index, asked)
    cosine, meaning = _meaning(index, question)
    has_meaning = bool(meaning.any())
    best, best_around = max(float(lexical.max()), 1e-6), max(float(around.max()), 1e-6)
    matching = lexical * (3.0 / best) + around * (3.0 / best_around)
    if has_meaning:
        matching += meaning
        matching[:-1] += 0.3 * meaning[index.previous] + 0.15 * meaning[index.following]
    return Scan(
        lexical=lexical,
        lexical_around=around,
        meaning=meaning,
        cosine=cosine,
        matching=matching,
        idf=idf,
        possible=float(idf.sum()) * (_SATURATION + 1) + 1e-6,
        meaning_weight=float(has_meaning),
        vector=question.vector if has_meaning else None,
    )


def _lexical(index: PersonIndex, asked: Asked) -> tuple[Floats, Floats, Floats]:
    count = len(index)
    none = count
    own = np.zeros(count + 1, np.float32)
    around = np.zeros(count + 1, np.float32)
    near = np.zeros(count + 1, np.float32)
    idf = np.zeros(len(asked.words), np.float32)
    damping, damping_around = index.length_damping(_SATURATION, _LENGTH_SHARE)
    for at, word in enumerate(asked.words):
        messages, counts = index.holding(word.terms)
        if not len(messages):
            idf[at] = np.log1p((count + 0.5) / 0.5)
            continue
        weight = float(np.log1p((count - len(messages) + 0.5) / (len(messages) + 0.5)))
        idf[at] = weight
        factor = np.float32(weight * (_SATURATION + 1))
        own[messages] += factor * counts / (counts + damping[messages])
        before, after = index.previous[messages], index.following[messages]
        near[messages] += counts
        near[before] += counts
        near[after] += counts
        touched = np.concatenate([messages, before, after])
        here = near[touched]
        around[touched] += factor * here / (here + damping_around[touched])
        # A message that stands there twice got its part once: the right sides were equal.
        near[touched] = 0
    own[none] = around[none] = 0
    return own, around, idf


def _meaning(index: PersonIndex, question: Question) -> tuple[Floats, Floats]:
    count = len(index)
    cosine = np.zeros(count + 1, np.float32)
    meaning = np.zeros(count + 1, np.float32)
    vector = question.vector
    if vector is None or question.language in CJK_LANGUAGES or index.vectors.shape[1] != len(vector):
        return cosine, meaning
    known = index.understood
    if not known.any():
        return cosine, meaning
    np.matmul(index.vectors, vector, out=cosine[:-1])
    cosine[:-1] *= known
    heard = int(known.sum())
    mean = float(cosine.sum()) / heard
    deviation = float(np.sqrt(max(float(cosine @ cosine) / heard - mean * mean, 1e-8)))
    meaning[:-1] = (cosine[:-1] - mean) * (known / np.float32(deviation))
    return cosine, meaning


def candidates(index: PersonIndex, question: Question, scanned: Scan) -> Ints:
    """The messages worth a closer look."""
    matching = scanned.matching[:-1].copy()
    matching[index.columns.length == 0] = -np.inf
    if question.exclude:
        matching[index.positions_mask(question.exclude)] = -np.inf
    if len(matching) > _MOST_CANDIDATES:
        best = np.argpartition(matching, -_MOST_CANDIDATES)[-_MOST_CANDIDATES:]
    else:
        best = np.arange(len(matching))
    return best[np.isfinite(matching[best])].astype(np.int32)
