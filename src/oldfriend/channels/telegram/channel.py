"""How do people talk to the companion on Telegram? Heard by polling, answered part by part.

It knows nobody, and keeps nothing but what it has heard, and what was taken, lately.
"""

import asyncio
import hashlib
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from oldfriend.channels.channel import Receive
from oldfriend.channels.telegram.api import (
    OFFICIAL,
    Address,
    Api,
    Me,
    Webhook,
    address_from,
)
from oldfriend.channels.telegram.normalising import arriving
from oldfriend.channels.telegram.offering import offer_commands
from oldfriend.channels.telegram.polling import Update, poll
from oldfriend.channels.telegram.refusals import Moved
from oldfriend.channels.telegram.splitting import split
from oldfriend.channels.telegram.telling_apart import Heard, key_of
from oldfriend.channels.telegram.updates import Pressed
from oldfriend.channels.telegram.webhook import Hook, await_calls, secret_of
from oldfriend.domain.errors import (
    NotDelivered,
    NotFound,
    PlaceClosed,
    PlaceMoved,
    Undeliverable,
)

TYPING_S: Final = 4.5
"""Telegram shows for five seconds that somebody types."""
DRAFT_S: Final = 1.0
GROUP_S: Final = 3.5
"""Telegram takes twenty messages a minute in a group, and counts edits."""


class Telegram:
    """A bot on Telegram."""

    def __init__(
        self, token: str, *, base_url: str = OFFICIAL, quiet_s: float = 2.0,
        hook: Hook | None = None, folder: Path | None = None,
    ) -> None:  # fmt: skip
        """Ask nothing yet. With a ``hook`` Telegram calls; else it is asked what happens.

        ``folder``: where it is noted what was sent, for those who come after.
        """
        self.quiet_s = quiet_s
        self._api = Api(token, base_url=base_url, folder=folder)
        self._hook = hook
        self._secret = secret_of(token)
        self._heard = Heard(time.monotonic)
        self._listening = asyncio.Lock()  # after a reload two would listen for a moment

    async def close(self) -> None:
        """Close all connections."""
        await self._api.close()

    async def name(self) -> str:
        """What the bot is called. Raises PlatformUnavailable, PlatformRefused."""
        return (await self._api.me()).username

    async def state(self) -> tuple[Me, Webhook]:
        """Who the bot is, and whom Telegram calls. Raises PlatformUnavailable, PlatformRefused."""
        return await self._api.me(), await self._api.webhook()

    async def be_called(self) -> None:
        """Have Telegram call, where it is to. Raises PlatformUnavailable, PlatformRefused."""
        if self._hook is not None:
            await self._api.set_webhook(self._hook.url, secret=self._secret)

    def parts(self, text: str) -> Sequence[str]:
        """A reply, cut where Telegram takes no more; none where nothing is to be seen."""
        return split(text)

    async def send(self, address: str, text: str, *, key: str) -> str:
        """Send one part; the key of the message. Raises NotDelivered, Undeliverable, PlaceMoved."""
        place = address_from(address)
        try:
            return key_of(place.chat, await self._api.send(place, text, key=f"{address} {key}"))
        except Moved as moved:
            raise moved_to(place, moved) from moved

    async def amend(self, address: str, shown: str, text: str) -> bool:
        """Have a message of ours read otherwise; False: it is not there any more.

        Raises NotDelivered, PlaceClosed, PlaceMoved.
        """
        place = address_from(address)
        try:
            await self._api.edit(place, number_of(shown), text)
        except PlaceClosed:
            raise
        except Undeliverable:
            return False
        except Moved as moved:
            raise moved_to(place, moved) from moved
        return True

    async def send_aloud(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, key: str
    ) -> str:
        """Send a reply as it sounds: a voice note, or a file where it cannot be one.

        Raises NotDelivered, Undeliverable, PlaceMoved.
        """
        place = address_from(address)
        send = partial(
            self._api.send_spoken, place, audio, title=title, key=f"{address} {key}"
        )  # fmt: skip
        try:
            try:
                number = await send(is_opus=is_opus)
            except PlaceClosed:
                raise
            except Undeliverable:
                if not is_opus:
                    raise
                number = await send(is_opus=False)  # who wants no voice notes may take a file
        except Moved as moved:
            raise moved_to(place, moved) from moved
        return key_of(place.chat, number)

    async def fetch(self, name: str) -> bytes:
        """A recording. Raises NotDelivered, NotFound."""
        try:
            return await self._api.fetch(name)
        except (Undeliverable, Moved) as error:
            raise NotFound(f"Telegram does not give this file out: {error}") from error

    def glimpse(self, address: str, *, key: str, shown: str | None = None) -> "TelegramGlimpse":
        """A way to show a reply while it is being written, or to go on with that."""
        return TelegramGlimpse(self._api, address_from(address), key, shown=shown)

    async def listen(self, receive: Receive) -> None:
        """Hear what people do, without end. Raises PlatformUnavailable, PlatformRefused."""
        try:
            async with self._listening, asyncio.TaskGroup() as beside:
                await self._listen(receive, beside)
        except BaseExceptionGroup as group:
            raise group.exceptions[-1] from group

    async def _listen(self, receive: Receive, beside: asyncio.TaskGroup) -> None:
        me = await self._api.me()
        await offer_commands(self._api)

        async def take(update: Update) -> None:
            if self._heard.knows(update):
                return
            if isinstance(update, Pressed):
                beside.create_task(self._acknowledge(update.id))
            elif (what := arriving(update, me)) is not None:
                await receive(what)
            self._heard.note(update)

        if self._hook is None:
            await poll(self._api, take)
        else:
            await await_calls(self._api, self._hook, self._secret, take)

    async def _acknowledge(self, query: str) -> None:
        """Let the button be let go of; whoever waits for that too long presses again."""
        with suppress(NotDelivered, Undeliverable, Moved):
            await self._api.acknowledge(query)


