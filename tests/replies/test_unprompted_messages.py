"""What the companion says unasked: logged, explained and delivered, once, where it was asked."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import API_CHANNEL
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import ChatContext, MessageSubmission, open_local_chat
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.receipts import ReceiptItem, find_receipt
from oldfriend.presenters.receipt_schemas import ReceiptSchema
from oldfriend.presenters.resolved_receipts import resolve_receipt
from oldfriend.queues.outbox import mark_chat_blocked, parse_reply_part
from oldfriend.queues.queue import claim_jobs
from oldfriend.replies.reply_worker import answer_message
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from tests.app.test_turn_queue import Platform
from tests.clock import FrozenClock
from tests.engines import both_engines

engine = both_engines
MILK = UnpromptedMessage(
    text="You wanted to buy milk.",
    dedup_key="task/1",
    kind="reminder",
    reason="You asked me to remind you.",
    language="en",
)


async def send(
    app: AppContext, chat_context: ChatContext, message: UnpromptedMessage
) -> Message | None:
    """Send it in a transaction of its own."""
    async with app.db.begin_write() as tx:
        return await send_unprompted(tx, app, chat_context.person.id, message, now=app.clock())


async def open_phone(app: AppContext, chat_context: ChatContext) -> ChatContext:
    """Open the same person's chat on a platform."""
    return await open_local_chat(
        app.db, app.clock, app.settings, person=chat_context.person.name, channel="phone"
    )


def with_phone(app: AppContext) -> AppContext:
    """Make the phone a platform."""
    return replace(app, channels={"phone": Platform()}, platforms=frozenset({"phone"}))


async def log(app: AppContext, chat_context: ChatContext) -> Sequence[tuple[str, str]]:
    """Return what the companion said, with where."""
    async with app.db.begin_read() as tx:
        messages = await list_messages(tx, chat_context.person.id)
    return [(each.channel, each.text) for each in messages if each.role == "companion"]


async def test_message_is_logged_explained_and_enqueued_once(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """A second sending with the same key does nothing (issue 20, "nothing twice")."""
    app = with_phone(app)
    phone = await open_phone(app, chat_context)
    asked = await answer_message(app, phone, MessageSubmission(text="My milk is empty."))
    item = ReceiptItem(
        kind="message", object=asked.receipt.asked, version=1, used=True, score=0.0, reasons=()
    )
    clock.tick(minutes=90)
    message = replace(MILK, chat=phone.chat.id, items=(item,))
    sent = await send(app, chat_context, message)
    again = await send(app, chat_context, message)

    assert sent is not None
    assert again is None
    assert (await log(app, chat_context))[-1] == ("phone", MILK.text)
    async with app.db.begin_write() as tx:
        lease = await claim_jobs(tx, "outbox", owner="me", now=clock(), lease_s=60)
    assert lease is not None
    parts = [parse_reply_part(job) for job in lease.jobs]
    assert [each.text for each in parts if each.reply == sent.id] == [MILK.text]
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, chat_context.person.id, sent.id)
        assert receipt is not None
        shown = ReceiptSchema.from_domain(await resolve_receipt(tx, receipt))
    assert shown.asked is None
    assert shown.unprompted is not None
    assert (shown.unprompted.kind, shown.unprompted.reason) == ("reminder", MILK.reason)
    assert [each.text for each in shown.stood_on] == ["My milk is empty."]
    assert "I wrote without being asked" in shown.as_text
    assert MILK.reason in shown.as_text
    assert "You said" not in shown.as_text


@pytest.mark.parametrize("is_asked_on_phone", [True, False])
async def test_blocked_chat_is_passed_over_for_the_one_used_last(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock, is_asked_on_phone: bool
) -> None:
    """Where nothing is accepted, nothing is sent."""
    app = with_phone(app)
    phone = await open_phone(app, chat_context)
    await answer_message(app, chat_context, MessageSubmission(text="Hello."))
    clock.tick(minutes=1)
    await answer_message(app, phone, MessageSubmission(text="Hello again."))
    before = len(await log(app, chat_context))
    first = await send(app, chat_context, MILK)
    async with app.db.begin_write() as tx:
        await mark_chat_blocked(tx, "phone", phone.chat.address, "blocked", now=clock())
    wanted = phone.chat.id if is_asked_on_phone else None
    second = await send(app, chat_context, replace(MILK, dedup_key="task/2", chat=wanted))

    assert first is not None
    assert second is not None
    assert [each for each, _ in (await log(app, chat_context))[before:]] == ["phone", "terminal"]


async def test_nothing_is_sent_if_every_chat_is_blocked(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Nor is anything logged that nobody could see."""
    app = with_phone(app)
    phone = await open_phone(app, chat_context)
    await answer_message(app, phone, MessageSubmission(text="Hello."))
    async with app.db.begin_write() as tx:
        await mark_chat_blocked(tx, "phone", phone.chat.address, "blocked", now=clock())
    before = await log(app, chat_context)

    assert await send(app, chat_context, MILK) is None
    assert await log(app, chat_context) == before


async def test_what_a_front_end_asked_for_comes_where_it_can_be_delivered(
    app: AppContext, chat_context: ChatContext
) -> None:
    """A front end hears only what it asks for itself; without another chat it is logged there."""
    app = with_phone(app)
    front_end = await open_local_chat(
        app.db, app.clock, app.settings, person=chat_context.person.name, channel=API_CHANNEL
    )
    await answer_message(app, front_end, MessageSubmission(text="I like figs."))
    alone = await send(app, front_end, replace(MILK, chat=front_end.chat.id))
    phone = await open_phone(app, chat_context)
    await answer_message(app, phone, MessageSubmission(text="I like dates."))
    await answer_message(app, front_end, MessageSubmission(text="I like nuts."))
    beside = await send(app, front_end, replace(MILK, chat=front_end.chat.id, dedup_key="task/2"))

    assert alone is not None
    assert alone.channel == API_CHANNEL
    assert beside is not None
    assert beside.channel == "phone"
