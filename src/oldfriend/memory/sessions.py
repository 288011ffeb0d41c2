"""Sessions: stretches of conversation in a chat, of which at most one is open.

A session belongs to one chat; memory never asks for it.
"""

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import BatchId, PersonId, SessionId, new_id
from oldfriend.domain.messages import (
    MAX_SESSION_MESSAGES,
    MAX_SESSION_TOKENS,
    SESSION_IDLE_GAP,
    Chat,
    SessionCloseReason,
)
from oldfriend.memory.people import lock_person, restore_chat


async def ensure_open_session(tx: Transaction, chat: Chat, at: Micros) -> SessionId:
    """Return the session that a message at a moment belongs to.

    The open session continues unless the pause was too long or it has grown too long; then it is
    closed and a new one opened. What the person says elsewhere counts as growth, too: that only
    makes sessions shorter, and avoids counting messages. For a writing transaction: the lock on the
    person keeps two writers from both opening one, and the index session_one_open would reject the
    second.
    """
    await lock_person(tx, chat.person)
    row = await tx.row(
        """SELECT s.id, s.opened_at, p.last_seq - s.after_seq, p.tokens - s.after_tokens,
             (SELECT m.said_at FROM message m WHERE m.chat = s.chat AND m.session = s.id
              ORDER BY m.said_at DESC LIMIT 1)
           FROM session s JOIN person p ON p.id = s.person
           WHERE s.chat = :chat AND s.person = :person AND s.status = 'open'""",
        chat=chat.id,
        person=chat.person,
    )
    if row is None:
        return await open_session(tx, chat, at)
    session, opened_at, messages, tokens, last_said_at = row
    last = opened_at if last_said_at is None else last_said_at
    is_long = messages >= MAX_SESSION_MESSAGES or tokens >= MAX_SESSION_TOKENS
    if not is_long and abs(at - last) <= SESSION_IDLE_GAP:
        return SessionId(session)
    trigger: SessionCloseReason = "max_length" if is_long else "idle"
    await close_session(tx, chat, SessionId(session), at=last, trigger=trigger)
    return await open_session(tx, chat, at)


async def open_session(tx: Transaction, chat: Chat, at: Micros) -> SessionId:
    """Open a new session in a chat that has none open."""
    await restore_chat(tx, chat, now=at)
    session = SessionId(new_id(at))
    await tx.run(
        """INSERT INTO session (id, person, companion, chat, status, opened_at, after_seq,
             after_tokens)
           SELECT :id, id, :companion, :chat, 'open', :at, last_seq, tokens
           FROM person WHERE id = :person""",
        id=session,
        companion=chat.companion,
        chat=chat.id,
        at=at,
        person=chat.person,
    )
    return session


async def close_session(
    tx: Transaction, chat: Chat, session_id: SessionId, *, at: Micros, trigger: SessionCloseReason
) -> bool:
    """Close a session; return whether it was open."""
    touched = await tx.run(
        """UPDATE session SET status = 'closed', closed_at = :at, close_trigger = :trigger
           WHERE id = :session AND person = :person AND status = 'open'""",
        at=at,
        trigger=trigger,
        session=session_id,
        person=chat.person,
    )
    return touched == 1


async def ensure_closed_session(
    tx: Transaction,
    chat: Chat,
    *,
    external_id: str,
    opened_at: Micros,
    closed_at: Micros,
    batch_id: BatchId | None,
) -> SessionId:
    """Return the closed session with this external id, created or extended to these times."""
    await restore_chat(tx, chat, now=opened_at)
    row = await tx.row(
        """INSERT INTO session (id, person, companion, chat, status, opened_at, closed_at,
             close_trigger, external_id, batch)
           VALUES (:id, :person, :companion, :chat, 'closed', :opened_at, :closed_at,
             'imported', :external_id, :batch)
           ON CONFLICT (chat, external_id) WHERE external_id IS NOT NULL DO UPDATE SET
             opened_at = CASE WHEN excluded.opened_at < session.opened_at
                              THEN excluded.opened_at ELSE session.opened_at END,
             closed_at = CASE WHEN excluded.closed_at > session.closed_at
                              THEN excluded.closed_at ELSE session.closed_at END
           RETURNING id""",
        id=new_id(opened_at),
        person=chat.person,
        companion=chat.companion,
        chat=chat.id,
        opened_at=opened_at,
        closed_at=closed_at,
        external_id=external_id,
        batch=batch_id,
    )
    assert row is not None
    return SessionId(row[0])


async def count_sessions(tx: Transaction, person: PersonId) -> int:
    """Count the sessions of a person."""
    row = await tx.row("SELECT count(*) FROM session WHERE person = :person", person=person)
    assert row is not None
    return int(row[0])
