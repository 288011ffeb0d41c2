"""Correction replay: applies the person's decisions to the matching beliefs of the target database.

Where nothing matches, the belief is copied together with the decision and its evidence.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeVar

from oldfriend.beliefs.queries import BeliefDetails
from oldfriend.db.database import Transaction
from oldfriend.domain.attribute_keys import is_single_valued
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Entity, Evidence, JournalEntry, JournalObject, Memory
from oldfriend.learning.merge_duplicates import DuplicateMerge, write_merges
from oldfriend.memory import corrections as correcting
from oldfriend.memory.beliefs import get_memory_state
from oldfriend.memory.corrections import BY_PERSON
from oldfriend.memory.deletion.journal_redaction import ORPHAN_AUTHOR
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, list_object_journal, record_decision
from oldfriend.memory.messages import get_message
from oldfriend.memory.people import lock_person
from oldfriend.memory.retraction import record_next_decision
from oldfriend.replay.alignment import find_counterpart
from oldfriend.replay.steps import SourceHistory
from oldfriend.replay.target_snapshot import TargetSnapshot

BeliefT = TypeVar("BeliefT", bound=JournalObject)
OPS_ON_ENDED: Final = frozenset({"confirmed", "unrejected", "separated"})
"""Operations allowed on an object that is no longer believed."""
ENDORSING_OPS: Final = frozenset({"pinned", "confirmed"})
"""Operations by which the person says that a belief is true."""


async def reapply_decision(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Apply a decision of the person in the target.

    Raises NotFound, InvalidInput where it cannot.
    """
    person = change.person
    await lock_person(tx, person)
    match change.op:
        case "learned":
            await reapply_correction(tx, source_history, snapshot, change, now=now)
        case "merged":
            await reapply_merge(tx, source_history, snapshot, change, now=now)
        case "separated":
            await reapply_separation(tx, source_history, snapshot, change, now=now)
        case _:
            counterpart = await find_or_copy_counterpart(
                tx, source_history, snapshot, change.object_id, change
            )
            if counterpart is not None:
                await reapply_action(tx, change, counterpart, now=now)


async def reapply_action(
    tx: Transaction, change: JournalEntry, target: JournalObject, *, now: Micros
) -> None:
    """Pin, unpin, confirm, reject, unreject or edit the counterpart."""
    match change.op:
        case "pinned":
            await correcting.pin(tx, change.person, target.id, now=now)
        case "unpinned":
            await correcting.unpin(tx, change.person, target.id, now=now)
        case "confirmed":
            await correcting.confirm(tx, change.person, target.id, now=now)
        case "rejected":
            await correcting.reject(tx, change.person, target.id, now=now)
        case "unrejected":
            await correcting.unreject(tx, change.person, target.id, now=now)
        case "corrected":
            text, value = get_corrected_text(change.after)
            await correcting.edit(tx, change.person, target.id, text, value=value, now=now)


def get_corrected_text(after: JournalObject) -> tuple[str, str | None]:
    """Return the text the person wrote, and the value it states."""
    if isinstance(after, Entity):
        return after.description, None
    return after.text, after.value if isinstance(after, Memory) else None


