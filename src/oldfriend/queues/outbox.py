"""Outbox: replies that wait to be delivered, what was delivered, and the chats that block us.

The parts of a reply go out in order, and those of the next reply after them; if one cannot be
delivered, only the rest of its own reply is held back with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Chat, sanitize_text
from oldfriend.queues.jobs_table import get_int_field, get_text_field
from oldfriend.queues.queue import enqueue


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPart:
    """A part of a reply, no longer than its channel allows, and its destination."""

    channel: str
    address: str
    reply: MessageId
    ordinal: int  # from 0
    text: str
    draft_external_id: str | None = None  # of the message that showed it as a draft
    draft_send_key: str | None = None  # else the send key of the draft, if it may have been sent
    is_audio: bool = False  # the whole reply as audio, after its text


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDraft:
    """The message in which a reply was shown while it was being written."""

    draft_external_id: str | None = None  # of that message
    draft_send_key: str | None = None  # the key with which it was sent, if its own is unknown


NO_DRAFT: Final = ShownDraft()


async def enqueue_reply(
    tx: Transaction,
    chat: Chat,
    reply: MessageId,
    texts: Sequence[str],
    *,
    now: Micros,
    draft: ShownDraft = NO_DRAFT,
    audio_title: str | None = None,
) -> list[Job]:
    """Enqueue the parts of a reply for delivery, and return the new jobs; known parts are skipped.

    ``draft`` is the message that becomes the first part, or may have been sent. ``audio_title`` is
    the title of the audio version; None if there is none.
    """
    base = {"channel": chat.channel, "address": chat.address, "reply": reply}
    bodies: list[dict[str, JsonValue]] = [
        {**base, "ordinal": ordinal, "text": text} for ordinal, text in enumerate(texts)
    ]
    if draft.draft_external_id is not None and bodies:
        bodies[0]["shown"] = draft.draft_external_id
    elif draft.draft_send_key is not None and bodies:
        bodies[0]["shown_as"] = draft.draft_send_key
    if audio_title is not None and bodies:
        bodies.append({**base, "ordinal": len(texts), "text": audio_title, "aloud": True})
    jobs = [
        await enqueue(
            tx,
            "outbox",
            chat.id,
            body,
            person=chat.person,
            now=now,
            dedup_key=f"{reply}/{body['ordinal']}",
            group=f"{reply}/aloud" if body.get("aloud") else reply,
        )
        for body in bodies
    ]
    return [job for job in jobs if job is not None]


def parse_reply_part(job: Job) -> ReplyPart:
    """Parse the payload of an outbox job. Raises InvalidInput."""
    return ReplyPart(
        channel=get_text_field(job, "channel"),
        address=get_text_field(job, "address"),
        reply=MessageId(get_text_field(job, "reply")),
        ordinal=get_int_field(job, "ordinal"),
        text=get_text_field(job, "text"),
        draft_external_id=get_text_field(job, "shown") if "shown" in job.payload else None,
        draft_send_key=get_text_field(job, "shown_as") if "shown_as" in job.payload else None,
        is_audio=job.payload.get("aloud") is True,
    )


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
