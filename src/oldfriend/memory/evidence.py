"""Evidence: quotes for or against a belief, and the confidence and strength they give it.

Nothing is accumulated, so nothing drifts: reinforcement is one more piece of evidence, and
withdrawing it takes back exactly what it added.

Evidence is added and withdrawn, never changed. This module does not know how beliefs are decided.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Final, NamedTuple, Protocol

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import DAY, Micros, get_credible_time
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

MAX_STRENGTH = 20.0
SPACING_EFFECT_DAYS = 7.0
"""After this many days a repetition counts for about two thirds; an immediate one hardly counts."""
IMPLICIT_WEIGHT = 0.5
CONTRADICTION_PENALTY = 0.20


class ConfidenceGrowth(NamedTuple):
    """How much confidence grows with each further mention, and the maximum it can reach."""

    increment: float
    ceiling: float


DEFAULT_GROWTH = ConfidenceGrowth(0.10, 0.95)
RELATION_GROWTH = ConfidenceGrowth(0.05, 0.99)


class ScorableEvidence(Protocol):
    """The fields of evidence that count for statistics."""

    @property
    def id(self) -> str: ...
    @property
    def message(self) -> str: ...
    @property
    def stance(self) -> EvidenceStance: ...
    @property
    def signal(self) -> EvidenceSignal: ...
    @property
    def confidence(self) -> float: ...
    @property
    def said_at(self) -> Micros: ...


def compute_evidence_stats(
    evidence: Iterable[ScorableEvidence], growth: ConfidenceGrowth = DEFAULT_GROWTH
) -> EvidenceStats | None:
    """Compute statistics from evidence, or None if none supports the belief.

    Each message counts once, however often it is quoted.
    """
    distinct = dedup_by_message(evidence)
    supports = [each for each in distinct if each.stance == "supports"]
    if not supports:
        return None
    return EvidenceStats(
        strength=compute_strength(supports),
        confidence=compute_confidence(distinct, growth),
        times_seen=len(supports),
        first_seen=supports[0].said_at,
        last_seen=supports[-1].said_at,
    )


def compute_stats_history(
    evidence: Iterable[ScorableEvidence], growth: ConfidenceGrowth = DEFAULT_GROWTH
) -> list[tuple[Micros, EvidenceStats]]:
    """Compute the statistics after each piece of evidence, oldest first."""
    distinct = dedup_by_message(evidence)
    history = [
        (distinct[count - 1], compute_evidence_stats(distinct[:count], growth))
        for count in range(1, len(distinct) + 1)
    ]
    return [(each.said_at, stats) for each, stats in history if stats is not None]


def dedup_by_message(evidence: Iterable[ScorableEvidence]) -> list[ScorableEvidence]:
    """Keep the most confident evidence of each message and stance, oldest first, support before
    contradiction.
    """
    pieces = list(evidence)
    if len(pieces) == 1:
        return pieces
    best: dict[tuple[str, str], ScorableEvidence] = {}
    for each in pieces:
        key = (each.message, each.stance)
        if key not in best or best[key].confidence < each.confidence:
            best[key] = each
    return sorted(
        best.values(), key=lambda each: (each.said_at, each.stance == "contradicts", each.id)
    )


def compute_strength(supports: Sequence[ScorableEvidence]) -> float:
    """Return 1 for the first sighting, plus up to 1 for each further one depending on the time
    between them.
    """
    strength = 1.0
    for before, after in pairwise(supports):
        days = max(0, after.said_at - before.said_at) / DAY
        boost = 1.0 - math.exp(-days / SPACING_EFFECT_DAYS)
        strength += boost * (IMPLICIT_WEIGHT if after.signal == "implicit" else 1.0)
    return min(strength, MAX_STRENGTH)


def compute_confidence(
    evidence: Sequence[ScorableEvidence], growth: ConfidenceGrowth = DEFAULT_GROWTH
) -> float:
    """Start with the first confidence, raise it with each repetition and lower it with each
    contradiction.
    """
    confidence = 0.0
    for each in evidence:
        if each.stance == "contradicts":
            confidence = max(0.0, confidence - CONTRADICTION_PENALTY)
        elif confidence == 0.0:
            confidence = each.confidence
        else:
            most = max(growth.ceiling, each.confidence, confidence)
            confidence = min(most, max(confidence, each.confidence) + growth.increment)
    return round(confidence, 4)


EVIDENCE_COLUMNS: Final = """e.id, e.object, e.message, e.version, e.quote, e.author, e.trust,
           e.signal,
    e.stance, e.confidence, e.extractor, e.segment, e.said_at, m.zone, m.speaker, m.role,
    c.channel, (SELECT min(d.day) FROM diary_entry d
      WHERE d.person = e.person AND d.message_seq = m.seq)"""
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
                "said_at": get_credible_time(each.source.at, now),
            }
            for each in evidence
        ],
    )
    await refresh_evidence_stats(tx, person, [object_id])


async def withdraw_evidence(
    tx: Transaction, person: PersonId, evidence: Iterable[Evidence], *, now: Micros
) -> list[ObjectId]:
    """Withdraw some evidence; return the affected beliefs.

    A belief left without evidence stays until somebody decides otherwise.
    """
    pieces = list(evidence)
    await tx.run_many(
        "UPDATE evidence SET withdrawn_at = :now WHERE person = :person AND id = :id",
        [{"now": now, "person": person, "id": each.id} for each in pieces],
    )
    objects = list(dict.fromkeys(each.object_id for each in pieces))
    await refresh_evidence_stats(tx, person, objects)
    return objects


async def remove_batch_evidence(
    tx: Transaction, person: PersonId, batch_id: BatchId
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
        batch=batch_id,
    )
    await tx.run(
        f"DELETE FROM evidence WHERE person = :person AND {quoted}", person=person, batch=batch_id
    )
    objects = [ObjectId(row[0]) for row in rows]
    await refresh_evidence_stats(tx, person, objects)
    return objects


async def move_evidence(
    tx: Transaction,
    person: PersonId,
    *,
    source_id: ObjectId,
    target: ObjectId,
    message_ids: Sequence[MessageId] | None = None,
) -> None:
    """Move evidence from one belief to another, all or that of some messages."""
    parameters = {f"message{index}": each for index, each in enumerate(message_ids or ())}
    if message_ids is not None and not message_ids:
        return
    condition = (
        ""
        if message_ids is None
        else f"AND message IN ({', '.join(f':{name}' for name in parameters)})"
    )
    await tx.run(
        f"""UPDATE evidence SET object = :target
           WHERE person = :person AND object = :source {condition}""",
        target=target,
        person=person,
        source=source_id,
        **parameters,
    )
    await refresh_evidence_stats(tx, person, [source_id, target])


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
    tx: Transaction, person: PersonId, message_ids: Sequence[MessageId]
) -> dict[MessageId, frozenset[ObjectId]]:
    """Return the objects that each of some messages supports; messages without any are left out."""
    if not message_ids:
        return {}
    parameters = {f"message{index}": each for index, each in enumerate(message_ids)}
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
        diary_day=None if row[17] is None else date.fromisoformat(row[17]),
    )
