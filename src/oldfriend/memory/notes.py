"""What did the person ask to be remembered? Notes, each standing on the words that made it."""

import unicodedata

from oldfriend.db.database import Row, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import EvidenceId, MemoryId, MessageId, PersonId, new_id
from oldfriend.domain.memories import Cause, Evidence, Memory
from oldfriend.domain.messages import Message
from oldfriend.domain.trust import may_be_evidence
from oldfriend.memory.changes import decide, memory_from
from oldfriend.memory.people import lock_person


async def learn_note(
    tx: Transaction, text: str, *, source: Message, author: str, now: Micros
) -> Memory:
    """Keep a note, with the words it rests on as evidence.

    The same note said again is not a second note: the one there is gains evidence. Raises
    InvalidInput when the words are not the person's own, or do not contain the note.
    """
    if not may_be_evidence(source.trust) or text not in source.text:
        raise InvalidInput("A note must be quoted from the person's own words.")
    await lock_person(tx, source.person)
    note = await find_note(tx, source.person, text)
    if note is None:
        note = Memory(
            id=MemoryId(new_id(now)), person=source.person, kind="note", text=text,
            language=source.language, learned_at=now,
        )  # fmt: skip
        cause = Cause(message=source.id, version=source.version)
        await decide(tx, note, op="learned", causes=[cause], author=author, base=0)
    await add_evidence(tx, note, quote=text, source=source, now=now)
    return note


async def find_note(tx: Transaction, person: PersonId, text: str) -> Memory | None:
    """The live note that says the same, letter case, width and spacing aside."""
    wanted = same_words(text)
    notes = await list_notes(tx, person)
    return next((note for note in notes if same_words(note.text) == wanted), None)


async def list_notes(tx: Transaction, person: PersonId) -> list[Memory]:
    """The person's live notes, oldest first."""
    rows = await tx.rows(
        """SELECT id, person, kind, text, language, learned_at, ended_at FROM memory
           WHERE person = :person AND kind = 'note' AND ended_at IS NULL
           ORDER BY learned_at, id""",
        person=person,
    )
    return [memory_from(row) for row in rows]


async def add_evidence(
    tx: Transaction, memory: Memory, *, quote: str, source: Message, now: Micros
) -> None:
    """Add the words of a message to what supports a memory."""
    await tx.run(
        """INSERT INTO evidence (id, person, memory, message, version, quote, author, trust,
             signal, said_at)
           VALUES (:id, :person, :memory, :message, :version, :quote, :author, :trust,
             'explicit', :said_at)""",
        id=new_id(now), person=memory.person, memory=memory.id, message=source.id,
        version=source.version, quote=quote, author=source.author, trust=source.trust,
        said_at=source.at,
    )  # fmt: skip


async def list_evidence(tx: Transaction, person: PersonId) -> dict[MemoryId, list[Evidence]]:
    """For each memory of a person the words that support it now, oldest first."""
    rows = await tx.rows(
        """SELECT e.id, e.memory, e.message, e.version, e.quote, e.author, e.trust, e.signal,
             e.said_at, m.zone
           FROM evidence e JOIN message m ON m.id = e.message AND m.version = e.version
             AND m.person = e.person
           WHERE e.person = :person AND e.withdrawn_at IS NULL ORDER BY e.said_at, e.id""",
        person=person,
    )
    by_memory: dict[MemoryId, list[Evidence]] = {}
    for evidence in map(evidence_from, rows):
        by_memory.setdefault(evidence.memory, []).append(evidence)
    return by_memory


def evidence_from(row: Row) -> Evidence:
    """Evidence from its columns, in the order in which list_evidence reads them."""
    evidence_id, memory, message, version, quote, author, trust, signal, said_at, zone = row
    return Evidence(
        id=EvidenceId(evidence_id), memory=MemoryId(memory), message=MessageId(message),
        version=version, quote=quote, author=author, trust=trust, signal=signal,
        said_at=said_at, zone=zone,
    )  # fmt: skip


def same_words(text: str) -> str:
    """A text with case, width, spacing and the last full stop ignored."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(".!。！ ")
