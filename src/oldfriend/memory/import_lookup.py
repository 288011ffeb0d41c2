"""Import lookup: finds messages, chats and sessions of an export that are already stored.

Messages are matched by their external ids. This module knows nothing of files and formats.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import BatchId, ChatId, MessageId, PersonId, SessionId, new_id
from oldfriend.domain.messages import Message
from oldfriend.domain.people import SESSION_IDLE_GAP, Chat
from oldfriend.memory.people import parse_chat_row

IDS_PER_QUERY = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMessage:
    """A stored message with every text it ever had."""

    id: MessageId
    speaker: str
    at: Micros
    text: str  # as it reads now
    texts: frozenset[str]
    edited: str  # when it was last edited, as the channel has it; empty if unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class ExternalIdEntry:
    """The external id of a message, and its chat."""

    message: MessageId
    chat: ChatId
    channel: str
    address: str
    external_id: str


async def list_external_ids(tx: Transaction, person: PersonId) -> list[ExternalIdEntry]:
    """Return the external ids of a person's messages, where they have one."""
    rows = await tx.rows(
        """SELECT m.id, c.id, c.channel, c.address, m.external_id
           FROM message m JOIN chat c ON c.id = m.chat
           WHERE m.person = :person AND m.version = 1 AND m.external_id IS NOT NULL""",
        person=person,
    )
    return [
        ExternalIdEntry(
            message=MessageId(message),
            chat=ChatId(chat),
            channel=channel,
            address=address,
            external_id=external_id,
        )
        for message, chat, channel, address, external_id in rows
    ]


async def load_known_messages(
    tx: Transaction, person: PersonId, chat: ChatId, external_ids: Sequence[str]
) -> dict[str, KnownMessage]:
    """Return the messages of a chat with these external ids."""
    found: dict[str, KnownMessage] = {}
    for ids in split_ids(external_ids):
        parameters = {f"id{index}": value for index, value in enumerate(ids)}
        values: dict[str, SqlValue] = {"person": person, "chat": chat, **parameters}
        rows = await tx.rows(
            f"""SELECT first.external_id, m.id, m.speaker, m.said_at, m.text, m.details
               FROM message first
               JOIN message m ON m.id = first.id
               WHERE first.person = :person AND first.chat = :chat AND first.version = 1
               AND first.external_id IN ({", ".join(f":{name}" for name in parameters)})
               ORDER BY m.id, m.version""",
            **values,
        )
        for external_id, message, speaker, at, text, details in rows:
            edited = str(json.loads(details).get("edited", "")) if details else ""
            earlier = found.get(external_id)
            if earlier is not None:
                edited = max(edited, earlier.edited)
            found[external_id] = KnownMessage(
                id=MessageId(message),
                speaker=speaker,
                at=at,
                text=text,
                edited=edited,
                texts=frozenset({text}) | (earlier.texts if earlier is not None else frozenset()),
            )
    return found


def split_ids(external_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield as many ids at a time as fit into one statement."""
    for start in range(0, len(external_ids), IDS_PER_QUERY):
        yield external_ids[start : start + IDS_PER_QUERY]


async def list_chats(tx: Transaction, person: PersonId, *, channel: str) -> list[Chat]:
    """List a person's chats on a channel, oldest first."""
    rows: list[Row] = await tx.rows(
        """SELECT id, person, companion, channel, address, title FROM chat
           WHERE person = :person AND channel = :channel ORDER BY created_at, id""",
        person=person,
        channel=channel,
    )
    return [parse_chat_row(row) for row in rows]


async def find_chat_span(
    tx: Transaction, person: PersonId, chat: ChatId
) -> tuple[Micros, Micros] | None:
    """Return when the first and last messages of a chat were said, or None if there are none."""
    row = await tx.row(
        "SELECT min(said_at), max(said_at) FROM message WHERE chat = :chat AND person = :person",
        chat=chat,
        person=person,
    )
    return None if row is None or row[0] is None else (int(row[0]), int(row[1]))


async def ensure_session_covering(
    tx: Transaction, chat: Chat, *, opened_at: Micros, closed_at: Micros, batch: BatchId | None
) -> SessionId:
    """Return the closed imported session of a chat near these times, extended to cover them, or a
    new one.
    """
    row = await tx.row(
        """SELECT id, closed_at FROM session WHERE chat = :chat AND person = :person
           AND close_trigger = 'imported' AND external_id IS NULL AND opened_at <= :until
           ORDER BY opened_at DESC LIMIT 1""",
        chat=chat.id,
        person=chat.person,
        until=closed_at + SESSION_IDLE_GAP,
    )
    if row is None or row[1] < opened_at - SESSION_IDLE_GAP:
        session = SessionId(new_id(opened_at))
        await tx.run(
            """INSERT INTO session (id, person, companion, chat, status, opened_at, closed_at,
                 close_trigger, batch)
               VALUES (:id, :person, :companion, :chat, 'closed', :opened_at, :closed_at,
                 'imported', :batch)""",
            id=session,
            person=chat.person,
            companion=chat.companion,
            chat=chat.id,
            opened_at=opened_at,
            closed_at=closed_at,
            batch=batch,
        )
        return session
    await tx.run(
        """UPDATE session SET
             opened_at = CASE WHEN :opened_at < opened_at THEN :opened_at ELSE opened_at END,
             closed_at = CASE WHEN :closed_at > closed_at THEN :closed_at ELSE closed_at END
           WHERE id = :id AND person = :person""",
        opened_at=opened_at,
        closed_at=closed_at,
        id=row[0],
        person=chat.person,
    )
    return SessionId(row[0])


async def set_version_batch(
    tx: Transaction, edited: Message, *, batch: BatchId, details: Mapping[str, str]
) -> None:
    """Record which import brought a new version of an existing message."""
    await tx.run(
        """UPDATE message SET batch = :batch, details = :details
           WHERE id = :id AND person = :person AND version = :version""",
        batch=batch,
        id=edited.id,
        person=edited.person,
        version=edited.version,
        details=json.dumps(dict(details), ensure_ascii=False) if details else None,
    )
