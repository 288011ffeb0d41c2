"""Belief cache: a person's searchable beliefs in memory, kept in step with the journal.

The cache reads only new decisions, evidence and vectors, and is rebuilt after a deletion.
"""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MemoryId, PersonId
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.text_cache import clear_text_caches
from oldfriend.memory.belief_embeddings import BeliefVectors, load_belief_vectors
from oldfriend.memory.beliefs import (
    list_entities,
    list_evidence_stats_since,
    list_memories_changed_since,
)
from oldfriend.search import BeliefIndex

MAX_IDS_PER_QUERY: Final = 400
"""Up to this many vectors are loaded by id; for more, all are loaded."""


@dataclass(slots=True)
class CachedBeliefs:
    """One person's belief index, and the counters up to which it was read."""

    index: BeliefIndex = field(default_factory=BeliefIndex)
    rewritten: int = 0
    last_change: int = 0
    weighed: int = 0
    nbytes: int = 0  # as of its last use


class MemoryCounters(NamedTuple):
    """Counters on the person's row that show deletions, new decisions and changed evidence."""

    rewritten: int
    last_change: int
    weighed: int


async def load_cached_beliefs(
    tx: Transaction, person: PersonId, model: str | None, cached: CachedBeliefs | None
) -> CachedBeliefs:
    """Return the beliefs as of this transaction, updating the cached ones where possible."""
    rewritten, last_change, weighed = await load_counters(tx, person)
    if cached is None or cached.rewritten != rewritten or cached.last_change > last_change:
        if cached is not None:
            clear_text_caches()  # something was deleted, perhaps by another process
        cached = CachedBeliefs(rewritten=rewritten)
    elif (cached.last_change, cached.weighed) == (last_change, weighed):
        return cached
    if cached.last_change != last_change:
        await apply_new_entries(tx, person, cached)
    if cached.weighed != weighed:
        cached.index.update_stats(await list_evidence_stats_since(tx, person, cached.weighed))
    if model is not None:
        lacking = cached.index.list_unembedded()
        cached.index.set_vectors(await load_missing_vectors(tx, person, model, lacking))
    cached.last_change, cached.weighed = last_change, weighed
    cached.nbytes = cached.index.nbytes
    return cached


async def load_counters(tx: Transaction, person: PersonId) -> MemoryCounters:
    """Return the counters of a person, zeros if the person does not exist."""
    row = await tx.row(
        "SELECT rewritten, last_change, weighed FROM person WHERE id = :person", person=person
    )
    return MemoryCounters(0, 0, 0) if row is None else MemoryCounters(*row)


async def apply_new_entries(tx: Transaction, person: PersonId, cached: CachedBeliefs) -> None:
    """Apply the decisions since the last read; ended beliefs are dropped unless superseded."""
    decided = await list_memories_changed_since(tx, person, cached.last_change)
    cached.index.remove([each.memory.id for each in decided])
    cached.index.upsert([each for each in decided if is_searchable(each)], {})
    cached.index.entities = await list_entities(tx, person, live=False)


def is_searchable(known: MemoryState) -> bool:
    """Whether a belief may be recalled.

    A note is found through its message until the person has edited it.
    """
    memory = known.memory
    is_of_kind = memory.kind != "note" or memory.is_by_person
    was_planned = memory.kind == "triple" and memory.status in {"fulfilled", "expired"}
    return is_of_kind and (memory.is_live or memory.status == "superseded" or was_planned)


async def load_missing_vectors(
    tx: Transaction, person: PersonId, model: str, memories: list[MemoryId]
) -> BeliefVectors:
    """Load the vectors of these memories, or of all if these are many."""
    few = memories if len(memories) <= MAX_IDS_PER_QUERY else None
    return await load_belief_vectors(tx, person, model, few)
