"""Outbox worker: sends committed replies to their platform, part by part and in order."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_warning
from oldfriend.app.leases import INTERRUPTED, HeldLease
from oldfriend.channels.channel import Channel, MessageUndelivered
from oldfriend.channels.channel_registry import CHANNELS, has_reply_window
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.buttons import find_buttons
from oldfriend.domain.clock import DAY, MAX_TIME, Clock
from oldfriend.domain.errors import (
    ChatAddressChanged,
    ChatBlocked,
    DeliveryFailed,
    DeliveryUncertain,
    LeaseLost,
    OutcomeUnknown,
    Undeliverable,
    WindowClosed,
)
from oldfriend.domain.ids import ChatId, PersonId
from oldfriend.domain.job_types import Job, Lease
from oldfriend.domain.json import JsonValue
from oldfriend.memory.message_log import get_message, list_recent_messages
from oldfriend.memory.people import move_chats
from oldfriend.queues.jobs_table import compute_retry_at, move_to_dead_letters, update_payload
from oldfriend.queues.outbox import (
    ReplyPart,
    count_delivered_pieces,
    enqueue_again,
    find_block_reason,
    is_set_aside,
    mark_chat_blocked,
    parse_reply_part,
    record_piece,
    take_back_piece,
)
from oldfriend.queues.queue import (
    MAX_ATTEMPTS,
    ack_and_claim_new,
    check_epoch,
    delete_finished,
    fail_job,
    lock_lease,
    lock_partition,
    release_lease,
    update_ready_at,
)
from oldfriend.replies.reminders import tell_delay
from oldfriend.replies.text_to_speech import synthesize_reply

SEND_TIMEOUT_S = 60.0
NO_ANSWER: Final = "the platform did not answer"
UNAVAILABLE_TRIES: Final = "in_vain"
"""In a job's payload: how often its platform was unavailable."""
UNKNOWN_TRIES: Final = "unanswered"
"""In a job's payload: how often it was sent without an answer."""
UNSENT_AT: Final = "unsent"
"""In a job's payload: its crashes when it was provably not sent; None: it may have been sent."""
HAS_SENT_TEMPLATE: Final = "template_sent"
"""In a job's payload: the person was asked to write, since the platform takes nothing before."""
MAX_UNKNOWN_TRIES: Final = 2
MIN_TRIES: Final = 20
"""About half an hour of them: a part that only waited for a day has not been tried for a day."""


async def deliver(app: AppContext, lease: Lease, stopping: asyncio.Event) -> None:
    """Send the waiting parts of a chat; a failed one is retried or becomes a dead letter."""
    held, jobs = HeldLease(app, lease), lease.jobs
    while jobs and not stopping.is_set():
        job, heard = jobs[0], None
        attempt = SendAttempt(job, may_have_been_sent=may_have_been_sent(job))
        try:
            heard = await find_last_heard(app.db, job)
            async with held.isolated(job):
                last = await held.run(send_part(app, lease, attempt))
        except LeaseLost:
            return  # another worker has taken over
        except asyncio.CancelledError:
            await held.release(job)  # it may have been sent
            raise
        except Exception as error:
            await schedule_send_retry(app.db, app.clock, lease, attempt, error, heard=heard)
            return
        jobs = await acknowledge_first(app.db, app.clock, lease, jobs, last)
        app.on_crash_point("delivered")
    if jobs or not lease.jobs:
        await held.release()


@dataclass(slots=True)
class SendAttempt:
    """An attempt to send a part, and whether an earlier one may have sent what is sent now."""

    job: Job
    may_have_been_sent: bool


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


