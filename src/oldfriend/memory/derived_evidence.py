"""Derived evidence: what thoughts, patterns and descriptions copy from beliefs, and how they end.

Thoughts, and patterns over patterns, have no quotes of their own. Each copied quote names the
segment in which it was found, so that it is withdrawn with that segment's consolidation. This
module does not know how the derived beliefs were inferred.

Descriptions that a person has written are theirs and are left alone.

The cascade covers thoughts, patterns over patterns and descriptions. It runs after anything was
rejected, corrected, undone or consolidated again; to run it twice changes nothing.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import (
    LIVE_STATUSES,
    Cause,
    Entity,
    Evidence,
    EvidenceSignal,
    JournalEntry,
    LinkKind,
    MemoryState,
    StoredBelief,
)
from oldfriend.memory.belief_views import list_entities, list_memories
from oldfriend.memory.evidence import (
    list_object_evidence,
    refresh_evidence_stats,
    withdraw_evidence,
)
from oldfriend.memory.journal import Provenance, list_object_journal, record_decision
from oldfriend.memory.retraction import end_unsupported_beliefs

DERIVING_RELATIONS: Final = frozenset[LinkKind]({"rests_on", "parent_of"})
QuoteKey = tuple[str, int, str]
REDERIVED_EXTRACTOR: Final = "borrow/1"
"""The extractor of evidence that was copied again."""


def list_premises(memory: StoredBelief) -> tuple[ObjectId, ...]:
    """Return what a memory was derived from; empty for one with quotes of its own."""
    return tuple(link.target for link in memory.relations if link.kind in DERIVING_RELATIONS)


async def derive_evidence(
    tx: Transaction,
    person: PersonId,
    derived: ObjectId,
    premises: Sequence[ObjectId],
    *,
    extractor: str,
    now: Micros,
    signal: EvidenceSignal | None = None,
) -> tuple[Cause, ...]:
    """Copy the supporting evidence of premises to a derived belief; return the messages it comes
    from.

    ``signal`` replaces the signal of the copied evidence.
    """
    evidence = await list_object_evidence(tx, person, [derived, *premises])
    quotes = select_supporting_evidence(premises, evidence)
    existing = set(select_supporting_evidence([derived], evidence))
    await tx.run_many(
        """INSERT INTO evidence (id, person, object, message, version, quote, author, trust,
             signal, stance, confidence, extractor, segment, said_at)
           VALUES (:id, :person, :object, :message, :version, :quote, :author, :trust,
             :signal, 'supports', :confidence, :extractor, :segment, :said_at)""",
        [
            {
                "id": new_id(now),
                "person": person,
                "object": derived,
                "message": each.message,
                "version": each.version,
                "quote": each.quote,
                "author": each.author,
                "trust": each.trust,
                "signal": signal or each.signal,
                "confidence": each.confidence,
                "extractor": extractor,
                "segment": each.segment,
                "said_at": each.said_at,
            }
            for key, each in quotes.items()
            if key not in existing
        ],
    )
    await refresh_evidence_stats(tx, person, [derived])
    causes = (Cause(message=each.message, version=each.version) for each in quotes.values())
    return tuple(dict.fromkeys(causes))


async def rederive_evidence(
    tx: Transaction, person: PersonId, only_ids: Collection[ObjectId], *, now: Micros
) -> None:
    """Copy evidence again to those of some beliefs that are derived, from what their premises have
    now.

    For after a segment was consolidated again.
    """
    if not only_ids:
        return
    memories = await load_all_memories(tx, person)
    for each in memories.values():
        premises = [
            one
            for one in list_premises(each)
            if one in memories and not is_retracted(memories[one])
        ]
        if each.id in only_ids and each.is_live and premises:
            signal: EvidenceSignal | None = None if each.kind == "pattern" else "implicit"
            await derive_evidence(
                tx, person, each.id, premises, extractor=REDERIVED_EXTRACTOR, now=now, signal=signal
            )


async def withdraw_derived_evidence(
    tx: Transaction,
    person: PersonId,
    *,
    provenance: Provenance,
    now: Micros,
    retracted: Collection[ObjectId] = (),
) -> list[ObjectId]:
    """Withdraw evidence copied from retracted premises; end and return the beliefs left without
    any.

    ``retracted`` lists beliefs that count as retracted whatever their state, because they now say
    something else.
    """
    memories = await load_all_memories(tx, person)
    touched = [
        each
        for each in memories.values()
        if each.is_live
        and any(is_premise_lost(one, memories, retracted) for one in list_premises(each))
    ]
    if not touched:
        return []
    objects = [one for each in touched for one in (each.id, *list_premises(each))]
    evidence = await list_object_evidence(tx, person, list(dict.fromkeys(objects)))
    for each in touched:
        remaining = [
            one for one in list_premises(each) if not is_premise_lost(one, memories, retracted)
        ]
        supported = select_supporting_evidence(remaining, evidence)
        quotes = select_supporting_evidence([each.id], evidence)
        await withdraw_evidence(
            tx, person, [quote for key, quote in quotes.items() if key not in supported], now=now
        )
    ids = [each.id for each in touched]
    return await end_unsupported_beliefs(tx, person, provenance=provenance, now=now, only_ids=ids)


async def load_all_memories(tx: Transaction, person: PersonId) -> dict[ObjectId, StoredBelief]:
    """Load all memories of a person, including ended ones."""
    states = await list_memories(tx, person, live=False)
    return {ObjectId(each.memory.id): each.memory for each in states}


def is_premise_lost(
    premise: ObjectId, memories: Mapping[ObjectId, StoredBelief], retracted: Collection[ObjectId]
) -> bool:
    """Whether a premise no longer supports what was derived from it."""
    memory = memories.get(premise)
    return premise in retracted or memory is None or is_retracted(memory)


def is_retracted(memory: StoredBelief) -> bool:
    """Whether a memory turned out not to be true; one that is merely over was true."""
    if memory.status == "rejected":
        return True
    return memory.ended_at is not None and memory.status in LIVE_STATUSES


def select_supporting_evidence(
    objects: Iterable[ObjectId], evidence: Mapping[ObjectId, Sequence[Evidence]]
) -> dict[QuoteKey, Evidence]:
    """Return the distinct supporting evidence of beliefs, by message, version and quote."""
    return {
        (piece.message, piece.version, piece.quote): piece
        for each in objects
        for piece in evidence.get(each, ())
        if piece.stance == "supports"
    }


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


BY_CASCADE: Final = Provenance(author="settle/1")


async def cascade_retraction(
    tx: Transaction, person: PersonId, *, now: Micros, retracted: Collection[ObjectId] = ()
) -> list[ObjectId]:
    """End what rested only on retracted beliefs; return what ended and which entities lost their
    descriptions.

    ``retracted`` lists beliefs that now say something else. The caller holds the person's lock.
    """
    ended = await withdraw_derived_evidence(
        tx, person, provenance=BY_CASCADE, now=now, retracted=retracted
    )
    return [
        *ended,
        *await clear_ungrounded_descriptions(tx, person, provenance=BY_CASCADE, now=now),
    ]
