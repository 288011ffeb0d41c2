"""Undo: takes back one reading or one import and ends the beliefs that rested on it alone.

Decisions are never inverted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import JournalEntry, JournalObject
from oldfriend.domain.people import Person
from oldfriend.learning.learning_scheduler import enqueue_learning
from oldfriend.memory.derived_cascade import cascade_retraction
from oldfriend.memory.import_batches import ImportUndoResult
from oldfriend.memory.journal import list_object_journal
from oldfriend.memory.people import lock_person
from oldfriend.memory.retraction import undo_consolidation
from oldfriend.memory.segments import (
    Segment,
    find_last_read_segment,
    find_segment_by_partial_id,
    set_segment_status,
)
from oldfriend.transfer.import_run import undo_import_batch


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationUndoResult:
    """A retracted reading, and the beliefs it had touched by what happened to them."""

    segment: Segment  # as it was read
    ended: tuple[JournalObject, ...] = ()  # no longer believed
    reopened: tuple[JournalObject, ...] = ()  # believed again as before
    changed: tuple[JournalObject, ...] = ()  # still believed, with less in it


async def undo_segment(
    db: Database, clock: Clock, person: PersonId, partial_id: str | None
) -> ConsolidationUndoResult:
    """Retract the reading of a segment (None: the last one read).

    It is not read again by itself. Raises NotFound, InvalidInput.
    """
    now = clock()
    async with db.begin_write() as tx:
        await lock_person(tx, person)
        segment = await resolve_segment(tx, person, partial_id)
        touched = await undo_consolidation(tx, person, segment.id, now=now)
        touched += await cascade_retraction(tx, person, now=now)
        await set_segment_status(tx, segment, "taken back", now=now)
        last_changes = [
            (await list_object_journal(tx, person, each))[-1] for each in dict.fromkeys(touched)
        ]
    return build_undone_consolidation(segment, last_changes)


def build_undone_consolidation(
    segment: Segment, last_changes: Sequence[JournalEntry]
) -> ConsolidationUndoResult:
    """Group the touched beliefs by the last decision about each."""
    ended = [each.after for each in last_changes if each.after.ended_at is not None]
    reopened = [
        each.after for each in last_changes if each.op == "reopened" and each.after.ended_at is None
    ]
    changed = [
        each.after for each in last_changes if each.op != "reopened" and each.after.ended_at is None
    ]
    return ConsolidationUndoResult(
        segment=segment, ended=tuple(ended), reopened=tuple(reopened), changed=tuple(changed)
    )


async def resolve_segment(tx: Transaction, person: PersonId, partial_id: str | None) -> Segment:
    """Return the segment with a partial id (None: the last one read). Raises NotFound."""
    if partial_id is None:
        segment = await find_last_read_segment(tx, person)
    else:
        segment = await find_segment_by_partial_id(tx, person, partial_id)
    if segment is None:
        raise NotFound("There is no such reading. `oldfriend history ID` names the segments.")
    return segment


async def undo_import(
    db: Database, clock: Clock, settings: Settings, person: Person, number: int
) -> ImportUndoResult:
    """Remove an import and everything learned from it; importing again brings it back.

    The rest of the affected conversations is read again. Raises NotFound.
    """
    now = clock()
    undone = await undo_import_batch(db, person, number, now=now)
    if settings.memory.forms:
        async with db.begin_write() as tx:
            await enqueue_learning(tx, person.id, now=now, due_at=now)
    return undone
