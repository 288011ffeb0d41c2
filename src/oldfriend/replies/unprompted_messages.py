"""Unprompted messages: what the companion says without being asked, such as a reminder.

They are logged, explained by a receipt and delivered like replies, each at most once.
"""

from dataclasses import dataclass, field, replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Transaction
from oldfriend.domain.buttons import Button, build_button_details
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ChatId, PersonId, ReceiptId, TurnId, new_id
from oldfriend.domain.messages import Chat, Message, Person, UnloggedMessage
from oldfriend.memory.chat_history import has_message_with_key
from oldfriend.memory.message_log import WriteTarget, write_message
from oldfriend.memory.people import get_companion, get_person_by_id, lock_person
from oldfriend.memory.receipts import (
    RECORDS_KEY,
    UNPROMPTED_KEY,
    Receipt,
    ReceiptItem,
    write_receipt,
)
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.proactive.reachable_chats import find_reachable_chat
from oldfriend.queues.outbox import ReplyTexts, enqueue_reply
from oldfriend.replies.push_notifications import enqueue_pushes
from oldfriend.replies.text_to_speech import find_audio_title

TIMED_KINDS: Final = frozenset({"reminder"})
"""What devices show at once, even while they rest."""

REMINDER_KEY: Final = "task/"
"""How the key of a reminder begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnpromptedMessage:
    """A message that answers nobody, and why it is sent."""

    text: str
    dedup_key: str  # the same key is sent once to a person
    kind: str  # what made it, such as "reminder"
    reason: str  # why it was sent, in a sentence for the person
    language: str
    items: tuple[ReceiptItem, ...] = field(default=())  # what it rests on
    records: tuple[str, ...] = ()  # ids of the own records, such as reminders, that it tells of
    chat: ChatId | None = None  # where it was asked for; None: where the person last wrote
    is_markdown: bool = False  # whether a model wrote it; then search finds it, too
    buttons: tuple[Button, ...] = ()  # where the channel of the chat has them


async def send_unprompted(
    tx: Transaction,
    app: AppContext,
    person: PersonId,
    unprompted: UnpromptedMessage,
    *,
    now: Micros,
) -> Message | None:
    """Log a message with its receipt, and enqueue its delivery and its notifications where needed.

    Return None if it was sent before, or if no chat of the person accepts messages. The caller
    notifies the app's notifier once the transaction is committed.
    """
    await lock_person(tx, person)
    if await has_message_with_key(tx, person, build_external_id(unprompted.dedup_key)):
        return None
    reachable = await find_reachable_chat(tx, person, unprompted.chat, now=now)
    if reachable is None:
        return None
    chat = reachable.chat
    if not app.has_buttons(chat.channel):
        unprompted = replace(unprompted, buttons=())
    written = await write_unprompted(
        tx, await get_person_by_id(tx, person), chat, unprompted, now=now
    )
    if chat.channel in app.platforms:
        parts = app.split_reply(chat.channel, written.text, is_markdown=written.is_markdown)
        texts = ReplyTexts(parts, is_markdown=written.is_markdown, buttons=unprompted.buttons)
        title = find_audio_title(app, written, ())
        await enqueue_reply(tx, chat, written.id, texts, now=now, audio_title=title)
    await enqueue_pushes(tx, written, is_urgent=unprompted.kind in TIMED_KINDS, now=now)
    await write_receipt(tx, build_receipt(written, unprompted, now=now))
    await tx.notify()
    return written


def build_external_id(dedup_key: str) -> str:
    """Return the external id of the message with a key."""
    return f"unprompted/{dedup_key}"


async def write_unprompted(
    tx: Transaction, person: Person, chat: Chat, unprompted: UnpromptedMessage, *, now: Micros
) -> Message:
    """Write a message to the log in a turn of its own."""
    companion = await get_companion(tx)
    unlogged = UnloggedMessage(
        role="companion",
        speaker=companion.name,
        text=unprompted.text,
        at=now,
        zone=person.zone,
        trust="companion",
        external_id=build_external_id(unprompted.dedup_key),
        details=build_button_details(unprompted.buttons),
    )
    target = WriteTarget(
        chat=chat,
        session=await ensure_open_session(tx, chat, now),
        turn=TurnId(new_id(now)),
        language=unprompted.language,
    )
    written = await write_message(
        tx, target, unlogged, now=now, is_searchable=unprompted.is_markdown
    )
    assert written is not None  # the person is locked, and the key was new
    return written


def build_receipt(written: Message, unprompted: UnpromptedMessage, *, now: Micros) -> Receipt:
    """Build the receipt of a message that answers none: it names itself as what was asked."""
    assert written.turn is not None
    return Receipt(
        id=ReceiptId(new_id(now)),
        person=written.person,
        turn=written.turn,
        asked=written.id,
        asked_seq=written.seq,
        replied=written.id,
        made_at=now,
        details={
            "intent": UNPROMPTED_KEY,
            "language": unprompted.language,
            UNPROMPTED_KEY: {"kind": unprompted.kind, "reason": unprompted.reason},
            **({RECORDS_KEY: [*unprompted.records]} if unprompted.records else {}),
        },
        items=unprompted.items,
    )
