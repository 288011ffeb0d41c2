"""Chat history: messages of all channels, one scroll window at a time.

Markers are remarks for models and are left out. This module knows nothing of web pages.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.clock import HOUR, MAX_TIME, Micros
from oldfriend.domain.ids import ChatId, MessageId, PersonId, TurnId
from oldfriend.domain.messages import Message
from oldfriend.memory.message_log import (
    MESSAGE_COLUMNS,
    MESSAGE_TABLES,
    parse_message_row,
)
from oldfriend.memory.message_order import GIVEN_PLACE, MESSAGE_PLACE

MAX_SEARCH_WORDS: Final = 8
MAX_WORD_CHARS: Final = 200
"""SQLite refuses patterns that are much longer."""
"""Further words of a search are ignored."""
MATCH_BATCH: Final = 200
"""Matches of a search that are read at once."""
IS_REPLY: Final = "(CASE WHEN m.role = 'companion' THEN 1 ELSE 0 END)"
QUOTE_EDGES: Final = " \t\n.,;:!?…¡¿。，；：！？"
QUOTE: Final = re.compile(r"[“„«‘「\"]([^“”„«»‘’「」\"]+)[”“»’」\"]")
"""What stands between quotation marks, such as “I live in Leeds”."""
SENTENCE_ENDS: Final = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")
MAX_FRAME_CHARS: Final = 50
"""A reply that says no more than this beside its quotes only quotes."""
MAX_TURN_SPAN: Final = HOUR
"""All messages of one turn are said within less."""
RECENT_MESSAGES: Final = 200
"""This many of a person's latest messages tell which chats they use."""


async def list_messages_before(
    tx: Transaction, person: PersonId, *, at: Micros, seq: int, limit: int
) -> list[Message]:
    """List the messages before a moment and a seq, newest first."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.replaced_at IS NULL AND m.role <> 'marker'
           AND (m.said_at < :at OR (m.said_at = :at AND {MESSAGE_PLACE} < {GIVEN_PLACE}))
           ORDER BY m.said_at DESC, {MESSAGE_PLACE} DESC LIMIT :limit""",
        person=person,
        at=at,
        seq=seq,
        limit=limit,
    )
    return [parse_message_row(row) for row in rows]


async def list_messages_after(
    tx: Transaction, person: PersonId, *, at: Micros, seq: int, limit: int
) -> list[Message]:
    """List the messages after a moment and a seq, oldest first."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.replaced_at IS NULL AND m.role <> 'marker'
           AND (m.said_at > :at OR (m.said_at = :at AND {MESSAGE_PLACE} > {GIVEN_PLACE}))
           ORDER BY m.said_at, {MESSAGE_PLACE} LIMIT :limit""",
        person=person,
        at=at,
        seq=seq,
        limit=limit,
    )
    return [parse_message_row(row) for row in rows]


async def list_messages_containing(
    tx: Transaction,
    person: PersonId,
    words: str,
    *,
    after: Message | None = None,
    limit: int,
    with_quotations: bool = False,
) -> list[Message]:
    """List the messages after another one that contain all of these words.

    People's own words come first, newest first, then the companion's replies; one that only quotes
    what stands before it is left out, unless ``with_quotations``.
    """
    search_words = [each[:MAX_WORD_CHARS] for each in words.split()[:MAX_SEARCH_WORDS]]
    found: list[Message] = []
    own: list[str] | None = None
    while search_words and len(found) < limit:
        batch = await list_matches(tx, person, search_words, after=after)
        if own is None and not with_quotations and any(each.role == "companion" for each in batch):
            matches = await list_matches(tx, person, search_words, after=None)
            own = [each.text for each in matches if each.role != "companion"]
        found += [
            each
            for each in batch
            if each.role != "companion" or not only_quotes(each.text, own or [], search_words)
        ]
        if len(batch) < MATCH_BATCH:
            break
        after = batch[-1]
    return found[:limit]


