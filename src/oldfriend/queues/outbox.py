"""What was decided to be said and is not delivered yet? A lane for each chat, a letter a part.

The parts of a reply go out in order, and those of the next reply after them; where one cannot be
delivered, only the rest of its own reply is held back with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.letters import Letter
from oldfriend.domain.people import Chat
from oldfriend.queues.bodies import count_in, text_in
from oldfriend.queues.lanes import put


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of a reply, as long as its channel can carry, and where it goes."""

    channel: str
    address: str
    reply: MessageId
    ordinal: int  # from 0
    text: str


async def put_reply(
    tx: Transaction, chat: Chat, reply: MessageId, texts: Sequence[str], *, now: Micros
) -> list[Letter]:
    """Have a reply delivered, part by part; parts that were put before are left out."""
    letters = [
        await put(
            tx, "outbox", chat.id,
            {
                "channel": chat.channel, "address": chat.address, "reply": reply,
                "ordinal": ordinal, "text": text,
            },
            person=chat.person, now=now, key=f"{reply}/{ordinal}", group=reply,
        )
        for ordinal, text in enumerate(texts)
    ]  # fmt: skip
    return [letter for letter in letters if letter is not None]


def part_of(letter: Letter) -> Part:
    """What a letter of the outbox is about. Raises InvalidInput."""
    return Part(
        channel=text_in(letter, "channel"),
        address=text_in(letter, "address"),
        reply=MessageId(text_in(letter, "reply")),
        ordinal=count_in(letter, "ordinal"),
        text=text_in(letter, "text"),
    )
