"""Judged beliefs: what the person has corrected or rejected, and the words it was read from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId, SegmentId
from oldfriend.domain.memories import JournalEntry, StoredBelief
from oldfriend.memory.belief_corrections import BY_PERSON
from oldfriend.memory.belief_views import get_memory, list_superseding_memories
from oldfriend.memory.journal import list_object_journal

JUDGING_OPS: Final = frozenset({"corrected", "rejected", "superseded"})
"""Decisions of the person by which a belief no longer says what was read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedQuote:
    """Words of one message version from which a belief was read."""

    message: MessageId
    version: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBelief:
    """A belief that the person has corrected or rejected."""

    memory: StoredBelief  # as it is now
    before: StoredBelief  # as it was read
    replacement: str  # what the person says instead; "" for what was rejected
    quotes: tuple[JudgedQuote, ...]


async def list_judged_beliefs(
    tx: Transaction, person: PersonId, segment: SegmentId
) -> list[JudgedBelief]:
    """List the judged beliefs that were read from a segment, by whichever reading."""
    rows = await tx.rows(
        """SELECT DISTINCT e.object, e.message, e.version, e.quote FROM evidence e
             JOIN change c ON c.person = e.person AND c.object = e.object
           WHERE e.person = :person AND e.segment = :segment AND e.stance = 'supports'
           AND c.author = :author AND c.op IN ('corrected', 'rejected', 'superseded')
           ORDER BY e.object, e.message, e.version, e.quote""",
        person=person,
        segment=segment,
        author=BY_PERSON.author,
    )
    quotes: dict[ObjectId, list[JudgedQuote]] = {}
    for object_id, message, version, text in rows:
        quote = JudgedQuote(message=MessageId(message), version=version, text=text)
        quotes.setdefault(ObjectId(object_id), []).append(quote)
    judged = [
        await find_judgment(tx, await list_object_journal(tx, person, each), quotes[each])
        for each in quotes
    ]
    return [each for each in judged if each is not None]


async def find_judgment(
    tx: Transaction, history: Sequence[JournalEntry], quotes: Sequence[JudgedQuote]
) -> JudgedBelief | None:
    """Return how the person has judged a belief; None if that was taken back, or is of a name."""
    by_person = [
        index
        for index, each in enumerate(history)
        if each.author == BY_PERSON.author and each.op in JUDGING_OPS
    ]
    now = history[-1].after
    read = [each.after for each in history[: by_person[0]] if isinstance(each.after, StoredBelief)]
    if not isinstance(now, StoredBelief) or not read:
        return None
    before = read[-1]
    is_same = (now.text, now.value, now.due_at) == (before.text, before.value, before.due_at)
    if is_same and now.ended_at is None:
        return None
    replacement = "" if is_same else f"{now.text} {now.value}"
    for each in await list_superseding_memories(tx, now.person, now.id):
        after = await get_memory(tx, now.person, MemoryId(each))
        replacement += f" {after.text} {after.value}"
    return JudgedBelief(
        memory=now, before=before, replacement=replacement.strip(), quotes=tuple(quotes)
    )
