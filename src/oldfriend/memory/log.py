"""What was said? The append-only log of every message, verbatim, by all sides.

Knows nothing of vectors, beliefs or replies.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from oldfriend.db.database import Row, SqlValue, Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import (
    BatchId,
    ChatId,
    MessageId,
    PersonId,
    SessionId,
    TurnId,
    new_id,
)
from oldfriend.domain.language import detect_language
from oldfriend.domain.messages import MAX_TEXT, Message, Spoken, estimate_tokens, storable
from oldfriend.domain.people import Chat
from oldfriend.domain.sayings import saying
from oldfriend.memory.people import lock_person
from oldfriend.memory.search.imprint import imprint_of

COLUMNS = """m.id, m.version, m.seq, m.person, m.chat, m.session, c.channel, m.role, m.author,
    m.speaker, m.trust, m.text, m.said_at, m.zone, m.language, m.tokens, m.turn, m.external_id,
    m.batch, m.details, s.external_id"""

TABLES = "message m JOIN chat c ON c.id = m.chat JOIN session s ON s.id = m.session"

INSERT = """INSERT INTO message (id, version, person, seq, chat, session, role, author, speaker,
      trust, text, said_at, zone, language, tokens, turn, external_id, batch, details, imprint,
      written_at)
    VALUES (:id, 1, :person, :seq, :chat, :session, :role, :author, :speaker,
      :trust, :text, :said_at, :zone, :language, :tokens, :turn, :external_id, :batch, :details,
      :imprint, :now)
    ON CONFLICT (chat, external_id) WHERE external_id IS NOT NULL AND version = 1 DO NOTHING"""

SHORTLY = 500
"""Places in the log between a reply and what it answers, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where words are written down: a session of a chat, and what brought them."""

    chat: Chat
    session: SessionId
    turn: TurnId | None = None
    batch: BatchId | None = None
    language: str = "en"  # when the words themselves do not tell


class Written(NamedTuple):
    """A message version that was just written: enough to find it again."""

    id: MessageId
    seq: int
    language: str


async def write_message(
    tx: Transaction, place: Place, spoken: Spoken, *, now: Micros, findable: bool = True
) -> Message | None:
    """Write one message into a session of our own; None if its external id is there already."""
    (written,) = await write_messages(tx, place, [spoken], now=now, findable=findable)
    return None if written is None else message_at(place, spoken, written)


async def write_messages(
    tx: Transaction, place: Place, spoken: Sequence[Spoken], *, now: Micros, findable: bool = True
) -> list[Written | None]:
    """Write messages in order; None for each whose external id is in the chat already.

    What is not findable is kept word for word but never found by search (the companion's own
    quotes). Raises InvalidInput for a text that is too long.
    """
    texts = [checked_text(said.text) for said in spoken]
    tokens = [estimate_tokens(text) for text in texts]
    last_seq = await take_seqs(tx, place.chat.person, len(spoken), tokens=sum(tokens))
    written: list[Written | None] = []
    for seq, said, text, count in zip(
        range(last_seq - len(spoken) + 1, last_seq + 1), spoken, texts, tokens, strict=True
    ):
        message = MessageId(new_id(now))
        language = detect_language(text, fallback=place.language)
        row = row_of(place, said, text, language=language, findable=findable and said.findable)
        added = await tx.run(INSERT, id=message, seq=seq, tokens=count, now=now, **row)
        written.append(Written(message, seq, language) if added else None)
    return written


async def edit_message(
    tx: Transaction, person: PersonId, message: MessageId, text: str, *, now: Micros,
    findable: bool = True, details: Mapping[str, str] | None = None,
) -> Message:  # fmt: skip
    """Add a version with a new text; the earlier one stays. Raises NotFound, InvalidInput.

    ``details``: in place of the earlier ones; None: as they were.
    """
    await lock_person(tx, person)
    earlier = await get_message(tx, person, message)
    clean = checked_text(text)
    language = detect_language(clean, fallback=earlier.language)
    tokens = estimate_tokens(clean)
    seq = await take_seqs(tx, person, 1, tokens=tokens)
    await tx.run(
        """UPDATE message SET replaced_at = :now
           WHERE id = :id AND person = :person AND version = :version""",
        now=now, id=message, person=person, version=earlier.version,
    )  # fmt: skip
    await tx.run(
        """INSERT INTO message (id, version, person, seq, chat, session, role, author, speaker,
             trust, text, said_at, zone, language, tokens, turn, external_id, batch, details,
             imprint, written_at)
           SELECT id, version + 1, person, :seq, chat, session, role, author, speaker, trust,
             :text, said_at, zone, :language, :tokens, turn, external_id, batch,
             coalesce(:details, details), :imprint, :now
           FROM message WHERE id = :id AND person = :person AND version = :version""",
        seq=seq, text=clean, language=language, tokens=tokens, now=now,
        imprint=imprint_of(clean, language=language) if findable else b"", id=message,
        person=person, version=earlier.version, details=details_text(details or {}),
    )  # fmt: skip
    return await get_message(tx, person, message)


async def take_seqs(tx: Transaction, person: PersonId, count: int, *, tokens: int) -> int:
    """Reserve places in the person's order of writing; the last of them. Locks the person."""
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
    tx: Transaction, person: PersonId, message: MessageId, *, version: int | None = None
) -> Message:
    """One message as it reads now, or in an earlier version. Raises NotFound."""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.id = :id AND m.person = :person AND m.version = coalesce(:version,
             (SELECT version FROM message WHERE id = :id AND replaced_at IS NULL))""",
        id=message, person=person, version=version,
    )  # fmt: skip
    if row is None:
        raise NotFound(saying("message_gone", f"There is no message {message}."))
    return message_from(row)


async def find_by_key(
    tx: Transaction, person: PersonId, chat: ChatId, external_id: str
) -> Message | None:
    """The message of a chat that has come with an external id, as it reads now."""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.chat = :chat AND m.replaced_at IS NULL AND m.id =
             (SELECT id FROM message WHERE chat = :chat AND external_id = :external_id
              AND version = 1)""",
        person=person, chat=chat, external_id=external_id,
    )  # fmt: skip
    return None if row is None else message_from(row)


