"""Retraction: ends beliefs that have lost their evidence, and reopens what they had ended.

Nothing is inverted: evidence is withdrawn, and a belief that a retracted decision had ended is
decided again as it was before, unless another value holds by then, which supersedes it anyway.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, ObjectId, PersonId, SegmentId
from oldfriend.domain.memories import (
    Entity,
    JournalEntry,
    JournalObject,
    JournalOp,
    MemoryState,
    StoredBelief,
)
from oldfriend.domain.supersession import (
    find_prior_entry,
    get_valid_since,
    is_or_was_true,
    list_replacements,
    list_superseders,
)
from oldfriend.memory.belief_views import (
    get_memory_state,
    list_entities,
    list_memories,
    list_summaries,
)
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.journal import (
    Provenance,
    get_latest_seq,
    list_object_journal,
    record_decision,
)
from oldfriend.memory.readers import ReaderKind, find_reader

ENDING_OPS: Final = frozenset({"disputed", "merged", "fulfilled", "expired"})
"""How a consolidation ends a belief, besides superseding it."""
REVISION_OPS: Final = frozenset({"revised", "separated"})


async def end_unsupported_beliefs(
    tx: Transaction,
    person: PersonId,
    *,
    provenance: Provenance,
    now: Micros,
    only_ids: Collection[ObjectId] | None = None,
) -> list[ObjectId]:
    """End beliefs without live supporting evidence, unless the person wrote them; return which.

    ``only`` limits it to some beliefs. Superseded beliefs are ended, too: without evidence they are
    no history.
    """
    if only_ids is not None and not only_ids:
        return []
    evidence = await list_evidence(tx, person)
    memories = [each.memory for each in await list_memories(tx, person, live=False)]
    believed: list[StoredBelief | Entity] = [
        each for each in memories if is_or_was_true(each) or each.status == "unconfirmed"
    ]
    believed += await list_entities(tx, person)
    ended: list[ObjectId] = []
    for each in believed:
        is_selected = only_ids is None or each.id in only_ids
        is_supported = any(piece.stance == "supports" for piece in evidence.get(each.id, ()))
        if is_selected and not is_supported and not each.is_by_person:
            after = build_retracted(each, now)
            is_waiting = after.status == "withdrawn"
            op: JournalOp = "withdrawn" if is_waiting else "ended"
            await record_next_decision(tx, after, op, provenance, now=now)
            ended += [] if is_waiting else [each.id]
    return ended


def build_retracted(each: StoredBelief | Entity, now: Micros) -> StoredBelief | Entity:
    """Return a belief as ended without having been superseded."""
    if isinstance(each, StoredBelief) and each.status == "superseded":
        return replace(each, status="active", holds_until=None, ended_at=now)
    if isinstance(each, StoredBelief) and each.status == "unconfirmed":
        return replace(each, status="withdrawn", ended_at=now)
    return replace(each, ended_at=now)


async def revert_stale_endings(
    tx: Transaction,
    earlier: Sequence[JournalEntry],
    *,
    reader: ReaderKind,
    kept: Collection[tuple[MessageId, int]],
    provenance: Provenance,
    now: Micros,
) -> list[ObjectId]:
    """Reopen what earlier consolidations of a segment ended, where nothing ends it any more.

    For after the segment was consolidated again and unsupported beliefs have ended. What a stronger
    reader ended stays so while its words stand, and what rests on a message version that is
    ``kept`` as evidence. Running it twice changes nothing.
    """
    replaced = [
        entry
        for entry in earlier
        if entry.op == "superseded"
        and (find_reader(entry.author) or reader) <= reader
        and not any((cause.message, cause.version) in kept for cause in entry.causes)
    ]
    lost = await list_lost_endings(tx, earlier)
    endings = sorted(
        (*replaced, *(each for each in lost if each not in replaced)), key=attrgetter("seq")
    )
    return await revert_entries(tx, endings, provenance=provenance, now=now)


async def list_lost_endings(tx: Transaction, entries: Iterable[JournalEntry]) -> list[JournalEntry]:
    """List the decisions that ended something by words that have been edited or removed since."""
    return [
        each
        for each in entries
        if (each.op == "superseded" or each.op in ENDING_OPS)
        and await has_only_edited_causes(tx, each)
    ]


async def revert_entries(
    tx: Transaction, entries: Sequence[JournalEntry], *, provenance: Provenance, now: Micros
) -> list[ObjectId]:
    """Restore beliefs to their state before some decisions, unless others were made since; return
    those reopened.

    A later revision of a belief that has ended, such as its start date, does not prevent it.
    """
    reopened: list[ObjectId] = []
    for entry in entries:
        if entry.op != "superseded" and entry.op not in ENDING_OPS | REVISION_OPS:
            continue
        history = await list_object_journal(tx, entry.person, entry.object_id)
        is_revision = entry.op in REVISION_OPS
        by_seq = {each.seq: each for each in history}
        earlier = find_prior_entry(by_seq, entry, must_be_live=not is_revision)
        later = [each for each in history if each.seq > entry.seq]
        if earlier is None or any(is_revision or each.op not in REVISION_OPS for each in later):
            continue
        if is_revision:
            await record_next_decision(tx, earlier.after, "revised", provenance, now=now)
        elif await reopen_belief(tx, earlier.after, provenance=provenance, now=now):
            reopened.append(entry.object_id)
    return reopened


async def reopen_belief(
    tx: Transaction, after: JournalObject, *, provenance: Provenance, now: Micros
) -> bool:
    """Reopen a belief; return False if another value has its place by now.

    In that case it is recorded as true until the next value began, and from then on depends on that
    one's evidence.
    """
    states = await list_memories(tx, after.person, live=False)
    if isinstance(after, StoredBelief):
        replacements = list_replacements(after, [each.memory for each in states])
        if replacements and not any(list_superseders(after, replacements)):
            values = [each for each in states if each.memory in replacements]
            await supersede_at_next_value(tx, after, values, provenance=provenance, now=now)
        if replacements:
            return False
    await record_next_decision(tx, after, "reopened", provenance, now=now)
    return True


async def supersede_at_next_value(
    tx: Transaction,
    after: StoredBelief,
    values: Sequence[MemoryState],
    *,
    provenance: Provenance,
    now: Micros,
) -> None:
    """Record that a memory held until the next of some values began to hold."""
    state = await get_memory_state(tx, after.person, after.id)
    later = [each for each in values if get_valid_since(each) > get_valid_since(state)]
    following = min(later, key=get_valid_since) if later else max(values, key=get_valid_since)
    until = max(get_valid_since(following), get_valid_since(state))
    if (state.memory.status, state.memory.holds_until) == ("superseded", until):
        return
    first = (await list_object_journal(tx, after.person, following.memory.id))[0]
    provenance = replace(provenance, segment=first.segment, causes=first.causes)
    ended = replace(after, status="superseded", holds_until=until, ended_at=now)
    await record_next_decision(tx, ended, "superseded", provenance, now=now)


async def has_only_edited_causes(tx: Transaction, entry: JournalEntry) -> bool:
    """Whether every message that a decision rests on has been edited or removed since."""
    for cause in entry.causes:
        row = await tx.row(
            """SELECT 1 FROM message WHERE person = :person AND id = :id AND version = :version
               AND replaced_at IS NULL""",
            person=entry.person,
            id=cause.message,
            version=cause.version,
        )
        if row is not None:
            return False
    return True


async def end_summaries(
    tx: Transaction,
    person: PersonId,
    segment_ids: Collection[SegmentId],
    *,
    provenance: Provenance,
    now: Micros,
) -> list[ObjectId]:
    """End the summaries of these segments on every level; return which.

    Summaries below an ended one are active again.
    """
    summaries = await list_summaries(tx, person, active=False)
    touched = [each for each in summaries if set(each.segments) & set(segment_ids)]
    source_ids = {source for each in touched for source in each.sources}
    for summary in summaries:
        if summary in touched:
            ended = replace(summary, is_active=False, ended_at=now)
            await record_next_decision(tx, ended, "ended", provenance, now=now)
        elif summary.id in source_ids:
            reactivated = replace(summary, is_active=True)
            await record_next_decision(tx, reactivated, "reopened", provenance, now=now)
    return [each.id for each in touched]


async def record_next_decision(
    tx: Transaction, after: JournalObject, op: JournalOp, provenance: Provenance, *, now: Micros
) -> None:
    """Record a decision on top of whatever was decided last; the caller holds the lock."""
    base = await get_latest_seq(tx, after.person, after.id)
    await record_decision(tx, after, op=op, base=base, provenance=provenance, now=now)
