"""What did the person ask to be remembered? Notes, each standing on the words that made it."""

import unicodedata
from dataclasses import replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import MemoryId, ObjectId, PersonId, new_id
from oldfriend.domain.memories import Cause, Memory, Relation
from oldfriend.domain.messages import Message
from oldfriend.domain.trust import may_be_evidence
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.changes import Ground, decide
from oldfriend.memory.evidence import Words, add_evidence
from oldfriend.memory.people import lock_person
from oldfriend.memory.restating import restated
from oldfriend.memory.withdrawing import decide_next


async def learn_note(
    tx: Transaction, text: str, *, source: Message, author: str, now: Micros
) -> Memory:
    """Keep a note, with the words it rests on as evidence.

    The same note said again is not a second note: the one there is gains evidence. One that puts
    another right overtakes it. Raises InvalidInput when the words are not the person's own, or do
    not contain the note.
    """
    if not may_be_evidence(source.trust) or text not in source.text:
        raise InvalidInput("A note must be quoted from the person's own words.")
    await lock_person(tx, source.person)
    note = await find_note(tx, source.person, text)
    if note is None:
        outdated = await list_put_right(tx, source, text)
        note = Memory(
            id=MemoryId(ObjectId(new_id(now))), person=source.person, kind="note", text=text,
            language=source.language, learned_at=now,
            relations=tuple(Relation(kind="supersedes", other=each.id) for each in outdated),
        )  # fmt: skip
        cause = Cause(message=source.id, version=source.version)
        ground = Ground(author=author, causes=(cause,))
        await decide(tx, note, op="learned", base=0, ground=ground, now=now)
        for each in outdated:
            until = each.holds_until or source.at
            gone = replace(each, status="superseded", holds_until=until, ended_at=now)
            await decide_next(tx, gone, "superseded", ground, now=now)
    words = Words(source=source, quote=text)
    await add_evidence(tx, source.person, note.id, [words], extractor=author, now=now)
    return note


async def find_note(tx: Transaction, person: PersonId, text: str) -> Memory | None:
    """The live note that says the same, letter case, width and spacing aside."""
    wanted = same_words(text)
    notes = await list_notes(tx, person)
    return next((note for note in notes if same_words(note.text) == wanted), None)


async def list_put_right(tx: Transaction, source: Message, text: str) -> list[Memory]:
    """The live notes that a new one puts right, of those that were made before it was said."""
    known = await list_memories(tx, source.person, kinds=["note"])
    return [
        each.memory
        for each in known
        if each.standing.last_seen < source.at and restated(text, each.memory.text, source.language)
    ]


async def list_notes(tx: Transaction, person: PersonId) -> list[Memory]:
    """The person's live notes, oldest first."""
    return [each.memory for each in await list_memories(tx, person, kinds=["note"])]


def same_words(text: str) -> str:
    """A text with case, width, spacing and the last full stop ignored."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).rstrip(".!。！ ")
