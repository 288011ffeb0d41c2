"""What was said on all channels, a window at a time, as somebody scrolls through it?

Markers are remarks for models and stand in no window. Knows nothing of pages.
"""

from collections.abc import Collection
from typing import Final

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.clock import HOUR, Micros
from oldfriend.domain.ids import MessageId, PersonId, TurnId
from oldfriend.domain.messages import Message
from oldfriend.memory.log import COLUMNS, TABLES, message_from

MOST_WORDS: Final = 8
"""Of what is sought; the rest does not count."""
NEAR: Final = HOUR
"""What makes one turn is said within less."""


async def list_said_before(
    tx: Transaction, person: PersonId, *, at: Micros, seq: int, limit: int
) -> list[Message]:
    """What was said before a moment and a seq in it, the newest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.replaced_at IS NULL AND m.role <> 'marker'
           AND (m.said_at < :at OR (m.said_at = :at AND m.seq < :seq))
           ORDER BY m.said_at DESC, m.seq DESC LIMIT :limit""",
        person=person, at=at, seq=seq, limit=limit,
    )  # fmt: skip
    return [message_from(row) for row in rows]


async def list_said_after(
    tx: Transaction, person: PersonId, *, at: Micros, seq: int, limit: int
) -> list[Message]:
    """What was said after a moment and a seq in it, the oldest first."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.replaced_at IS NULL AND m.role <> 'marker'
           AND (m.said_at > :at OR (m.said_at = :at AND m.seq > :seq))
           ORDER BY m.said_at, m.seq LIMIT :limit""",
        person=person, at=at, seq=seq, limit=limit,
    )  # fmt: skip
    return [message_from(row) for row in rows]


async def list_saying(
    tx: Transaction, person: PersonId, words: str, *, at: Micros, seq: int, limit: int
) -> list[Message]:
    """What holds all of these words, said before a moment and a seq in it, the newest first."""
    wanted = words.split()[:MOST_WORDS]
    if not wanted:
        return []
    values: dict[str, SqlValue] = {}
    for place, word in enumerate(wanted):
        values |= {f"word{place}_{form}": f"%{text}%" for form, text in enumerate(forms_of(word))}
    holds = " AND ".join(holds_any(place) for place in range(len(wanted)))
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.replaced_at IS NULL AND m.role <> 'marker'
           AND (m.said_at < :at OR (m.said_at = :at AND m.seq < :seq)) AND {holds}
           ORDER BY m.said_at DESC, m.seq DESC LIMIT :limit""",
        person=person, at=at, seq=seq, limit=limit, **values,
    )  # fmt: skip
    return [message_from(row) for row in rows]


def forms_of(word: str) -> tuple[str, str, str, str]:
    """A word as it may stand in a text; not every engine folds more than ASCII."""
    plain = word.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return plain.lower(), plain, plain.capitalize(), plain.upper()


def holds_any(place: int) -> str:
    """The condition that a text holds a word in one of its forms."""
    first, *others = (f":word{place}_{form} ESCAPE '!'" for form in range(4))
    likes = [f"lower(m.text) LIKE {first}", *(f"m.text LIKE {each}" for each in others)]
    return f"({' OR '.join(likes)})"


async def list_endings(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> dict[TurnId, str]:
    """Of what was said in a span, both ends included: the turns without an answer, and why.

    What is noted of a turn stands at the moment of what was said in it, and so does its reply.
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


async def list_said_with(tx: Transaction, said: Message) -> list[Message]:
    """What the person has said in the same turn as this, as it reads now, in order."""
    rows = await tx.rows(
        f"""SELECT {COLUMNS} FROM {TABLES}
           WHERE m.person = :person AND m.chat = :chat AND m.turn = :turn AND m.role = 'person'
           AND m.said_at BETWEEN :since AND :until AND m.replaced_at IS NULL ORDER BY m.seq""",
        person=said.person, chat=said.chat, turn=said.turn, since=said.at - NEAR,
        until=said.at + NEAR,
    )  # fmt: skip
    return [message_from(row) for row in rows]


async def list_sounding(
    tx: Transaction, person: PersonId, messages: Collection[MessageId]
) -> frozenset[MessageId]:
    """Which of some messages can be heard: as they were said, or as they were spoken."""
    if not messages:
        return frozenset()
    named = {f"message{place}": each for place, each in enumerate(messages)}
    rows = await tx.rows(
        f"""SELECT DISTINCT message FROM attachment
           WHERE person = :person AND kind IN ('heard', 'spoken')
           AND message IN ({", ".join(f":{name}" for name in named)})""",
        person=person,
        **named,
    )
    return frozenset(MessageId(row[0]) for row in rows)