async def list_by_seq(tx: Transaction, person: PersonId, seqs: Sequence[int]) -> list[Message]:
    """The message versions at these places in the log, as asked; gone ones left out."""
    if not seqs:
        return []
    places = {f"seq{place}": int(seq) for place, seq in enumerate(seqs)}
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.seq IN ({", ".join(f":{name}" for name in places)})""",
        person=person,
        **places,
    )
    found = {row[2]: row for row in rows}
    return [message_from(found[seq]) for seq in places.values() if seq in found]


async def list_recent(
    tx: Transaction, person: PersonId, chat: ChatId, *, limit: int
) -> list[Message]:
    """The newest messages of a chat, oldest of them first (ACCEPTANCE C17)."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.chat = :chat AND m.replaced_at IS NULL
           ORDER BY m.said_at DESC, m.seq DESC LIMIT :limit""",
        person=person, chat=chat, limit=limit,
    )  # fmt: skip
    return [message_from(row) for row in reversed(rows)]


async def list_beside(tx: Transaction, message: Message, *, each_side: int) -> list[Message]:
    """What was said in the same session just before and after a message, in order."""
    beside: list[Message] = []
    for is_later, order in ((0, "DESC"), (1, "ASC")):
        rows = await tx.rows(
            f"""SELECT {COLUMNS} FROM {TABLES}
               WHERE m.person = :person AND m.session = :session AND m.replaced_at IS NULL
               AND m.id <> :id AND m.role <> 'marker' AND :is_later = CASE
                 WHEN m.said_at > :at OR (m.said_at = :at AND m.seq > :seq) THEN 1 ELSE 0 END
               ORDER BY m.said_at {order}, m.seq {order} LIMIT :limit""",
            person=message.person, session=message.session, id=message.id, at=message.at,
            seq=message.seq, is_later=is_later, limit=each_side,
        )  # fmt: skip
        found = [message_from(row) for row in rows]
        beside += found if is_later else found[::-1]
    return beside


async def list_written_since(
    tx: Transaction, person: PersonId, chat: ChatId, *, after: int
) -> list[Message]:
    """What was written into a chat after a seq, in the order of writing."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.seq > :after AND m.chat = :chat
           AND m.replaced_at IS NULL ORDER BY m.seq""",
        person=person,
        after=after,
        chat=chat,
    )
    return [message_from(row) for row in rows]


async def list_messages(
    tx: Transaction, person: PersonId, *, since: Micros | None = None,
    until: Micros | None = None, limit: int = 100,
) -> list[Message]:  # fmt: skip
    """The newest messages of a person in a span of time, on all channels, oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.replaced_at IS NULL
           AND (:since IS NULL OR m.said_at >= :since) AND (:until IS NULL OR m.said_at < :until)
           ORDER BY m.said_at DESC, m.seq DESC LIMIT :limit""",
        person=person, since=since, until=until, limit=limit,
    )  # fmt: skip
    return [message_from(row) for row in reversed(rows)]


async def was_anything_said(
    tx: Transaction, person: PersonId, chat: ChatId, *, before: int
) -> bool:
    """Whether anything was written into a chat before a seq."""
    row = await tx.row(
        """SELECT 1 FROM message WHERE chat = :chat AND person = :person AND seq < :before
           ORDER BY seq DESC LIMIT 1""",
        chat=chat,
        person=person,
        before=before,
    )
    return row is not None


async def find_reply(tx: Transaction, said: Message) -> Message | None:
    """What was last said back in the same turn, or else the marker that says why nothing was."""
    row = await tx.row(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.seq > :after AND m.turn = :turn
           AND m.role IN ('companion', 'marker') AND m.replaced_at IS NULL
           ORDER BY m.role, m.seq DESC LIMIT 1""",
        person=said.person,
        after=said.seq,
        turn=said.turn,
    )
    return None if row is None else message_from(row)


