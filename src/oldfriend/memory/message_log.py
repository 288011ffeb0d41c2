"""Message log: the append-only, verbatim record of what everybody said.

Knows nothing of vectors, beliefs or replies.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.buttons import BUTTONS_DETAIL
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import BatchId, ChatId, MessageId, PersonId, SessionId, TurnId, new_id
from oldfriend.domain.messages import (
    MAX_TEXT_CHARS,
    PRESSED_DETAIL,
    Chat,
    Message,
    Role,
    UnloggedMessage,
    clean_name,
    estimate_tokens,
    sanitize_text,
)
from oldfriend.lang.detection import detect_language
from oldfriend.memory.message_order import GIVEN_PLACE, MESSAGE_PLACE
from oldfriend.memory.people import lock_person
from oldfriend.search.document_terms import encode_document_terms

MESSAGE_COLUMNS = """m.id, m.version, m.seq, m.person, m.chat, m.session, c.channel, m.role,
           m.author,
    m.speaker, m.trust, m.text, m.said_at, m.zone, m.language, m.tokens, m.turn, m.external_id,
    m.batch, m.details, s.external_id, m.role = 'companion' AND length(m.imprint) > 0"""
"""Last: is it Markdown? Of the companion's replies, search finds those that quote nobody."""

MESSAGE_TABLES = "message m JOIN chat c ON c.id = m.chat JOIN session s ON s.id = m.session"

INSERT_MESSAGE = """INSERT INTO message (id, version, person, seq, chat, session, role, author,
           speaker,
      trust, text, said_at, zone, language, tokens, turn, external_id, batch, details, imprint,
      written_at)
    VALUES (:id, 1, :person, :seq, :chat, :session, :role, :author, :speaker,
      :trust, :text, :said_at, :zone, :language, :tokens, :turn, :external_id, :batch, :details,
      :imprint, :now)
    ON CONFLICT (chat, external_id) WHERE external_id IS NOT NULL AND version = 1 DO NOTHING"""

