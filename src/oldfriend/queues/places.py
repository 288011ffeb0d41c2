"""Where does nothing of ours arrive any more, who was turned away, and what stands there already?

Places on platforms, by their addresses. Knows nothing of what is said there.
"""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.messages import storable
from oldfriend.queues.outbox import Part

LONGEST_WHY: Final = 200


async def find_closed(tx: Transaction, channel: str, address: str) -> str | None:
    """Why nothing is sent to a place any more, or to the group it is in; None: it may be tried."""
    row = await tx.row(
        """SELECT why FROM closed_place
           WHERE channel = :channel AND address IN (:address, :whole)""",
        channel=channel,
        address=address,
        whole=whole_of(address),
    )
    return None if row is None else str(row[0])


async def close_place(
    tx: Transaction, channel: str, address: str, why: str, *, now: Micros
) -> None:
    """Send nothing to a place any more, until somebody writes from there."""
    await tx.run(
        """INSERT INTO closed_place (channel, address, closed_at, why)
           VALUES (:channel, :address, :now, :why) ON CONFLICT (channel, address) DO NOTHING""",
        channel=channel, address=address, now=now, why=storable(why)[:LONGEST_WHY],
    )  # fmt: skip


async def open_place(tx: Transaction, channel: str, address: str) -> None:
    """Send to a place again, and to everything in it."""
    await tx.run(
        """DELETE FROM closed_place
           WHERE channel = :channel AND (address = :address OR address LIKE :within)""",
        channel=channel,
        address=address,
        within=f"{address}/%",
    )


def whole_of(address: str) -> str:
    """The address of the whole group, of which a place may be one topic ("-100/7")."""
    return address.partition("/")[0]


async def list_closed(tx: Transaction, channel: str, *, limit: int) -> list[tuple[str, str]]:
    """The places on a channel that take nothing any more, each with why, the newest first."""
    rows = await tx.rows(
        """SELECT address, why FROM closed_place WHERE channel = :channel
           ORDER BY closed_at DESC LIMIT :limit""",
        channel=channel,
        limit=limit,
    )
    return [(str(row[0]), str(row[1])) for row in rows]


async def count_closed(tx: Transaction, channel: str) -> int:
    """How many places on a channel take nothing any more."""
    row = await tx.row(
        "SELECT count(*) FROM closed_place WHERE channel = :channel", channel=channel
    )
    return 0 if row is None else int(row[0])


async def turn_away(tx: Transaction, channel: str, address: str, *, now: Micros) -> bool:
    """Count a message of somebody whom nobody knows; whether they are to be told, once a day."""
    await tx.run("DELETE FROM stranger WHERE told_at <= :until", until=now - DAY)
    row = await tx.row(
        """INSERT INTO stranger (channel, address, told_at, messages)
           VALUES (:channel, :address, :now, 1)
           ON CONFLICT (channel, address) DO UPDATE SET messages = stranger.messages + 1
           RETURNING messages""",
        channel=channel, address=address, now=now,
    )  # fmt: skip
    return row is not None and int(row[0]) == 1


async def count_turned_away(tx: Transaction, channel: str) -> tuple[int, int]:
    """How many nobody knows, and how many messages of theirs came, within a day."""
    row = await tx.row(
        "SELECT count(*), coalesce(sum(messages), 0) FROM stranger WHERE channel = :channel",
        channel=channel,
    )
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


async def write_delivered(
    tx: Transaction, person: PersonId, part: Part, number: int, *, chat: str, key: str,
    now: Micros,
) -> None:  # fmt: skip
    """Note that a piece of a part stands on its platform, unless its reply is forgotten by now."""
    await tx.run(
        """INSERT INTO delivered (person, reply, ordinal, number, chat, external_id, sent_at)
           SELECT :person, :reply, :ordinal, :number, :chat, :key, :now
           WHERE EXISTS (SELECT 1 FROM message WHERE id = :reply AND person = :person)
           ON CONFLICT (reply, ordinal, number) DO NOTHING""",
        person=person, reply=part.reply, ordinal=part.ordinal, number=number, chat=chat, key=key,
        now=now,
    )  # fmt: skip


async def count_delivered(tx: Transaction, person: PersonId, part: Part) -> int:
    """How many pieces of a part stand on their platform already."""
    row = await tx.row(
        """SELECT count(*) FROM delivered
           WHERE person = :person AND reply = :reply AND ordinal = :ordinal""",
        person=person,
        reply=part.reply,
        ordinal=part.ordinal,
    )
    return 0 if row is None else int(row[0])


async def find_delivered(
    tx: Transaction, person: PersonId, chat: str, key: str
) -> MessageId | None:
    """The reply of which a message on a platform is a part."""
    row = await tx.row(
        """SELECT reply FROM delivered
           WHERE person = :person AND chat = :chat AND external_id = :key LIMIT 1""",
        person=person,
        chat=chat,
        key=key,
    )
    return None if row is None else MessageId(row[0])


async def count_sent(tx: Transaction, *, since: Micros) -> int:
    """How many pieces of replies were sent since a moment, by all processes together."""
    row = await tx.row("SELECT count(*) FROM delivered WHERE sent_at >= :since", since=since)
    return 0 if row is None else int(row[0])
