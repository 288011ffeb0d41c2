"""Outbox worker: sends committed replies to their platform, part by part and in order."""

import asyncio
import random
from dataclasses import dataclass
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_warning
from oldfriend.app.leases import HeldLease
from oldfriend.channels.channel import Channel
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import DAY, Clock
from oldfriend.domain.errors import (
    ChatAddressChanged,
    ChatBlocked,
    DeliveryFailed,
    LeaseLost,
    Undeliverable,
)
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Job, Lease
from oldfriend.memory.people import move_chats
from oldfriend.queues.jobs_table import compute_retry_at, update_payload
from oldfriend.queues.outbox import (
    ReplyPart,
    count_delivered_pieces,
    find_block_reason,
    mark_chat_blocked,
    parse_reply_part,
    record_piece,
)
from oldfriend.queues.queue import (
    MAX_ATTEMPTS,
    ack_and_claim_new,
    check_epoch,
    delete_finished,
    fail_job,
    lock_lease,
    release_lease,
)
from oldfriend.replies.text_to_speech import synthesize_reply

SEND_TIMEOUT_S = 60.0
UNAVAILABLE_TRIES: Final = "in_vain"
"""In a job's payload: how often its platform was unavailable."""
MIN_TRIES: Final = 20
"""About half an hour of them: a part that only waited for a day has not been tried for a day."""


async def deliver(app: AppContext, lease: Lease, stopping: asyncio.Event) -> None:
    """Send the waiting parts of a chat; a failed one is retried or becomes a dead letter."""
    held, jobs = HeldLease(app, lease), lease.jobs
    while jobs and not stopping.is_set():
        job = jobs[0]
        try:
            async with held.isolated(job):
                last = await held.run(send_part(app, lease, job))
        except LeaseLost:
            return  # another worker has taken over
        except asyncio.CancelledError:
            await held.release()
            raise
        except Exception as error:
            await schedule_send_retry(app.db, app.clock, lease, job, error)
            return
        jobs = await acknowledge_first(app.db, app.clock, lease, jobs, last)
        app.on_crash_point("delivered")
    if jobs or not lease.jobs:
        await held.release()


@dataclass(frozen=True, slots=True)
class SentPiece:
    """A piece of a part that its platform has accepted."""

    part: ReplyPart
    number: int
    external_id: str  # the platform's id of the piece


async def acknowledge_first(
    db: Database, clock: Clock, lease: Lease, jobs: tuple[Job, ...], last: SentPiece | None
) -> tuple[Job, ...]:
    """Delete the first job, record its last piece, and return the jobs left in the partition.

    If there are none, the lease is released. Raises LeaseLost; the piece is recorded anyway.
    """
    first, *others = jobs
    try:
        async with db.begin_write() as tx:
            if last is not None:
                await record_sent_tx(tx, clock, first, last)
            await lock_lease(tx, lease)
            if others:
                await delete_finished(tx, [first], now=clock())
                return tuple(others)
            return await ack_and_claim_new(tx, lease, [first], now=clock())
    except LeaseLost:
        await record_sent(db, clock, first, last)
        raise


async def send_part(app: AppContext, lease: Lease, job: Job) -> SentPiece | None:
    """Send what is left of one part, recording each piece at once except the last.

    A part that was enqueued by a process without access to the platform is split here. Raises
    DeliveryFailed, Undeliverable, TimeoutError, LeaseLost.
    """
    part = parse_reply_part(job)
    channel = app.channels.get(part.channel)
    if channel is None:
        raise DeliveryFailed(f"This process does not reach {part.channel}.")
    sent = await check_and_count_sent(app.db, lease, job, part)
    app.on_crash_point("sending")
    last: SentPiece | None = None
    pieces = () if part.is_audio else await asyncio.to_thread(channel.split, part.text)
    for number, text in enumerate(pieces):
        if number < sent:
            continue
        await record_sent(app.db, app.clock, job, last)
        last = SentPiece(part, number, await send_piece(app.db, channel, part, number, text))
        app.on_crash_point("sent")
    if part.is_audio and not sent and job.person is not None:
        external_id = await send_audio_part(app, channel, job.person, part)
        last = None if external_id is None else SentPiece(part, 0, external_id)
    return last


async def record_sent(db: Database, clock: Clock, job: Job, sent: SentPiece | None) -> None:
    """Record the platform's id of a piece, if there is one.

    Urgent: if the process dies before this, the piece may be sent twice.
    """
    if sent is not None:
        async with db.begin_write(urgent=True) as tx:
            await record_sent_tx(tx, clock, job, sent)