async def send_part(app: AppContext, lease: Lease, attempt: SendAttempt) -> SentPiece | None:
    """Send what is left of one part, recording each piece at once except the last.

    A part that was enqueued by a process without access to the platform is split here. Raises
    DeliveryFailed, Undeliverable, LeaseLost.
    """
    job = attempt.job
    part = await tell_delay(app, job, parse_reply_part(job))
    channel = app.channels.get(part.channel)
    if channel is None:
        raise DeliveryFailed(f"This process does not reach {part.channel}.")
    sent = await check_and_count_sent(app.db, lease, job, part)
    app.on_crash_point("sending")
    last = await find_earlier_send(channel, attempt, part, sent)
    sent += last is not None
    pieces: Sequence[str] = ()
    if not part.is_audio:
        pieces = await asyncio.to_thread(channel.split, part.text, is_markdown=part.is_markdown)
    for number, text in enumerate(pieces):
        if number < sent:
            continue
        await record_sent(app.db, app.clock, job, last)
        piece = part if number == len(pieces) - 1 else replace(part, buttons=())
        last = SentPiece(
            part, number, await send_or_ask_to_write(app.db, channel, job, piece, text, number)
        )
        attempt.may_have_been_sent = False
        app.on_crash_point("sent")
    if part.is_audio and not sent and job.person is not None:
        external_id = await send_audio_part(app, channel, job.person, part)
        last = None if external_id is None else SentPiece(part, 0, external_id)
    return last


async def find_earlier_send(
    channel: Channel, attempt: SendAttempt, part: ReplyPart, number: int
) -> SentPiece | None:
    """Return a piece that an earlier attempt sent without recording it, if the platform knows.

    Raises DeliveryFailed if the platform cannot be asked now; DeliveryUncertain if it was sent
    twice without an answer, and nobody knows.
    """
    spec = CHANNELS.get(part.channel)
    if not attempt.may_have_been_sent or (spec is not None and spec.capabilities.sends_once):
        return None
    try:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            found = await channel.was_sent(
                part.address, build_send_key(part, number), since=attempt.job.enqueued_at
            )
    except OutcomeUnknown as error:  # of asking; nothing was sent
        raise DeliveryFailed(str(error), retry_after_s=error.retry_after_s) from error
    except TimeoutError as error:
        raise DeliveryFailed(NO_ANSWER) from error
    attempt.may_have_been_sent = found.outcome == "unknown"
    if found.outcome == "yes":
        return SentPiece(part, number, found.external_id)
    unknown_tries = count_tries(attempt.job, UNKNOWN_TRIES)
    if found.outcome == "unknown" and unknown_tries >= MAX_UNKNOWN_TRIES:
        raise DeliveryUncertain(
            "It was sent twice without an answer, so it may have arrived. Send it again only if "
            "it is not: oldfriend jobs retry"
        )
    return None


def may_have_been_sent(job: Job) -> bool:
    """Return whether an earlier attempt may have sent a part: it crashed, or got no answer."""
    was_tried = UNSENT_AT in job.payload or UNKNOWN_TRIES in job.payload
    if job.error is None and not job.crashes and not was_tried:
        return False
    return job.error == INTERRUPTED or job.payload.get(UNSENT_AT) != job.crashes


def build_send_key(part: ReplyPart, number: int) -> str:
    """Return the idempotency key of a piece."""
    return f"{part.reply}/{part.ordinal}" + (f".{number}" if number else "")


async def send_or_ask_to_write(
    db: Database, channel: Channel, job: Job, part: ReplyPart, text: str, number: int
) -> str:
    """Send a piece; where the platform takes it only once the person writes, ask them to, once."""
    try:
        return await send_piece(db, channel, part, number, text)
    except WindowClosed:
        if not job.payload.get(HAS_SENT_TEMPLATE):
            with suppress(TimeoutError):
                async with asyncio.timeout(SEND_TIMEOUT_S):
                    await channel.ask_to_write(
                        part.address, send_key=f"{build_send_key(part, number)}/window"
                    )
        raise


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


@asynccontextmanager
async def awaiting_outcome() -> AsyncIterator[None]:
    """Limit how long a sending may take; after that it may have been sent.

    Raises OutcomeUnknown.
    """
    try:
        async with asyncio.timeout(SEND_TIMEOUT_S):
            yield
    except TimeoutError as error:
        raise OutcomeUnknown(NO_ANSWER) from error


