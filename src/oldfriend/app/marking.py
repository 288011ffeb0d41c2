"""How is it noted in the log that a turn got no answer? By a marker, for the turns after it.

It does not know why: whoever gives up a turn says so.
"""

from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.messages import Message, Spoken
from oldfriend.domain.people import Chat
from oldfriend.memory.log import Place, write_message
from oldfriend.memory.people import get_companion

STOPPED: Final = "stopped by the person"


async def write_marker(
    tx: Transaction, chat: Chat, said: Message, what: str, *, now: Micros
) -> None:
    """Note beside what was said what became of its turn."""
    companion = await get_companion(tx)
    spoken = Spoken(
        role="marker", speaker=companion.name, text=what, at=said.at, zone=said.zone, trust="tool"
    )
    place = place_beside(chat, said, language="en")
    await write_message(tx, place, spoken, now=now, findable=False)


def place_beside(chat: Chat, said: Message, *, language: str) -> Place:
    """Where what belongs to the turn of a message is written."""
    return Place(chat=chat, session=said.session, turn=said.turn, language=language)
