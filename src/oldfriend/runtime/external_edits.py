"""External edits: reconciles the store with changes made to it in a text editor.

An edited message is read again, as after any edit. The edited text of a belief is recorded as a
correction by the person. Nothing else about a belief can be edited there, because beliefs are
folded from the journal and would no longer match it.
"""

from collections.abc import Mapping
from dataclasses import replace

from oldfriend.app.embed_messages import plan_embedding
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database, ExternalEdits, Transaction
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import StoreCorrupt
from oldfriend.domain.ids import MessageId, ObjectId, PersonId
from oldfriend.domain.memories import StoredBelief
from oldfriend.learning.learning_scheduler import reopen_for_messages
from oldfriend.memory.belief_corrections import edit
from oldfriend.memory.journal import (
    fold_journal,
    list_journal,
    list_view_mismatches,
    load_views,
    rebuild_views,
)
from oldfriend.memory.people import list_people


async def apply_external_edits(db: Database, clock: Clock, settings: Settings) -> None:
    """Take over what was edited by hand, if anything was and the store is writable.

    Raises StoreCorrupt for an edit that cannot be taken over; nothing is changed then.
    """
    if db.external_edits is None or db.is_read_only:
        return
    async with db.begin_write() as tx:
        for person in await list_people(tx):
            await apply_message_edits(tx, clock, settings, person.id, db.external_edits)
            await apply_belief_edits(tx, person.id, now=clock())


async def apply_message_edits(
    tx: Transaction, clock: Clock, settings: Settings, person: PersonId, edits: ExternalEdits
) -> None:
    """Have edited messages read and embedded again."""
    edited = [MessageId(message) for whose, message in edits.message_ids if whose == person]
    if edited:
        await reopen_for_messages(tx, settings, person, edited, now=clock())
        await plan_embedding(tx, now=clock())


async def apply_belief_edits(tx: Transaction, person: PersonId, *, now: Micros) -> None:
    """Record edited beliefs as corrections. Raises StoreCorrupt."""
    differing = await list_view_mismatches(tx, person)
    if not differing:
        return
    corrections = await load_corrections(tx, person, differing)
    await rebuild_views(tx, person)
    for each, text in corrections.items():
        await edit(tx, person, each, text, now=now)


async def load_corrections(
    tx: Transaction, person: PersonId, differing: list[ObjectId]
) -> Mapping[ObjectId, str]:
    """Return the new texts of edited beliefs.

    Raises StoreCorrupt where more than the text differs.
    """
    decided = fold_journal(await list_journal(tx, person))
    views = await load_views(tx, person)
    corrections: dict[ObjectId, str] = {}
    for each in differing:
        decided_belief = decided[each].after if each in decided else None
        edited_belief, _ = views.get(each, (None, 0))
        if not (
            isinstance(decided_belief, StoredBelief) and isinstance(edited_belief, StoredBelief)
        ):
            raise build_edit_error(each)
        if (
            replace(edited_belief, text=decided_belief.text) != decided_belief
            or decided_belief.ended_at is not None
        ):
            raise build_edit_error(each)
        corrections[each] = edited_belief.text
    return corrections


def build_edit_error(each: ObjectId) -> StoreCorrupt:
    """Build the error for an edit that the journal does not support."""
    return StoreCorrupt(
        f"What is known under the id {each} was edited in the file in a way that cannot be taken "
        "over: of what is believed now, only the text can be edited there. Nothing was changed. "
        "Take that edit back; then use: oldfriend memory, facts, entities"
    )
