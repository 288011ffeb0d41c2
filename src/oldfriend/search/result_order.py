"""Result order: deduplicates belief results, sorts them by date and demotes current values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from oldfriend.domain.clock import Micros
from oldfriend.domain.memories import Memory, MemoryState
from oldfriend.domain.supersession import has_same_key
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.search.belief_results import ScoredBelief
from oldfriend.search.time_query import RecencyCandidate, rank_newest_first
from oldfriend.search.tokenizer import to_term, tokenize

DedupKey: TypeAlias = tuple[object, ...]

CACHE_SIZE: Final = 65_536

UNASKED_VALUE_FACTOR: Final = 0.5  # for a current value where former ones are asked for


def demote_current_values(hits: Sequence[ScoredBelief]) -> list[ScoredBelief]:
    """Lower the scores of current values that have a former one among the hits."""
    past = [each.known.memory for each in hits if each.known.memory.ended_at is not None]
    return [
        replace(each, score=each.score * UNASKED_VALUE_FACTOR)
        if _is_successor(each.known.memory, past)
        else each
        for each in hits
    ]


def _is_successor(memory: Memory, past: Sequence[Memory]) -> bool:
    """Tell whether a belief is current and its key has a former value in `past`."""
    if memory.ended_at is not None:
        return False
    is_relation = memory.kind == "triple"
    return any(
        has_same_key(memory, each) if is_relation else memory.key == each.key for each in past
    )


def deduplicate(best_first: Sequence[ScoredBelief]) -> list[ScoredBelief]:
    """Keep the best of the hits that say the same."""
    best: dict[DedupKey, ScoredBelief] = {}
    for hit in best_first:
        best.setdefault(build_dedup_key(hit.known.memory), hit)
    return list(best.values())


def sort_by_date(best_first: Sequence[ScoredBelief], now: Micros | None) -> list[ScoredBelief]:
    """Sort comparably good hits by date, newest first; those in the future come last."""
    dates = [get_belief_date(hit.known) for hit in best_first]
    past_dates = [at if now is None or at <= now else 0 for at in dates]
    order = rank_newest_first(
        [
            RecencyCandidate(hit.score, hit.reasons, at)
            for hit, at in zip(best_first, past_dates, strict=True)
        ]
    )
    return [
        replace(best_first[index], score=hit.score)
        for index, hit in zip(order, best_first, strict=True)
    ]


def get_belief_date(known: MemoryState) -> Micros:
    """Return when it happened, began or was last observed."""
    memory, stats = known.memory, known.stats
    if memory.kind == "pattern":
        return stats.last_seen
    return memory.happened_at or memory.holds_from or stats.first_seen


def build_dedup_key(memory: Memory) -> DedupKey:
    """Return the key that a belief shares with every other that says the same."""
    about = (memory.subject, memory.key.casefold(), _time_key(memory))
    if memory.kind == "triple":
        return (*about, *memory.entities)
    if memory.key and memory.value:
        return (*about, "value", *normalize_terms(memory.value, memory.language))
    return (*about, memory.kind, *normalize_terms(memory.text, memory.language))


@text_lru_cache(CACHE_SIZE)
def normalize_terms(text: str, language: str) -> tuple[int, ...]:
    """Return the terms of a text's words, in order."""
    return tuple(to_term(word, language) for word in tokenize(text))


def _time_key(memory: Memory) -> tuple[Micros | None, ...]:
    """Return the times that tell beliefs apart: of an event, and of what has ended."""
    if memory.ended_at is None:
        return memory.happened_at, memory.due_at
    return memory.happened_at, memory.due_at, memory.holds_from, memory.holds_until
