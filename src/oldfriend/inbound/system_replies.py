"""System replies: single lines sent at once outside of any chat, and marks of failed replies."""

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.channels.channel import Channel, IncomingMessage, Sender
from oldfriend.db.database import Database, Transaction
from oldfriend.domain.clock import Clock, Micros, from_micros
from oldfriend.domain.errors import ChatAddressChanged, DeliveryFailed, Undeliverable
from oldfriend.domain.messages import (
    MEDIA_DETAIL,
    UNDECRYPTED_MEDIA,
    Chat,
    Message,
    Person,
    UnloggedMessage,
    is_voice_message,
)
from oldfriend.memory.message_log import WriteTarget, write_message
from oldfriend.memory.people import get_companion
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.queues.outbox import record_stranger_message

STOPPED_MARKER: Final = "stopped by the person"
SYSTEM_REPLY_TIMEOUT_S: Final = 10.0


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
    text = find_system_phrase(incoming.sender, person, phrase, **values)
    return SystemReply(address=incoming.chat_ref.address, text=text)


def find_unread_phrase(details: Mapping[str, str]) -> str:
    """Return the phrase that says why a message cannot be read."""
    if details.get(MEDIA_DETAIL) == UNDECRYPTED_MEDIA:
        return "not_decrypted"
    return "unheard_off" if is_voice_message(details) else "not_looked_into"


def find_system_phrase(sender: Sender, person: Person | None, phrase: str, **values: str) -> str:
    """Return a phrase in the language that suits the reader, with ``values`` filled in."""
    language = choose_language(person.language if person else None, find_sender_language(sender))
    text = load_phrases(language).phrases[phrase]
    return text.format(**values) if values else text


def find_sender_language(sender: Sender) -> str | None:
    """Return the language that the platform reports for a sender."""
    return sender.language


def build_welcome(
    clock: Clock, incoming: IncomingMessage, person: Person, phrase: str
) -> SystemReply:
    """Build a greeting that also states the time zone assumed for the person."""
    greeting = build_system_reply(incoming, person, phrase)
    clocks = build_zone_reply(clock, incoming, person, "zone_is")
    return replace(greeting, text=f"{greeting.text}\n\n{clocks.text}")


def build_zone_reply(
    clock: Clock, incoming: IncomingMessage, person: Person, phrase: str
) -> SystemReply:
    """Build a reply with a person's time zone and the current time there."""
    time = f"{from_micros(clock(), person.zone):%H:%M}"
    return build_system_reply(incoming, person, phrase, zone=person.zone, time=time)


async def send_system_reply(channel: Channel, system_reply: SystemReply) -> None:
    """Send a system reply; it is dropped if that does not succeed at once."""
    with suppress(DeliveryFailed, Undeliverable, ChatAddressChanged, TimeoutError):
        async with asyncio.timeout(SYSTEM_REPLY_TIMEOUT_S):
            await channel.send(system_reply.address, system_reply.text, send_key=new_send_key())


def new_send_key() -> str:
    """Return a unique send key for a system reply, which is never looked up again."""
    return f"courtesy/{secrets.token_hex(8)}"
