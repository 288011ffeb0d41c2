"""Which hits should fill a prompt? Relevant ones that do not say the same thing twice."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from oldfriend.memory.search.values import Floats

_RELEVANCE_SHARE = 0.7
_SAME = 0.85


def diversify(
    scores: Sequence[float], vectors: Floats, said_at: Sequence[int], *, limit: int
) -> list[int]:
    """The positions to keep, in order: maximal marginal relevance over true pairwise vectors.

    Of two that are nearly the same (closer than .85) the newer is kept.
    """
    closeness = vectors @ vectors.T
    kept = np.flatnonzero(~_older_copies(closeness, said_at))
    worth = np.full(len(scores), -np.inf, np.float32)
    worth[kept] = _RELEVANCE_SHARE * np.asarray(scores, dtype=np.float32)[kept]
    repeated = (1 - _RELEVANCE_SHARE) * closeness
    repeats: Floats | None = None  # of each, by what is chosen
    chosen: list[int] = []
    while len(chosen) < min(limit, len(kept)):
        best = int((worth if repeats is None else worth - repeats).argmax())
        chosen.append(best)
        worth[best] = -np.inf
        repeats = repeated[best] if repeats is None else np.maximum(repeats, repeated[best])
    return chosen


def _older_copies(closeness: Floats, said_at: Sequence[int]) -> NDArray[np.bool_]:
    """Which are nearly the same as a newer one that is none itself."""
    same = closeness > _SAME
    np.fill_diagonal(same, val=False)
    are_copies = np.zeros(len(said_at), np.bool_)
    twins = np.flatnonzero(same.any(axis=1)).tolist()
    for position in sorted(twins, key=lambda at: (-said_at[at], at)):
        if not are_copies[position]:
            are_copies |= same[position]
    return are_copies
