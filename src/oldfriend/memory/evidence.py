"""Which words support a belief, or speak against it? Rows of their own, and how they let it stand.

Evidence is added and withdrawn, never changed. Knows nothing of how a belief came to be decided.
"""

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
from oldfriend.domain.memories import Evidence, Signal, Stance, Standing
from oldfriend.domain.messages import Message
from oldfriend.memory.standing import OF_TIES, USUAL, standing_of

COLUMNS: Final = """e.id, e.object, e.message, e.version, e.quote, e.author, e.trust, e.signal,
    e.stance, e.confidence, e.extractor, e.segment, e.said_at, m.zone, m.speaker, m.role,
    c.channel"""
TABLES: Final = """evidence e JOIN message m ON m.id = e.message AND m.version = e.version
    AND m.person = e.person JOIN chat c ON c.id = m.chat"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words of a message that bear on a belief, before they are kept."""

    source: Message
    quote: str
    stance: Stance = "supports"
    signal: Signal = "explicit"
    confidence: float = 1.0


class Seen(NamedTuple):
    """What counts of a piece of evidence, where there are many of them."""

    id: str
    message: str
    stance: Stance
    signal: Signal
    confidence: float
    said_at: Micros


async def add_evidence(
    tx: Transaction, person: PersonId, object_id: ObjectId, words: Iterable[Words], *,
    extractor: str, now: Micros, segment: SegmentId | None = None,
) -> None:  # fmt: skip
    """Keep words that bear on a belief, and let it stand as they make it."""
    await tx.run_many(
        """INSERT INTO evidence (id, person, object, message, version, quote, author, trust,
             signal, stance, confidence, extractor, segment, said_at)
           VALUES (:id, :person, :object, :message, :version, :quote, :author, :trust,
             :signal, :stance, :confidence, :extractor, :segment, :said_at)""",
        [
            {
                "id": new_id(now), "person": person, "object": object_id,
                "message": each.source.id, "version": each.source.version, "quote": each.quote,
                "author": each.source.author, "trust": each.source.trust, "signal": each.signal,
                "stance": each.stance, "confidence": each.confidence, "extractor": extractor,
                "segment": segment, "said_at": each.source.at,
            }
            for each in words
        ],
    )  # fmt: skip
    await refresh_standings(tx, person, [object_id])


async def withdraw_evidence(
    tx: Transaction, person: PersonId, segment: SegmentId, *, now: Micros
) -> list[ObjectId]:
    """Take back what the consolidation of a segment has found; what rested on it.

    What now stands on nothing is still believed until somebody decides that it is not.
    """
    touched = await tx.rows(
        """SELECT DISTINCT object FROM evidence
           WHERE person = :person AND segment = :segment AND withdrawn_at IS NULL""",
        person=person,
        segment=segment,
    )
    await tx.run(
        """UPDATE evidence SET withdrawn_at = :now
           WHERE person = :person AND segment = :segment AND withdrawn_at IS NULL""",
        now=now, person=person, segment=segment,
    )  # fmt: skip
    objects = [ObjectId(row[0]) for row in touched]
    await refresh_standings(tx, person, objects)
    return objects


async def remove_evidence_in(
    tx: Transaction, person: PersonId, batch: BatchId
) -> list[ObjectId]:  # fmt: skip
    """Take away the quotes of an import's messages, for these go; what they spoke for until now.

    Of what it brought in all versions; of other messages, of the version that it brought.
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
    await refresh_standings(tx, person, objects)
    return objects


async def move_evidence(
    tx: Transaction, person: PersonId, *, source: ObjectId, target: ObjectId,
    messages: Sequence[MessageId] | None = None,
) -> None:  # fmt: skip
    """Let the words that support one belief support another; all, or those of some messages."""
    names = {f"message{place}": each for place, each in enumerate(messages or ())}
    if messages is not None and not messages:
        return
    some = "" if messages is None else f"AND message IN ({', '.join(f':{name}' for name in names)})"
    await tx.run(
        f"""UPDATE evidence SET object = :target
           WHERE person = :person AND object = :source {some}""",
        target=target,
        person=person,
        source=source,
        **names,
    )
    await refresh_standings(tx, person, [source, target])


async def list_evidence(tx: Transaction, person: PersonId) -> dict[ObjectId, list[Evidence]]:
    """For each belief of a person the words that bear on it now, oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE e.person = :person AND e.withdrawn_at IS NULL ORDER BY e.said_at, e.id""",
        person=person,
    )
    return grouped(rows)


async def list_evidence_of(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId]
) -> dict[ObjectId, list[Evidence]]:
    """The same for some beliefs; nothing for one without any."""
    if not objects:
        return {}
    names = {f"object{place}": each for place, each in enumerate(objects)}
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE e.person = :person AND e.withdrawn_at IS NULL
           AND e.object IN ({", ".join(f":{name}" for name in names)})
           ORDER BY e.said_at, e.id""",
        person=person,
        **names,
    )
    return grouped(rows)


async def list_last_said(tx: Transaction, person: PersonId) -> dict[ObjectId, Micros]:
    """When the newest words were said about whom or what is known by name, where any are left."""
    rows = await tx.rows(
        """SELECT e.object, max(e.said_at) FROM evidence e JOIN entity n ON n.id = e.object
           WHERE e.person = :person AND n.person = :person AND n.ended_at IS NULL
           AND e.withdrawn_at IS NULL GROUP BY e.object""",
        person=person,
    )
    return {ObjectId(name): Micros(int(at)) for name, at in rows}


