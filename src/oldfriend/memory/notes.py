"""Notes: what the person asked to be remembered, each with the quote that made it."""

from dataclasses import replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import Cause, ObjectLink, StoredBelief
from oldfriend.domain.messages import Message, can_be_evidence
from oldfriend.domain.unicode_text import normalize
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.evidence import NewEvidence, add_evidence
from oldfriend.memory.journal import Provenance, record_decision
from oldfriend.memory.people import lock_person
from oldfriend.memory.restatement_detection import find_restatement
from oldfriend.memory.retraction import record_next_decision


async def learn_note(
    tx: Transaction, text: str, *, source: Message, author: str, now: Micros
) -> StoredBelief:
    """Store a note with the words it rests on as evidence.

    The same note said again adds evidence to the existing one. A note that restates an earlier one
    with another value supersedes it. Raises InvalidInput when the words are not the person's own,
    or do not contain the note.
    """
    if not can_be_evidence(source.trust) or text not in source.text:
        raise InvalidInput("A note must be quoted from the person's own words.")
    await lock_person(tx, source.person)
    note = await find_note(tx, source.person, text)
    if note is None:
        outdated = await list_corrected_notes(tx, source, text)
        note = StoredBelief(
            id=MemoryId(ObjectId(new_id(now))),
            person=source.person,
            kind="note",
            text=text,
            language=source.language,
            learned_at=now,
            relations=tuple(ObjectLink(kind="supersedes", target=each.id) for each in outdated),
        )
        cause = Cause(message=source.id, version=source.version)
        provenance = Provenance(author=author, causes=(cause,))
        await record_decision(tx, note, op="learned", base=0, provenance=provenance, now=now)
        for each in outdated:
            until = each.holds_until or source.at
            retired = replace(each, status="superseded", holds_until=until, ended_at=now)
            await record_next_decision(tx, retired, "superseded", provenance, now=now)
    evidence = NewEvidence(source=source, quote=text)
    await add_evidence(tx, source.person, note.id, [evidence], extractor=author, now=now)
    return note


async def find_note(tx: Transaction, person: PersonId, text: str) -> StoredBelief | None:
    """Return the live note with the same text, ignoring case, width and spacing."""
    wanted = normalize_note(text)
    notes = await list_notes(tx, person)
    return next((note for note in notes if normalize_note(note.text) == wanted), None)


async def list_corrected_notes(tx: Transaction, source: Message, text: str) -> list[StoredBelief]:
    """List the live notes that a new one corrects, of those older than its message."""
    known = await list_memories(tx, source.person, kinds=["note"])
    return [
        each.memory
        for each in known
        if each.stats.last_seen < source.at
        and find_restatement(text, each.memory.text, source.language)
    ]


async def list_notes(tx: Transaction, person: PersonId) -> list[StoredBelief]:
    """List the person's live notes, oldest first."""
    return [each.memory for each in await list_memories(tx, person, kinds=["note"])]


def normalize_note(text: str) -> str:
    """Normalize case, width and spacing of a text and drop its final punctuation."""
    folded = normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(".!。！ ")
