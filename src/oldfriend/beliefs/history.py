"""Belief history: every decision about an object, with its author, time and evidence."""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import Cause, Evidence, JournalEntry, JournalObject, Memory
from oldfriend.domain.messages import Message
from oldfriend.memory.beliefs import get_object_by_partial_id, list_superseding_memories
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.journal import list_object_journal
from oldfriend.memory.messages import get_message

MAX_LINKED_BELIEFS = 20
"""Largest number of beliefs followed along a supersession chain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """One decision, with its cause messages and the time of the next one."""

    change: JournalEntry
    until: Micros | None  # None: it still holds
    cause_messages: tuple[Message, ...]  # as they read then, without forgotten ones


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefHistory:
    """All decisions about one object, and about those it superseded or was superseded by."""

    object_id: ObjectId
    entries: tuple[HistoryEntry, ...]  # oldest first
    evidence: tuple[Evidence, ...]  # current evidence for and against it, oldest first

    @property
    def content(self) -> JournalObject:
        """The object as last decided."""
        own = [entry for entry in self.entries if entry.change.object_id == self.object_id]
        return own[-1].change.after


async def get_history(tx: Transaction, person: PersonId, partial_id: str) -> BeliefHistory:
    """Return the history of the object with a partial id. Raises NotFound, InvalidInput."""
    object_id, _ = await get_object_by_partial_id(tx, person, partial_id)
    entries: list[HistoryEntry] = []
    for each in await list_supersession_chain(tx, person, ObjectId(object_id)):
        entries += await load_entries(tx, person, await list_object_journal(tx, person, each))
    evidence = await list_object_evidence(tx, person, [ObjectId(object_id)])
    return BeliefHistory(
        object_id=ObjectId(object_id),
        entries=tuple(sorted(entries, key=lambda step: step.change.seq)),
        evidence=tuple(evidence.get(ObjectId(object_id), ())),
    )


async def list_supersession_chain(
    tx: Transaction, person: PersonId, object_id: ObjectId
) -> list[ObjectId]:
    """Return an object and, transitively, those it superseded or was superseded by."""
    found = [object_id]
    for each in found:
        if len(found) > MAX_LINKED_BELIEFS:
            break
        linked = await list_superseded(tx, person, each) + await list_superseding_memories(
            tx, person, each
        )
        found += [other for other in linked if other not in found]
    return found


async def list_superseded(tx: Transaction, person: PersonId, object_id: ObjectId) -> list[ObjectId]:
    """Return the objects that an object supersedes."""
    after = (await list_object_journal(tx, person, object_id))[-1].after
    if not isinstance(after, Memory):
        return []
    return [link.target for link in after.relations if link.kind == "supersedes"]


async def load_entries(
    tx: Transaction, person: PersonId, changes: Sequence[JournalEntry]
) -> list[HistoryEntry]:
    """Return the history entries of one object."""
    return [
        HistoryEntry(
            change=change,
            until=None if after is None else after.decided_at,
            cause_messages=tuple(
                [
                    message
                    for cause in change.causes
                    if (message := await find_cause_message(tx, person, cause)) is not None
                ]
            ),
        )
        for change, after in zip(changes, [*changes[1:], None], strict=True)
    ]


async def find_cause_message(tx: Transaction, person: PersonId, cause: Cause) -> Message | None:
    """Return the message a decision rests on; None if it was forgotten since."""
    try:
        return await get_message(tx, person, cause.message, version=cause.version)
    except NotFound:
        return None
