"""Which belief is meant by a claim? What it was merged into, or of those alike the nearest.

What the person has merged or kept apart stays so, however often its words are read.
"""

from collections.abc import Iterable

from oldfriend.background.deciding.attributes import folded
from oldfriend.background.deciding.deliberation import Deliberation
from oldfriend.background.extraction import Claim
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MemoryId
from oldfriend.domain.memories import Known, Memory

MENTIONED_AGAIN = 30 * DAY
"""Within so much time the same event is one event (ACCEPTANCE F9)."""
SAME_TIME = 2 * DAY
"""By so much two statements of when something is due may differ and mean the same."""


def known_under(thinking: Deliberation, claim: Claim) -> Known | None:
    """What is believed in place of that which a claim says, since that was merged into it."""
    gone = {memory.id: memory for memory in thinking.scene.merged}
    for memory in gone.values():
        if says(thinking, claim, memory):
            at: Memory | None = memory
            while at is not None and at.status == "merged":
                links = [link.other for link in at.relations if link.kind == "merged_into"]
                known = thinking.known.get(MemoryId(links[-1])) if links else None
                if known is not None and known.memory.ended_at is None:
                    return known
                at = gone.get(MemoryId(links[-1])) if links else None
    return None


def says(thinking: Deliberation, claim: Claim, memory: Memory) -> bool:
    """Whether a claim says what a memory says, of the same time."""
    if (claim.kind, claim.subject, claim.key) != (memory.kind, memory.subject, memory.key):
        return False
    if claim.kind == "event":
        at = claim.happened_at or thinking.heard_at(claim)
        if abs((memory.happened_at or memory.learned_at) - at) > MENTIONED_AGAIN:
            return False
    if (claim.due_at is None) != (memory.due_at is None):
        return False
    if claim.due_at is not None and not is_same_time(claim.due_at, memory.due_at):
        return False
    return folded(claim.value) == folded(memory.value) and (
        bool(claim.value) or thinking.same(claim, memory)
    )


def nearest(thinking: Deliberation, claim: Claim, known: Iterable[Known]) -> Known | None:
    """What says the same as a claim: in the same words, or else in others."""
    alike = [each for each in known if thinking.same(claim, each.memory)]
    return min(alike, key=lambda each: each.memory.text != claim.text, default=None)


def is_same_time(one: Micros, other: Micros | None) -> bool:
    """Whether two moments may mean the same."""
    return other is not None and abs(one - other) <= SAME_TIME
