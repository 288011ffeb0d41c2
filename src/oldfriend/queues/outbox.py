"""Outbox: replies that wait, what was delivered, chats that block us, how far others are heard.

The parts of a reply go out in order, and those of the next reply after them; if one cannot be
delivered, only the rest of its own reply is held back with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.buttons import Button, dump_buttons, parse_buttons
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.ids import ChatId, MessageId, PersonId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Chat, sanitize_text
from oldfriend.queues.jobs_table import get_int_field, get_text_field
from oldfriend.queues.queue import enqueue, reschedule_jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyPart:
    """A part of a reply, no longer than its channel allows, and its destination."""

    channel: str
    address: str
    reply: MessageId
    ordinal: int  # from 0
    text: str
    is_markdown: bool = False
    draft_external_id: str | None = None  # of the message that showed it as a draft
    draft_send_key: str | None = None  # else the send key of the draft, if it may have been sent
    is_audio: bool = False  # the whole reply as audio, after its text
    buttons: tuple[Button, ...] = ()


@dataclass(frozen=True, slots=True)
class ReplyTexts:
    """The texts of a reply's parts; what is not Markdown is shown as it stands."""

    parts: Sequence[str]
    is_markdown: bool = False
    buttons: Sequence[Button] = ()  # below the last part


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDraft:
    """The message in which a reply was shown while it was being written."""

    draft_external_id: str | None = None  # of that message
    draft_send_key: str | None = None  # the key with which it was sent, if its own is unknown


@dataclass(frozen=True, slots=True)
class DeliveredPiece:
    """A piece of a part of a reply that a platform has accepted."""

    reply: MessageId
    ordinal: int
    number: int
    chat: ChatId


NO_DRAFT: Final = ShownDraft()


