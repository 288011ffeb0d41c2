"""Delivery log: delivered reply pieces, blocked chats and messages from strangers."""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.messages import sanitize_text
from oldfriend.queues.outbox import ReplyPart

MAX_REASON_CHARS: Final = 200


async def find_block_reason(tx: Transaction, channel: str, address: str) -> str | None:
    """Return why nothing is sent to a chat, or to the group it is in; None if it is not blocked."""
    row = await tx.row(
        """SELECT why FROM closed_place
           WHERE channel = :channel AND address IN (:address, :whole)""",
        channel=channel,
        address=address,
        whole=get_group_address(address),
    )
    return None if row is None else str(row[0])


async def mark_chat_blocked(
    tx: Transaction, channel: str, address: str, reason: str, *, now: Micros
) -> None:
    """Block a chat until somebody writes from there."""
    await tx.run(
        """INSERT INTO closed_place (channel, address, closed_at, why)
           VALUES (:channel, :address, :now, :why) ON CONFLICT (channel, address) DO NOTHING""",
        channel=channel,
        address=address,
        now=now,
        why=sanitize_text(reason)[:MAX_REASON_CHARS],
    )


async def clear_chat_blocked(tx: Transaction, channel: str, address: str) -> None:
    """Unblock a chat and every topic in it."""
    await tx.run(
        """DELETE FROM closed_place
           WHERE channel = :channel AND (address = :address OR address LIKE :within)""",
        channel=channel,
        address=address,
        within=f"{address}/%",
    )


def get_group_address(address: str) -> str:
    """Return the address of the whole group for a chat that may be one topic of it ("-100/7")."""
    return address.partition("/")[0]


async def list_blocked_chats(tx: Transaction, channel: str, *, limit: int) -> list[tuple[str, str]]:
    """Return the blocked chats of a channel, each with its reason, newest first."""
    rows = await tx.rows(
        """SELECT address, why FROM closed_place WHERE channel = :channel
           ORDER BY closed_at DESC LIMIT :limit""",
        channel=channel,
        limit=limit,
    )
    return [(str(row[0]), str(row[1])) for row in rows]


async def count_blocked_chats(tx: Transaction, channel: str) -> int:
    """Return the number of blocked chats on a channel."""
    row = await tx.row(
        "SELECT count(*) FROM closed_place WHERE channel = :channel", channel=channel
    )
    return 0 if row is None else int(row[0])


async def record_stranger_message(
    tx: Transaction, channel: str, address: str, *, now: Micros
) -> bool:
    """Count a message from a stranger, and return whether to answer it (once a day)."""
    await tx.run("DELETE FROM stranger WHERE told_at <= :until", until=now - DAY)
    row = await tx.row(
        """INSERT INTO stranger (channel, address, told_at, messages)
           VALUES (:channel, :address, :now, 1)
           ON CONFLICT (channel, address) DO UPDATE SET messages = stranger.messages + 1
           RETURNING messages""",
        channel=channel,
        address=address,
        now=now,
    )
    return row is not None and int(row[0]) == 1


async def count_strangers(tx: Transaction, channel: str) -> tuple[int, int]:
    """Return how many strangers wrote within a day, and how many messages."""
    row = await tx.row(
        "SELECT count(*), coalesce(sum(messages), 0) FROM stranger WHERE channel = :channel",
        channel=channel,
    )
    return (0, 0) if row is None else (int(row[0]), int(row[1]))


async def record_piece(
    tx: Transaction,
    person: PersonId,
    part: ReplyPart,
    number: int,
    *,
    chat: str,
    external_id: str,
    now: Micros,
) -> None:
    """Record that a piece of a reply part was delivered, unless the reply was deleted meanwhile."""
    await tx.run(
        """INSERT INTO delivered (person, reply, ordinal, number, chat, external_id, sent_at)
           SELECT :person, :reply, :ordinal, :number, :chat, :key, :now
           WHERE EXISTS (SELECT 1 FROM message WHERE id = :reply AND person = :person)
           ON CONFLICT (reply, ordinal, number) DO NOTHING""",
        person=person,
        reply=part.reply,
        ordinal=part.ordinal,
        number=number,
        chat=chat,
        key=external_id,
        now=now,
    )


async def count_delivered_pieces(tx: Transaction, person: PersonId, part: ReplyPart) -> int:
    """Return how many pieces of a part have been delivered."""
    row = await tx.row(
        """SELECT count(*) FROM delivered
           WHERE person = :person AND reply = :reply AND ordinal = :ordinal""",
        person=person,
        reply=part.reply,
        ordinal=part.ordinal,
    )
    return 0 if row is None else int(row[0])


async def find_delivered_reply(
    tx: Transaction, person: PersonId, chat: str, external_id: str
) -> MessageId | None:
    """Return the reply to which a message on a platform belongs."""
    row = await tx.row(
        """SELECT reply FROM delivered
           WHERE person = :person AND chat = :chat AND external_id = :key LIMIT 1""",
        person=person,
        chat=chat,
        key=external_id,
    )
    return None if row is None else MessageId(row[0])


async def count_sent_pieces(tx: Transaction, *, since: Micros) -> int:
    """Return how many pieces of replies all processes together have sent since a time."""
    row = await tx.row("SELECT count(*) FROM delivered WHERE sent_at >= :since", since=since)
    return 0 if row is None else int(row[0])