async def send_audio_part(
    app: AppContext, channel: Channel, person: PersonId, part: ReplyPart
) -> str | None:
    """Send a reply as audio; None if there is no audio, or the platform does not accept it.

    The text has been sent already. Raises DeliveryFailed, ChatBlocked.
    """
    speech = await synthesize_reply(app, person, part.reply)
    if speech is None:
        return None
    try:
        async with awaiting_outcome():
            return await channel.send_audio(
                part.address,
                speech.audio,
                is_opus=speech.is_opus,
                title=part.text,
                send_key=build_send_key(part, 0),
            )
    except ChatBlocked:
        raise
    except (Undeliverable, ChatAddressChanged) as error:
        log_warning("voice-reply-failed", error)
        return None


async def check_and_count_sent(db: Database, lease: Lease, job: Job, part: ReplyPart) -> int:
    """Return how many pieces of a part were sent before.

    Raises ChatBlocked if the chat does not accept messages, Undeliverable if its address is no
    longer the person's, LeaseLost if another worker has taken over.
    """
    async with db.begin_read() as tx:
        await check_epoch(tx, lease)
        block_reason = await find_block_reason(tx, part.channel, part.address)
        sent = await count_delivered_pieces(tx, job.person, part) if job.person else 0
        if job.person and await is_set_aside(tx, job.person, job.partition, part):
            raise Undeliverable("The address was unlinked, so it is somebody else's now.")
    if block_reason is not None:
        raise ChatBlocked(f"Nothing is sent there until they write again: {block_reason}")
    return sent


async def send_piece(
    db: Database, channel: Channel, part: ReplyPart, number: int, text: str
) -> str:
    """Send a piece to the current address of its chat, and return the platform's id of it."""
    send_key = build_send_key(part, number)
    draft_external_id, draft_send_key = (
        (None, None) if number else (part.draft_external_id, part.draft_send_key)
    )
    try:
        async with awaiting_outcome():
            if draft_external_id is not None and await channel.edit(
                part.address,
                draft_external_id,
                text,
                is_markdown=part.is_markdown,
                buttons=part.buttons,
            ):
                return draft_external_id
            return await channel.send(
                part.address,
                text,
                send_key=send_key,
                preview_send_key=draft_send_key,
                is_markdown=part.is_markdown,
                buttons=part.buttons,
            )
    except ChatAddressChanged as moved:
        async with db.begin_write() as tx:
            await move_chats(tx, part.channel, old_address=part.address, new_address=moved.address)
        async with awaiting_outcome():
            return await channel.send(
                moved.address,
                text,
                send_key=send_key,
                is_markdown=part.is_markdown,
                buttons=part.buttons,
            )


async def resend_undelivered(
    app: AppContext, person: PersonId, undelivered: MessageUndelivered
) -> None:
    """Enqueue a part again that its platform had accepted; what is hopeless becomes a dead letter.

    Of audio nothing is sent again: the same was sent as a text before.
    """
    now, channel, address = app.clock(), undelivered.chat_ref.channel, undelivered.chat_ref.address
    async with app.db.begin_write() as tx:
        piece = await take_back_piece(tx, person, channel, address, undelivered.external_id)
        if piece is None:
            return
        reply = await get_message(tx, person, piece.reply)
        texts = app.split_reply(channel, reply.text, is_markdown=reply.is_markdown)
        if piece.ordinal >= len(texts):
            return
        part = ReplyPart(
            channel=channel,
            address=address,
            reply=piece.reply,
            ordinal=piece.ordinal,
            text=texts[piece.ordinal],
            is_markdown=reply.is_markdown,
            buttons=find_buttons(reply.details) if piece.ordinal == len(texts) - 1 else (),
        )
        await lock_partition(tx, "outbox", piece.chat)
        job = await enqueue_again(tx, person, part, chat=piece.chat, now=now)
        if not undelivered.may_retry:
            await move_to_dead_letters(tx, job, error=undelivered.reason, now=now)
            await update_ready_at(tx, "outbox", piece.chat)
        await tx.notify()