async def record_sent_tx(tx: Transaction, clock: Clock, job: Job, sent: SentPiece) -> None:
    """Record the platform's id of a piece in the caller's transaction."""
    if job.person is not None:
        await record_piece(
            tx,
            job.person,
            sent.part,
            sent.number,
            chat=job.partition,
            external_id=sent.external_id,
            now=clock(),
        )


async def send_audio_part(
    app: AppContext, channel: Channel, person: PersonId, part: ReplyPart
) -> str | None:
    """Send a reply as audio; None if there is no audio, or the platform does not accept it.

    The text has been sent already. Raises DeliveryFailed, ChatBlocked, TimeoutError.
    """
    speech = await synthesize_reply(app, person, part.reply)
    if speech is None:
        return None
    try:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            return await channel.send_audio(
                part.address,
                speech.audio,
                is_opus=speech.is_opus,
                title=part.text,
                send_key=f"{part.reply}/{part.ordinal}",
            )
    except ChatBlocked:
        raise
    except (Undeliverable, ChatAddressChanged) as error:
        log_warning("not-sent-aloud", error)
        return None


async def check_and_count_sent(db: Database, lease: Lease, job: Job, part: ReplyPart) -> int:
    """Return how many pieces of a part were sent before.

    Raises ChatBlocked if the chat does not accept messages, LeaseLost if another worker has taken
    over.
    """
    async with db.begin_read() as tx:
        await check_epoch(tx, lease)
        block_reason = await find_block_reason(tx, part.channel, part.address)
        sent = await count_delivered_pieces(tx, job.person, part) if job.person else 0
    if block_reason is not None:
        raise ChatBlocked(f"Nothing is sent there until they write again: {block_reason}")
    return sent


async def send_piece(
    db: Database, channel: Channel, part: ReplyPart, number: int, text: str
) -> str:
    """Send a piece to the current address of its chat, and return the platform's id of it."""
    send_key = f"{part.reply}/{part.ordinal}" + (f".{number}" if number else "")
    draft_external_id, draft_send_key = (
        (None, None) if number else (part.draft_external_id, part.draft_send_key)
    )
    try:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            if draft_external_id is not None and await channel.edit(
                part.address, draft_external_id, text
            ):
                return draft_external_id
            return await channel.send(
                part.address, text, send_key=send_key, preview_send_key=draft_send_key
            )
    except ChatAddressChanged as moved:
        async with db.begin_write() as tx:
            await move_chats(tx, part.channel, old_address=part.address, new_address=moved.address)
        async with asyncio.timeout(SEND_TIMEOUT_S):
            return await channel.send(moved.address, text, send_key=send_key)


async def schedule_send_retry(
    db: Database, clock: Clock, lease: Lease, job: Job, error: Exception
) -> None:
    """Retry a part later, or make it and the rest of its reply a dead letter if there is no hope.

    An unavailable platform is retried for at least a day, with growing pauses. Any other error is
    retried a few times.
    """
    now = clock()
    is_unavailable = isinstance(error, DeliveryFailed | TimeoutError)
    unavailable_tries = count_unavailable_tries(job) + is_unavailable
    tries = unavailable_tries if is_unavailable else job.attempts
    is_old = now - job.enqueued_at > DAY
    is_exhausted = is_old and tries >= MIN_TRIES if is_unavailable else tries >= MAX_ATTEMPTS
    is_hopeless = is_exhausted or isinstance(error, Undeliverable)
    retry_after_s = error.retry_after_s if isinstance(error, DeliveryFailed) else None
    retry_at = compute_retry_at(
        now, tries, jitter=random.random(), min_delay_s=retry_after_s or 0.0
    )
    if not isinstance(error, DeliveryFailed | Undeliverable):
        log_warning("send-failed", error, lane=job.partition)
    error_text = str(error) or "the platform did not answer"
    async with db.begin_write() as tx:
        if isinstance(error, ChatBlocked):
            part = parse_reply_part(job)
            await mark_chat_blocked(tx, part.channel, part.address, error_text, now=now)
        await fail_job(
            tx,
            lease,
            job,
            error=error_text,
            now=now,
            retry_at=None if is_hopeless else retry_at,
            counts_attempt=not is_unavailable,
        )
        await update_payload(tx, job, {**job.payload, UNAVAILABLE_TRIES: unavailable_tries})
        await release_lease(tx, lease, now=now)


def count_unavailable_tries(job: Job) -> int:
    """Return how often a platform was unavailable for a part; a reopened dead letter starts at 0.

    This is counted apart from attempts, since many of those mean that a job kills its workers.
    """
    times = job.payload.get(UNAVAILABLE_TRIES)
    return times if isinstance(times, int) and job.error is not None else 0