async def reapply_correction(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Supersede the counterpart of a corrected belief with the person's value."""
    assert isinstance(change.after, Memory)
    old = next(link.target for link in change.after.relations if link.kind == "supersedes")
    counterpart = await find_or_copy_counterpart(tx, source_history, snapshot, old, change)
    if counterpart is not None:
        second = source_history.find_change(change.seq + 1)
        superseded = None if second is None else second.after
        is_change = isinstance(superseded, Memory) and superseded.status == "superseded"
        await correcting.edit(
            tx,
            change.person,
            counterpart.id,
            change.after.text,
            value=change.after.value,
            since=change.after.holds_from if is_change else None,
            now=now,
        )


async def reapply_merge(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Merge the counterparts of two objects."""
    after = change.after
    survivor_id = after.same_as if isinstance(after, Entity) else find_merge_target(after)
    merged = await find_or_copy_counterpart(tx, source_history, snapshot, change.object_id, change)
    survivor = (
        None
        if survivor_id is None
        else await find_or_copy_counterpart(tx, source_history, snapshot, survivor_id, change)
    )
    if survivor is None or merged is None or survivor.id == merged.id:
        return  # they are merged already
    if isinstance(after, Entity):
        await correcting.merge_entities(
            tx, change.person, EntityId(survivor.id), EntityId(merged.id), now=now
        )
        return
    stronger = await get_memory_state(tx, change.person, MemoryId(survivor.id))
    weaker = await get_memory_state(tx, change.person, MemoryId(merged.id))
    merge = DuplicateMerge(stronger=stronger, weaker=weaker, author=BY_PERSON.author)
    await write_merges(tx, change.person, [merge], now=now)


def find_merge_target(after: JournalObject) -> ObjectId | None:
    """Return the memory that another was merged into, if it was."""
    return correcting.find_merge_survivor(after) if isinstance(after, Memory) else None


async def reapply_separation(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Separate the counterparts of two objects."""
    second = source_history.find_change(change.seq + 1)
    if second is None or second.op != "separated":
        return  # the other object was forgotten
    one = await find_or_copy_counterpart(tx, source_history, snapshot, change.object_id, change)
    other = await find_or_copy_counterpart(tx, source_history, snapshot, second.object_id, change)
    if one is None or other is None or one.id == other.id:
        return
    if isinstance(one, Entity):
        await correcting.separate_entities(
            tx, change.person, EntityId(one.id), EntityId(other.id), now=now
        )
    else:
        await correcting.separate_memories(
            tx, change.person, MemoryId(one.id), MemoryId(other.id), now=now
        )


async def find_or_copy_counterpart(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    object_id: ObjectId,
    change: JournalEntry,
) -> JournalObject | None:
    """Return the counterpart of an object that the person decided about, copying it if needed.

    None where a copy would be pointless, such as to unpin what is not known.
    """
    before = source_history.get_belief_before(object_id, change.seq)
    known = await snapshot.list_all(tx)
    is_any = change.op in OPS_ON_ENDED
    candidates = [each for each in known if is_any or each.content.ended_at is None]
    says_value = change.op in {"learned", "corrected"}
    found = find_counterpart(before, candidates, is_strict=not says_value)
    if found is not None:
        return found.content
    if change.op == "unpinned" or any(each.content.id == object_id for each in known):
        return None
    return await copy_belief(tx, before, known, change, now=change.decided_at)


async def copy_belief(
    tx: Transaction,
    belief: BeliefDetails,
    known: Iterable[BeliefDetails],
    change: JournalEntry,
    *,
    now: Micros,
) -> JournalObject:
    """Copy a belief to the target, where nothing corresponds to it.

    If the person vouched for it, competing beliefs are superseded.
    """
    after = filter_links(belief.content, {each.content.id for each in known})
    if change.op in ENDORSING_OPS and isinstance(after, Memory) and is_single_valued(after):
        ended = replace(after, ended_at=now)
        after = replace(await correcting.supersede_competing(tx, ended, now=now), ended_at=None)
    provenance = Provenance(author=BY_PERSON.author)
    await record_decision(tx, after, op="learned", base=0, provenance=provenance, now=now)
    await copy_evidence(tx, after.person, after.id, belief.evidence, now=now)
    return after


async def copy_evidence(
    tx: Transaction,
    person: PersonId,
    object_id: ObjectId,
    evidence: Iterable[Evidence],
    *,
    now: Micros,
) -> None:
    """Copy the evidence of an object, keeping the extractors."""
    for each in evidence:
        source = await get_message(tx, person, each.message, version=each.version)
        found = NewEvidence(
            source=source,
            quote=each.quote,
            stance=each.stance,
            signal=each.signal,
            confidence=each.confidence,
        )
        await add_evidence(tx, person, object_id, [found], extractor=each.extractor, now=now)


async def drop_missing_links(tx: Transaction, snapshot: TargetSnapshot, belief: BeliefT) -> BeliefT:
    """Drop links to objects that are not in the target; a belief without links stays as it is."""
    if filter_links(belief, set()) == belief:
        return belief
    return filter_links(belief, {each.content.id for each in await snapshot.list_all(tx)})


def filter_links(belief: BeliefT, object_ids: set[ObjectId]) -> BeliefT:
    """Drop links to all but the given objects."""
    if isinstance(belief, Memory):
        return replace(
            belief,
            entities=tuple(each for each in belief.entities if each in object_ids),
            relations=tuple(each for each in belief.relations if each.target in object_ids),
        )
    if isinstance(belief, Entity):
        return replace(belief, same_as=belief.same_as if belief.same_as in object_ids else None)
    return belief


async def copy_decision(
    tx: Transaction,
    source_history: SourceHistory,
    snapshot: TargetSnapshot,
    change: JournalEntry,
    *,
    now: Micros,
) -> None:
    """Repeat a decision unchanged, about the same object."""
    person, object_id = change.person, change.object_id
    await lock_person(tx, person)
    history = await list_object_journal(tx, person, object_id)
    after = await drop_missing_links(tx, snapshot, change.after)
    provenance = Provenance(author=change.author, causes=change.causes)
    if not history:
        await record_decision(tx, after, op="learned", base=0, provenance=provenance, now=now)
        evidence = source_history.evidence.get(object_id, ()) if isinstance(after, Memory) else ()
        await copy_evidence(tx, person, object_id, filter_unextracted(evidence), now=now)
        return
    final = history[-1].after if change.author == ORPHAN_AUTHOR else after
    await record_next_decision(tx, final, change.op, provenance, now=now)


def filter_unextracted(evidence: Iterable[Evidence]) -> Iterable[Evidence]:
    """Return the evidence that no reading will find again."""
    return (each for each in evidence if each.segment is None)
