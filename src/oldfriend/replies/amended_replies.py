"""Amended replies: a message is answered anew, and the new reply replaces the old one in the log.

Whoever asks for another reply has not said anything twice, so nothing is done twice either: the
turn may look things up, but changes nothing. The earlier reply stays as an earlier version.
"""

from dataclasses import replace
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import plan_embedding
from oldfriend.app.recorded_models import build_asker, build_turn_dependencies, forget_answers
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import ReceiptId, new_id
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import build_addressee
from oldfriend.learning.learning_scheduler import reopen_for_messages
from oldfriend.llm.model import TextCallback
from oldfriend.memory.chat_language import find_chat_language
from oldfriend.memory.journal import get_memory_version
from oldfriend.memory.message_log import edit_message, get_message
from oldfriend.memory.people import get_companion, get_person_by_id, lock_person
from oldfriend.memory.receipts import Receipt, delete_turn_receipt, find_receipt, write_receipt
from oldfriend.replies.reply_worker import StoredReply
from oldfriend.turn.pipeline import run_turn
from oldfriend.turn.receipt_items import CHANGED_KEY, HANDLED_KEY, TOOLS_KEY
from oldfriend.turn.request_handlers.handler import (
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.hint_requests import NAME as HINT
from oldfriend.turn.tools.calculate_tool import CALCULATE
from oldfriend.turn.tools.current_time import CURRENT_TIME
from oldfriend.turn.tools.search_memory import SEARCH_MEMORY
from oldfriend.turn.turn_outcome import Utterance
from oldfriend.usage.tool_calls import delete_read_calls, has_side_effects

READING_TOOLS: Final = (CURRENT_TIME, SEARCH_MEMORY, CALCULATE)
"""The tools of a turn that changes nothing."""
EDITED: Final = "edit"
"""The name, in a receipt, of what was done because a message was edited."""


async def amend_reply(
    app: AppContext,
    stored: StoredReply,
    *,
    followed: str = "",
    on_text: TextCallback | None = None,
) -> StoredReply:
    """Answer a message anew and replace its reply.

    Without a model the same words get the same reply, and where the turn has done something, its
    reply says so; then it stays as it is, unless the message was edited: then the new one tells
    ``followed``, what was done for its new words. Raises NotFound.
    """
    is_edited = stored.message.seq > stored.receipt.asked_seq
    async with app.db.begin_read() as tx:
        is_kept = not app.models or await has_acted(tx, stored.receipt)
    if not is_edited and is_kept:
        return stored
    utterance = await load_utterance_again(app, stored)
    dependencies = await build_turn_dependencies(app, utterance)
    dependencies = replace(dependencies, tools=READING_TOOLS, handlers=list_handlers(followed))
    async with forget_answers(app, build_asker(utterance)):
        outcome = await run_turn(utterance, dependencies, say=on_text)
    receipt = Receipt(
        id=ReceiptId(new_id(app.clock())),
        person=stored.receipt.person,
        turn=stored.receipt.turn,
        asked=utterance.message.id,
        asked_seq=utterance.message.seq,
        replied=stored.reply.id,
        made_at=app.clock(),
        details=outcome.reply.details,
        items=outcome.reply.items,
    )
    reply = await replace_reply(
        app, stored.reply, outcome.reply.text, receipt, is_searchable=outcome.reply.is_from_model
    )
    return StoredReply(message=utterance.message, reply=reply, receipt=receipt)


def list_handlers(followed: str) -> tuple[RequestHandler, ...]:
    """Return a handler that tells what was done already, if anything was."""
    told = HandledRequest(name=EDITED, text=followed)

    async def handle(_: HandlerContext) -> HandledRequest:
        return told

    return (RequestHandler(name=EDITED, handle=handle),) if followed else ()


async def has_acted(tx: Transaction, receipt: Receipt) -> bool:
    """Tell whether rules or tools have done something for a message, which its reply says."""
    handled, listed = receipt.details.get(HANDLED_KEY), receipt.details.get(TOOLS_KEY)
    tools = listed if isinstance(listed, list) else []
    return (
        (isinstance(handled, list) and any(each != HINT for each in handled))
        or any(isinstance(each, dict) and each.get(CHANGED_KEY) is True for each in tools)
        or await has_side_effects(tx, receipt.person, receipt.turn)
    )


async def load_utterance_again(app: AppContext, stored: StoredReply) -> Utterance:
    """Load an answered message as it reads now, to be answered again. Raises NotFound."""
    person_id = stored.message.person
    async with app.db.begin_read() as tx:
        person, companion = await get_person_by_id(tx, person_id), await get_companion(tx)
        message = await get_message(tx, person_id, stored.message.id)
        chat_language = await find_chat_language(tx, person_id, message.chat)
        version = await get_memory_version(tx, person_id)
    return Utterance(
        message=message,
        person=person,
        companion=companion,
        addressee=build_addressee(companion, person, app.settings, chat_language=chat_language),
        chat_language=chat_language,
        is_first_in_chat=False,
        deletion_count=version.rewritten,
        is_persisted=app.is_persisted,
    )


async def replace_reply(
    app: AppContext, reply: Message, text: str, receipt: Receipt, *, is_searchable: bool
) -> Message:
    """Store a new version of a reply with its receipt. Raises NotFound if it was forgotten."""
    async with app.db.begin_write() as tx:
        now = app.clock()
        amended = await replace_reply_tx(tx, app, reply, text, is_searchable=is_searchable, now=now)
        await delete_turn_receipt(tx, receipt.person, receipt.turn)
        await write_receipt(tx, receipt)
        await delete_read_calls(tx, receipt.person, receipt.turn)
        await tx.notify()
    app.notifier.notify()
    return amended


async def replace_reply_tx(
    tx: Transaction,
    app: AppContext,
    reply: Message,
    text: str,
    *,
    is_searchable: bool,
    now: Micros,
) -> Message:
    """Store a new version of a reply in the caller's transaction. Raises NotFound."""
    await lock_person(tx, reply.person)
    amended = await edit_message(
        tx, reply.person, reply.id, text, now=now, is_searchable=is_searchable
    )
    await reopen_for_messages(tx, app.settings, reply.person, [reply.id], now=now)
    await plan_embedding(tx, now=now)
    return amended


async def find_answer(app: AppContext, message: Message) -> StoredReply | None:
    """Return the reply to a message with its receipt; None if it has none."""
    from_turn = message.turn
    if from_turn is None:
        return None
    async with app.db.begin_read() as tx:
        receipt = await find_receipt(tx, message.person, from_turn)
        if receipt is None:
            return None
        try:
            reply = await get_message(tx, message.person, receipt.replied)
        except NotFound:
            return None  # it was forgotten
    return StoredReply(message=message, reply=reply, receipt=receipt)
