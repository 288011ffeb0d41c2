"""Nearness of beliefs to texts, by shared words, meaning and whom both are about."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from math import log, sqrt
from typing import Final

from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import MemoryState
from oldfriend.search.shared_topics import extract_content_terms

COSINE_WEIGHT: Final = 2.0
MENTION_WEIGHT: Final = 0.3
"""What meaning, and being about somebody named, count beside shared words."""


def build_nearness_measure(
    known: Sequence[MemoryState],
    texts: Iterable[str],
    cosines: Mapping[str, float],
    mentioned: Collection[EntityId] = (),
) -> Callable[[MemoryState], float]:
    """Return a function that measures how near a belief is to some texts.

    By shared words, a rare one counting for more, by meaning, and by whom both are about.
    ``cosines`` are the greatest cosines of beliefs' texts with these texts, as far as known.
    """
    text = "\n".join(texts)
    said = cache(lambda language: extract_content_terms(text, language))
    terms_by_id = {each.memory.id: list_belief_terms(each) for each in known}
    counts = Counter(term for terms in terms_by_id.values() for term in terms)

    weights = {term: log(1 + len(terms_by_id) / count) for term, count in counts.items()}

    def weigh(terms: Iterable[int]) -> float:
        return sum(weights[term] for term in terms)

    def get_nearness(each: MemoryState) -> float:
        memory = each.memory
        terms = terms_by_id[memory.id]
        both = terms & said(memory.language)
        shared = weigh(both) / sqrt(max(weigh(terms), 1.0)) if both else 0.0
        is_about = not set(memory.entities).isdisjoint(mentioned)
        meant = COSINE_WEIGHT * cosines.get(memory.text, 0.0)
        return shared + meant + MENTION_WEIGHT * is_about

    return get_nearness


def list_belief_terms(known: MemoryState) -> frozenset[int]:
    """Return the content terms of a belief."""
    memory = known.memory
    return extract_content_terms(f"{memory.text} {memory.value}", memory.language)
