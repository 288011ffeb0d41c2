"""What of a copied memory is derived anew, and what stands as it was before a moment?

Used on a second database only, into which the log of a first one was copied. Decides nothing.
"""

from collections.abc import Sequence
from itertools import chain

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId, SegmentId, first_id
from oldfriend.domain.memories import Change, Memory
from oldfriend.memory.changes import rebuild
from oldfriend.memory.correcting import merged_into
from oldfriend.memory.evidence import move_evidence


async def believe_nothing_yet(tx: Transaction, person: PersonId) -> None:
    """Count a person's decisions from the beginning."""
    await tx.run("UPDATE person SET last_change = 0, weighed = 0 WHERE id = :person", person=person)


async def read_anew(
    tx: Transaction, person: PersonId, segment: SegmentId, *, is_again: bool
) -> None:
    """Let a segment wait to be read; ``is_again``: what was found in it before stands till then."""
    await tx.run(
        """UPDATE segment SET status = 'waiting', author = NULL, outcome = NULL, error = NULL,
             ended_at = NULL, generation = CASE WHEN :is_again = 1 THEN generation ELSE 1 END
           WHERE id = :id AND person = :person""",
        is_again=int(is_again),
        id=segment,
        person=person,
    )


async def go_back(
    tx: Transaction, person: PersonId, changes: Sequence[Change], *, since: Micros
) -> None:
    """Let a person's copied journal and evidence be what they were at a moment."""
    late = [change for change in changes if change.decided_at >= since]
    for change in reversed(late):
        if change.op == "merged":
            await give_back(tx, change, changes)
    await tx.run(
        "DELETE FROM change WHERE person = :person AND learned_at >= :since",
        person=person, since=since,
    )  # fmt: skip
    await tx.run(
        "UPDATE change SET ended_at = NULL WHERE person = :person AND ended_at >= :since",
        person=person, since=since,
    )  # fmt: skip
    await tx.run(
        """DELETE FROM evidence WHERE person = :person AND (id >= :first OR NOT EXISTS
             (SELECT 1 FROM change c WHERE c.person = :person AND c.object = evidence.object))""",
        person=person,
        first=first_id(since),
    )
    await tx.run(
        "UPDATE evidence SET withdrawn_at = NULL WHERE person = :person AND withdrawn_at >= :since",
        person=person, since=since,
    )  # fmt: skip
    await tx.run(
        """UPDATE person SET last_change =
             (SELECT coalesce(max(seq), 0) FROM change WHERE person = :person)
           WHERE id = :person""",
        person=person,
    )
    await rebuild(tx, person)


async def give_back(tx: Transaction, merged: Change, changes: Sequence[Change]) -> None:
    """Let what was merged away have the words again that were its own."""
    into = merged_into(merged.after) if isinstance(merged.after, Memory) else None
    if into is None:
        return
    theirs: set[MessageId] = {
        cause.message
        for cause in chain.from_iterable(
            change.causes for change in changes if change.object == into and change.seq < merged.seq
        )
    }
    own = sorted({cause.message for cause in merged.causes} - theirs)
    await move_evidence(tx, merged.person, source=into, target=merged.object, messages=own)