async def find_last_heard(db: Database, job: Job) -> int | None:
    """Return the seq of the last message of the chat, where it must be recent to be answered."""
    if job.person is None or not has_reply_window(parse_reply_part(job).channel):
        return None
    async with db.begin_read() as tx:
        return await find_last_heard_tx(tx, job.person, job)


async def find_last_heard_tx(tx: Transaction, person: PersonId, job: Job) -> int | None:
    """Return the seq of the person's last message in the chat of a part."""
    chat = ChatId(job.partition)
    heard = await list_recent_messages(tx, person, chat, limit=1, role="person")
    return heard[0].seq if heard else None


async def schedule_send_retry(
    db: Database,
    clock: Clock,
    lease: Lease,
    attempt: SendAttempt,
    error: Exception,
    *,
    heard: int | None,
) -> None:
    """Retry a part later, or make it and the rest of its reply a dead letter if there is no hope.

    An unavailable platform is retried for at least a day, with growing pauses. Any other error is
    retried a few times. Where the platform takes nothing before the person writes, it waits; not
    if they have written since the message with the seq ``heard``, while it was being refused.
    """
    now, job = clock(), attempt.job
    is_unavailable = isinstance(error, DeliveryFailed)
    unavailable_tries = count_tries(job, UNAVAILABLE_TRIES) + is_unavailable
    tries = unavailable_tries if is_unavailable else job.attempts
    is_old = now - job.enqueued_at > DAY
    is_exhausted = is_old and tries >= MIN_TRIES if is_unavailable else tries >= MAX_ATTEMPTS
    is_held = isinstance(error, WindowClosed)
    is_hopeless = (is_exhausted and not is_held) or isinstance(error, Undeliverable)
    retry_after_s = error.retry_after_s if isinstance(error, DeliveryFailed) else None
    retry_at = compute_retry_at(
        now, tries, jitter=random.random(), min_delay_s=retry_after_s or 0.0
    )
    if isinstance(error, WindowClosed):
        retry_at = error.until or MAX_TIME
    if not isinstance(error, DeliveryFailed | Undeliverable):
        log_warning("send-failed", error, partition=job.partition)
    error_text = str(error) or type(error).__name__
    async with db.begin_write() as tx:
        if retry_at == MAX_TIME and job.person is not None:
            has_written = await find_last_heard_tx(tx, job.person, job) != heard
            retry_at = now if has_written else MAX_TIME
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
        await update_payload(
            tx,
            job,
            {
                **job.payload,
                UNAVAILABLE_TRIES: unavailable_tries,
                **build_outcome_fields(attempt, error),
            },
        )
        await release_lease(tx, lease, now=now)


def build_outcome_fields(attempt: SendAttempt, error: Exception) -> dict[str, JsonValue]:
    """Return what the next attempt must know of all until now: whether one may have sent it."""
    job = attempt.job
    if isinstance(error, OutcomeUnknown):
        return {UNSENT_AT: None, UNKNOWN_TRIES: count_tries(job, UNKNOWN_TRIES) + 1}
    is_refused = isinstance(error, DeliveryFailed | Undeliverable | ChatAddressChanged)
    is_unsent = is_refused and not attempt.may_have_been_sent
    template = {HAS_SENT_TEMPLATE: True} if isinstance(error, WindowClosed) else {}
    return {UNSENT_AT: job.crashes if is_unsent else None, **template}


def count_tries(job: Job, kind: str) -> int:
    """Return how often a part was tried in vain in a way; a reopened dead letter starts at 0.

    This is counted apart from attempts, since many of those mean that a job kills its workers.
    """
    times = job.payload.get(kind)
    return times if isinstance(times, int) and job.error is not None else 0