async def list_told_of(tx: Transaction, person: PersonId) -> frozenset[ObjectId]:
    """Of whom and what that is known by name the person's own words tell."""
    rows = await tx.rows(
        """SELECT DISTINCT e.object FROM evidence e JOIN entity n ON n.id = e.object
           WHERE e.person = :person AND n.person = :person AND n.ended_at IS NULL
           AND e.withdrawn_at IS NULL AND e.trust = 'person'""",
        person=person,
    )
    return frozenset(ObjectId(name) for (name,) in rows)


async def list_evidence_by(
    tx: Transaction, person: PersonId, segment: SegmentId
) -> dict[ObjectId, list[Evidence]]:
    """All live evidence of the beliefs for which a segment's reading has found some."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE e.person = :person AND e.withdrawn_at IS NULL AND e.object IN
             (SELECT found.object FROM evidence found WHERE found.person = :person
              AND found.segment = :segment AND found.withdrawn_at IS NULL)
           ORDER BY e.said_at, e.id""",
        person=person,
        segment=segment,
    )
    return grouped(rows)


async def refresh_standings(tx: Transaction, person: PersonId, objects: Sequence[ObjectId]) -> None:
    """Compute anew how memories stand, after their evidence has changed."""
    evidence = await list_evidence_of(tx, person, objects)
    ties = await ties_among(tx, person, objects)
    stands = {
        each: standing_of(evidence.get(each, ()), OF_TIES if each in ties else USUAL)
        for each in objects
    }
    await tx.run_many(
        """UPDATE memory SET strength = :strength, confidence = :confidence,
             times_seen = :times_seen, first_seen = :first_seen, last_seen = :last_seen,
             weighed = (SELECT weighed + 1 FROM person WHERE id = :person)
           WHERE id = :id AND person = :person""",
        [
            {"id": each, "person": person, **columns_of(standing)}
            for each, standing in stands.items()
        ],
    )
    await note_weighed(tx, person)


async def ties_among(
    tx: Transaction, person: PersonId, objects: Sequence[ObjectId]
) -> frozenset[ObjectId]:
    """Which of these are ties, which become sure by smaller steps."""
    if not objects:
        return frozenset()
    names = {f"object{place}": each for place, each in enumerate(objects)}
    rows = await tx.rows(
        f"""SELECT id FROM memory WHERE person = :person AND kind = 'triple'
           AND id IN ({", ".join(f":{name}" for name in names)})""",
        person=person,
        **names,
    )
    return frozenset(ObjectId(row[0]) for row in rows)


async def note_weighed(tx: Transaction, person: PersonId) -> None:
    """Tell whoever keeps beliefs at hand that they stand otherwise, though nothing was decided."""
    await tx.run("UPDATE person SET weighed = weighed + 1 WHERE id = :person", person=person)


async def list_standings(
    tx: Transaction, person: PersonId, *, ties: Collection[ObjectId]
) -> dict[ObjectId, Standing]:
    """How everything stands that evidence supports, computed anew; ``ties`` by smaller steps."""
    rows = await tx.rows(
        f"""SELECT e.object, e.id, e.message, e.stance, e.signal, e.confidence, e.said_at
           FROM {TABLES} WHERE e.person = :person AND e.withdrawn_at IS NULL""",
        person=person,
    )
    sightings: dict[ObjectId, list[Seen]] = {}
    for object_id, *seen in rows:
        sightings.setdefault(object_id, []).append(Seen(*seen))
    stands = (
        (each, standing_of(seen, OF_TIES if each in ties else USUAL))
        for each, seen in sightings.items()
    )
    return {each: standing for each, standing in stands if standing is not None}


async def check_standings(tx: Transaction, person: PersonId) -> list[ObjectId]:
    """The memories that do not stand as their evidence makes them; empty when sound."""
    rows = await tx.rows(
        """SELECT id, kind, strength, confidence, times_seen, first_seen, last_seen FROM memory
           WHERE person = :person""",
        person=person,
    )
    ties = {ObjectId(row[0]) for row in rows if row[1] == "triple"}
    standings = await list_standings(tx, person, ties=ties)
    return sorted(
        ObjectId(row[0])
        for row in rows
        if tuple(columns_of(standings.get(row[0])).values()) != row[2:]
    )


def columns_of(standing: Standing | None) -> dict[str, float | int | None]:
    """How a memory stands, as the columns of its row; without evidence it stands on nothing."""
    if standing is None:
        return {"strength": 1.0, "confidence": 1.0, "times_seen": 0, "first_seen": None,
                "last_seen": None}  # fmt: skip
    return {
        "strength": standing.strength, "confidence": standing.confidence,
        "times_seen": standing.times_seen, "first_seen": standing.first_seen,
        "last_seen": standing.last_seen,
    }  # fmt: skip


def grouped(rows: Sequence[Row]) -> dict[ObjectId, list[Evidence]]:
    """Evidence by what it bears on."""
    by_object: dict[ObjectId, list[Evidence]] = {}
    for each in map(evidence_from, rows):
        by_object.setdefault(each.object, []).append(each)
    return by_object


def evidence_from(row: Row) -> Evidence:
    """Evidence from the columns in COLUMNS."""
    return Evidence(
        id=EvidenceId(row[0]), object=row[1], message=MessageId(row[2]), version=row[3],
        quote=row[4], author=row[5], trust=row[6], signal=row[7], stance=row[8],
        confidence=row[9], extractor=row[10], segment=row[11], said_at=row[12], zone=row[13],
        speaker=row[14], role=row[15], channel=row[16],
    )  # fmt: skip