async def list_asked(tx: Transaction, reply: Message) -> list[Message]:
    """What a reply answers, in order: what was said in its turn to the companion, just before."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.seq >= :after AND m.seq < :before AND m.turn = :turn
           AND m.role IN ('person', 'other') AND m.replaced_at IS NULL ORDER BY m.seq""",
        person=reply.person,
        after=reply.seq - SHORTLY,
        before=reply.seq,
        turn=reply.turn,
    )
    return [message_from(row) for row in rows]


async def last_heard_on(tx: Transaction, channel: str) -> Micros | None:
    """When somebody last said something on a channel; None: nobody has."""
    row = await tx.row(
        """SELECT max((SELECT m.said_at FROM message m WHERE m.chat = c.id
             AND m.role IN ('person', 'other') ORDER BY m.said_at DESC, m.seq DESC LIMIT 1))
           FROM chat c WHERE c.channel = :channel""",
        channel=channel,
    )
    return None if row is None else row[0]


async def count_messages(tx: Transaction, person: PersonId) -> int:
    """How many messages of a person are kept."""
    row = await tx.row(
        "SELECT count(*) FROM message WHERE person = :person AND replaced_at IS NULL",
        person=person,
    )
    return 0 if row is None else int(row[0])


def message_at(place: Place, said: Spoken, written: Written) -> Message:
    """What was written just now into a session of our own, as it stands in the log."""
    chat, text, speaker = place.chat, storable(said.text), storable(said.speaker)
    return Message(
        id=written.id, version=1, seq=written.seq, person=chat.person, chat=chat.id,
        session=place.session, session_name=place.session, channel=chat.channel, role=said.role,
        author=author_in(chat, said), speaker=speaker, trust=said.trust, text=text, at=said.at,
        zone=said.zone, language=written.language, tokens=estimate_tokens(text),
        turn=place.turn, external_id=said.external_id and storable(said.external_id),
        batch=place.batch, details=dict(said.details),
    )  # fmt: skip


def author_in(chat: Chat, said: Spoken) -> str:
    """Who has said it: whoever is known by their id, anybody else by what they are called."""
    authors: dict[str, str] = {"person": chat.person, "companion": chat.companion}
    return authors.get(said.role, storable(said.author or said.speaker))


def checked_text(text: str) -> str:
    """A text as it can be stored. Raises InvalidInput when it is too long."""
    if len(text) > MAX_TEXT:
        raise InvalidInput(saying(
            "message_too_long",
            f"A message of {len(text):,} characters is too long; {MAX_TEXT:,} fit. Split it.",
            count=len(text), most=MAX_TEXT,
        ))  # fmt: skip
    return storable(text)


def row_of(
    place: Place, said: Spoken, text: str, *, language: str, findable: bool
) -> dict[str, SqlValue]:
    """What the first version of a message says, as the values of its row."""
    chat = place.chat
    return {
        "person": chat.person, "chat": chat.id, "session": place.session, "role": said.role,
        "author": author_in(chat, said), "speaker": storable(said.speaker), "trust": said.trust,
        "text": text, "said_at": said.at, "zone": said.zone, "language": language,
        "turn": place.turn, "batch": place.batch, "details": details_text(said.details),
        "external_id": None if said.external_id is None else storable(said.external_id),
        "imprint": imprint_of(text, language=language) if findable else b"",
    }  # fmt: skip


def details_text(details: Mapping[str, str]) -> str | None:
    """What else is known of a message, as it is stored; None: nothing."""
    return json.dumps(dict(details), ensure_ascii=False) if details else None


def message_from(row: Row) -> Message:
    """A message from the columns in COLUMNS."""
    return Message(
        id=MessageId(row[0]), version=row[1], seq=row[2], person=PersonId(row[3]),
        chat=ChatId(row[4]), session=SessionId(row[5]), channel=row[6], role=row[7],
        author=row[8], speaker=row[9], trust=row[10], text=row[11], at=row[12], zone=row[13],
        language=row[14], tokens=row[15], turn=row[16], external_id=row[17], batch=row[18],
        details=json.loads(row[19]) if row[19] else {}, session_name=row[20] or row[5],
    )  # fmt: skip
