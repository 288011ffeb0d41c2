"""Event listener: hands on what Discord tells, and reads what was missed.

Discord delivers what is said only to who is connected. After every new session the rest is read
from the history of each channel, from the last message on that was kept.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import discord

from oldfriend.channels.bounded_map import BoundedMap
from oldfriend.channels.channel import (
    Cursors,
    HandleEvent,
    PressAnswer,
    UnreadableUpdate,
)
from oldfriend.channels.discord.discord_api import (
    MESSAGES,
    DiscordApi,
    find_number,
    get_id,
    map_receive_errors,
    map_send_errors,
)
from oldfriend.channels.discord.event_mapping import (
    CHANNEL_NAME,
    DiscordChat,
    build_id,
    to_events,
    to_message,
)
from oldfriend.channels.json_fields import JsonFields, find_text, list_json_objects
from oldfriend.domain.clock import DAY, system_clock
from oldfriend.domain.errors import (
    DeliveryFailed,
    PlatformUnavailable,
    Undeliverable,
)
from oldfriend.domain.json import JsonValue

PAGE_SIZE: Final = 100
MAX_CHANNELS: Final = 500
"""The channels of known people and groups heard from last, which are caught up with."""
A_WEEK: Final = build_id(7 * DAY) - build_id(0)
"""How far before the first words that reach us others of somebody may have been missed, in ids."""
MAX_WAITING: Final = 500
"""The events that wait to be handled."""
MAX_CATCH_UP_RETRIES: Final = 5
UPDATE_MESSAGE, DEFERRED_UPDATE = 7, 6
EPHEMERAL: Final = 64
"""The flag of a message that only one person sees."""


@dataclass(frozen=True, slots=True)
class ListeningProgress:
    """What is known of the channels of a bot, and outlives a session."""

    titles: dict[str, str] = field(default_factory=dict)  # of channels of servers
    heard: dict[str, int] = field(default_factory=dict)  # the last message kept of each channel
    lost: BoundedMap[str, tuple[int, bool]] = field(  # the first lost one, and if between two
        default_factory=lambda: BoundedMap[str, tuple[int, bool]](MAX_CHANNELS)
    )


class DiscordEventListener:
    """Hands on what Discord tells, in order, and catches up with what it has not told."""

    def __init__(
        self,
        api: DiscordApi,
        bot: JsonFields,
        handle_event: HandleEvent,
        cursors: Cursors,
        *,
        allowed: Sequence[str],
        progress: ListeningProgress,
    ) -> None:
        """Take the bot, who may write unasked, and what the sessions before have left."""
        self._api, self._bot = api, bot
        self._handle_event, self._cursors = handle_event, cursors
        self._allowed = allowed
        self._titles, self._heard, self._lost = progress.titles, progress.heard, progress.lost
        self._scope = find_text(bot, "id")
        self._events: asyncio.Queue[tuple[str, JsonValue]] = asyncio.Queue(MAX_WAITING)
        self._has_lost = False  # events, since the queue was full
        self._began = 0
        self._behind: dict[str, DiscordChat] = {}  # channels whose history is to be read
        self._stirred: set[str] = set()  # those of them where something was said meanwhile
        self._wake = asyncio.Event()
        self._list_lock = asyncio.Lock()

    async def begin(self) -> None:
        """Note since when people are heard: first words may be lost too. Raises StoreError."""
        found = await self._cursors.find(f"{self._scope}/began")
        self._began = int(found or build_id(system_clock()))
        if found is None:
            await self._cursors.save(f"{self._scope}/began", str(self._began))

    def take(self, name: str, raw: JsonValue) -> None:
        """Take an event; where too many wait, what was said is read from the history later."""
        if not self._events.full():
            self._events.put_nowait((name, raw))
            return
        self._has_lost = True
        if name == "MESSAGE_CREATE" and isinstance(raw, dict):
            with suppress(ValueError):
                channel_id, number = get_id(raw, "channel_id"), int(get_id(raw))
                before = self._lost.get(channel_id, (number, False))[0]
                self._lost[channel_id] = min(before, number), raw.get("guild_id") is None

    async def read(self) -> None:
        """Handle events without end. Raises StoreError, PlatformUnavailable."""
        while True:
            name, raw = await self._events.get()
            await self._try(name, self._handle(name, raw if isinstance(raw, dict) else {}))
            if self._has_lost:
                self._has_lost = False
                await self._fall_behind()

    async def _try(self, name: str, handling: Awaitable[None]) -> None:
        """Handle one event; one that cannot be read ends nothing."""
        try:
            await handling
        except (ValueError, KeyError, TypeError) as error:
            reason = f"{name}: {type(error).__name__}"
            await self._handle_event(
                UnreadableUpdate(channel=CHANNEL_NAME, update_id=None, reason=reason)
            )

    async def _handle(self, name: str, raw: JsonFields) -> None:
        """Handle one event. Raises ValueError for what cannot be read."""
        if name == "READY":
            await self._fall_behind()
            return
        channel_id = get_id(raw, "channel_id")
        chat = self._build_chat(channel_id, is_private=raw.get("guild_id") is None)
        if name == "MESSAGE_CREATE" and channel_id in self._behind:
            self._stirred.add(channel_id)  # it is in the history
            return
        if name == "MESSAGE_CREATE":
            await self._hear(raw, chat)
            return
        if not chat.is_private and await self._cursors.is_known(channel_id):
            chat = await self._name(chat)
        for event in to_events(name, raw, chat):
            answer = await self._handle_event(event)
            if name == "INTERACTION_CREATE":
                await self._acknowledge(raw, answer)

    async def _hear(self, raw: JsonFields, chat: DiscordChat) -> None:
        """Handle a message, unless it was handled before; of who is known, save how far that is."""
        number, channel_id = int(get_id(raw)), chat.channel_id
        if number <= self._heard.get(channel_id, 0):
            return
        message = to_message(raw, chat)
        if message is None:
            return
        sender = message.sender.address
        address = sender if chat.is_private else channel_id
        is_known = await self._cursors.is_known(address)
        if is_known and channel_id not in self._heard and await self._begin(chat, number):
            return
        if not chat.is_private and (is_known or await self._cursors.is_known(sender)):
            message = replace(message, chat_ref=(await self._name(chat)).chat_ref)
        await self._handle_event(message)
        if is_known or await self._cursors.is_known(address):  # by what was just said
            await self._keep(chat, number)
        else:
            await self._pass_over(channel_id, number)

    async def _begin(self, chat: DiscordChat, number: int) -> bool:
        """Begin to follow a channel; True if something was missed there, to be read first."""
        saved = int(await self._cursors.find(f"{self._scope}/{chat.channel_id}") or 0)
        since = saved or (max(self._began, number - A_WEEK) if chat.is_private else number - 1)
        await self._keep(chat, since)
        if since < number - 1:
            self._behind[chat.channel_id] = chat
            self._wake.set()
            return True
        return number <= since

    async def _keep(self, chat: DiscordChat, number: int) -> None:
        """Save how far a channel was heard, and that it is the one heard from last."""
        self._heard[chat.channel_id] = number
        await self._cursors.save(f"{self._scope}/{chat.channel_id}", str(number))
        entry = f"{'d' if chat.is_private else 'g'}{chat.channel_id}"
        async with self._list_lock:
            listed = await self._list_channels()
            if listed[-1:] != [entry]:
                listed = [*(each for each in listed if each != entry), entry]
                await self._cursors.save(self._scope, " ".join(listed[-MAX_CHANNELS:]))

    async def _pass_over(self, channel_id: str, number: int) -> None:
        """Let what a stranger says be read at no later time."""
        scope = f"{self._scope}/{channel_id}"
        self._heard.pop(channel_id, None)
        if await self._cursors.find(scope) is not None:  # they were known once
            await self._cursors.save(scope, str(number))

    async def _list_channels(self) -> list[str]:
        """Return the channels heard from, each after a "d" if it is between two, else a "g"."""
        return (await self._cursors.find(self._scope) or "").split()

    async def _fall_behind(self) -> None:
        """Have the history of all channels read, the one heard from last first."""
        for entry in reversed(await self._list_channels()):
            channel_id = entry[1:]
            saved = await self._cursors.find(f"{self._scope}/{channel_id}")
            self._heard[channel_id] = max(self._heard.get(channel_id, 0), int(saved or 0))
            self._behind[channel_id] = self._build_chat(
                channel_id, is_private=entry.startswith("d")
            )
            self._stirred.add(channel_id)
        for channel_id, (number, is_private) in self._lost.items():
            if channel_id not in self._behind:  # nobody was heard there before
                self._heard.setdefault(channel_id, number - 1)
                self._behind[channel_id] = self._build_chat(channel_id, is_private=is_private)
                self._stirred.add(channel_id)
        self._lost.clear()
        self._wake.set()

    async def catch_up(self) -> None:
        """Handle what was said while nobody listened, without end.

        Raises PlatformUnavailable, StoreError.
        """
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._behind:
                channel_id, chat = next(iter(self._behind.items()))
                self._stirred.discard(channel_id)
                await self._read_history(chat)
                if channel_id not in self._stirred:
                    del self._behind[channel_id]
            await self._open_chats()

    async def _open_chats(self) -> None:
        """Have the chats read of those who may write and were never heard, once for each.

        They may have written first while nobody listened, and Discord lists no chats.
        """
        since = max(self._began, build_id(system_clock()) - A_WEEK)
        for user_id in self._allowed:
            scope = f"{self._scope}/of/{user_id}"
            if await self._cursors.find(scope) is not None:
                continue
            try:
                found = await ask_patiently(partial(self._open_chat, user_id))
            except PlatformUnavailable:
                return  # at the next session: what comes in is heard meanwhile
            channel_id = find_text(found if isinstance(found, dict) else {}, "id")
            if channel_id and await self._cursors.find(f"{self._scope}/{channel_id}") is None:
                chat = self._build_chat(channel_id, is_private=True)
                self._behind[channel_id] = chat
                await self._keep(chat, since)
                self._wake.set()
            await self._cursors.save(scope, channel_id)

    async def _open_chat(self, user_id: str) -> JsonValue:
        """Return the channel of the bot and a person; None: it is nobody's number."""
        with map_receive_errors():
            try:
                return await self._api.request(
                    "POST", "/users/@me/channels", json={"recipient_id": user_id}
                )
            except discord.HTTPException as error:
                if error.status not in {400, 403, 404}:
                    raise
        return None

    async def _read_history(self, chat: DiscordChat) -> None:
        """Handle the messages of a channel after the last one that was kept."""
        after, is_more = self._heard.get(chat.channel_id, 0), True
        while is_more:
            page = await ask_patiently(partial(self._load_page, chat.channel_id, after))
            messages = list_json_objects({"page": page}, "page")
            for raw in sorted(messages, key=find_number):
                await self._try("history", self._hear(raw, chat))
            newest = max(map(find_number, messages), default=0)
            is_more = isinstance(page, list) and len(page) >= PAGE_SIZE and newest > after
            after = max(after, newest)
            if self._heard.get(chat.channel_id, after) < after:  # what is for us was handled
                self._heard[chat.channel_id] = after
                await self._cursors.save(f"{self._scope}/{chat.channel_id}", str(after))

    async def _load_page(self, channel_id: str, after: int) -> JsonValue:
        """Return the messages after one; None where the channel is gone, or closed to us."""
        with map_receive_errors(), suppress(discord.Forbidden, discord.NotFound):
            return await self._api.request(
                "GET",
                MESSAGES,
                channel_id=channel_id,
                params={"after": str(after), "limit": str(PAGE_SIZE)},
            )
        return None

    def _build_chat(self, channel_id: str, *, is_private: bool) -> DiscordChat:
        """Return a channel, with its name if that was asked for."""
        title = self._titles.get(channel_id, "")
        return DiscordChat(channel_id=channel_id, title=title, is_private=is_private, bot=self._bot)

    async def _name(self, chat: DiscordChat) -> DiscordChat:
        """Return a channel of a server with its name, if Discord tells it."""
        channel_id = chat.channel_id
        if channel_id not in self._titles:
            with suppress(DeliveryFailed, Undeliverable), map_send_errors():
                found = await self._api.request(
                    "GET", "/channels/{channel_id}", channel_id=channel_id
                )
                name = find_text(found if isinstance(found, dict) else {}, "name")
                self._titles[channel_id] = name
        return replace(chat, title=self._titles.get(channel_id, ""))

    async def _acknowledge(self, raw: JsonFields, answer: PressAnswer | None) -> None:
        """Acknowledge a press, and take used buttons away; if it fails, they press again."""
        is_used = answer is not None and answer.is_used
        response: dict[str, JsonValue] = (
            {"type": UPDATE_MESSAGE, "data": {"components": []}}
            if is_used
            else {"type": DEFERRED_UPDATE}
        )
        token = find_text(raw, "token")
        with suppress(DeliveryFailed, Undeliverable), map_send_errors():
            await self._api.request(
                "POST",
                "/interactions/{interaction_id}/{webhook_token}/callback",
                interaction_id=get_id(raw),
                webhook_token=token,
                json=response,
            )
            if answer is not None and answer.text:
                await self._api.request(
                    "POST",
                    "/webhooks/{webhook_id}/{webhook_token}",
                    webhook_id=get_id(raw, "application_id"),
                    webhook_token=token,
                    json={"content": answer.text, "flags": EPHEMERAL},
                )


async def ask_patiently(ask: Callable[[], Awaitable[JsonValue]]) -> JsonValue:
    """Ask a few times: one failure ends not all listening. Raises PlatformUnavailable."""
    for tries in range(MAX_CATCH_UP_RETRIES):
        try:
            return await ask()
        except PlatformUnavailable as error:
            pause_s = error.retry_after_s
            await asyncio.sleep(2.0 ** (tries - 2) if pause_s is None else pause_s)
    return await ask()
