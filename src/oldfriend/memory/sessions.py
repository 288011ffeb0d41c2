"""When does a stretch of talk begin and end? At most one session of a chat is open.

A session is a matter of one chat; memory never asks for it.
"""

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import BatchId, SessionId, new_id
from oldfriend.domain.people import (
    SESSION_IDLE,
    SESSION_MESSAGES,
    SESSION_TOKENS,
    Chat,
    CloseTrigger,
)


async def session_at(tx: Transaction, chat: Chat, at: Micros, *, tokens: int = 0) -> SessionId:
    """The session that something said in a chat at a moment belongs to, counting it.

    The open one goes on unless the pause was too long or it has grown too long; then it is
    closed and a new one opened. The caller holds the person's row, so that two writers cannot
    both open one.
    """
    row = await tx.row(
        """UPDATE session SET messages = messages + 1, tokens = tokens + :tokens,
             last_at = CASE WHEN :at > last_at THEN :at ELSE last_at END
           WHERE chat = :chat AND person = :person AND status = 'open'
           AND :at BETWEEN last_at - :idle AND last_at + :idle
           AND messages < :most AND tokens < :most_tokens
           RETURNING id""",
        chat=chat.id, person=chat.person, at=at, tokens=tokens, idle=SESSION_IDLE,
        most=SESSION_MESSAGES, most_tokens=SESSION_TOKENS,
    )  # fmt: skip
    if row is not None:
        return SessionId(row[0])
    await close_finished(tx, chat)
    return await open_session(tx, chat, at, tokens=tokens)


async def close_finished(tx: Transaction, chat: Chat) -> None:
    """Close the open session of a chat, if there is one, at its last words."""
    row = await tx.row(
        """SELECT id, last_at, messages, tokens FROM session
           WHERE chat = :chat AND person = :person AND status = 'open'""",
        chat=chat.id,
        person=chat.person,
    )
    if row is not None:
        is_long = row[2] >= SESSION_MESSAGES or row[3] >= SESSION_TOKENS
        trigger: CloseTrigger = "max_length" if is_long else "idle"
        await close_session(tx, chat, SessionId(row[0]), at=row[1], trigger=trigger)


async def open_session(tx: Transaction, chat: Chat, at: Micros, *, tokens: int) -> SessionId:
    """A new open session, with its first message, of a chat that has none open."""
    session = SessionId(new_id(at))
    await tx.run(
        """INSERT INTO session (id, person, companion, chat, status, opened_at, last_at, messages,
             tokens)
           VALUES (:id, :person, :companion, :chat, 'open', :at, :at, 1, :tokens)""",
        id=session, person=chat.person, companion=chat.companion, chat=chat.id, at=at,
        tokens=tokens,
    )  # fmt: skip
    return session


async def count_in_session(tx: Transaction, chat: Chat, session: SessionId, tokens: int) -> None:
    """Count a message that is written into a session because it answers one there."""
    await tx.run(
        """UPDATE session SET messages = messages + 1, tokens = tokens + :tokens
           WHERE id = :session AND person = :person""",
        tokens=tokens,
        session=session,
        person=chat.person,
    )


async def close_session(
    tx: Transaction, chat: Chat, session: SessionId, *, at: Micros, trigger: CloseTrigger
) -> bool:
    """Close a session; whether it was open."""
    touched = await tx.run(
        """UPDATE session SET status = 'closed', closed_at = :at, close_trigger = :trigger
           WHERE id = :session AND person = :person AND status = 'open'""",
        at=at, trigger=trigger, session=session, person=chat.person,
    )  # fmt: skip
    return touched == 1


async def ensure_closed_session(
    tx: Transaction, chat: Chat, *, external_id: str, opened_at: Micros, closed_at: Micros,
    batch: BatchId | None,
) -> SessionId:  # fmt: skip
    """A session that came with imported or added messages, under the name it had there.

    A known one grows to cover the given times.
    """
    await tx.run(
        """INSERT INTO session (id, person, companion, chat, status, opened_at, closed_at,
             close_trigger, external_id, batch)
           VALUES (:id, :person, :companion, :chat, 'closed', :opened_at, :closed_at,
             'imported', :external_id, :batch)
           ON CONFLICT (chat, external_id) WHERE external_id IS NOT NULL DO UPDATE SET
             opened_at = CASE WHEN excluded.opened_at < session.opened_at
                              THEN excluded.opened_at ELSE session.opened_at END,
             closed_at = CASE WHEN excluded.closed_at > session.closed_at
                              THEN excluded.closed_at ELSE session.closed_at END""",
        id=new_id(opened_at), person=chat.person, companion=chat.companion, chat=chat.id,
        opened_at=opened_at, closed_at=closed_at, external_id=external_id, batch=batch,
    )  # fmt: skip
    row = await tx.row(
        """SELECT id FROM session WHERE chat = :chat AND person = :person
           AND external_id = :external_id""",
        chat=chat.id, person=chat.person, external_id=external_id,
    )  # fmt: skip
    assert row is not None
    return SessionId(row[0])
