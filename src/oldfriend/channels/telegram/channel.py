"""How do people talk to the companion on Telegram? Heard by polling, answered part by part.

It knows nobody, and keeps nothing but what it has heard in the last minutes.
"""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from oldfriend.channels.channel import Receive
from oldfriend.channels.telegram.api import OFFICIAL, Address, Api, Moved, address_from
from oldfriend.channels.telegram.normalising import arriving
from oldfriend.channels.telegram.polling import Update, poll
from oldfriend.channels.telegram.splitting import split
from oldfriend.channels.telegram.telling_apart import Heard, key_of
from oldfriend.channels.telegram.updates import Pressed
from oldfriend.domain.errors import NotDelivered, PlaceMoved, Undeliverable

TYPING_S: Final = 4.5
"""Telegram shows for five seconds that somebody types."""
DRAFT_S: Final = 1.0


class Telegram:
    """A bot on Telegram."""

    def __init__(self, token: str, *, base_url: str = OFFICIAL, quiet_s: float = 2.0) -> None:
        """Ask nothing yet."""
        self.quiet_s = quiet_s
        self._api = Api(token, base_url=base_url)
        self._heard = Heard(time.monotonic)
        self._listening = asyncio.Lock()  # after a reload two would listen for a moment

    async def close(self) -> None:
        """Close all connections."""
        await self._api.close()

    async def name(self) -> str:
        """What the bot is called. Raises PlatformUnavailable, PlatformRefused."""
        return (await self._api.me()).username

    def parts(self, text: str) -> Sequence[str]:
        """A reply, cut where Telegram takes no more; none where nothing is to be seen."""
        return split(text)

    async def send(self, address: str, text: str, *, key: str) -> str:
        """Send one part; the key of the message. Raises NotDelivered, Undeliverable, PlaceMoved."""
        del key  # Telegram knows none
        place = address_from(address)
        try:
            return key_of(place.chat, await self._api.send(place, text))
        except Moved as moved:
            raise moved_to(place, moved) from moved

    def glimpse(self, address: str, *, key: str) -> "TelegramGlimpse":
        """A way to show a reply while it is being written."""
        number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") >> 1
        return TelegramGlimpse(self._api, address_from(address), number or 1)

    async def listen(self, receive: Receive) -> None:
        """Hear what people do, without end. Raises PlatformUnavailable, PlatformRefused."""
        try:
            async with self._listening, asyncio.TaskGroup() as beside:
                await self._listen(receive, beside)
        except BaseExceptionGroup as group:
            raise group.exceptions[-1] from group

    async def _listen(self, receive: Receive, beside: asyncio.TaskGroup) -> None:
        me = await self._api.me()

        async def take(update: Update) -> None:
            if self._heard.knows(update):
                return
            if isinstance(update, Pressed):
                beside.create_task(self._acknowledge(update.id))
            elif (what := arriving(update, me)) is not None:
                await receive(what)
            self._heard.note(update)

        await poll(self._api, take)

    async def _acknowledge(self, query: str) -> None:
        """Let the button be let go of; whoever waits for that too long presses again."""
        with suppress(NotDelivered, Undeliverable, Moved):
            await self._api.acknowledge(query)


class TelegramGlimpse:
    """A reply that is being written: typing, then a draft, in private chats only."""

    every_s = DRAFT_S

    def __init__(self, api: Api, place: Address, number: int) -> None:
        """Show nothing yet."""
        self._api = api
        self._place = place
        self._number = number
        self._is_offered = place.chat > 0
        self._typed_at = -TYPING_S

    async def show(self, text: str) -> None:
        """Show how far it has come, or only that it is being written."""
        try:
            if self._is_offered and (parts := split(text)):
                self._is_offered = await self._api.draft(self._place, self._number, parts[-1])
            elif time.monotonic() - self._typed_at >= TYPING_S:
                self._typed_at = time.monotonic()
                await self._api.show_doing(self._place, "typing")
        except Moved as moved:
            raise moved_to(self._place, moved) from moved


def moved_to(place: Address, moved: Moved) -> PlaceMoved:
    """Where a chat is now."""
    return PlaceMoved(Address(chat=moved.chat, topic=place.topic).written)
