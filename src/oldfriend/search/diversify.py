"""Diversification: picks relevant results that do not repeat each other (MMR)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oldfriend.search.types import Floats, multiply

_MMR_LAMBDA = 0.7
_DUPLICATE_SIMILARITY = 0.85


def diversify(
    scores: Sequence[float], vectors: Floats, said_at: Sequence[int], *, limit: int
) -> list[int]:
    """Return the positions to keep, in order of maximal marginal relevance over pairwise cosines.

    Of two near-duplicates (a cosine above .85) the newer one is kept.
    """
    similarity = multiply(vectors, vectors.T)
    kept = np.flatnonzero(~_find_older_duplicates(similarity, said_at))
    relevance = np.full(len(scores), -np.inf, np.float32)
    relevance[kept] = _MMR_LAMBDA * np.asarray(scores, dtype=np.float32)[kept]
    redundancy = (1 - _MMR_LAMBDA) * similarity
    penalty: Floats | None = None  # highest similarity of each to the chosen ones
    chosen: list[int] = []
    while len(chosen) < min(limit, len(kept)):
        best = int((relevance if penalty is None else relevance - penalty).argmax())
        chosen.append(best)
        relevance[best] = -np.inf
        penalty = redundancy[best] if penalty is None else np.maximum(penalty, redundancy[best])
    return chosen


def _find_older_duplicates(similarity: Floats, said_at: Sequence[int]) -> NDArray[np.bool_]:
    """Return a mask of those that nearly equal a newer one that is no duplicate itself."""
    is_similar = similarity > _DUPLICATE_SIMILARITY
    np.fill_diagonal(is_similar, val=False)
    is_duplicate = np.zeros(len(said_at), np.bool_)
    positions = np.flatnonzero(is_similar.any(axis=1)).tolist()
    for position in sorted(positions, key=lambda at: (-said_at[at], at)):
        if not is_duplicate[position]:
            is_duplicate |= is_similar[position]
    return is_duplicate