class TelegramGlimpse:
    """A reply that is being written: typing, then a draft, else a message that is edited.

    There are drafts in private chats only, and not everywhere.
    """

    def __init__(self, api: Api, place: Address, key: str, *, shown: str | None) -> None:
        """Show nothing yet; or go on in the message that shows it, known by its key or by ours."""
        number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") >> 1
        self.every_s = DRAFT_S if place.chat > 0 else GROUP_S
        self.is_placing = False
        self._api = api
        self._place = place
        self._key = f"{place.written} {key}/shown"
        self.shown = shown if shown is not None else self._find_shown()
        self._number = number or 1
        self._has_drafts = place.chat > 0 and self.shown is None
        self._typed_at = -TYPING_S
        self._reads = ""

    async def show(self, text: str) -> None:
        """Show how far it has come, or only that it is being written."""
        parts = split(text)
        try:
            if parts and self._has_drafts:
                self._has_drafts = await self._api.draft(self._place, self._number, parts[-1])
            if parts and not self._has_drafts:
                await self._show_as_message(parts[0])
            elif not parts and time.monotonic() - self._typed_at >= TYPING_S:
                self._typed_at = time.monotonic()
                await self._api.show_doing(self._place, "typing")
        except Moved as moved:
            raise moved_to(self._place, moved) from moved

    def _find_shown(self) -> str | None:
        """The key of the message that shows it already, put there by somebody who died then."""
        number = self._api.find_taken(self._key)
        return None if number is None else key_of(self._place.chat, number)

    async def _show_as_message(self, text: str) -> None:
        """Its first part, which is sent once and edited from then on."""
        if text == self._reads:
            return
        if self.shown is not None:
            await self._api.edit(self._place, number_of(self.shown), text)
        else:
            self.is_placing = True
            try:
                number = await self._api.send(self._place, text, key=self._key)
                self.shown = key_of(self._place.chat, number)
            finally:
                self.is_placing = False
        self._reads = text


def number_of(key: str) -> int:
    """The number in its chat of the message that has a key."""
    return int(key.rpartition(":")[2])


def moved_to(place: Address, moved: Moved) -> PlaceMoved:
    """Where a chat is now."""
    return PlaceMoved(Address(chat=moved.chat, topic=place.topic).written)
