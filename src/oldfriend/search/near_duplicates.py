"""Near duplicates: results that nearly equal a newer one by their vectors."""

from collections.abc import Sequence

import numpy as np

from oldfriend.search.types import Floats, multiply

_DUPLICATE_SIMILARITY = 0.85
_DUPLICATE_SCORE = 0.05
"""The least score of one of two that nearly equal, as a share of the other's.

Where a model has no words for a language, its vectors of different texts are nearly equal.
"""


def list_older_duplicates(
    vectors: Floats, said_at: Sequence[int], scores: Sequence[float]
) -> frozenset[int]:
    """Return the positions of those that nearly equal a newer one that is no duplicate itself.

    Two that nearly equal answer a question about as well.
    """
    likely = np.asarray(scores, np.float64)
    is_similar = multiply(vectors, vectors.T) > _DUPLICATE_SIMILARITY
    is_similar &= likely >= _DUPLICATE_SCORE * likely[:, None]
    is_similar &= is_similar.T
    np.fill_diagonal(is_similar, val=False)
    is_duplicate = np.zeros(len(said_at), np.bool_)
    positions = np.flatnonzero(is_similar.any(axis=1)).tolist()
    for position in sorted(positions, key=lambda at: (-said_at[at], at)):
        if not is_duplicate[position]:
            is_duplicate |= is_similar[position]
    return frozenset(np.flatnonzero(is_duplicate).tolist())
