"""Retry: answers a message again whose turn got no answer, in the same turn and once.

A dead letter is reopened; a postponed job is made due now. A turn that failed or was stopped is put
into the inbox anew, and the sources of its failed reply are replaced by those of the new one.
"""

from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.app.app_context import AppContext
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import MessageId, PersonId, TurnId
from oldfriend.domain.messages import Message
from oldfriend.inbound.accept import AcceptedMessage, ChatContext, claim_chat
from oldfriend.inbound.system_replies import STOPPED_MARKER
from oldfriend.memory.chat_history import list_turn_messages, list_turns_without_reply
from oldfriend.memory.message_log import get_message
from oldfriend.memory.people import lock_person
from oldfriend.memory.receipts import delete_turn_receipt
from oldfriend.queues.inbox import InboxPayload, enqueue_inbox, load_unanswered_turns
from oldfriend.queues.jobs_table import list_group_jobs
from oldfriend.queues.queue import reschedule_jobs, retry_dead_letter

UnansweredReason = Literal["waiting", "set aside", "stopped", "failed"]
"""Why a message has no answer: it still waits; it is a dead letter; it was stopped; it failed."""
ALREADY_ANSWERED: Final = localizable(
    "answered_already",
    "That was already answered. To have it answered again, send it again.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnansweredTurn:
    """A turn without an answer, and why it has none."""

    turn: TurnId
    ending: UnansweredReason


async def list_unanswered_turns(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[UnansweredTurn]:
    """Return the turns of a time span, both ends included, that have no answer."""
    ended = await list_turns_without_reply(tx, person, since=since, until=until)
    found: dict[TurnId, UnansweredReason] = {
        turn: "stopped" if marker == STOPPED_MARKER else "failed" for turn, marker in ended.items()
    }
    for turn, is_dead_letter in (await load_unanswered_turns(tx, person)).items():
        found[turn] = "set aside" if is_dead_letter else "waiting"
    return [UnansweredTurn(turn=turn, ending=ending) for turn, ending in found.items()]


async def retry_reply(
    app: AppContext, chat_context: ChatContext, message_id: MessageId
) -> AcceptedMessage:
    """Have an unanswered message answered; if a lease is returned, it is ours to answer.

    Raises NotFound, InvalidInput if it was answered or is being answered.
    """
    async with app.db.begin_write() as tx:
        await lock_person(tx, chat_context.person.id)
        stored = await get_message(tx, chat_context.person.id, message_id)
        assert stored.turn is not None  # imported messages are not answered
        jobs = await list_group_jobs(tx, "inbox", chat_context.chat.id, stored.turn)
        if jobs and jobs[0].is_dead_letter:
            await retry_dead_letter(tx, "inbox", chat_context.chat.id, jobs[0].seq, now=app.clock())
        elif jobs:
            first, now = jobs[0].seq, app.clock()
            await reschedule_jobs(
                tx, "inbox", chat_context.chat.id, from_seq=first, due_at=now, now=now
            )
        else:
            await requeue_turn(tx, app.clock, chat_context, stored)
        await tx.notify()
        lease = await claim_chat(tx, app, chat_context.chat.id)
    app.notifier.notify()
    return AcceptedMessage(message=stored, lease=lease)


async def requeue_turn(
    tx: Transaction, clock: Clock, chat_context: ChatContext, message: Message
) -> None:
    """Enqueue a turn again that ended without an answer. Raises InvalidInput."""
    assert message.turn is not None  # imported messages are not answered
    turn_messages = await list_turn_messages(tx, message)
    since, until = min(each.at for each in turn_messages), max(each.at for each in turn_messages)
    if message.turn not in await list_turns_without_reply(
        tx, message.person, since=since, until=until
    ):
        raise InvalidInput(ALREADY_ANSWERED)
    await delete_turn_receipt(tx, message.person, message.turn)
    for each in turn_messages:
        payload = InboxPayload(
            kind="said",
            message=each.id,
            version=each.version,
            turn=message.turn,
            chars=len(each.text),
        )
        await enqueue_inbox(
            tx, chat_context.chat.id, message.person, payload, debounce_s=0.0, now=clock()
        )
