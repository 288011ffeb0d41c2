"""System replies: single lines sent at once outside of any chat, and marks of failed replies."""

from dataclasses import dataclass
from typing import Final

from oldfriend.channels.channel import IncomingMessage, Sender
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros
from oldfriend.domain.messages import Chat, Message, Person, UnloggedMessage
from oldfriend.memory.message_log import WriteTarget, write_message
from oldfriend.memory.people import get_companion
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.queues.outbox import record_stranger_message

STOPPED_MARKER: Final = "stopped by the person"


async def write_marker(
    tx: Transaction, chat: Chat, message: Message, text: str, *, now: Micros
) -> None:
    """Write a marker to the log that says how the turn of a message ended."""
    companion = await get_companion(tx)
    unlogged = UnloggedMessage(
        role="marker",
        speaker=companion.name,
        text=text,
        at=message.at,
        zone=message.zone,
        trust="tool",
    )
    target = build_turn_target(chat, message, language="en")
    await write_message(tx, target, unlogged, now=now, is_searchable=False)


def build_turn_target(chat: Chat, message: Message, *, language: str) -> WriteTarget:
    """Return the write target for messages that belong to the turn of a message."""
    return WriteTarget(chat=chat, session=message.session, turn=message.turn, language=language)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemReply:
    """A line to send at once that is part of no conversation; best effort, and not stored."""

    address: str
    text: str


async def decline_message(
    db: Database,
    clock: Clock,
    incoming: IncomingMessage,
    phrase: str,
    *,
    limit_address: str | None = None,
) -> SystemReply | None:
    """Count a message without storing it, and reply politely once a day per address."""
    address = incoming.chat_ref.address if limit_address is None else limit_address
    async with db.begin_write() as tx:
        is_first = await record_stranger_message(
            tx, incoming.chat_ref.channel, address, now=clock()
        )
    return build_system_reply(incoming, None, phrase) if is_first else None


def build_system_reply(
    incoming: IncomingMessage, person: Person | None, phrase: str, **values: str
) -> SystemReply:
    """Build a system reply in the language that suits the reader, with ``values`` filled in."""
    language = choose_language(
        person.language if person else None, find_sender_language(incoming.sender)
    )
    text = load_phrases(language).phrases[phrase]
    return SystemReply(
        address=incoming.chat_ref.address, text=text.format(**values) if values else text
    )


def find_sender_language(sender: Sender) -> str | None:
    """Return the language that the platform reports for a sender."""
    return sender.language
