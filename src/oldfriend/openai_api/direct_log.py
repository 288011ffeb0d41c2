"""Direct log: keeps what is said with a model that only has this memory, as on any channel.

The companion's turn does not run; what the person says is logged and learned from all the same, and
what the model answers is logged with a receipt.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import lift_tombstone
from oldfriend.app.embed_messages import plan_embedding
from oldfriend.app.notifications import QUEUES
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ReceiptId, TurnId, new_id
from oldfriend.domain.messages import Message, UnloggedMessage
from oldfriend.inbound.accept import (
    ChatContext,
    MessageSubmission,
    build_intake,
    is_informative,
    precompute_terms,
    store_message,
    store_overheard,
    update_message_text,
)
from oldfriend.inbound.link_commands import CODE_PATTERN
from oldfriend.inbound.system_replies import build_turn_target
from oldfriend.learning.learning_scheduler import enqueue_learning_for_message
from oldfriend.llm.model import Completion
from oldfriend.memory.deletion.tombstones import has_tombstones
from oldfriend.memory.message_log import find_message_by_external_id, write_message
from oldfriend.memory.people import get_companion, get_person_by_id, lock_person
from oldfriend.memory.receipts import Receipt, find_receipt, write_receipt
from oldfriend.openai_api.error_json import refuse_forgotten
from oldfriend.openai_api.resent_history import (
    CONVERSATION_DETAIL,
    FOLLOWS_DETAIL,
    HISTORY_WINDOW,
    EarlierWords,
    NewWords,
    Recognition,
    is_conversation_unknown,
)
from oldfriend.replies.amended_replies import find_answer, replace_reply
from oldfriend.turn.finalize import build_model_details
from oldfriend.turn.memory_context import MemoryContext
from oldfriend.turn.receipt_items import build_recalled_item


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectAnswer:
    """What a model has answered, and from what."""

    completion: Completion
    context: MemoryContext
    prompt: str  # the name of the prompt


async def log_earlier(app: AppContext, chat_context: ChatContext, words: NewWords) -> None:
    """Log what the person has said to another model, where that conversation goes on here; once.

    What that model has said is none of the companion's words, and is left out. Of a person who has
    had something forgotten nothing is logged: the program may send just that once more.
    """
    person = chat_context.person.id
    async with app.db.begin_read() as tx:
        if not await is_conversation_unknown(tx, chat_context, words):
            return
    async with app.db.begin_write() as tx:
        await lock_person(tx, person)
        if await has_tombstones(tx, person):
            return
        for each in drop_pairing(words.earlier)[-HISTORY_WINDOW:]:
            submission = MessageSubmission(
                text=each.text,
                external_id=each.key,
                details={FOLLOWS_DETAIL: each.follows, CONVERSATION_DETAIL: words.conversation},
            )
            intake = build_intake(app, chat_context.chat.channel)
            await store_overheard(tx, intake, chat_context, submission)
    app.notifier.notify(*QUEUES)


def drop_pairing(earlier: Sequence[EarlierWords]) -> Sequence[EarlierWords]:
    """Return what was said since somebody showed a code: before, they were a stranger."""
    codes = [place for place, each in enumerate(earlier) if CODE_PATTERN.fullmatch(each.text)]
    return earlier[codes[-1] + 1 :] if codes else earlier


async def log_words(app: AppContext, chat_context: ChatContext, found: Recognition) -> Message:
    """Log what the person has said, or what they have made of it; return it.

    Raises ApiRefusal for what was forgotten, InvalidInput.
    """
    await precompute_terms(app.settings, chat_context, found.text)
    async with app.db.begin_write() as tx:
        await lock_person(tx, chat_context.person.id)
        message = found.message or await find_message_by_external_id(
            tx, chat_context.person.id, chat_context.chat.id, found.external_id
        )  # the same request may have been faster
        if message is None:
            message = await write_words(tx, app, chat_context, found)
        elif found.kind == "edited":
            message = await update_message_text(
                tx, app.clock, app.settings, chat_context.person.id, message.id, found.text
            )
        await plan_embedding(tx, now=app.clock())
    app.notifier.notify(*QUEUES)
    return message


async def write_words(
    tx: Transaction, app: AppContext, chat_context: ChatContext, found: Recognition
) -> Message:
    """Write new words of the person, to be found and learned from. Raises ApiRefusal."""
    now, intake = app.clock(), build_intake(app, chat_context.chat.channel)
    person = await get_person_by_id(tx, chat_context.person.id)
    submission = MessageSubmission(
        text=found.text,
        external_id=found.external_id,
        details=found.details,
        trust=found.trust,
    )
    findable = await is_informative(tx, app.clock, app.settings, person, submission)
    turn = TurnId(new_id(now))
    message = await store_message(
        tx, intake, chat_context.chat, person, submission, turn_id=turn, findable=findable
    )
    if message is None:
        raise refuse_forgotten()
    if message.trust == "person":
        await lift_tombstone(tx, app.settings, person.id, message.text)
    await enqueue_learning_for_message(tx, app.settings, person.id, message.session, now=now)
    return message


async def log_answer(
    app: AppContext, chat_context: ChatContext, message: Message, answer: DirectAnswer
) -> None:
    """Log what a model has answered with its receipt; in place of an earlier answer, if any."""
    receipt = build_receipt(app, message, answer)
    async with app.db.begin_write() as tx:
        await lock_person(tx, message.person)
        is_first = await find_receipt(tx, message.person, receipt.turn) is None
        if is_first:
            await write_answer(tx, chat_context, message, answer, receipt)
            await plan_embedding(tx, now=app.clock())
            await tx.notify()
    app.notifier.notify()
    stored = None if is_first else await find_answer(app, message)
    if stored is not None:
        receipt = replace(receipt, replied=stored.reply.id)
        text = answer.completion.text
        await replace_reply(app, stored.reply, text, receipt, is_searchable=True)


async def write_answer(
    tx: Transaction,
    chat_context: ChatContext,
    message: Message,
    answer: DirectAnswer,
    receipt: Receipt,
) -> None:
    """Write an answer next to what it answers, and its receipt."""
    companion = await get_companion(tx)
    unlogged = UnloggedMessage(
        role="companion",
        speaker=companion.name,
        text=answer.completion.text,
        at=message.at,
        zone=message.zone,
        trust="companion",
    )
    target = build_turn_target(chat_context.chat, message, language=message.language)
    reply = await write_message(tx, target, unlogged, now=receipt.made_at)
    assert reply is not None  # it has no external id
    await write_receipt(tx, replace(receipt, replied=reply.id))


def build_receipt(app: AppContext, message: Message, answer: DirectAnswer) -> Receipt:
    """Return the receipt of an answer, with the message in place of the reply for now."""
    now: Micros = app.clock()
    assert message.turn is not None  # what is logged here has one
    return Receipt(
        id=ReceiptId(new_id(now)),
        person=message.person,
        turn=message.turn,
        asked=message.id,
        asked_seq=message.seq,
        replied=message.id,
        made_at=now,
        details={
            "intent": "statement",
            "language": message.language,
            "prompt": answer.prompt,
            "model": build_model_details([answer.completion]),
        },
        items=tuple(build_recalled_item(each, used=True) for each in answer.context.items),
    )
