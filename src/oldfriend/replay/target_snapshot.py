"""Target snapshot: one person's current and past beliefs in the target database.

They are read once and then updated with what has changed since.
"""

from dataclasses import dataclass, field

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.db.database import Transaction
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import JournalObject, Memory, MemoryState
from oldfriend.memory.belief_cache import MemoryCounters, load_counters
from oldfriend.memory.beliefs import (
    list_entities,
    list_memories,
    list_memories_changed_since,
    list_memories_rescored_since,
)
from oldfriend.memory.evidence import list_evidence, list_object_evidence

PARTIAL_LOAD_LIMIT = 500
"""Above this many changed memories, all evidence is loaded at once."""


@dataclass(slots=True)
class TargetSnapshot:
    """One person's memories with their evidence, as of the last refresh."""

    person: PersonId
    counters: MemoryCounters | None = None
    beliefs: dict[ObjectId, BeliefDetails] = field(default_factory=dict)

    async def list_all(self, tx: Transaction) -> list[BeliefDetails]:
        """Return all current and past beliefs except summaries, oldest first."""
        await self.refresh(tx)
        names = await list_entities(tx, self.person, live=False)
        memories = sorted(
            self.beliefs.values(), key=lambda each: build_belief_sort_key(each.content)
        )
        return [*memories, *(BeliefDetails(content=each) for each in names)]

    async def refresh(self, tx: Transaction) -> None:
        """Load new decisions and evidence; reload everything after any deletion."""
        now = await load_counters(tx, self.person)
        if self.counters is None or self.counters.rewritten != now.rewritten:
            self.beliefs = {}
            await self.apply_changes(tx, await list_memories(tx, self.person, live=False))
        elif self.counters != now:
            await self.apply_changes(
                tx,
                await list_memories_changed_since(tx, self.person, self.counters.last_change),
                *await list_memories_rescored_since(tx, self.person, self.counters.weighed),
            )
        self.counters = now

    async def apply_changes(
        self, tx: Transaction, decided: list[MemoryState], *reweighed: ObjectId
    ) -> None:
        """Update the changed memories, and the evidence of the rescored ones."""
        changed = list(dict.fromkeys((*(each.memory.id for each in decided), *reweighed)))
        if len(changed) > PARTIAL_LOAD_LIMIT:
            evidence = await list_evidence(tx, self.person)
        else:
            evidence = await list_object_evidence(tx, self.person, changed)
        for state in decided:
            self.beliefs[state.memory.id] = BeliefDetails(content=state.memory)
        for each in self.beliefs.keys() & {*changed}:
            self.beliefs[each] = BeliefDetails(
                content=self.beliefs[each].content, evidence=tuple(evidence.get(each, ()))
            )

    def invalidate(self) -> None:
        """Reload everything next time, because the last transaction was rolled back."""
        self.counters = None


def build_belief_sort_key(belief: JournalObject) -> tuple[int, str, str]:
    """Return the sort key of a memory: when it was learned, then its text."""
    text = belief.text if isinstance(belief, Memory) else ""
    return belief.learned_at, text, belief.id