MAX_REPLY_DISTANCE = 500
"""The largest distance in the log between a reply and what it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteTarget:
    """The session that messages are written to, and what brought them."""

    chat: Chat
    session: SessionId
    turn: TurnId | None = None
    batch: BatchId | None = None
    language: str = "en"  # fallback where the text does not tell


class WrittenMessage(NamedTuple):
    """A message version that was just written: enough to find it again."""

    id: MessageId
    seq: int
    language: str
    is_searchable: bool


async def write_message(
    tx: Transaction,
    target: WriteTarget,
    message: UnloggedMessage,
    *,
    now: Micros,
    is_searchable: bool = True,
) -> Message | None:
    """Write one message into a session; return None if its external id is in the chat already."""
    (written,) = await write_messages(tx, target, [message], now=now, is_searchable=is_searchable)
    return None if written is None else build_written_message(target, message, written)


async def write_messages(
    tx: Transaction,
    target: WriteTarget,
    messages: Sequence[UnloggedMessage],
    *,
    now: Micros,
    is_searchable: bool = True,
) -> list[WrittenMessage | None]:
    """Write messages in order; return None for each duplicate, whose external id is in the chat.

    What is not searchable, such as the companion's own quotes, is stored verbatim but never found
    by search. Raises InvalidInput for a text that is too long.
    """
    texts = [validate_message_text(message.text) for message in messages]
    tokens = [estimate_tokens(text) for text in texts]
    last_seq = await reserve_seqs(tx, target.chat.person, len(messages), tokens=sum(tokens))
    written: list[WrittenMessage | None] = []
    for seq, message, text, count in zip(
        range(last_seq - len(messages) + 1, last_seq + 1), messages, texts, tokens, strict=True
    ):
        message_id = MessageId(new_id(now))
        language = target.language
        if message.details.keys().isdisjoint({PRESSED_DETAIL, BUTTONS_DETAIL}):  # else a frame
            language = detect_language(text, fallback=language)
        row = build_message_row(
            target,
            message,
            text,
            language=language,
            is_searchable=is_searchable and message.is_searchable,
        )
        added = await tx.run(INSERT_MESSAGE, id=message_id, seq=seq, tokens=count, now=now, **row)
        found = bool(row["imprint"])
        written.append(WrittenMessage(message_id, seq, language, found) if added else None)
    return written


async def edit_message(
    tx: Transaction,
    person: PersonId,
    message_id: MessageId,
    text: str,
    *,
    now: Micros,
    is_searchable: bool = True,
    details: Mapping[str, str] | None = None,
) -> Message:
    """Add a version with a new text; the earlier one stays.

    ``details`` replace the earlier ones, None keeps them. Raises NotFound, InvalidInput.
    """
    await lock_person(tx, person)
    earlier = await get_message(tx, person, message_id)
    clean = validate_message_text(text)
    language = detect_language(clean, fallback=earlier.language)
    tokens = estimate_tokens(clean)
    seq = await reserve_seqs(tx, person, 1, tokens=tokens)
    await tx.run(
        """UPDATE message SET replaced_at = :now
           WHERE id = :id AND person = :person AND version = :version""",
        now=now,
        id=message_id,
        person=person,
        version=earlier.version,
    )
    await tx.run(
        """INSERT INTO message (id, version, person, seq, chat, session, role, author, speaker,
             trust, text, said_at, zone, language, tokens, turn, external_id, batch, details,
             imprint, written_at)
           SELECT id, version + 1, person, :seq, chat, session, role, author, speaker, trust,
             :text, said_at, zone, :language, :tokens, turn, external_id, batch,
             coalesce(:details, details), :imprint, :now
           FROM message WHERE id = :id AND person = :person AND version = :version""",
        seq=seq,
        text=clean,
        language=language,
        tokens=tokens,
        now=now,
        imprint=encode_document_terms(clean, language=language) if is_searchable else b"",
        id=message_id,
        person=person,
        version=earlier.version,
        details=format_details_json(details or {}),
    )
    return await get_message(tx, person, message_id)


async def reserve_seqs(tx: Transaction, person: PersonId, count: int, *, tokens: int) -> int:
    """Lock the person and reserve consecutive seqs; return the last one. Raises NotFound."""
    row = await tx.row(
        """UPDATE person SET last_seq = last_seq + :count, tokens = tokens + :tokens
           WHERE id = :person RETURNING last_seq""",
        count=count,
        tokens=tokens,
        person=person,
    )
    if row is None:
        raise NotFound(f"There is no person {person}.")
    return int(row[0])


async def get_message(
    tx: Transaction, person: PersonId, message_id: MessageId, *, version: int | None = None
) -> Message:
    """Return one message as it reads now, or in an earlier version. Raises NotFound."""
    row = await tx.row(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.id = :id AND m.person = :person AND m.version = coalesce(:version,
             (SELECT version FROM message WHERE id = :id AND replaced_at IS NULL))""",
        id=message_id,
        person=person,
        version=version,
    )
    if row is None:
        raise NotFound(localizable("message_gone", f"There is no message {message_id}."))
    return parse_message_row(row)


async def list_copies(
    tx: Transaction, channel: str, address: str, external_id: str
) -> list[tuple[PersonId, MessageId]]:
    """Return the messages that are one on their platform, with the memories that they are in."""
    rows = await tx.rows(
        """SELECT m.person, m.id FROM chat c JOIN message m ON m.chat = c.id
           WHERE c.channel = :channel AND c.address = :address AND m.version = 1
           AND m.external_id = :external_id ORDER BY m.person""",
        channel=channel,
        address=address,
        external_id=external_id,
    )
    return [(PersonId(person), MessageId(message)) for person, message in rows]


async def find_message_by_external_id(
    tx: Transaction, person: PersonId, chat_id: ChatId, external_id: str
) -> Message | None:
    """Return the message of a chat with an external id, as it reads now."""
    row = await tx.row(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.chat = :chat AND m.replaced_at IS NULL AND m.id =
             (SELECT id FROM message WHERE chat = :chat AND external_id = :external_id
              AND version = 1)""",
        person=person,
        chat=chat_id,
        external_id=external_id,
    )
    return None if row is None else parse_message_row(row)


async def update_message_keys(tx: Transaction, message: Message) -> None:
    """Store the external id and the details of a message anew."""
    await tx.run(
        """UPDATE message SET external_id = :external_id, details = :details
           WHERE id = :id AND person = :person""",
        external_id=message.external_id,
        details=format_details_json(message.details),
        id=message.id,
        person=message.person,
    )


async def list_messages_by_seq(
    tx: Transaction, person: PersonId, seqs: Sequence[int]
) -> list[Message]:
    """List the message versions with these seqs, in the given order; missing ones are left out."""
    if not seqs:
        return []
    names = {f"seq{index}": int(seq) for index, seq in enumerate(seqs)}
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.seq IN ({", ".join(f":{name}" for name in names)})""",
        person=person,
        **names,
    )
    found = {row[2]: row for row in rows}
    return [parse_message_row(found[seq]) for seq in names.values() if seq in found]


