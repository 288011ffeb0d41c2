"""Belief scope: the beliefs of a time, or about somebody or something."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.ids import EntityId, MemoryId
from oldfriend.domain.memories import MemoryState
from oldfriend.search.belief_results import BeliefSearchResult
from oldfriend.search.belief_search import BeliefIndex
from oldfriend.search.belief_weight import find_time_range
from oldfriend.search.mention_index import build_mention_text
from oldfriend.search.name_index import contains_name
from oldfriend.search.types import MessageScope

MAX_BELIEFS_IN_SCOPE: Final = 500
"""The most beliefs that are ranked before those outside a scope are dropped."""


def list_ids_about(
    beliefs: BeliefIndex, entity_ids: Sequence[EntityId], names: Sequence[str]
) -> set[MemoryId]:
    """List the beliefs, live and ended, about these entities or that hold one of the names."""
    folded = [name.strip().casefold() for name in names if name.strip()]
    about = [known for each in entity_ids for known in beliefs.list_about(each, with_ended=True)]
    about += [
        known
        for known in beliefs.known
        if any(contains_name(build_mention_text(known.memory), name) for name in folded)
    ]
    relations = (
        neighbor.known
        for each in entity_ids
        for neighbor in beliefs.graph.list_neighbors(each, matches=lambda _: True)
    )
    return {known.memory.id for known in (*about, *relations)}


def limit_to_scope(
    found: BeliefSearchResult,
    message_scope: MessageScope | None,
    belief_ids: Collection[MemoryId] | None,
    *,
    limit: int,
) -> BeliefSearchResult:
    """Return the best beliefs within a scope, of those named if any are named.

    What somebody said is asked for in their own words, so no belief stands for it.
    """
    hits = [
        hit
        for hit in found.hits
        if (belief_ids is None or hit.known.memory.id in belief_ids)
        and (message_scope is None or is_in_scope(hit.known, message_scope))
    ]
    return replace(found, hits=tuple(hits[:limit]), other_times=())


def is_in_scope(known: MemoryState, message_scope: MessageScope) -> bool:
    """Tell whether a belief is of a time: said, happened, held or due then."""
    if message_scope.role or message_scope.speakers:
        return False
    return happened_within(known, message_scope) or overlaps(
        (known.stats.first_seen, known.stats.last_seen), message_scope
    )


def happened_within(known: MemoryState, message_scope: MessageScope) -> bool:
    """Tell whether a belief is of something that happened, began or is due in a time."""
    held = find_time_range(known.memory)
    return held is not None and overlaps(held, message_scope)


def overlaps(span: tuple[int, int], message_scope: MessageScope) -> bool:
    """Tell whether a span of time and a scope overlap."""
    first, last = span
    return (message_scope.since is None or last >= message_scope.since) and (
        message_scope.until is None or first < message_scope.until
    )
