"""Memory snapshot: all stored data of a person that may contain deleted words.

Deletion is rare and must not overlook anything, so it loads the whole log, the whole journal and
whatever refers to them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.db.message_numbers import load_all_numbers, resolve_ids
from oldfriend.domain.clock import Micros
from oldfriend.domain.codec import Reference, unpack_references, unpack_sources
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import Entity, JournalEntry, StoredBelief
from oldfriend.memory.core_blocks import list_blocks
from oldfriend.memory.deletion.own_records import OwnRecord, list_own_records
from oldfriend.memory.journal import list_journal
from oldfriend.memory.receipts import RECORDS_KEY
from oldfriend.memory.segments import Segment, list_segments

VersionKey = tuple[str, int]
"""A message id and the number of a version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageVersion:
    """One version of a message, with the fields that deletion uses."""

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
    def version_key(self) -> VersionKey:
        """The key by which other rows refer to this version."""
        return self.id, self.version


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceLink:
    """A piece of evidence: a message version that bears on a belief."""

    object: str
    source: VersionKey
    supports: bool  # supports the belief and is not withdrawn
    quote: str
    said_at: Micros


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredReply:
    """A reply with a receipt, and what it rested on."""

    asked: str
    replied: str
    used: frozenset[str]  # ids of messages and memories
    records: frozenset[str]  # ids of the own records that it lists or confirms


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySnapshot:
    """All stored data of a person that deletion considers."""

    person: PersonId
    messages: Sequence[MessageVersion]  # in the order of writing
    journal: Sequence[JournalEntry]
    evidence: Sequence[EvidenceLink]
    segments: Sequence[Segment]
    replies: Sequence[AnsweredReply]
    titles: Sequence[str]  # titles and addresses of chats, and names of imported files
    blocks: Sequence[str]  # current texts of the core blocks
    personas: Sequence[str]  # current texts of the global personas
    records: Sequence[OwnRecord]
    shown: Mapping[str, frozenset[Reference]]  # what a model was shown for a reply, by turn


async def load_snapshot(tx: Transaction, person: PersonId) -> MemorySnapshot:
    """Load the snapshot of a person."""
    return MemorySnapshot(
        person=person,
        messages=await list_message_versions(tx, person),
        journal=await list_journal(tx, person),
        evidence=await list_evidence_links(tx, person),
        segments=await list_segments(tx, person),
        replies=await list_answered_replies(tx, person),
        titles=await list_chat_titles(tx, person),
        blocks=[block.text for block in await list_blocks(tx, person)],
        personas=await list_current_personas(tx),
        records=await list_own_records(tx, person),
        shown=await load_shown_references(tx, person),
    )


async def list_message_versions(tx: Transaction, person: PersonId) -> list[MessageVersion]:
    """List every version of every message, in order of writing."""
    rows = await tx.rows(
        """SELECT id, version, seq, role, speaker, text, said_at, zone, session, chat, turn,
             replaced_at FROM message WHERE person = :person ORDER BY seq""",
        person=person,
    )
    return [
        MessageVersion(
            id=row[0],
            version=row[1],
            seq=row[2],
            role=row[3],
            speaker=row[4],
            text=row[5],
            said_at=row[6],
            zone=row[7],
            session=row[8],
            chat=row[9],
            turn=row[10],
            is_current=row[11] is None,
        )
        for row in rows
    ]


async def list_evidence_links(tx: Transaction, person: PersonId) -> list[EvidenceLink]:
    """List all evidence, including withdrawn evidence."""
    rows = await tx.rows(
        """SELECT object, message, version, stance, withdrawn_at, quote, said_at FROM evidence
           WHERE person = :person""",
        person=person,
    )
    return [
        EvidenceLink(
            object=object_id,
            source=(message, version),
            supports=stance == "supports" and withdrawn_at is None,
            quote=quote,
            said_at=said_at,
        )
        for object_id, message, version, stance, withdrawn_at, quote, said_at in rows
    ]


async def list_answered_replies(tx: Transaction, person: PersonId) -> list[AnsweredReply]:
    """List all replies that have a receipt."""
    versions = await load_all_numbers(tx, person)
    names = {number: name for number, (name, _) in versions.items()}
    rows = await tx.rows(
        "SELECT asked, replied, stood_on, details FROM receipt WHERE person = :person",
        person=person,
    )
    return [
        AnsweredReply(
            asked=asked,
            replied=replied,
            used=frozenset(
                resolve_ids((item.reference for item in unpack_sources(stood_on)), names)
            ),
            records=parse_record_ids(details),
        )
        for asked, replied, stood_on, details in rows
    ]


def parse_record_ids(details: str) -> frozenset[str]:
    """Return the ids of the own records that the details of a receipt name."""
    listed = json.loads(details).get(RECORDS_KEY, ()) if RECORDS_KEY in details else ()
    return frozenset(map(str, listed))


async def load_shown_references(
    tx: Transaction, person: PersonId
) -> dict[str, frozenset[Reference]]:
    """Load what the model of each reply was shown, by turn."""
    rows = await tx.rows(
        """SELECT turn, shown FROM model_call
           WHERE person = :person AND turn IS NOT NULL AND is_background = 0""",
        person=person,
    )
    shown: dict[str, frozenset[Reference]] = {}
    for turn, references in rows:
        shown[turn] = shown.get(turn, frozenset()).union(unpack_references(references))
    return shown


async def list_current_personas(tx: Transaction) -> list[str]:
    """List the current global persona of each companion."""
    rows = await tx.rows(
        """SELECT text FROM soul s WHERE version =
             (SELECT max(version) FROM soul newest WHERE newest.companion = s.companion)"""
    )
    return [row[0] for row in rows]


async def list_chat_titles(tx: Transaction, person: PersonId) -> list[str]:
    """List the titles and addresses of the person's chats and the names of imported files."""
    rows = await tx.rows(
        """SELECT title FROM chat WHERE person = :person
           UNION SELECT address FROM chat WHERE person = :person
           UNION SELECT file FROM import_batch WHERE person = :person ORDER BY 1""",
        person=person,
    )
    return [row[0] for row in rows]


def join_entry_text(entry: JournalEntry) -> str:
    """Return all text of a decision, line by line."""
    after = entry.after
    if isinstance(after, StoredBelief):
        parts = [after.text, after.key, after.value, *after.tags, *after.cues]
    elif isinstance(after, Entity):
        parts = [after.name, after.description, *after.aliases]
    else:
        parts = [after.text, *after.topics]
    return "\n".join(part for part in parts if part)
