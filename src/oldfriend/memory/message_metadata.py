"""Message metadata: what a program stores with a message, and the messages that have a value."""

import json
from collections.abc import Collection, Mapping
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MemoryId, MessageId, PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import METADATA_DETAIL, Message
from oldfriend.memory.evidence import list_supported_objects
from oldfriend.memory.message_log import list_messages_by_seq

IDS_PER_QUERY: Final = 500
Metadata = Mapping[str, JsonValue]


def format_metadata(metadata: Metadata) -> Mapping[str, str]:
    """Return metadata as it stands in the details of a message; empty if there is none."""
    return {METADATA_DETAIL: json.dumps(metadata, ensure_ascii=False)} if metadata else {}


def parse_metadata(details: Mapping[str, str]) -> Metadata:
    """Return the metadata in the details of a message."""
    stored: Metadata = json.loads(details.get(METADATA_DETAIL, "{}"))
    return stored


async def list_messages_with_metadata(
    tx: Transaction,
    person: PersonId,
    wanted: Metadata,
    *,
    since: Micros | None = None,
    until: Micros | None = None,
    limit: int,
) -> list[Message]:
    """Return the newest messages in a time span that have all these values, oldest first."""
    seqs = [*await find_seqs_with_metadata(tx, person, wanted, since=since, until=until)]
    newest, found = seqs[-limit:], list[Message]()
    for start in range(0, len(newest), IDS_PER_QUERY):
        found += await list_messages_by_seq(tx, person, newest[start : start + IDS_PER_QUERY])
    return found


async def find_seqs_with_metadata(
    tx: Transaction,
    person: PersonId,
    wanted: Metadata,
    *,
    since: Micros | None = None,
    until: Micros | None = None,
) -> dict[int, MessageId]:
    """Return the seqs and ids of the current messages that have all these values, oldest first."""
    rows = await tx.rows(
        """SELECT seq, id, details FROM message
           WHERE person = :person AND replaced_at IS NULL AND details LIKE :key
           AND (:since IS NULL OR said_at >= :since) AND (:until IS NULL OR said_at < :until)
           ORDER BY said_at, seq""",
        person=person,
        key=f'%"{METADATA_DETAIL}"%',
        since=since,
        until=until,
    )
    return {
        seq: MessageId(message)
        for seq, message, details in rows
        if has_values(parse_metadata(json.loads(details)), wanted)
    }


def has_values(metadata: Metadata, wanted: Metadata) -> bool:
    """Return whether each wanted value is there, or is one of a list that is there."""
    return all(
        name in metadata and has_value(metadata[name], value) for name, value in wanted.items()
    )


def has_value(stored: JsonValue, wanted: JsonValue) -> bool:
    """Return whether a value is the wanted one, or a list that has it; True is not 1."""
    if type(stored) is type(wanted) and stored == wanted:
        return True
    return isinstance(stored, list) and any(has_value(each, wanted) for each in stored)


async def list_beliefs_from_messages(
    tx: Transaction, person: PersonId, message_ids: Collection[MessageId]
) -> frozenset[MemoryId]:
    """Return the beliefs that rest on one of these messages."""
    ids, found = [*message_ids], set[MemoryId]()
    for start in range(0, len(ids), IDS_PER_QUERY):
        supported = await list_supported_objects(tx, person, ids[start : start + IDS_PER_QUERY])
        found |= {MemoryId(each) for objects in supported.values() for each in objects}
    return frozenset(found)
