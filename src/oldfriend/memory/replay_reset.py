"""Replay reset: prepares a copied database for a replay of its log.

Used only on a second database into which the log of a first one was copied. Decides nothing.
"""

from collections.abc import Sequence
from itertools import chain

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId, SegmentId, build_min_id
from oldfriend.domain.memories import JournalEntry, Memory
from oldfriend.memory.belief_corrections import find_merge_survivor
from oldfriend.memory.evidence import move_evidence
from oldfriend.memory.journal import rebuild_views


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
    survivor = find_merge_survivor(merge.after) if isinstance(merge.after, Memory) else None
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
        tx, merge.person, source=survivor, target=merge.object_id, messages=own_messages
    )
