"""Outbox: replies that are waiting to be delivered, one partition per chat and one job per part.

The parts of a reply go out in order, and those of the next reply after them; if one cannot be
delivered, only the rest of its own reply is held back with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.job_types import Job
from oldfriend.domain.json import JsonValue
from oldfriend.domain.people import Chat
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
    draft_key: str | None = None  # the key of the message that showed it as a draft
    draft_send_key: str | None = None  # else the send key of the draft, if it may have been sent
    is_audio: bool = False  # the whole reply as audio, after its text


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDraft:
    """The message in which a reply was shown while it was being written."""

    draft_key: str | None = None  # the key of that message on its platform
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
    if draft.draft_key is not None and bodies:
        bodies[0]["shown"] = draft.draft_key
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
        draft_key=get_text_field(job, "shown") if "shown" in job.payload else None,
        draft_send_key=get_text_field(job, "shown_as") if "shown_as" in job.payload else None,
        is_audio=job.payload.get("aloud") is True,
    )
