"""Undo of consolidations: takes back readings of segments, or rewinds a copied memory for a replay.

What the last reading had withdrawn, ended or replaced of an earlier one is as it was before. Only a
second database, into which the log of a first one was copied, is rewound.
"""

from collections.abc import Iterable, Sequence
from itertools import chain

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, ObjectId, PersonId, SegmentId, build_min_id
from oldfriend.domain.memories import (
    Evidence,
    JournalEntry,
    JournalObject,
    JournalOp,
    StoredBelief,
    Summary,
)
from oldfriend.memory.belief_corrections import find_merge_survivor
from oldfriend.memory.derived_evidence import BY_CASCADE
from oldfriend.memory.evidence import (
    list_segment_evidence,
    move_evidence,
    refresh_evidence_stats,
    withdraw_evidence,
)
from oldfriend.memory.journal import (
    Provenance,
    list_decisions_at,
    list_object_journal,
    list_segment_journal,
    rebuild_views,
)
from oldfriend.memory.readers import find_reader
from oldfriend.memory.retraction import (
    REVISION_OPS,
    end_summaries,
    end_unsupported_beliefs,
    list_lost_endings,
    record_next_decision,
    reopen_belief,
    revert_entries,
)
from oldfriend.memory.segments import UNREAD_STATUSES, Segment, get_segment, set_segment_status

UNDO_AUTHOR = "undo/1"
"""The author of decisions that follow from an undo."""
BY_UNDO = Provenance(author=UNDO_AUTHOR)


async def undo_consolidation(
    tx: Transaction, person: PersonId, segment_id: SegmentId, *, now: Micros
) -> list[ObjectId]:
    """Take back the last reading of a segment; return the beliefs that changed by it.

    An earlier reading that it had replaced counts again; without one the segment is not read again
    by itself. While a segment waits to be read again or could not be, all its readings are taken
    back. Later decisions about the same beliefs stay. Raises NotFound.
    """
    segment = await get_segment(tx, person, segment_id)
    is_read = segment.status not in UNREAD_STATUSES
    if is_read and segment.ended_at is not None and segment.generation > 1:
        restored = await restore_evidence(tx, person, segment.id, withdrawn_at=segment.ended_at)
        pieces = await list_own_evidence(tx, person, segment.id)
        added = [each for each in pieces if each.id >= build_min_id(segment.ended_at)]
        if len(added) < len(pieces):
            return await undo_last_reading(tx, segment, added, restored, now=now)
    touched = await undo_consolidations(tx, person, [segment.id], now=now)
    await set_segment_status(tx, segment, "taken back", now=now)
    return touched


async def list_standing_decisions(
    tx: Transaction, person: PersonId, segment: SegmentId
) -> list[JournalEntry]:
    """List what readings of a segment have decided that were not taken back, in order.

    A reading was taken back if evidence that it had found was withdrawn by an undo.
    """
    rows = await tx.rows(
        """SELECT e.id FROM evidence e
           WHERE e.person = :person AND e.segment = :segment AND EXISTS
             (SELECT 1 FROM change c WHERE c.person = :person AND c.author = :author
              AND c.learned_at = e.withdrawn_at)""",
        person=person,
        segment=segment,
        author=UNDO_AUTHOR,
    )
    undone = {row[0][: len(build_min_id(0))] for row in rows}
    return [
        each
        for each in await list_segment_journal(tx, person, segment)
        if find_reader(each.author) is not None and build_min_id(each.decided_at) not in undone
    ]


async def list_own_evidence(
    tx: Transaction, person: PersonId, segment: SegmentId
) -> list[Evidence]:
    """List the live evidence that was found in a segment."""
    found = await list_segment_evidence(tx, person, segment)
    return [each for each in chain.from_iterable(found.values()) if each.segment == segment]


