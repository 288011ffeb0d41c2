"""How does somebody on a platform see a reply while it is being written? Beside the turn.

Best effort: it delays no turn and has none fail, and nothing rests on it. The reply is what is
delivered, once it is kept.
"""

import asyncio
from typing import Final

from oldfriend.app.house import House
from oldfriend.channels.channel import Glimpse
from oldfriend.domain.errors import (
    InvalidInput,
    NotDelivered,
    PlaceMoved,
    StoreError,
    Undeliverable,
)
from oldfriend.memory.people import get_chat
from oldfriend.turn.outcome import Utterance

AT_ONCE_S: Final = 0.3
"""What is answered so quickly is not announced."""
LONGEST_SHOW_S: Final = 5.0


class Live:
    """A reply that is being written, shown piece by piece in its place."""

    def __init__(self, glimpse: Glimpse) -> None:
        """Nothing is written yet."""
        self._glimpse = glimpse
        self._text = ""

    async def say(self, piece: str) -> None:
        """It goes on with this; nobody waits for it to be shown."""
        self._text += piece

    async def show(self) -> None:
        """Show how far it has come, now and then, without end; give up where that cannot be."""
        await asyncio.sleep(AT_ONCE_S)
        try:
            while True:
                async with asyncio.timeout(LONGEST_SHOW_S):
                    await self._glimpse.show(self._text)
                await asyncio.sleep(self._glimpse.every_s)
        except (NotDelivered, Undeliverable, PlaceMoved, TimeoutError):
            return  # the reply itself is delivered all the same


async def live_for(house: House, said: Utterance) -> Live | None:
    """A way to show the reply to something while it is written; None: there is none."""
    channel = house.channels.get(said.message.channel)
    if channel is None:
        return None
    try:
        async with house.db.reading() as tx:
            chat = await get_chat(tx, said.person.id, said.message.chat)
        glimpse = channel.glimpse(chat.address, key=str(said.message.turn))
    except (StoreError, InvalidInput):
        return None
    return None if glimpse is None else Live(glimpse)
