"""Failure markers: log entries that tell later turns that a turn got no answer."""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import Message, UnloggedMessage
from oldfriend.domain.people import Chat
from oldfriend.memory.messages import WriteTarget, write_message
from oldfriend.memory.people import get_companion

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
