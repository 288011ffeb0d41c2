"""Belief sources: the evidence that the current wording of a belief rests on."""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MemoryId, MessageId, PersonId
from oldfriend.domain.memories import Evidence, StoredBelief
from oldfriend.memory.belief_corrections import load_correction_times
from oldfriend.memory.evidence import list_object_evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefSources:
    """What the current wording of a belief rests on."""

    evidence: tuple[Evidence, ...]  # oldest first
    set_by_person_at: Micros | None
    outdated_messages: frozenset[MessageId]


async def load_sources(
    tx: Transaction, person: PersonId, memories: Sequence[StoredBelief]
) -> dict[MemoryId, BeliefSources]:
    """Return the evidence of beliefs, and when the person set their wording.

    Messages from before that time supported another wording.
    """
    evidence = await list_object_evidence(tx, person, [each.id for each in memories])
    written = [each.id for each in memories if each.is_by_person]
    set_at = await load_correction_times(tx, person, written)
    return {
        each.id: build_sources(evidence.get(each.id, ()), set_by_person_at=set_at.get(each.id))
        for each in memories
    }


def build_sources(
    evidence: Sequence[Evidence], *, set_by_person_at: Micros | None
) -> BeliefSources:
    """Select the evidence that supports the current wording of a belief."""
    supporting = [each for each in evidence if each.stance == "supports"]
    current = tuple(
        each for each in supporting if set_by_person_at is None or each.said_at > set_by_person_at
    )
    outdated = frozenset(each.message for each in supporting if each not in current)
    return BeliefSources(
        evidence=current, set_by_person_at=set_by_person_at, outdated_messages=outdated
    )
