"""Companion replies: a person talks with the companion through a program, as on any channel.

What they say goes into the log and is answered by the same turn, with a receipt. The reply is
written in this process where there is room, and otherwise read from the log once it is there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.api.connections import Connection, ConnectionHub
from oldfriend.app.app_context import AppContext
from oldfriend.app.recorded_models import build_turn_dependencies
from oldfriend.channels.channel import API_CHANNEL
from oldfriend.db.database import Transaction
from oldfriend.domain.errors import InvalidInput, TurnFailed
from oldfriend.domain.ids import MessageId, PersonId, SessionId, TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import PROGRAM_DETAIL, Message, estimate_tokens
from oldfriend.inbound.accept import (
    AcceptedMessage,
    ChatContext,
    MessageSubmission,
    accept_edit,
    accept_message,
    ensure_local_chat,
    stop_turn,
)
from oldfriend.lang.detection import detect_language
from oldfriend.llm.model import TextCallback
from oldfriend.memory.change_feed import get_feed_position
from oldfriend.memory.message_log import find_message_by_external_id, find_reply
from oldfriend.memory.people import get_person_by_id, lock_person
from oldfriend.openai_api.chat_reply import ChatReply, FinishedReply, FixedReply, WrittenText
from oldfriend.openai_api.chat_request import ChatRequest
from oldfriend.openai_api.error_json import ApiRefusal, refuse_forgotten
from oldfriend.openai_api.resent_history import NewWords, Recognition, find_words
from oldfriend.openai_api.token_access import Caller
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES
from oldfriend.replies.amended_replies import amend_reply, find_answer
from oldfriend.replies.edited_requests import edit_answered
from oldfriend.replies.reminders import build_utterance
from oldfriend.replies.reply_worker import StoredReply, find_stored_reply
from oldfriend.replies.retry_reply import retry_reply
from oldfriend.turn.confirmed_calls import judge_answer
from oldfriend.turn.pipeline import build_handler_context, perceive_utterance
from oldfriend.turn.request_handlers.action_requests import is_acting
from oldfriend.turn.request_handlers.handler import handle_requests
from oldfriend.usage.tool_log import find_pending_call

POLL_S: Final = 5.0
"""Seconds after which the log is looked at, in case no notification arrives."""
KEY_REUSED: Final = (
    "This Idempotency-Key was already used for a different request. Choose a new one."
)
TOO_MANY: Final = "Too many requests of this token wait for their replies. Wait for one to end."


async def open_api_chat(app: AppContext, person: PersonId) -> ChatContext:
    """Return the chat of a person with the companion through programs. Raises NotFound."""
    async with app.db.begin_write() as tx:
        await lock_person(tx, person)  # so that nobody renames them in the meantime
        speaker = await get_person_by_id(tx, person)
        return await ensure_local_chat(tx, speaker, API_CHANNEL, now=app.clock())


async def is_own_request(app: AppContext, chat_context: ChatContext, found: Recognition) -> bool:
    """Tell whether words ask the companion for something of its own, as rules read them.

    Such as a reminder, a command, or the answer to what it has asked.
    """
    if found.trust != "person":
        return False
    async with app.db.begin_read() as tx:
        utterance = await build_utterance(
            tx, app, await build_message(tx, app, chat_context, found.text)
        )
        pending = await find_pending_call(tx, chat_context.person.id, chat_context.chat.id)
        if pending is not None:
            status = await judge_answer(tx, utterance, pending, now=app.clock())
            if status in {"done", "declined"}:
                return True
    deps = await build_turn_dependencies(app, utterance)
    context = build_handler_context(utterance, perceive_utterance(utterance), deps)
    handled = await handle_requests(context, deps.handlers)
    return any(is_acting(each) or each.is_command or each.records for each in handled)


async def build_message(
    tx: Transaction, app: AppContext, chat_context: ChatContext, text: str
) -> Message:
    """Build a message of the person that is in no log, as if it were said now."""
    person, now = chat_context.person, app.clock()
    fallback = person.language or app.settings.language or OFFLINE_LANGUAGES[0]
    return Message(
        id=MessageId(new_id(now)),
        version=1,
        seq=(await get_feed_position(tx, person.id)).last_seq + 1,
        person=person.id,
        chat=chat_context.chat.id,
        session=SessionId(""),
        session_name="",
        channel=chat_context.chat.channel,
        role="person",
        author=person.id,
        speaker=person.name,
        trust="person",
        text=text,
        at=now,
        zone=person.zone,
        language=detect_language(text, fallback=fallback),
        tokens=estimate_tokens(text),
        turn=TurnId(new_id(now)),
        external_id=None,
        batch=None,
        details={},
    )


async def begin_companion_reply(
    hub: ConnectionHub,
    caller: Caller,
    chat_context: ChatContext,
    chat_request: ChatRequest,
    words: NewWords,
) -> ChatReply:
    """Log what is new, and return the reply that is about to be written.

    Raises ApiRefusal, InvalidInput, StoreError.
    """
    app = hub.app
    found = await find_words(
        app.db, chat_context, words, chat_request=chat_request, now=app.clock()
    )
    if found.message is None:
        return await accept_new(hub, caller, chat_context, found)
    message, followed = found.message, ""
    stored = await find_answer(app, message)
    repeated = find_repeated(chat_request, words, found, stored)
    if repeated is not None:
        return repeated
    if found.kind == "edited" and stored is not None:
        message, followed = await edit_answered(app, message, found.text)
        stored = replace(stored, message=message)
    elif found.kind == "edited":
        message = await accept_edit(app, chat_context, message.id, found.text)
    if stored is None:
        return await retry(hub, caller, chat_context, message)
    amended = AmendedReply(app=app, stored=stored, followed=followed)
    return CountedReply(hub=hub, caller=caller, reply=amended)


def find_repeated(
    chat_request: ChatRequest, words: NewWords, found: Recognition, stored: StoredReply | None
) -> FixedReply | None:
    """Return the stored reply to a request that is repeated; None for any other.

    Raises ApiRefusal for a key that other words were sent with.
    """
    if found.message is None:
        return None
    if chat_request.idempotency_key and found.text != "\n\n".join(words.texts):
        raise ApiRefusal(422, KEY_REUSED, code="idempotency_key_reused")
    is_repeated = found.kind == "known" and (chat_request.is_retry or chat_request.idempotency_key)
    if stored is None or not is_repeated:
        return None
    return FixedReply(id=str(found.message.turn), finished=build_finished(stored))


def raise_if_full(hub: ConnectionHub, caller: Caller) -> None:
    """Raise ApiRefusal if too many requests of a person or a token wait for their replies."""
    if hub.is_full(caller.person.id, caller.digest):
        raise ApiRefusal(429, TOO_MANY, kind="rate_limit_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedReply:
    """A reply that counts among those that a person or a token waits for, while it is written."""

    hub: ConnectionHub
    caller: Caller
    reply: ChatReply

    @property
    def id(self) -> str:
        """Return the id of the reply."""
        return self.reply.id

    async def write(self, on_text: TextCallback) -> FinishedReply:
        """Have it written. Raises ApiRefusal if others of the same time were faster."""
        raise_if_full(self.hub, self.caller)
        with self.hub.connect(self.caller.person.id, self.caller.digest):
            return await self.reply.write(on_text)

    async def abandon(self) -> None:
        """End it."""
        await self.reply.abandon()


async def accept_new(
    hub: ConnectionHub, caller: Caller, chat_context: ChatContext, found: Recognition
) -> ChatReply:
    """Accept words that are new. Raises ApiRefusal for those that were forgotten, InvalidInput."""
    submission = MessageSubmission(
        text=found.text,
        external_id=found.external_id,
        details={**found.details, **({PROGRAM_DETAIL: caller.token} if caller.token else {})},
        trust=found.trust,
    )
    accepted = await accept_message(hub.app, chat_context, submission, claim_now=hub.has_capacity)
    if accepted is not None:
        return TurnReply(hub=hub, caller=caller, chat_context=chat_context, accepted=accepted)
    async with hub.app.db.begin_read() as tx:  # the same request was faster
        message = await find_message_by_external_id(
            tx, chat_context.person.id, chat_context.chat.id, found.external_id
        )
    if message is None:
        raise refuse_forgotten()
    return await retry(hub, caller, chat_context, message)


async def retry(
    hub: ConnectionHub, caller: Caller, chat_context: ChatContext, message: Message
) -> ChatReply:
    """Have a message answered that has no reply yet, or wait for whoever answers it."""
    async with hub.app.db.begin_read() as tx:
        has_ended = await find_reply(tx, message) is not None
        end = (await get_feed_position(tx, message.person)).last_seq if has_ended else message.seq
    try:
        accepted = await retry_reply(hub.app, chat_context, message.id)
    except InvalidInput:  # it has been answered just now
        stored = await find_answer(hub.app, message)
        if stored is None:
            raise
        return FixedReply(id=str(message.turn), finished=build_finished(stored))
    accepted = replace(accepted, message=replace(accepted.message, seq=end))  # not its former end
    return TurnReply(hub=hub, caller=caller, chat_context=chat_context, accepted=accepted)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnReply:
    """The reply of a turn that has been accepted."""

    hub: ConnectionHub
    caller: Caller
    chat_context: ChatContext
    accepted: AcceptedMessage

    @property
    def id(self) -> str:
        """Return the id of the turn."""
        return str(self.accepted.message.turn)

    async def write(self, on_text: TextCallback) -> FinishedReply:
        """Pass the reply on while it is written, and all of it once it is in the log."""
        message, written = self.accepted.message, WrittenText(on_text)
        since = self.hub.last_transient_number
        with self.hub.connect(self.caller.person.id, self.caller.digest) as connection:
            if self.accepted.lease is not None:
                await self.hub.start_reply(self.accepted)
            while True:
                draft = self.hub.drafts.get(message.turn) if message.turn else None
                if draft is not None:
                    await written.write(draft.text[len(written.text) :])
                if (stored := await self._find_stored(connection)) is not None:
                    whole = await written.complete(stored.reply.text)
                    return build_finished(stored, text=whole)
                self._raise_if_failed(since)
                await connection.wait(POLL_S)

    async def abandon(self) -> None:
        """Stop the turn; what was said stays in the log."""
        await stop_turn(self.hub.app, self.chat_context, self.accepted.message.id)

    async def _find_stored(self, connection: Connection) -> StoredReply | None:
        """Return the reply if it is in the log. Raises TurnFailed, TurnStopped."""
        if not connection.take_update_flag():
            return None
        return await find_stored_reply(self.hub.app.db, self.accepted.message)

    def _raise_if_failed(self, since: int) -> None:
        """Raise TurnFailed if the turn has failed since then; it is tried again later."""
        for each in self.hub.list_transient_since(self.caller.person.id, since):
            if each.kind == "failed" and each.message == self.accepted.message.id:
                raise TurnFailed(str(each.reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class AmendedReply:
    """Another reply to words that were answered before."""

    app: AppContext
    stored: StoredReply
    followed: str  # what was done because the words were edited

    @property
    def id(self) -> str:
        """Return the id of the turn."""
        return str(self.stored.receipt.turn)

    async def write(self, on_text: TextCallback) -> FinishedReply:
        """Write it anew, in place of the earlier one."""
        written = WrittenText(on_text)
        stored = await amend_reply(
            self.app, self.stored, followed=self.followed, on_text=written.write
        )
        return build_finished(stored, text=await written.complete(stored.reply.text))

    async def abandon(self) -> None:
        """Do nothing: the earlier reply stays."""


def build_finished(stored: StoredReply, *, text: str | None = None) -> FinishedReply:
    """Return a stored reply, with what its models have used; without one, what was read."""
    model = stored.receipt.details.get("model")
    used: Mapping[str, JsonValue] = model if isinstance(model, dict) else {}
    whole = stored.reply.text if text is None else text
    return FinishedReply(
        text=whole,
        tokens_in=read_count(used.get("tokens_in"), stored.message.text),
        tokens_cached=read_count(used.get("tokens_cached"), ""),
        tokens_out=read_count(used.get("tokens_out"), whole),
    )


def read_count(value: JsonValue, text: str) -> int:
    """Return a number of tokens, or about how many a text has."""
    is_number = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return value if is_number and isinstance(value, int) else estimate_tokens(text)
