"""Discord channel: hears direct messages and mentions, and sends replies part by part."""

import asyncio
import hashlib
from collections.abc import Sequence
from functools import partial
from typing import Final

from typing_extensions import override

from oldfriend.channels.channel import (
    BotChannel,
    BotDiagnosis,
    BotFinding,
    ChannelSettings,
    Cursors,
    DraftPreview,
    HandleEvent,
    TypingPreview,
)
from oldfriend.channels.discord.discord_api import (
    MESSAGES,
    DiscordApi,
    build_file_form,
    get_id,
    get_name,
    map_send_errors,
)
from oldfriend.channels.discord.event_listener import DiscordEventListener, ListeningProgress
from oldfriend.channels.discord.event_mapping import (
    build_external_id,
)
from oldfriend.channels.discord.rendering import render_text, split
from oldfriend.channels.json_fields import find_text, list_json_objects
from oldfriend.domain.buttons import Button
from oldfriend.domain.errors import (
    ChatBlocked,
    InvalidInput,
    NotFound,
    OutcomeUnknown,
    Undeliverable,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue

MESSAGE: Final = MESSAGES + "/{message_id}"
TYPING_INTERVAL_S: Final = 8.0
"""Discord shows "typing" for ten seconds."""
NONCE_CHARS: Final = 25


class DiscordChannel(BotChannel):
    """A bot on Discord."""

    def __init__(
        self,
        token: str,
        *,
        base_url: str,
        debounce_s: float = 2.0,
        allowed: Sequence[str] = (),
    ) -> None:
        """Create the channel without connecting; ``allowed``: who may write unasked."""
        self.debounce_s = debounce_s
        self._allowed = allowed
        self._api = DiscordApi(token, base_url=base_url)
        self._listen_lock = asyncio.Lock()  # after a reload two listeners may overlap briefly
        self._progress = ListeningProgress()

    @override
    async def close(self) -> None:
        """Close all connections."""
        await self._api.close()

    @override
    def apply_settings(self, channel_settings: ChannelSettings) -> None:
        """Take who may write after a reload."""
        self._allowed = channel_settings.allowed

    @override
    async def register(self) -> str:
        """Return the bot's name. Raises PlatformUnavailable, PlatformRejected."""
        return find_text(await self._api.get_me(), "username")

    @override
    async def diagnose(self) -> BotDiagnosis:
        """Ask Discord about the bot. Raises PlatformUnavailable, PlatformRejected."""
        name = get_name(await self._api.get_me())
        known = localizable(
            "channel_known", f"Discord knows the bot as {name}.", title="Discord", name=name
        )
        return BotDiagnosis(
            findings=(BotFinding(text=known, is_problem=False),), format_group_hint=None
        )

    @override
    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """Split a reply at Discord's limit; no parts for a text that shows nothing."""
        return split(text, is_markdown=is_markdown)

    @override
    async def send(
        self,
        address: str,
        text: str,
        *,
        send_key: str,
        preview_send_key: str | None = None,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> str:
        """Send one part and return its external id; one that came twice is shown once.

        Raises DeliveryFailed, Undeliverable.
        """
        del preview_send_key
        body = build_body(text, is_markdown=is_markdown, buttons=buttons)
        nonce = build_nonce(address, send_key)
        with map_send_errors():
            sent = await self._api.request(
                "POST",
                MESSAGES,
                channel_id=check_id(address),
                json={**body, "nonce": nonce, "enforce_nonce": True},
            )
        return to_sent_id(address, sent)

    @override
    async def edit(
        self,
        address: str,
        external_id: str,
        text: str,
        *,
        is_markdown: bool = False,
        buttons: Sequence[Button] = (),
    ) -> bool:
        """Replace the text and the buttons of a message of ours; False: it no longer exists.

        Raises DeliveryFailed, ChatBlocked.
        """
        try:
            with map_send_errors():
                await self._api.request(
                    "PATCH",
                    MESSAGE,
                    channel_id=check_id(address),
                    message_id=check_id(external_id.rpartition(":")[2]),
                    json=build_body(text, is_markdown=is_markdown, buttons=buttons),
                )
        except ChatBlocked:
            raise
        except Undeliverable:
            return False
        return True

    @override
    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """Send a spoken reply as a file that is played in place.

        Raises DeliveryFailed, Undeliverable.
        """
        name, mime = ("reply.ogg", "audio/ogg") if is_opus else ("reply.mp3", "audio/mpeg")
        payload: JsonValue = {"nonce": build_nonce(address, send_key), "enforce_nonce": True}
        with map_send_errors():
            sent = await self._api.request(
                "POST",
                MESSAGES,
                channel_id=check_id(address),
                form=build_file_form(audio, name, mime, payload),
            )
        return to_sent_id(address, sent)

    @override
    async def download_audio(self, file_id: str) -> bytes:
        """Download a recording. Raises DeliveryFailed, NotFound."""
        channel_id, message_id, attachment_id = file_id.split("/")
        try:
            with map_send_errors():
                found = await self._api.request(
                    "GET", MESSAGE, channel_id=channel_id, message_id=message_id
                )
                files = list_json_objects(found if isinstance(found, dict) else {}, "attachments")
                urls = [find_text(each, "url") for each in files if each["id"] == attachment_id]
                if not urls:
                    raise NotFound("The recording was removed.")
                return await self._api.download(urls[0])
        except Undeliverable as error:
            raise NotFound(f"Discord does not provide this file: {error}") from error

    @override
    def open_preview(
        self, address: str, *, send_key: str, external_id: str | None = None
    ) -> DraftPreview:
        """Open a preview: Discord shows that a reply is being written."""
        return TypingPreview(
            partial(self._show_typing, address),
            interval_s=TYPING_INTERVAL_S,
            external_id=external_id,
        )

    async def _show_typing(self, address: str) -> None:
        with map_send_errors():
            await self._api.request(
                "POST", "/channels/{channel_id}/typing", channel_id=check_id(address)
            )

    @override
    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Receive events without end. Raises PlatformUnavailable, PlatformRejected."""
        try:
            async with self._listen_lock, asyncio.TaskGroup() as tasks:
                bot = await self._api.get_me()
                listener = DiscordEventListener(
                    self._api,
                    bot,
                    handle_event,
                    cursors,
                    allowed=self._allowed,
                    progress=self._progress,
                )
                await listener.begin()
                tasks.create_task(self._api.run_gateway(listener.take))
                tasks.create_task(listener.read())
                tasks.create_task(listener.catch_up())
        except BaseExceptionGroup as group:
            raise group.exceptions[0] from group


def build_body(text: str, *, is_markdown: bool, buttons: Sequence[Button]) -> dict[str, JsonValue]:
    """Return a message as Discord takes it; nobody who is named in it is called."""
    row: list[JsonValue] = [
        {"type": 2, "style": 2, "label": each.label, "custom_id": each.command} for each in buttons
    ]
    return {
        "content": render_text(text, is_markdown=is_markdown),
        "allowed_mentions": {"parse": []},
        "components": [{"type": 1, "components": row}] if row else [],
    }


def build_nonce(address: str, send_key: str) -> str:
    """Return a key by which Discord knows a message again for some minutes."""
    return hashlib.sha256(f"{address} {send_key}".encode()).hexdigest()[:NONCE_CHARS]


def check_id(text: str) -> str:
    """Return the number of a channel or message. Raises InvalidInput."""
    if not (text.isascii() and text.isdigit()):
        raise InvalidInput(f"{text!r} is not an address on Discord.")
    return text


def to_sent_id(address: str, sent: JsonValue) -> str:
    """Return the external id of a message that was sent. Raises OutcomeUnknown."""
    try:
        return build_external_id(address, get_id(sent if isinstance(sent, dict) else {}))
    except ValueError as error:
        raise OutcomeUnknown("Discord's answer tells of no message.") from error
