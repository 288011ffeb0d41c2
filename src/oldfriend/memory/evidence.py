"""Evidence: quotes that support or contradict a belief, and the statistics they give.

Evidence is added and withdrawn, never changed. This module does not know how beliefs are decided.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import (
    BatchId,
    EvidenceId,
    MessageId,
    ObjectId,
    PersonId,
    SegmentId,
    new_id,
)
from oldfriend.domain.memories import Evidence, EvidenceSignal, EvidenceStance, EvidenceStats
from oldfriend.domain.messages import Message
from oldfriend.memory.confidence import DEFAULT_GROWTH, RELATION_GROWTH, compute_evidence_stats

EVIDENCE_COLUMNS: Final = """e.id, e.object, e.message, e.version, e.quote, e.author, e.trust,
           e.signal,
    e.stance, e.confidence, e.extractor, e.segment, e.said_at, m.zone, m.speaker, m.role,
    c.channel"""
EVIDENCE_TABLES: Final = """evidence e JOIN message m ON m.id = e.message AND m.version = e.version
    AND m.person = e.person JOIN chat c ON c.id = m.chat"""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvidence:
    """A quote from a message that bears on a belief, before it is stored."""

    source: Message
    quote: str
    stance: EvidenceStance = "supports"
    signal: EvidenceSignal = "explicit"
    confidence: float = 1.0


class SlimEvidence(NamedTuple):
    """The fields of evidence that count for statistics, for bulk computation."""

    id: str
    message: str
    stance: EvidenceStance
    signal: EvidenceSignal
    confidence: float
    said_at: Micros


async def add_evidence(
    tx: Transaction,
    person: PersonId,
    object_id: ObjectId,
    evidence: Iterable[NewEvidence],
    *,
    extractor: str,
    now: Micros,
    segment: SegmentId | None = None,
) -> None:
    """Store evidence for a belief and refresh its statistics."""
    await tx.run_many(
        """INSERT INTO evidence (id, person, object, message, version, quote, author, trust,
             signal, stance, confidence, extractor, segment, said_at)
           VALUES (:id, :person, :object, :message, :version, :quote, :author, :trust,
             :signal, :stance, :confidence, :extractor, :segment, :said_at)""",
        [
            {
                "id": new_id(now),
                "person": person,
                "object": object_id,
                "message": each.source.id,
                "version": each.source.version,
                "quote": each.quote,
                "author": each.source.author,
                "trust": each.source.trust,
                "signal": each.signal,
                "stance": each.stance,
                "confidence": each.confidence,
                "extractor": extractor,
                "segment": segment,
                "said_at": each.source.at,
            }
            for each in evidence
        ],
    )
    await refresh_evidence_stats(tx, person, [object_id])


async def withdraw_evidence(
    tx: Transaction, person: PersonId, segment: SegmentId, *, now: Micros
) -> list[ObjectId]:
    """Withdraw what the consolidation of a segment has found; return the affected beliefs.

    A belief left without evidence stays until somebody decides otherwise.
    """
    rows = await tx.rows(
        """SELECT DISTINCT object FROM evidence
           WHERE person = :person AND segment = :segment AND withdrawn_at IS NULL""",
        person=person,
        segment=segment,
    )
    await tx.run(
        """UPDATE evidence SET withdrawn_at = :now
           WHERE person = :person AND segment = :segment AND withdrawn_at IS NULL""",
        now=now,
        person=person,
        segment=segment,
    )
    objects = [ObjectId(row[0]) for row in rows]
    await refresh_evidence_stats(tx, person, objects)
    return objects


async def remove_batch_evidence(
    tx: Transaction, person: PersonId, batch: BatchId
) -> list[ObjectId]:
    """Delete the quotes of an import's messages, which are being removed; return the affected
    beliefs.

    Covers all versions of messages that it brought, and of other messages the version that it
    brought.
    """
    quoted = """EXISTS (SELECT 1 FROM message m WHERE m.id = evidence.message
        AND m.person = :person AND m.batch = :batch AND m.version IN (1, evidence.version))"""
    rows = await tx.rows(
        f"""SELECT DISTINCT object FROM evidence
           WHERE person = :person AND withdrawn_at IS NULL AND {quoted}""",
        person=person,
        batch=batch,
    )
    await tx.run(
        f"DELETE FROM evidence WHERE person = :person AND {quoted}", person=person, batch=batch
    )
    objects = [ObjectId(row[0]) for row in rows]
    await refresh_evidence_stats(tx, person, objects)
    return objects


async def move_evidence(
    tx: Transaction,
    person: PersonId,
    *,
    source: ObjectId,
    target: ObjectId,
    messages: Sequence[MessageId] | None = None,
) -> None:
    """Move evidence from one belief to another, all or that of some messages."""
    parameters = {f"message{index}": each for index, each in enumerate(messages or ())}
    if messages is not None and not messages:
        return
    condition = (
        ""
        if messages is None
        else f"AND message IN ({', '.join(f':{name}' for name in parameters)})"
    )
    await tx.run(
        f"""UPDATE evidence SET object = :target
           WHERE person = :person AND object = :source {condition}""",
        target=target,
        person=person,
        source=source,
        **parameters,
    )
    await refresh_evidence_stats(tx, person, [source, target])


async def list_evidence(tx: Transaction, person: PersonId) -> dict[ObjectId, list[Evidence]]:
    """Return the live evidence of each belief of a person, oldest first."""
    rows = await tx.rows(
        f"""SELECT {EVIDENCE_COLUMNS} FROM {EVIDENCE_TABLES}
           WHERE e.person = :person AND e.withdrawn_at IS NULL ORDER BY e.said_at, e.id""",
        person=person,
    )
    return group_evidence(rows)


async def list_object_evidence(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId]
) -> dict[ObjectId, list[Evidence]]:
    """Return the live evidence of some beliefs, oldest first; beliefs without any are left out."""
    if not objects:
        return {}
    parameters = {f"object{index}": each for index, each in enumerate(objects)}
    rows = await tx.rows(
        f"""SELECT {EVIDENCE_COLUMNS} FROM {EVIDENCE_TABLES}
           WHERE e.person = :person AND e.withdrawn_at IS NULL
           AND e.object IN ({", ".join(f":{name}" for name in parameters)})
           ORDER BY e.said_at, e.id""",
        person=person,
        **parameters,
    )
    return group_evidence(rows)


async def list_supported_objects(
    tx: Transaction, person: PersonId, messages: Sequence[MessageId]
) -> dict[MessageId, frozenset[ObjectId]]:
    """Return the objects that each of some messages supports; messages without any are left out."""
    if not messages:
        return {}
    parameters = {f"message{index}": each for index, each in enumerate(messages)}
    rows = await tx.rows(
        f"""SELECT message, object FROM evidence
           WHERE person = :person AND withdrawn_at IS NULL AND stance = 'supports'
           AND message IN ({", ".join(f":{name}" for name in parameters)})""",
        person=person,
        **parameters,
    )
    supported: defaultdict[MessageId, set[ObjectId]] = defaultdict(set)
    for message, known in rows:
        supported[MessageId(ObjectId(message))].add(ObjectId(known))
    return {message: frozenset(known) for message, known in supported.items()}


async def list_entity_mention_times(tx: Transaction, person: PersonId) -> dict[ObjectId, Micros]:
    """Return when each live entity was last mentioned, as far as evidence is left."""
    rows = await tx.rows(
        """SELECT e.object, max(e.said_at) FROM evidence e JOIN entity n ON n.id = e.object
           WHERE e.person = :person AND n.person = :person AND n.ended_at IS NULL
           AND e.withdrawn_at IS NULL GROUP BY e.object""",
        person=person,
    )
    return {ObjectId(name): Micros(int(at)) for name, at in rows}


async def list_entities_mentioned_by_person(
    tx: Transaction, person: PersonId
) -> frozenset[ObjectId]:
    """Return the live entities that the person's own messages mention."""
    rows = await tx.rows(
        """SELECT DISTINCT e.object FROM evidence e JOIN entity n ON n.id = e.object
           WHERE e.person = :person AND n.person = :person AND n.ended_at IS NULL
           AND e.withdrawn_at IS NULL AND e.trust = 'person'""",
        person=person,
    )
    return frozenset(ObjectId(name) for (name,) in rows)