async def list_recent_messages(
    tx: Transaction,
    person: PersonId,
    chat_id: ChatId,
    *,
    limit: int,
    before: int | None = None,
    role: Role | None = None,
) -> list[Message]:
    """List the newest messages of a chat, oldest first; ``before`` a seq, or of one role, if given.

    The query filters the person by the chat: filtered by the message, it would scan everything that
    they ever said in other chats.
    """
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE c.person = :person AND m.chat = :chat AND m.replaced_at IS NULL
           AND (:before IS NULL OR m.seq < :before) AND (:role IS NULL OR m.role = :role)
           ORDER BY m.said_at DESC, {MESSAGE_PLACE} DESC LIMIT :limit""",
        person=person,
        chat=chat_id,
        before=before,
        role=role,
        limit=limit,
    )
    return [parse_message_row(row) for row in reversed(rows)]


async def list_surrounding_messages(
    tx: Transaction, message: Message, *, each_side: int
) -> list[Message]:
    """List the messages of the same session just before and after a message, in order."""
    surrounding: list[Message] = []
    for is_later, order in ((0, "DESC"), (1, "ASC")):
        rows = await tx.rows(
            f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
               WHERE m.person = :person AND m.session = :session AND m.replaced_at IS NULL
               AND m.id <> :id AND m.role <> 'marker' AND :is_later = CASE
                 WHEN m.said_at > :at
                   OR (m.said_at = :at AND {MESSAGE_PLACE} > {GIVEN_PLACE}) THEN 1 ELSE 0 END
               ORDER BY m.said_at {order}, {MESSAGE_PLACE} {order} LIMIT :limit""",
            person=message.person,
            session=message.session,
            id=message.id,
            at=message.at,
            seq=message.seq,
            is_later=is_later,
            limit=each_side,
        )
        found = [parse_message_row(row) for row in rows]
        surrounding += found if is_later else found[::-1]
    return surrounding


async def list_messages_after_seq(
    tx: Transaction, person: PersonId, chat_id: ChatId, *, after: int
) -> list[Message]:
    """List the messages written into a chat after a seq, in order of writing."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.seq > :after AND m.chat = :chat
           AND m.replaced_at IS NULL ORDER BY m.seq""",
        person=person,
        after=after,
        chat=chat_id,
    )
    return [parse_message_row(row) for row in rows]


async def list_messages(
    tx: Transaction,
    person: PersonId,
    *,
    since: Micros | None = None,
    until: Micros | None = None,
    role: Role | None = None,
    limit: int = 100,
) -> list[Message]:
    """List the newest messages of a person in a time span on all channels, oldest first."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.replaced_at IS NULL
           AND (:since IS NULL OR m.said_at >= :since) AND (:until IS NULL OR m.said_at < :until)
           AND (:role IS NULL OR m.role = :role)
           ORDER BY m.said_at DESC, {MESSAGE_PLACE} DESC LIMIT :limit""",
        person=person,
        since=since,
        until=until,
        role=role,
        limit=limit,
    )
    return [parse_message_row(row) for row in reversed(rows)]


