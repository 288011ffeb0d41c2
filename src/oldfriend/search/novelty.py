"""Novelty: how much of what a message says was said in none before it."""

from collections.abc import Collection

import numpy as np

from oldfriend.search.search_index import PersonIndex


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