async def list_segment_evidence(
    tx: Transaction, person: PersonId, segment: SegmentId
) -> dict[ObjectId, list[Evidence]]:
    """Return all live evidence of the beliefs for which a segment's consolidation found some."""
    rows = await tx.rows(
        f"""SELECT {EVIDENCE_COLUMNS} FROM {EVIDENCE_TABLES}
           WHERE e.person = :person AND e.withdrawn_at IS NULL AND e.object IN
             (SELECT found.object FROM evidence found WHERE found.person = :person
              AND found.segment = :segment AND found.withdrawn_at IS NULL)
           ORDER BY e.said_at, e.id""",
        person=person,
        segment=segment,
    )
    return group_evidence(rows)


async def refresh_evidence_stats(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId]
) -> None:
    """Compute the statistics of memories again after their evidence has changed."""
    evidence = await list_object_evidence(tx, person, objects)
    relations = await select_relation_ids(tx, person, objects)
    stats_by_object = {
        each: compute_evidence_stats(
            evidence.get(each, ()), RELATION_GROWTH if each in relations else DEFAULT_GROWTH
        )
        for each in objects
    }
    await tx.run_many(
        """UPDATE memory SET strength = :strength, confidence = :confidence,
             times_seen = :times_seen, first_seen = :first_seen, last_seen = :last_seen,
             weighed = (SELECT weighed + 1 FROM person WHERE id = :person)
           WHERE id = :id AND person = :person""",
        [
            {"id": each, "person": person, **build_stats_columns(stats)}
            for each, stats in stats_by_object.items()
        ],
    )
    await bump_evidence_counter(tx, person)


