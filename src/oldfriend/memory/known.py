"""What of an export is here already, and where? Messages by their external ids, chats, sessions.

Knows nothing of files and formats.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import BatchId, ChatId, MessageId, PersonId, SessionId, new_id
from oldfriend.domain.messages import Message
from oldfriend.domain.people import SESSION_IDLE, Chat
from oldfriend.memory.people import chat_from

IDS_AT_ONCE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMessage:
    """A message that is here, with every text it ever had."""

    id: MessageId
    speaker: str
    at: Micros
    text: str  # as it reads now
    texts: frozenset[str]
    edited: str  # when it was last edited, as the channel wrote it; empty if it does not say


async def known_messages(
    tx: Transaction, person: PersonId, chat: ChatId, external_ids: Sequence[str]
) -> dict[str, KnownMessage]:
    """Those of the external ids that a chat holds."""
    found: dict[str, KnownMessage] = {}
    for ids in slices(external_ids):
        names = {f"id{place}": value for place, value in enumerate(ids)}
        values: dict[str, SqlValue] = {"person": person, "chat": chat, **names}
        rows = await tx.rows(
            f"""SELECT first.external_id, m.id, m.speaker, m.said_at, m.text, m.details
               FROM message first
               JOIN message m ON m.id = first.id
               WHERE first.person = :person AND first.chat = :chat AND first.version = 1
               AND first.external_id IN ({", ".join(f":{name}" for name in names)})
               ORDER BY m.id, m.version""",
            **values,
        )
        for external_id, message, speaker, at, text, details in rows:
            edited = str(json.loads(details).get("edited", "")) if details else ""
            earlier = found.get(external_id)
            if earlier is not None:
                edited = max(edited, earlier.edited)
            found[external_id] = KnownMessage(
                id=MessageId(message), speaker=speaker, at=at, text=text, edited=edited,
                texts=frozenset({text}) | (earlier.texts if earlier is not None else frozenset()),
            )  # fmt: skip
    return found


def slices(external_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many ids at a time as fit into one statement."""
    for start in range(0, len(external_ids), IDS_AT_ONCE):
        yield external_ids[start : start + IDS_AT_ONCE]


async def list_chats(tx: Transaction, person: PersonId, *, channel: str) -> list[Chat]:
    """The person's chats on a channel, the first one first."""
    rows: list[Row] = await tx.rows(
        """SELECT id, person, companion, channel, address, title FROM chat
           WHERE person = :person AND channel = :channel ORDER BY created_at, id""",
        person=person,
        channel=channel,
    )
    return [chat_from(row) for row in rows]


async def span_of(tx: Transaction, person: PersonId, chat: ChatId) -> tuple[Micros, Micros] | None:
    """When the first and the last thing was said in a chat; None if nothing was."""
    row = await tx.row(
        "SELECT min(said_at), max(said_at) FROM message WHERE chat = :chat AND person = :person",
        chat=chat,
        person=person,
    )
    return None if row is None or row[0] is None else (int(row[0]), int(row[1]))


async def ensure_session_around(
    tx: Transaction, chat: Chat, *, opened_at: Micros, closed_at: Micros, batch: BatchId | None
) -> SessionId:
    """The closed session of a chat that these times touch, grown over them; or a new one."""
    row = await tx.row(
        """SELECT id, closed_at FROM session WHERE chat = :chat AND person = :person
           AND close_trigger = 'imported' AND external_id IS NULL AND opened_at <= :until
           ORDER BY opened_at DESC LIMIT 1""",
        chat=chat.id, person=chat.person, until=closed_at + SESSION_IDLE,
    )  # fmt: skip
    if row is None or row[1] < opened_at - SESSION_IDLE:
        session = SessionId(new_id(opened_at))
        await tx.run(
            """INSERT INTO session (id, person, companion, chat, status, opened_at, closed_at,
                 close_trigger, batch)
               VALUES (:id, :person, :companion, :chat, 'closed', :opened_at, :closed_at,
                 'imported', :batch)""",
            id=session, person=chat.person, companion=chat.companion, chat=chat.id,
            opened_at=opened_at, closed_at=closed_at, batch=batch,
        )  # fmt: skip
        return session
    await tx.run(
        """UPDATE session SET
             opened_at = CASE WHEN :opened_at < opened_at THEN :opened_at ELSE opened_at END,
             closed_at = CASE WHEN :closed_at > closed_at THEN :closed_at ELSE closed_at END
           WHERE id = :id AND person = :person""",
        opened_at=opened_at, closed_at=closed_at, id=row[0], person=chat.person,
    )  # fmt: skip
    return SessionId(row[0])


async def claim_version(
    tx: Transaction, edited: Message, *, batch: BatchId, details: Mapping[str, str]
) -> None:
    """Note which import brought a new version of a message that was here before."""
    await tx.run(
        """UPDATE message SET batch = :batch, details = :details
           WHERE id = :id AND person = :person AND version = :version""",
        batch=batch, id=edited.id, person=edited.person, version=edited.version,
        details=json.dumps(dict(details), ensure_ascii=False) if details else None,
    )  # fmt: skip