async def find_reply(tx: Transaction, said: Message) -> Message | None:
    """Return the last reply in the same turn, or else the marker that says why there is none."""
    row = await tx.row(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.seq > :after AND m.turn = :turn
           AND m.role IN ('companion', 'marker') AND m.replaced_at IS NULL
           ORDER BY m.role, m.seq DESC LIMIT 1""",
        person=said.person,
        after=said.seq,
        turn=said.turn,
    )
    return None if row is None else parse_message_row(row)


async def list_answered_messages(tx: Transaction, reply: Message) -> list[Message]:
    """List the messages of the turn that a reply answers, in order."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.seq >= :after AND m.seq < :before AND m.turn = :turn
           AND m.role IN ('person', 'other') AND m.replaced_at IS NULL ORDER BY m.seq""",
        person=reply.person,
        after=reply.seq - MAX_REPLY_DISTANCE,
        before=reply.seq,
        turn=reply.turn,
    )
    return [parse_message_row(row) for row in rows]


async def find_last_message_time(tx: Transaction, channel: str) -> Micros | None:
    """Return when somebody last said something on a channel, or None if nobody has."""
    row = await tx.row(
        """SELECT max((SELECT m.said_at FROM message m WHERE m.chat = c.id
             AND m.role IN ('person', 'other') ORDER BY m.said_at DESC, m.seq DESC LIMIT 1))
           FROM chat c WHERE c.channel = :channel""",
        channel=channel,
    )
    return None if row is None else row[0]


async def get_last_seq(tx: Transaction, person: PersonId) -> int:
    """Return the seq of the person's newest message; 0 if there is none."""
    row = await tx.row("SELECT max(seq) FROM message WHERE person = :person", person=person)
    return int(row[0] or 0) if row is not None else 0


async def count_messages(tx: Transaction, person: PersonId, *, role: Role | None = None) -> int:
    """Count the messages in a person's chats, or those that somebody in one role has written."""
    sql = """SELECT count(*) FROM message WHERE person = :person AND replaced_at IS NULL
             AND role LIKE :role"""
    row = await tx.row(sql, person=person, role=role or "%")
    return 0 if row is None else int(row[0])


def build_written_message(
    target: WriteTarget, message: UnloggedMessage, written: WrittenMessage
) -> Message:
    """Build the message that was just written, without reading it back."""
    chat, text, speaker = target.chat, sanitize_text(message.text), clean_name(message.speaker)
    return Message(
        id=written.id,
        version=1,
        seq=written.seq,
        person=chat.person,
        chat=chat.id,
        session=target.session,
        session_name=target.session,
        channel=chat.channel,
        role=message.role,
        author=resolve_author(chat, message),
        speaker=speaker,
        trust=message.trust,
        text=text,
        at=message.at,
        zone=message.zone,
        language=written.language,
        tokens=estimate_tokens(text),
        turn=target.turn,
        external_id=message.external_id and sanitize_text(message.external_id),
        batch=target.batch,
        details=dict(message.details),
        is_markdown=message.role == "companion" and written.is_searchable,
    )


def resolve_author(chat: Chat, message: UnloggedMessage) -> str:
    """Return the author: an id for the person and the companion, a name for anybody else."""
    authors: dict[str, str] = {"person": chat.person, "companion": chat.companion}
    return authors.get(message.role, clean_name(message.author or message.speaker))


def validate_message_text(text: str) -> str:
    """Return a text as it can be stored. Raises InvalidInput when it is too long."""
    if len(text) > MAX_TEXT_CHARS:
        raise InvalidInput(
            localizable(
                "message_too_long",
                f"A message of {len(text):,} characters is too long; {MAX_TEXT_CHARS:,} fit. "
                "Split it.",
                count=len(text),
                most=MAX_TEXT_CHARS,
            )
        )
    return sanitize_text(text)


def build_message_row(
    target: WriteTarget, message: UnloggedMessage, text: str, *, language: str, is_searchable: bool
) -> dict[str, SqlValue]:
    """Build the column values of the first version of a message."""
    chat = target.chat
    return {
        "person": chat.person,
        "chat": chat.id,
        "session": target.session,
        "role": message.role,
        "author": resolve_author(chat, message),
        "speaker": clean_name(message.speaker),
        "trust": message.trust,
        "text": text,
        "said_at": message.at,
        "zone": message.zone,
        "language": language,
        "turn": target.turn,
        "batch": target.batch,
        "details": format_details_json(message.details),
        "external_id": None if message.external_id is None else sanitize_text(message.external_id),
        "imprint": encode_document_terms(text, language=language) if is_searchable else b"",
    }


def format_details_json(details: Mapping[str, str]) -> str | None:
    """Return details as they are stored, None if there are none."""
    return json.dumps(dict(details), ensure_ascii=False) if details else None


def parse_message_row(row: Row) -> Message:
    """Parse a row of MESSAGE_COLUMNS."""
    return Message(
        id=MessageId(row[0]),
        version=row[1],
        seq=row[2],
        person=PersonId(row[3]),
        chat=ChatId(row[4]),
        session=SessionId(row[5]),
        channel=row[6],
        role=row[7],
        author=row[8],
        speaker=row[9],
        trust=row[10],
        text=row[11],
        at=row[12],
        zone=row[13],
        language=row[14],
        tokens=row[15],
        turn=row[16],
        external_id=row[17],
        batch=row[18],
        details=json.loads(row[19]) if row[19] else {},
        session_name=row[20] or row[5],
        is_markdown=bool(row[21]),
    )