async def select_relation_ids(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId]
) -> frozenset[ObjectId]:
    """Return which of these are relations, whose confidence grows by smaller steps."""
    if not objects:
        return frozenset()
    parameters = {f"object{index}": each for index, each in enumerate(objects)}
    rows = await tx.rows(
        f"""SELECT id FROM memory WHERE person = :person AND kind = 'triple'
           AND id IN ({", ".join(f":{name}" for name in parameters)})""",
        person=person,
        **parameters,
    )
    return frozenset(ObjectId(row[0]) for row in rows)


async def bump_evidence_counter(tx: Transaction, person: PersonId) -> None:
    """Invalidate cached evidence statistics, although nothing was decided."""
    await tx.run("UPDATE person SET weighed = weighed + 1 WHERE id = :person", person=person)


async def compute_all_evidence_stats(
    tx: Transaction, person: PersonId, *, relations: Collection[ObjectId]
) -> dict[ObjectId, EvidenceStats]:
    """Compute the statistics of everything that evidence supports; ``relations`` grow by smaller
    steps.
    """
    rows = await tx.rows(
        f"""SELECT e.object, e.id, e.message, e.stance, e.signal, e.confidence, e.said_at
           FROM {EVIDENCE_TABLES} WHERE e.person = :person AND e.withdrawn_at IS NULL""",
        person=person,
    )
    evidence: dict[ObjectId, list[SlimEvidence]] = {}
    for object_id, *pieces in rows:
        evidence.setdefault(object_id, []).append(SlimEvidence(*pieces))
    computed = (
        (
            each,
            compute_evidence_stats(
                pieces, RELATION_GROWTH if each in relations else DEFAULT_GROWTH
            ),
        )
        for each, pieces in evidence.items()
    )
    return {each: stats for each, stats in computed if stats is not None}


async def list_stats_mismatches(tx: Transaction, person: PersonId) -> list[ObjectId]:
    """List the memories whose stored statistics differ from what their evidence gives; empty when
    sound.
    """
    rows = await tx.rows(
        """SELECT id, kind, strength, confidence, times_seen, first_seen, last_seen FROM memory
           WHERE person = :person""",
        person=person,
    )
    relations = {ObjectId(row[0]) for row in rows if row[1] == "triple"}
    stats_by_object = await compute_all_evidence_stats(tx, person, relations=relations)
    return sorted(
        ObjectId(row[0])
        for row in rows
        if tuple(build_stats_columns(stats_by_object.get(row[0])).values()) != row[2:]
    )


def build_stats_columns(standing: EvidenceStats | None) -> dict[str, float | int | None]:
    """Return statistics as column values; None gives the defaults for no evidence."""
    if standing is None:
        return {
            "strength": 1.0,
            "confidence": 1.0,
            "times_seen": 0,
            "first_seen": None,
            "last_seen": None,
        }
    return {
        "strength": standing.strength,
        "confidence": standing.confidence,
        "times_seen": standing.times_seen,
        "first_seen": standing.first_seen,
        "last_seen": standing.last_seen,
    }


def group_evidence(rows: Sequence[Row]) -> dict[ObjectId, list[Evidence]]:
    """Group evidence rows by belief."""
    by_object: dict[ObjectId, list[Evidence]] = {}
    for each in map(parse_evidence_row, rows):
        by_object.setdefault(each.object_id, []).append(each)
    return by_object


def parse_evidence_row(row: Row) -> Evidence:
    """Parse a row of EVIDENCE_COLUMNS."""
    return Evidence(
        id=EvidenceId(row[0]),
        object_id=row[1],
        message=MessageId(row[2]),
        version=row[3],
        quote=row[4],
        author=row[5],
        trust=row[6],
        signal=row[7],
        stance=row[8],
        confidence=row[9],
        extractor=row[10],
        segment=row[11],
        said_at=row[12],
        zone=row[13],
        speaker=row[14],
        role=row[15],
        channel=row[16],
    )