def only_quotes(text: str, quoted: Sequence[str], words: Sequence[str]) -> bool:
    """Tell whether a text has some words only in whole sentences of others that it quotes between
    marks, and says hardly anything beside them.
    """
    sentences = {
        part.strip(QUOTE_EDGES)
        for each in quoted
        for part in (each.casefold(), *SENTENCE_ENDS.split(each.casefold()))
    }
    rest = QUOTE.sub(
        lambda found: " " if found[1].strip(QUOTE_EDGES) in sentences else found[0],
        text.casefold(),
    )
    return len(rest.strip()) <= MAX_FRAME_CHARS and not all(
        each.casefold() in rest for each in words
    )


async def list_matches(
    tx: Transaction, person: PersonId, search_words: Sequence[str], *, after: Message | None
) -> list[Message]:
    """List the next matches after a message, replies last and each newest first."""
    values: dict[str, SqlValue] = {}
    for index, word in enumerate(search_words):
        values |= {
            f"word{index}_{form}": f"%{text}%"
            for form, text in enumerate(build_case_variants(word))
        }
    condition = " AND ".join(build_word_condition(index) for index in range(len(search_words)))
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.replaced_at IS NULL AND m.role <> 'marker'
           AND ({IS_REPLY} > :reply OR ({IS_REPLY} = :reply AND (m.said_at < :at
             OR (m.said_at = :at AND {MESSAGE_PLACE} < {GIVEN_PLACE}))))
           AND {condition}
           ORDER BY {IS_REPLY}, m.said_at DESC, {MESSAGE_PLACE} DESC LIMIT :limit""",
        person=person,
        reply=int(after is not None and after.role == "companion"),
        at=MAX_TIME if after is None else after.at,
        seq=0 if after is None else after.seq,
        limit=MATCH_BATCH,
        **values,
    )
    return [parse_message_row(row) for row in rows]


async def list_said_texts(tx: Transaction, person: PersonId, *, before: int) -> list[str]:
    """List the texts of all that a person has said before a seq, oldest first."""
    rows = await tx.rows(
        """SELECT text FROM message WHERE person = :person AND role = 'person' AND seq < :before
           AND replaced_at IS NULL ORDER BY seq""",
        person=person,
        before=before,
    )
    return [text for (text,) in rows]


async def has_earlier_messages(
    tx: Transaction, person: PersonId, chat_id: ChatId, *, before: int
) -> bool:
    """Whether anything was written into a chat before a seq."""
    row = await tx.row(
        """SELECT 1 FROM message m JOIN chat c ON c.id = m.chat
           WHERE m.chat = :chat AND c.person = :person AND m.seq < :before LIMIT 1""",
        chat=chat_id,
        person=person,
        before=before,
    )
    return row is not None


def build_case_variants(word: str) -> tuple[str, str, str, str]:
    """Return the LIKE-escaped spellings of a word; not every engine folds the case of more than
    ASCII.
    """
    plain = word.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return plain.lower(), plain, plain.capitalize(), plain.upper()


def build_word_condition(place: int) -> str:
    """Build the SQL condition that a text contains one spelling of a word."""
    first, *others = (f":word{place}_{form} ESCAPE '!'" for form in range(4))
    likes = [f"lower(m.text) LIKE {first}", *(f"m.text LIKE {each}" for each in others)]
    return f"({' OR '.join(likes)})"


async def list_turns_without_reply(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> dict[TurnId, str]:
    """Return the turns without a reply in a span, both ends included, with the reason for each.

    The marker of a turn has the same time as the message it answers, and so has the reply.
    """
    rows = await tx.rows(
        """SELECT m.turn, m.text FROM message m
           WHERE m.person = :person AND m.said_at BETWEEN :since AND :until
           AND m.role = 'marker' AND m.turn IS NOT NULL AND m.replaced_at IS NULL
           AND NOT EXISTS (SELECT 1 FROM message r WHERE r.person = :person
             AND r.said_at = m.said_at AND r.turn = m.turn AND r.role = 'companion'
             AND r.seq > m.seq)
           ORDER BY m.seq""",
        person=person,
        since=since,
        until=until,
    )
    return {TurnId(turn): str(text) for turn, text in rows}


async def list_turn_messages(tx: Transaction, message: Message) -> list[Message]:
    """List the person's messages of the same turn as they read now, in order."""
    rows = await tx.rows(
        f"""SELECT {MESSAGE_COLUMNS} FROM {MESSAGE_TABLES}
           WHERE m.person = :person AND m.chat = :chat AND m.turn = :turn AND m.role = 'person'
           AND m.said_at BETWEEN :since AND :until AND m.replaced_at IS NULL ORDER BY m.seq""",
        person=message.person,
        chat=message.chat,
        turn=message.turn,
        since=message.at - MAX_TURN_SPAN,
        until=message.at + MAX_TURN_SPAN,
    )
    return [parse_message_row(row) for row in rows]


