"""Derived evidence: evidence that thoughts and patterns copy from the beliefs they rest on.

Thoughts, and patterns over patterns, have no quotes of their own. Each copied quote names the
segment in which it was found, so that it is withdrawn with that segment's consolidation. This
module does not know how the derived beliefs were inferred.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId, PersonId, new_id
from oldfriend.domain.memories import (
    LIVE_STATUSES,
    Cause,
    Evidence,
    EvidenceSignal,
    LinkKind,
    Memory,
)
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.evidence import list_object_evidence, refresh_evidence_stats
from oldfriend.memory.journal import Provenance
from oldfriend.memory.retraction import end_unsupported_beliefs

DERIVING_RELATIONS: Final = frozenset[LinkKind]({"rests_on", "parent_of"})
QuoteKey = tuple[str, int, str]
REDERIVED_EXTRACTOR: Final = "borrow/1"
"""The extractor of evidence that was copied again."""


def list_premises(memory: Memory) -> tuple[ObjectId, ...]:
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
    tx: Transaction, person: PersonId, only: Collection[ObjectId], *, now: Micros
) -> None:
    """Copy evidence again to those of some beliefs that are derived, from what their premises have
    now.

    For after a segment was consolidated again.
    """
    if not only:
        return
    memories = await load_all_memories(tx, person)
    for each in memories.values():
        premises = [
            one
            for one in list_premises(each)
            if one in memories and not is_retracted(memories[one])
        ]
        if each.id in only and each.is_live and premises:
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
        await withdraw_evidence_rows(
            tx, person, [quote for key, quote in quotes.items() if key not in supported], now=now
        )
    ids = [each.id for each in touched]
    await refresh_evidence_stats(tx, person, ids)
    return await end_unsupported_beliefs(tx, person, provenance=provenance, now=now, only=ids)


async def load_all_memories(tx: Transaction, person: PersonId) -> dict[ObjectId, Memory]:
    """Load all memories of a person, including ended ones."""
    states = await list_memories(tx, person, live=False)
    return {ObjectId(each.memory.id): each.memory for each in states}


async def withdraw_evidence_rows(
    tx: Transaction, person: PersonId, evidence: Iterable[Evidence], *, now: Micros
) -> None:
    """Withdraw some evidence."""
    await tx.run_many(
        "UPDATE evidence SET withdrawn_at = :now WHERE person = :person AND id = :id",
        [{"now": now, "person": person, "id": each.id} for each in evidence],
    )


def is_premise_lost(
    premise: ObjectId, memories: Mapping[ObjectId, Memory], retracted: Collection[ObjectId]
) -> bool:
    """Whether a premise no longer supports what was derived from it."""
    memory = memories.get(premise)
    return premise in retracted or memory is None or is_retracted(memory)


def is_retracted(memory: Memory) -> bool:
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
