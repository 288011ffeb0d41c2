"""Push notifications: tells a person's browsers what was said to them unasked, beside the message.

A job for each browser is enqueued with the message, in its transaction, and holds no words: they
are read when it is sent, so that what was forgotten meanwhile is told nobody. What a push service
refuses delays and loses nothing but the notification.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_warning
from oldfriend.channels.channel import WEB_CHANNEL
from oldfriend.config.keys import PUSH_NAME, find_key, store_key
from oldfriend.config.settings import Settings
from oldfriend.db.database import Transaction
from oldfriend.domain.buttons import dump_buttons, find_buttons
from oldfriend.domain.clock import DAY, MINUTE, SECOND, Micros
from oldfriend.domain.errors import FetchFailed, NotFound
from oldfriend.domain.ids import MessageId
from oldfriend.domain.job_types import Job, PartitionFilter
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message
from oldfriend.memory.message_log import get_message
from oldfriend.memory.people import get_companion_name
from oldfriend.memory.push_subscriptions import (
    PushSubscription,
    delete_push_subscription,
    find_push_subscription,
    list_push_sessions,
)
from oldfriend.proactive.proactive_phrases import load_proactive_phrases
from oldfriend.queues.jobs_table import build_payload_error
from oldfriend.queues.scheduled_jobs import JobSpec, parse_job_spec, schedule_job
from oldfriend.web.web_push import PushText, generate_push_key, send_push, unseal

PUSH_JOB: Final = "push"
PARTITION_PREFIX: Final = "push/"
PUSH_PARTITIONS: Final = PartitionFilter(prefixes=(PARTITION_PREFIX,))
KEY_VARIABLE: Final = "OLDFRIEND_PUSH_KEY"
GONE: Final = frozenset({404, 410})
"""Statuses of a push service that knows this browser no more."""
BUSY: Final = 429
SERVER_ERROR: Final = 500
RETRY_AFTER: Final[tuple[Micros, ...]] = (30 * SECOND, 2 * MINUTE, 10 * MINUTE, 30 * MINUTE)
"""How long to wait after each attempt in vain; then it is given up."""
MAX_SHOWN_CHARS: Final = 300
"""More of a text no device shows."""
MAX_BUTTONS: Final = 2
"""More of them few browsers show."""
TOPIC_CHARS: Final = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class PushJob:
    """A notification that one browser is to be shown."""

    message: MessageId
    session: str
    is_urgent: bool
    attempt: int = 0


def find_push_key(settings: Settings) -> str | None:
    """Return the key by which push services know this installation; None before its first use."""
    found = find_key(PUSH_NAME, settings.environment, variable=KEY_VARIABLE, data=settings.data)
    return None if found is None else found.value


def ensure_push_key(settings: Settings) -> str:
    """Return the key; it is made and stored where keys are on the first call."""
    found = find_push_key(settings)
    if found is not None:
        return found
    key = generate_push_key()
    store_key(PUSH_NAME, key, data=settings.data)
    return key


async def enqueue_pushes(
    tx: Transaction, message: Message, *, is_urgent: bool, now: Micros
) -> None:
    """Enqueue a notification of a message for each browser of its person that wants them."""
    for session in await list_push_sessions(tx, message.person, now=now):
        job = PushJob(message=message.id, session=session, is_urgent=is_urgent)
        await enqueue_push(tx, message, job, now=now)


async def enqueue_push(
    tx: Transaction, message: Message, push: PushJob, *, now: Micros, wait: Micros = 0
) -> None:
    """Enqueue one attempt, once."""
    await schedule_job(
        tx,
        f"{PARTITION_PREFIX}{message.person}/{push.session}",
        JobSpec(
            name=PUSH_JOB,
            arguments={
                "message": push.message,
                "session": push.session,
                "urgent": push.is_urgent,
                "attempt": push.attempt,
            },
        ),
        person=message.person,
        now=now,
        due_at=now + wait,
        dedup_key=f"{push.message}/{push.attempt}",
    )


def parse_push_job(job: Job) -> PushJob:
    """Parse a job. Raises InvalidInput."""
    arguments = parse_job_spec(job).arguments
    message, session = arguments.get("message"), arguments.get("session")
    attempt = arguments.get("attempt")
    is_whole = isinstance(message, str) and isinstance(session, str) and isinstance(attempt, int)
    if not is_whole or job.person is None:
        raise build_payload_error(job, "message")
    return PushJob(
        message=MessageId(str(message)),
        session=str(session),
        is_urgent=arguments.get("urgent") is True,
        attempt=int(str(attempt)),
    )


async def deliver_push(app: AppContext, job: Job) -> None:
    """Send a notification if it is still wanted; later if the push service cannot take it now."""
    push, now = parse_push_job(job), app.clock()
    assert job.person is not None
    async with app.db.begin_read() as tx:
        subscription = await find_push_subscription(tx, job.person, push.session, now=now)
        try:
            message = await get_message(tx, job.person, push.message)
        except NotFound:
            return
        title = await get_companion_name(tx)
    if subscription is None or now - message.at > DAY:
        return
    text = PushText(
        plain=build_payload(message, title, subscription),
        topic=push.message.replace("-", "")[:TOPIC_CHARS],
        is_urgent=push.is_urgent,
    )
    try:
        await send(app, subscription, text)
        app.on_crash_point("sent")
    except FetchFailed as error:
        await settle_failure(app, message, subscription, push, error)


async def send(app: AppContext, subscription: PushSubscription, push_text: PushText) -> None:
    """Send to the browser of a subscription. Raises FetchFailed."""
    key = await asyncio.to_thread(find_push_key, app.settings)
    address = None if key is None else unseal(subscription.sealed, key, label=subscription.session)
    if key is None or address is None:
        raise FetchFailed("missing", "The key for push services is not on this machine.")
    await send_push(app.web.fetcher, key, address, push_text, now=app.clock())


def build_payload(message: Message, title: str, subscription: PushSubscription) -> bytes:
    """Build what the browser shows: no more than that, and no words where none are wanted.

    The first buttons of a message in the chat of the page come with its words.
    """
    from oldfriend.channels.markdown_parts import strip_markdown

    shown = strip_markdown(message.text) if message.is_markdown else message.text
    if subscription.shows == "hint":
        shown = load_proactive_phrases(message.language).phrases["notice"]
    if len(shown) > MAX_SHOWN_CHARS:
        shown = f"{shown[: MAX_SHOWN_CHARS - 1]}…"
    fields: dict[str, JsonValue] = {"title": title, "body": shown, "tag": message.id}
    is_pressed_here = message.channel == WEB_CHANNEL and subscription.shows != "hint"
    if is_pressed_here and (buttons := find_buttons(message.details)[:MAX_BUTTONS]):
        fields["buttons"] = dump_buttons(buttons)
    return json.dumps(fields, ensure_ascii=False).encode()


async def settle_failure(
    app: AppContext,
    message: Message,
    subscription: PushSubscription,
    push: PushJob,
    error: FetchFailed,
) -> None:
    """Forget a browser that is gone; try again later what may go then, and give up the rest."""
    now, status = app.clock(), error.status
    is_passing = status is None or status == BUSY or status >= SERVER_ERROR
    is_tried_again = is_passing and error.reason != "address" and push.attempt < len(RETRY_AFTER)
    log_warning("push-failed", reason=error.reason, status=status, attempt=push.attempt)
    async with app.db.begin_write() as tx:
        if status in GONE:
            await delete_push_subscription(
                tx, subscription.person, subscription.session, only=subscription.print
            )
        elif is_tried_again:
            following = PushJob(
                message=push.message,
                session=push.session,
                is_urgent=push.is_urgent,
                attempt=push.attempt + 1,
            )
            wait = RETRY_AFTER[push.attempt]
            await enqueue_push(tx, message, following, now=now, wait=wait)
