"""Who or what is somebody, as a model has put it? And what becomes of that when its words go?

Such a description stands on what the events that name them stand on. What a person has written
is theirs, and not looked at here.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, ObjectId, PersonId
from oldfriend.domain.memories import Cause, Change, Entity, Known
from oldfriend.memory.beliefs import list_entities, list_memories
from oldfriend.memory.borrowing import has_fallen
from oldfriend.memory.changes import Ground, decide, list_changes_of
from oldfriend.memory.evidence import list_evidence_of

DESCRIBES: Final = "describe/"
"""How the author of a description begins that nobody has written."""
ENOUGH: Final = 3
"""So many events tell who somebody is; and so many new ones tell it anew (ACCEPTANCE H6)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Indescribed:
    """Somebody or something of whom more is known by now than is said of them."""

    entity: Entity
    base: int
    events: tuple[Known, ...]  # that name them, the newest first


async def list_indescribed(tx: Transaction, person: PersonId) -> list[Indescribed]:
    """Whom to describe, or to describe anew; those of whom most is known first."""
    entities = await list_entities(tx, person, live=False)
    told_of = events_by_name(entities, await list_memories(tx, person, kinds=["event"]))
    described = await when_described(tx, person)
    found: list[Indescribed] = []
    for entity in filter(may_be_described, entities):
        told = told_of.get(entity.id, ())
        base, last = described.get(entity.id, (0, None))
        new = [each for each in told if last is None or each.memory.learned_at > last]
        if len(told) >= ENOUGH and (len(new) >= ENOUGH or not entity.description):
            newest_first = tuple(sorted(told, key=lambda each: -each.memory.learned_at))
            found.append(Indescribed(entity=entity, base=base, events=newest_first))
    return sorted(found, key=lambda each: (-len(each.events), each.entity.id))


async def when_described(
    tx: Transaction, person: PersonId
) -> dict[EntityId, tuple[int, Micros | None]]:
    """Of all who may be described: the newest decision, and when inference last described them."""
    rows = await tx.rows(
        """SELECT object, max(seq), max(CASE WHEN author LIKE :describes THEN learned_at END)
           FROM change WHERE person = :person AND object IN
             (SELECT id FROM entity WHERE person = :person AND ended_at IS NULL
              AND status = 'confirmed' AND is_by_person = 0)
           GROUP BY object""",
        person=person,
        describes=f"{DESCRIBES}%",
    )
    return {EntityId(ObjectId(row[0])): (int(row[1]), row[2]) for row in rows}


def may_be_described(entity: Entity) -> bool:
    """Whether inference may say who somebody is: not where the person has."""
    return entity.ended_at is None and entity.status == "confirmed" and not entity.is_by_person


def events_by_name(
    entities: Collection[Entity], events: Sequence[Known]
) -> Mapping[EntityId, Sequence[Known]]:
    """The events that name each one, also by a name that was merged into theirs."""
    merged = {each.id: each.same_as for each in entities if each.status == "merged"}
    told_of: defaultdict[EntityId, list[Known]] = defaultdict(list)
    for event in events:
        if event.memory.trust != "outside":
            into = (merged.get(each) for each in event.memory.entities)
            for one in {*event.memory.entities, *filter(None, into)}:
                told_of[one].append(event)
    return told_of


def description_of(history: Sequence[Change]) -> Change | None:
    """The last decision by which inference described somebody."""
    described = [each for each in history if each.author.startswith(DESCRIBES)]
    return described[-1] if described else None


async def describe(
    tx: Transaction, entity: Entity, text: str, *, base: int, author: str,
    causes: tuple[Cause, ...], now: Micros,
) -> None:  # fmt: skip
    """Say who somebody is. Raises StaleDecision where something else was decided meanwhile."""
    after = replace(entity, description=text)
    ground = Ground(author=author, causes=causes)
    await decide(tx, after, op="revised", base=base, ground=ground, now=now)


async def let_descriptions_go(
    tx: Transaction, person: PersonId, *, ground: Ground, now: Micros
) -> list[ObjectId]:
    """Take back what was said of somebody on words that are not there any more; of whom."""
    entities = await list_entities(tx, person, live=False)
    described = [each for each in entities if each.description and may_be_described(each)]
    if not described:
        return []
    events = await list_memories(tx, person, kinds=["event"], live=False)
    told_of = events_by_name(entities, [each for each in events if not has_fallen(each.memory)])
    gone: list[ObjectId] = []
    for entity in described:
        history = await list_changes_of(tx, person, entity.id)
        last = description_of(history)
        told = told_of.get(entity.id, ())
        if last is None or await is_grounded(tx, person, last, told):
            continue
        after = replace(entity, description="")
        await decide(tx, after, op="revised", base=history[-1].seq, ground=ground, now=now)
        gone.append(ObjectId(entity.id))
    return gone


async def is_grounded(
    tx: Transaction, person: PersonId, described: Change, events: Sequence[Known]
) -> bool:
    """Whether all the words are there that somebody was described by."""
    evidence = await list_evidence_of(tx, person, [each.memory.id for each in events])
    held = {(each.message, each.version) for words in evidence.values() for each in words}
    return all((cause.message, cause.version) in held for cause in described.causes)
