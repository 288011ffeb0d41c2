"""What is kept of a person that may hold words of one another? All of it, read at once.

Forgetting is rare, and must overlook nothing: so it reads the whole log, the whole journal, and
what points to them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Change, Entity, Memory
from oldfriend.memory.changes import list_changes
from oldfriend.memory.core_blocks import list_blocks
from oldfriend.memory.segments import Segment, list_segments

Version = tuple[str, int]
"""A message and which version of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One version of a message, as far as forgetting looks at it."""

    id: str
    version: int
    seq: int
    role: str
    speaker: str
    text: str
    said_at: Micros
    zone: str
    session: str
    chat: str
    turn: str | None
    is_current: bool  # as the message reads now

    @property
    def key(self) -> Version:
        """What names it elsewhere."""
        return self.id, self.version


@dataclass(frozen=True, slots=True, kw_only=True)
class Witness:
    """That a message version bears on a belief."""

    object: str
    source: Version
    supports: bool  # and is not withdrawn
    quote: str
    said_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """That a reply was given, and what it stood on."""

    asked: str
    replied: str
    used: frozenset[str]  # ids of messages and memories


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """All that is kept of a person."""

    person: PersonId
    messages: Sequence[Said]  # in the order of writing
    changes: Sequence[Change]
    witnesses: Sequence[Witness]
    segments: Sequence[Segment]
    answers: Sequence[Answered]
    titles: Sequence[str]  # of chats, and names of files that were brought in
    blocks: Sequence[str]  # what people have written about who is who, as it reads now
    souls: Sequence[str]  # and who the companion is to everybody


async def load_holding(tx: Transaction, person: PersonId) -> Holding:
    """All that is kept of a person."""
    return Holding(
        person=person,
        messages=await list_said(tx, person),
        changes=await list_changes(tx, person),
        witnesses=await list_witnesses(tx, person),
        segments=await list_segments(tx, person),
        answers=await list_answers(tx, person),
        titles=await list_titles(tx, person),
        blocks=[block.text for block in await list_blocks(tx, person)],
        souls=await list_souls(tx),
    )


async def list_said(tx: Transaction, person: PersonId) -> list[Said]:
    """Every version of every message, in the order of writing."""
    rows = await tx.rows(
        """SELECT id, version, seq, role, speaker, text, said_at, zone, session, chat, turn,
             replaced_at FROM message WHERE person = :person ORDER BY seq""",
        person=person,
    )
    return [
        Said(
            id=row[0], version=row[1], seq=row[2], role=row[3], speaker=row[4], text=row[5],
            said_at=row[6], zone=row[7], session=row[8], chat=row[9], turn=row[10],
            is_current=row[11] is None,
        )
        for row in rows
    ]  # fmt: skip


async def list_witnesses(tx: Transaction, person: PersonId) -> list[Witness]:
    """All evidence, also what was withdrawn."""
    rows = await tx.rows(
        """SELECT object, message, version, stance, withdrawn_at, quote, said_at FROM evidence
           WHERE person = :person""",
        person=person,
    )
    return [
        Witness(
            object=object_id, source=(message, version),
            supports=stance == "supports" and withdrawn_at is None, quote=quote, said_at=said_at,
        )
        for object_id, message, version, stance, withdrawn_at, quote, said_at in rows
    ]  # fmt: skip


async def list_answers(tx: Transaction, person: PersonId) -> list[Answered]:
    """All replies that have a receipt."""
    used: dict[str, set[str]] = {}
    items = await tx.rows(
        "SELECT receipt, object FROM receipt_item WHERE person = :person AND used = 1",
        person=person,
    )
    for receipt, object_id in items:
        used.setdefault(receipt, set()).add(object_id)
    rows = await tx.rows(
        "SELECT id, asked, replied FROM receipt WHERE person = :person", person=person
    )
    return [
        Answered(asked=asked, replied=replied, used=frozenset(used.get(receipt, ())))
        for receipt, asked, replied in rows
    ]


async def list_souls(tx: Transaction) -> list[str]:
    """What SOUL.md said when it was read last, of each companion."""
    rows = await tx.rows(
        """SELECT text FROM soul s WHERE version =
             (SELECT max(version) FROM soul newest WHERE newest.companion = s.companion)"""
    )
    return [row[0] for row in rows]


async def list_titles(tx: Transaction, person: PersonId) -> list[str]:
    """What the person's chats are called, and the files that were brought in."""
    rows = await tx.rows(
        """SELECT title FROM chat WHERE person = :person
           UNION SELECT address FROM chat WHERE person = :person
           UNION SELECT file FROM import_batch WHERE person = :person ORDER BY 1""",
        person=person,
    )
    return [row[0] for row in rows]


def text_of(change: Change) -> str:
    """All the words in what a change says, line by line."""
    after = change.after
    if isinstance(after, Memory):
        parts = [after.text, after.key, after.value, *after.tags, *after.cues]
    elif isinstance(after, Entity):
        parts = [after.name, after.description, *after.aliases]
    else:
        parts = [after.text, *after.topics]
    return "\n".join(part for part in parts if part)
