"""Near duplicates: results that nearly equal a newer one by their vectors."""

from collections.abc import Sequence

import numpy as np

from oldfriend.search.types import Floats, multiply

_DUPLICATE_SIMILARITY = 0.85


def list_older_duplicates(vectors: Floats, said_at: Sequence[int]) -> frozenset[int]:
    """Return the positions of those that nearly equal a newer one that is no duplicate itself."""
    is_similar = multiply(vectors, vectors.T) > _DUPLICATE_SIMILARITY
    np.fill_diagonal(is_similar, val=False)
    is_duplicate = np.zeros(len(said_at), np.bool_)
    positions = np.flatnonzero(is_similar.any(axis=1)).tolist()
    for position in sorted(positions, key=lambda at: (-said_at[at], at)):
        if not is_duplicate[position]:
            is_duplicate |= is_similar[position]
    return frozenset(np.flatnonzero(is_duplicate).tolist())
