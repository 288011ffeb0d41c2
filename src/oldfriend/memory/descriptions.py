"""Entity descriptions: texts by a model that rest on the events naming the entity.

Descriptions that a person has written are theirs and are left alone.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, ObjectId, PersonId
from oldfriend.domain.memories import Cause, Entity, JournalEntry, MemoryState
from oldfriend.memory.beliefs import list_entities, list_memories
from oldfriend.memory.derived_evidence import is_retracted
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.journal import Provenance, list_object_journal, record_decision

DESCRIBE_AUTHOR_PREFIX: Final = "describe/"
"""The start of the author of a description that no person has written."""
MIN_EVENTS: Final = 3
"""This many events are needed to describe an entity, and this many new ones to describe it
again.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptionCandidate:
    """An entity about which more is known than its description says."""

    entity: Entity
    base: int
    events: tuple[MemoryState, ...]  # that name the entity, the newest first


async def list_description_candidates(
    tx: Transaction, person: PersonId
) -> list[DescriptionCandidate]:
    """List the entities to describe or to describe again, those with most events first."""
    entities = await list_entities(tx, person, live=False)
    events_by_entity = group_events_by_entity(
        entities, await list_memories(tx, person, kinds=["event"])
    )
    described = await load_description_times(tx, person)
    found: list[DescriptionCandidate] = []
    for entity in filter(can_be_described, entities):
        events = events_by_entity.get(entity.id, ())
        base_seq, last = described.get(entity.id, (0, None))
        newer = [each for each in events if last is None or each.memory.learned_at > last]
        if len(events) >= MIN_EVENTS and (len(newer) >= MIN_EVENTS or not entity.description):
            newest_first = tuple(sorted(events, key=lambda each: -each.memory.learned_at))
            found.append(DescriptionCandidate(entity=entity, base=base_seq, events=newest_first))
    return sorted(found, key=lambda each: (-len(each.events), each.entity.id))


async def load_description_times(
    tx: Transaction, person: PersonId
) -> dict[EntityId, tuple[int, Micros | None]]:
    """Return each describable entity's newest decision and last inferred description time."""
    rows = await tx.rows(
        """SELECT object, max(seq), max(CASE WHEN author LIKE :describes THEN learned_at END)
           FROM change WHERE person = :person AND object IN
             (SELECT id FROM entity WHERE person = :person AND ended_at IS NULL
              AND status = 'confirmed' AND is_by_person = 0)
           GROUP BY object""",
        person=person,
        describes=f"{DESCRIBE_AUTHOR_PREFIX}%",
    )
    return {EntityId(ObjectId(row[0])): (int(row[1]), row[2]) for row in rows}


def can_be_described(entity: Entity) -> bool:
    """Whether inference may describe an entity: not if the person has written about it."""
    return entity.ended_at is None and entity.status == "confirmed" and not entity.is_by_person


def group_events_by_entity(
    entities: Collection[Entity], events: Sequence[MemoryState]
) -> Mapping[EntityId, Sequence[MemoryState]]:
    """Group events by the entities they name, also under a name that was merged into theirs."""
    merged = {each.id: each.same_as for each in entities if each.status == "merged"}
    grouped: defaultdict[EntityId, list[MemoryState]] = defaultdict(list)
    for event in events:
        if event.memory.trust != "outside":
            survivors = (merged.get(each) for each in event.memory.entities)
            for one in {*event.memory.entities, *filter(None, survivors)}:
                grouped[one].append(event)
    return grouped


def find_last_description(history: Sequence[JournalEntry]) -> JournalEntry | None:
    """Return the last decision by which inference described an entity."""
    described = [each for each in history if each.author.startswith(DESCRIBE_AUTHOR_PREFIX)]
    return described[-1] if described else None


async def save_description(
    tx: Transaction,
    entity: Entity,
    text: str,
    *,
    base: int,
    author: str,
    causes: tuple[Cause, ...],
    now: Micros,
) -> None:
    """Record a description. Raises StaleDecision if something else was decided meanwhile."""
    after = replace(entity, description=text)
    provenance = Provenance(author=author, causes=causes)
    await record_decision(tx, after, op="revised", base=base, provenance=provenance, now=now)


async def clear_ungrounded_descriptions(
    tx: Transaction, person: PersonId, *, provenance: Provenance, now: Micros
) -> list[ObjectId]:
    """Clear descriptions whose evidence is no longer complete; return their entities."""
    entities = await list_entities(tx, person, live=False)
    described = [each for each in entities if each.description and can_be_described(each)]
    if not described:
        return []
    events = await list_memories(tx, person, kinds=["event"], live=False)
    events_by_entity = group_events_by_entity(
        entities, [each for each in events if not is_retracted(each.memory)]
    )
    cleared: list[ObjectId] = []
    for entity in described:
        history = await list_object_journal(tx, person, entity.id)
        last = find_last_description(history)
        naming = events_by_entity.get(entity.id, ())
        if last is None or await is_grounded(tx, person, last, naming):
            continue
        after = replace(entity, description="")
        await record_decision(
            tx, after, op="revised", base=history[-1].seq, provenance=provenance, now=now
        )
        cleared.append(ObjectId(entity.id))
    return cleared


async def is_grounded(
    tx: Transaction, person: PersonId, description: JournalEntry, events: Sequence[MemoryState]
) -> bool:
    """Whether all evidence that a description rests on is still live."""
    evidence = await list_object_evidence(tx, person, [each.memory.id for each in events])
    live_versions = {
        (each.message, each.version) for pieces in evidence.values() for each in pieces
    }
    return all((cause.message, cause.version) in live_versions for cause in description.causes)
