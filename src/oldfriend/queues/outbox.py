"""What was decided to be said and is not delivered yet? A lane for each chat, a letter a part.

The parts of a reply go out in order, and those of the next reply after them; where one cannot be
delivered, only the rest of its own reply is held back with it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.json import JsonValue
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
    shown: str | None = None  # the key of the message in which it was shown while it was written
    is_aloud: bool = False  # the whole reply as it sounds, after its text


async def put_reply(
    tx: Transaction, chat: Chat, reply: MessageId, texts: Sequence[str], *, now: Micros,
    shown: str | None = None, aloud: str | None = None,
) -> list[Letter]:  # fmt: skip
    """Have a reply delivered, part by part; parts that were put before are left out.

    ``shown``: the message that is to become its first part. ``aloud``: under which title it is
    to be heard as well; None: it is not.
    """
    place = {"channel": chat.channel, "address": chat.address, "reply": reply}
    bodies: list[dict[str, JsonValue]] = [
        {**place, "ordinal": ordinal, "text": text} for ordinal, text in enumerate(texts)
    ]
    if shown is not None and bodies:
        bodies[0]["shown"] = shown
    if aloud is not None and bodies:
        bodies.append({**place, "ordinal": len(texts), "text": aloud, "aloud": True})
    letters = [
        await put(
            tx, "outbox", chat.id, body, person=chat.person, now=now,
            key=f"{reply}/{body['ordinal']}",
            group=f"{reply}/aloud" if body.get("aloud") else reply,
        )
        for body in bodies
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
        shown=text_in(letter, "shown") if "shown" in letter.body else None,
        is_aloud=letter.body.get("aloud") is True,
    )