async def enqueue_reply(
    tx: Transaction,
    chat: Chat,
    reply_id: MessageId,
    texts: ReplyTexts,
    *,
    now: Micros,
    draft: ShownDraft = NO_DRAFT,
    audio_title: str | None = None,
) -> list[Job]:
    """Enqueue the parts of a reply for delivery, and return the new jobs; known parts are skipped.

    ``draft`` is the message that becomes the first part, or may have been sent. ``audio_title`` is
    the title of the audio version; None if there is none.
    """
    base = {"channel": chat.channel, "address": chat.address, "reply": reply_id}
    markup = {"markdown": True} if texts.is_markdown else {}
    bodies: list[dict[str, JsonValue]] = [
        {**base, **markup, "ordinal": ordinal, "text": text}
        for ordinal, text in enumerate(texts.parts)
    ]
    if draft.draft_external_id is not None and bodies:
        bodies[0]["shown"] = draft.draft_external_id
    elif draft.draft_send_key is not None and bodies:
        bodies[0]["shown_as"] = draft.draft_send_key
    if texts.buttons and bodies:
        bodies[-1]["buttons"] = dump_buttons(texts.buttons)
    if audio_title is not None and bodies:
        bodies.append({**base, "ordinal": len(texts.parts), "text": audio_title, "aloud": True})
    jobs = [
        await enqueue(
            tx,
            "outbox",
            chat.id,
            body,
            person=chat.person,
            now=now,
            dedup_key=f"{reply_id}/{body['ordinal']}",
            group=f"{reply_id}/aloud" if body.get("aloud") else reply_id,
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
        is_markdown=job.payload.get("markdown") is True,
        draft_external_id=get_text_field(job, "shown") if "shown" in job.payload else None,
        draft_send_key=get_text_field(job, "shown_as") if "shown_as" in job.payload else None,
        is_audio=job.payload.get("aloud") is True,
        buttons=parse_buttons(job.payload.get("buttons")),
    )


async def find_cursor(tx: Transaction, channel: str, scope: str) -> str | None:
    """Return up to which position a channel has been heard in a scope."""
    row = await tx.row(
        "SELECT position FROM channel_cursor WHERE channel = :channel AND scope = :scope",
        channel=channel,
        scope=scope,
    )
    return None if row is None else str(row[0])


async def save_cursor(
    tx: Transaction, channel: str, scope: str, position: str, *, now: Micros
) -> None:
    """Save up to which position a channel has been heard in a scope."""
    await tx.run(
        """INSERT INTO channel_cursor (channel, scope, position, saved_at)
           VALUES (:channel, :scope, :position, :now)
           ON CONFLICT (channel, scope)
           DO UPDATE SET position = excluded.position, saved_at = excluded.saved_at""",
        channel=channel,
        scope=scope,
        position=position,
        now=now,
    )


async def is_set_aside(tx: Transaction, person: PersonId, chat: str, part: ReplyPart) -> bool:
    """Tell whether a part's address is no longer that of the person whose chat it belongs to."""
    row = await tx.row(
        """SELECT 1 FROM chat c WHERE c.person = :person AND c.id = :chat AND c.address = c.id
           AND NOT EXISTS (SELECT 1 FROM chat o WHERE o.person = :person
             AND o.channel = :channel AND o.address = :address)""",
        person=person,
        chat=chat,
        channel=part.channel,
        address=part.address,
    )
    return row is not None


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


async def resume_held_parts(tx: Transaction, channel: str, address: str, *, now: Micros) -> None:
    """Let the parts go out that wait until somebody writes from this chat."""
    rows = await tx.rows(
        """SELECT c.id FROM chat c WHERE c.channel = :channel AND c.address = :address
           AND EXISTS (SELECT 1 FROM job j WHERE j.queue = 'outbox' AND j.partition = c.id
             AND j.due_at > :now)""",
        channel=channel,
        address=address,
        now=now,
    )
    for row in rows:
        await reschedule_jobs(tx, "outbox", row[0], from_seq=0, due_at=now, now=now)
    if rows:
        await tx.notify()


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


async def list_chat_people(tx: Transaction, channel: str, address: str) -> list[PersonId]:
    """Return whose chat an address on a channel is."""
    rows = await tx.rows(
        "SELECT person FROM chat WHERE channel = :channel AND address = :address ORDER BY person",
        channel=channel,
        address=address,
    )
    return [PersonId(row[0]) for row in rows]


async def take_back_piece(
    tx: Transaction, person: PersonId, channel: str, address: str, external_id: str
) -> DeliveredPiece | None:
    """Delete the record of a piece that was not delivered after all, and of those after it."""
    row = await tx.row(
        """SELECT d.reply, d.ordinal, d.number, d.chat FROM delivered d
           JOIN chat c ON c.id = d.chat WHERE d.person = :person AND d.external_id = :key
           AND c.channel = :channel AND c.address = :address""",
        person=person,
        key=external_id,
        channel=channel,
        address=address,
    )
    if row is None:
        return None
    piece = DeliveredPiece(MessageId(row[0]), int(row[1]), int(row[2]), ChatId(row[3]))
    await tx.run(
        """DELETE FROM delivered WHERE person = :person AND reply = :reply
           AND ordinal = :ordinal AND number >= :number""",
        person=person,
        reply=piece.reply,
        ordinal=piece.ordinal,
        number=piece.number,
    )
    return piece


async def enqueue_again(
    tx: Transaction, person: PersonId, part: ReplyPart, *, chat: str, now: Micros
) -> Job:
    """Enqueue a part once more, after all that waits."""
    markup = {"markdown": True} if part.is_markdown else {}
    body: dict[str, JsonValue] = {
        "channel": part.channel,
        "address": part.address,
        "reply": part.reply,
        **markup,
        "ordinal": part.ordinal,
        "text": part.text,
        "buttons": dump_buttons(part.buttons),
    }
    job = await enqueue(tx, "outbox", chat, body, person=person, now=now, group=part.reply)
    assert job is not None
    return job


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