async def undo_consolidations(
    tx: Transaction, person: PersonId, segment_ids: Sequence[SegmentId], *, now: Micros
) -> list[ObjectId]:
    """Take back all readings of several segments, oldest first, such as those of an import; return
    the beliefs that ended or were reopened.
    """
    affected: set[ObjectId] = set()
    for segment in segment_ids:
        pieces = await list_own_evidence(tx, person, segment)
        affected.update(await withdraw_evidence(tx, person, pieces, now=now))
    ended = await end_unsupported_beliefs(
        tx, person, provenance=BY_UNDO, now=now, only_ids=affected
    )
    reopened: list[ObjectId] = []
    for segment in reversed(segment_ids):
        decisions = await list_segment_journal(tx, person, segment)
        reopened += await revert_entries(tx, decisions, provenance=BY_UNDO, now=now)
    ended += await end_unsupported_beliefs(
        tx, person, provenance=BY_UNDO, now=now, only_ids=reopened
    )
    summaries = await end_summaries(tx, person, segment_ids, provenance=BY_UNDO, now=now)
    return [*ended, *(each for each in reopened if each not in ended), *summaries]


async def restore_evidence(
    tx: Transaction, person: PersonId, segment: SegmentId, *, withdrawn_at: Micros
) -> list[ObjectId]:
    """Restore what was withdrawn of a segment at a moment, as far as its words still stand so.

    Return the affected beliefs.
    """
    rows = await tx.rows(
        """UPDATE evidence SET withdrawn_at = NULL
           WHERE person = :person AND segment = :segment AND withdrawn_at = :withdrawn_at
           AND EXISTS (SELECT 1 FROM message m WHERE m.person = :person
             AND m.id = evidence.message AND m.version = evidence.version
             AND m.replaced_at IS NULL)
           RETURNING object""",
        person=person,
        segment=segment,
        withdrawn_at=withdrawn_at,
    )
    objects = list(dict.fromkeys(ObjectId(row[0]) for row in rows))
    await refresh_evidence_stats(tx, person, objects)
    return objects


async def undo_last_reading(
    tx: Transaction,
    segment: Segment,
    added: Sequence[Evidence],
    restored: Sequence[ObjectId],
    *,
    now: Micros,
) -> list[ObjectId]:
    """Take back the last reading of a segment, with the evidence that it has ``added``.

    The evidence that it had withdrawn was ``restored`` already. Return the beliefs that changed.
    """
    person, read_at = segment.person, segment.ended_at or now
    affected = {*restored, *await withdraw_evidence(tx, person, added, now=now)}
    ended = await end_unsupported_beliefs(
        tx, person, provenance=BY_UNDO, now=now, only_ids=affected
    )
    summaries = await end_summaries(tx, person, [segment.id], provenance=BY_UNDO, now=now)
    decisions = await list_decisions_at(tx, person, read_at)
    reading = [e for e in decisions if e.segment == segment.id or e.author == BY_CASCADE.author]
    changed = await restore_before(tx, reading, ended, now=now)
    earlier = [
        each
        for each in await list_standing_decisions(tx, person, segment.id)
        if each.decided_at < read_at
    ]
    lost = await list_lost_endings(tx, earlier)
    changed += await revert_entries(tx, lost, provenance=BY_UNDO, now=now)
    ended += await end_unsupported_beliefs(
        tx, person, provenance=BY_UNDO, now=now, only_ids=changed
    )
    await set_segment_status(
        tx,
        segment,
        "done",
        author=earlier[-1].author if earlier else None,
        now=earlier[-1].decided_at if earlier else segment.cut_at,
    )
    return list(dict.fromkeys((*ended, *changed, *summaries)))


async def restore_before(
    tx: Transaction, reading: Sequence[JournalEntry], ended: Iterable[ObjectId], *, now: Micros
) -> list[ObjectId]:
    """Decide what a reading has decided as it was before it; return what has changed by that.

    What it had learned, what has just ``ended``, and what was decided about since, is left alone.
    """
    changed: list[ObjectId] = []
    for object_id in dict.fromkeys(each.object_id for each in reversed(reading)):
        own = {each.seq for each in reading if each.object_id == object_id}
        history = await list_object_journal(tx, reading[0].person, object_id)
        before = next((each for each in reversed(history) if each.seq < min(own)), None)
        later = [each for each in history if each.seq > max(own)]
        if before is None or object_id in ended:
            continue
        if any(each.op not in REVISION_OPS and each.author != UNDO_AUTHOR for each in later):
            continue
        if await restore_state(tx, history[-1].after, before.after, now=now):
            changed.append(object_id)
    return changed