async def list_turn_message_ids(tx: Transaction, person: PersonId, turn_id: TurnId) -> list[str]:
    """List the ids of all that was said in a turn, by whomever."""
    rows = await tx.rows(
        "SELECT DISTINCT id FROM message WHERE person = :person AND turn = :turn ORDER BY id",
        person=person,
        turn=turn_id,
    )
    return [str(row[0]) for row in rows]


async def list_messages_with_audio(
    tx: Transaction, person: PersonId, message_ids: Collection[MessageId]
) -> frozenset[MessageId]:
    """Return those of some messages that have a recording or a spoken version."""
    if not message_ids:
        return frozenset()
    parameters = {f"message{index}": each for index, each in enumerate(message_ids)}
    rows = await tx.rows(
        f"""SELECT DISTINCT message FROM attachment
           WHERE person = :person AND kind IN ('heard', 'spoken')
           AND message IN ({", ".join(f":{name}" for name in parameters)})""",
        person=person,
        **parameters,
    )
    return frozenset(MessageId(row[0]) for row in rows)


async def list_recently_used_chats(tx: Transaction, person: PersonId) -> list[ChatId]:
    """List the chats of the person's latest own messages, the most recently used one first."""
    rows = await tx.rows(
        """SELECT chat, max(seq) AS latest FROM
             (SELECT chat, seq FROM message
              WHERE person = :person AND role = 'person' AND batch IS NULL
              ORDER BY seq DESC LIMIT :limit) recent
           GROUP BY chat ORDER BY latest DESC""",
        person=person,
        limit=RECENT_MESSAGES,
    )
    return [ChatId(row[0]) for row in rows]


async def has_message_with_key(tx: Transaction, person: PersonId, external_id: str) -> bool:
    """Return whether a message has an external id in any chat of a person."""
    row = await tx.row(
        """SELECT 1 FROM chat c JOIN message m ON m.chat = c.id AND m.external_id = :external_id
             AND m.version = 1
           WHERE c.person = :person LIMIT 1""",
        person=person,
        external_id=external_id,
    )
    return row is not None


async def find_edit_time(
    tx: Transaction,
    person: PersonId,
    channel: str,
    address: str,
    external_ids: Sequence[str],
) -> Micros | None:
    """Return when a message in a chat was last edited, by its ids there; None: it never was.

    The ids after the first are of messages that an edit has made.
    """
    names = {f"id{number}": each for number, each in enumerate(external_ids)}
    row = await tx.row(
        f"""SELECT max(m.written_at) FROM message m JOIN chat c ON c.id = m.chat
           WHERE m.person = :person AND c.channel = :channel AND c.address = :address
           AND m.external_id IN ({", ".join(f":{name}" for name in names)})
           AND (m.version > 1 OR m.external_id <> :id0)""",
        person=person,
        channel=channel,
        address=address,
        **names,
    )
    return None if row is None else row[0]
