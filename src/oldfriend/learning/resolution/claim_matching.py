"""Claim matching: finds the belief that a claim means, by merge history or the nearest match.

What the person has merged or kept apart stays so, however often its words are read again.
"""

from collections.abc import Iterable

from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId
from oldfriend.domain.memories import MemoryState, StoredBelief
from oldfriend.learning.extraction import Claim
from oldfriend.learning.resolution.attribute_resolution import fold_value
from oldfriend.learning.resolution.resolution_state import ResolutionState

EVENT_WINDOW = 30 * DAY
"""Two reports of an event within this time are about the same event."""
DUE_TOLERANCE = 2 * DAY
"""Two statements of a due time may differ by this much and mean the same."""


def find_merge_target(state: ResolutionState, claim: Claim) -> MemoryState | None:
    """Return the current belief that a claim's statement was merged into."""
    merged_by_id = {memory.id: memory for memory in state.context.merged}
    for memory in merged_by_id.values():
        if is_same_statement(state, claim, memory):
            current: StoredBelief | None = memory
            while current is not None and current.status == "merged":
                links = [link.target for link in current.relations if link.kind == "merged_into"]
                known = state.known.get(MemoryId(links[-1])) if links else None
                if known is not None and known.memory.ended_at is None:
                    return known
                current = merged_by_id.get(MemoryId(links[-1])) if links else None
    return None


def is_same_statement(state: ResolutionState, claim: Claim, memory: StoredBelief) -> bool:
    """Return whether a claim says what a memory says, about the same time."""
    if (claim.kind, claim.subject, claim.key) != (memory.kind, memory.subject, memory.key):
        return False
    if claim.kind == "event":
        at = claim.happened_at or state.get_said_at(claim)
        if abs((memory.happened_at or memory.learned_at) - at) > EVENT_WINDOW:
            return False
    if (claim.due_at is None) != (memory.due_at is None):
        return False
    if claim.due_at is not None and not is_same_due_time(claim.due_at, memory.due_at):
        return False
    return fold_value(claim.value) == fold_value(memory.value) and (
        bool(claim.value) or state.is_same(claim, memory)
    )


def find_best_match(
    state: ResolutionState, claim: Claim, known: Iterable[MemoryState]
) -> MemoryState | None:
    """Return the belief that says the same as a claim, preferably in the same words."""
    matches = [each for each in known if state.is_same(claim, each.memory)]
    return min(matches, key=lambda each: each.memory.text != claim.text, default=None)


def is_same_due_time(one: Micros, other: Micros | None) -> bool:
    """Return whether two due times may mean the same."""
    return other is not None and abs(one - other) <= DUE_TOLERANCE