async def restore_state(
    tx: Transaction, current: JournalObject, before: JournalObject, *, now: Micros
) -> bool:
    """Decide something as it was before; return False if it is so, or if another has its place."""
    if current == before:
        return False
    if before.ended_at is None and current.ended_at is not None and not isinstance(before, Summary):
        return await reopen_belief(tx, before, provenance=BY_UNDO, now=now)
    op: JournalOp = "revised"
    if (before.ended_at is None) != (current.ended_at is None):
        op = "reopened" if before.ended_at is None else "ended"
    await record_next_decision(tx, before, op, BY_UNDO, now=now)
    return True


async def reset_journal_counters(tx: Transaction, person: PersonId) -> None:
    """Reset a person's journal counters to zero."""
    await tx.run("UPDATE person SET last_change = 0, weighed = 0 WHERE id = :person", person=person)


async def requeue_segment(
    tx: Transaction, person: PersonId, segment: SegmentId, *, keep_generation: bool
) -> None:
    """Let a segment wait for consolidation; with ``keep_generation``, what was found in it before
    stands until then.
    """
    await tx.run(
        """UPDATE segment SET status = 'waiting', author = NULL, outcome = NULL, error = NULL,
             ended_at = NULL, generation = CASE WHEN :is_again = 1 THEN generation ELSE 1 END
           WHERE id = :id AND person = :person""",
        is_again=int(keep_generation),
        id=segment,
        person=person,
    )


async def rewind_memory(
    tx: Transaction, person: PersonId, entries: Sequence[JournalEntry], *, since: Micros
) -> None:
    """Rewind a person's copied journal and evidence to a moment."""
    late = [entry for entry in entries if entry.decided_at >= since]
    for entry in reversed(late):
        if entry.op == "merged":
            await restore_merged_evidence(tx, entry, entries)
    await tx.run(
        "DELETE FROM change WHERE person = :person AND learned_at >= :since",
        person=person,
        since=since,
    )
    await tx.run(
        "UPDATE change SET ended_at = NULL WHERE person = :person AND ended_at >= :since",
        person=person,
        since=since,
    )
    await tx.run(
        """DELETE FROM evidence WHERE person = :person AND (id >= :first OR NOT EXISTS
             (SELECT 1 FROM change c WHERE c.person = :person AND c.object = evidence.object))""",
        person=person,
        first=build_min_id(since),
    )
    await tx.run(
        "UPDATE evidence SET withdrawn_at = NULL WHERE person = :person AND withdrawn_at >= :since",
        person=person,
        since=since,
    )
    await tx.run(
        """UPDATE person SET last_change =
             (SELECT coalesce(max(seq), 0) FROM change WHERE person = :person)
           WHERE id = :person""",
        person=person,
    )
    await rebuild_views(tx, person)


async def restore_merged_evidence(
    tx: Transaction, merge: JournalEntry, entries: Sequence[JournalEntry]
) -> None:
    """Give a merged memory its own evidence back."""
    survivor = find_merge_survivor(merge.after) if isinstance(merge.after, StoredBelief) else None
    if survivor is None:
        return
    survivor_messages: set[MessageId] = {
        cause.message
        for cause in chain.from_iterable(
            entry.causes
            for entry in entries
            if entry.object_id == survivor and entry.seq < merge.seq
        )
    }
    own_messages = sorted({cause.message for cause in merge.causes} - survivor_messages)
    await move_evidence(
        tx, merge.person, source_id=survivor, target=merge.object_id, message_ids=own_messages
    )
