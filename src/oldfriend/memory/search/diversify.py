"""Which hits should fill a prompt? Relevant ones that do not say the same thing twice."""

from collections.abc import Sequence

import numpy as np

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
    kept = _without_older_copies(closeness, said_at)
    worth = np.full(len(scores), -np.inf, np.float32)
    worth[kept] = _RELEVANCE_SHARE * np.asarray(scores, dtype=np.float32)[kept]
    repeats = np.full(len(scores), -np.inf, np.float32)
    chosen: list[int] = []
    while len(chosen) < min(limit, len(kept)):
        now = worth - (1 - _RELEVANCE_SHARE) * repeats if chosen else worth
        best = int(np.argmax(now))
        chosen.append(best)
        worth[best] = -np.inf
        np.maximum(repeats, closeness[:, best], out=repeats)
    return chosen


def _without_older_copies(closeness: Floats, said_at: Sequence[int]) -> list[int]:
    newest_first = sorted(range(len(said_at)), key=lambda at: (-said_at[at], at))
    kept: list[int] = []
    for position in newest_first:
        if not kept or closeness[position, kept].max() <= _SAME:
            kept.append(position)
    return sorted(kept)
