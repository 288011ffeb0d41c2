"""Slack channel: hears a workspace over a socket and sends replies part by part.

It keeps only what it lately received and sent; it does not know the people.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Final

from typing_extensions import override

from oldfriend.channels.bounded_map import BoundedMap
from oldfriend.channels.channel import (
    NOT_SENT,
    SENDING_UNKNOWN,
    BotChannel,
    BotDiagnosis,
    BotFinding,
    Cursors,
    HandleEvent,
    SentLookup,
)
from oldfriend.channels.json_fields import JsonFields, find_fields, find_text, list_json_objects
from oldfriend.channels.message_details import reword_commands
from oldfriend.channels.slack.app_manifest import BOT_SCOPES, SLASH_COMMAND
from oldfriend.channels.slack.event_listener import MAX_KEYS, SlackEventListener
from oldfriend.channels.slack.event_mapping import (
    TIMESTAMP,
    build_external_id,
    format_timestamp,
    parse_address,
    parse_external_id,
)
from oldfriend.channels.slack.rendering import (
    SPLITTER,
    build_blocks,
    escape,
    get_shown_text,
)
from oldfriend.channels.slack.slack_errors import (
    MESSAGE_GONE,
    TEMPORARY,
    SlackRefusal,
    SlackUnreachable,
    TooManyPages,
    map_receive_errors,
    map_send_errors,
)
from oldfriend.channels.slack.socket_mode import QUIET_S, SocketSession
from oldfriend.channels.slack.web_api import SlackApi, SlackIdentity
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import HOUR, SECOND, Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue

SEND_INTERVAL_S: Final = 1.0
"""Slack takes about one message a second in a conversation."""
RECONNECT_PAUSE_S: Final = 0.5
METADATA_TYPE: Final = "oldfriend_part"
MAX_CLOCK_SKEW: Final = HOUR
"""How far the clock of this machine may be ahead of Slack's."""


class SlackChannel(BotChannel):
    """A bot in a Slack workspace."""

    def __init__(
        self,
        bot_token: str,
        app_token: str,
        *,
        base_url: str,
        debounce_s: float = 2.0,
        quiet_s: float = QUIET_S,
        send_interval_s: float = SEND_INTERVAL_S,
    ) -> None:
        """Create the channel without connecting."""
        self.debounce_s = debounce_s
        self._quiet_s = quiet_s
        self._api = SlackApi(bot_token, app_token, base_url=base_url)
        self._pace = SendPace(send_interval_s)
        self._handled = BoundedMap[str, None](MAX_KEYS)
        self._read_to: dict[str, str] = {}
        self._listen_lock = asyncio.Lock()  # after a reload two listeners may overlap briefly

    @override
    async def close(self) -> None:
        """Close all connections."""
        await self._api.close()

    @override
    async def register(self) -> str:
        """Try both tokens and return the bot's name."""
        with map_receive_errors():
            identity = await self._api.get_identity()
            await self._api.open_connection()
        return identity.name

    @override
    async def diagnose(self) -> BotDiagnosis:
        """Ask Slack about the bot and what it may do."""
        with map_receive_errors():
            identity = await self._api.get_identity()
            await self._api.open_connection()
        return diagnose_bot(identity)

    @override
    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """Split a reply at our limit; no parts for a text that shows nothing."""
        return SPLITTER.split(text, is_markdown=is_markdown)

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
        """Send one part and return its external id."""
        del preview_send_key
        destination = parse_address(address)
        async with self._sending(destination.channel):
            sent = await self._api.tell(
                "chat.postMessage",
                channel=destination.channel,
                thread_ts=destination.thread,
                metadata={
                    "event_type": METADATA_TYPE,
                    "event_payload": {"key": hash_key(address, send_key)},
                },
                unfurl_links=False,
                unfurl_media=False,
                **build_content(text, is_markdown=is_markdown, buttons=buttons),
            )
            return build_external_id(destination.channel, get_timestamp(sent))

    @asynccontextmanager
    async def _sending(self, channel: str) -> AsyncIterator[None]:
        """Wait for the turn of a message, and map the errors of sending it."""
        async with self._pace.turn(channel):
            with map_send_errors():
                yield

    @override
    async def was_sent(self, address: str, send_key: str, *, since: Micros = 0) -> SentLookup:
        """Look for a part among what was said since it may have been sent."""
        destination = parse_address(address)
        oldest = format_timestamp(max((since - MAX_CLOCK_SKEW) / SECOND, 0.0))
        with map_send_errors():
            try:
                async for each in self._api.list_history(
                    destination.channel, oldest=oldest, thread=destination.thread
                ):
                    if (external_id := find_sent(each, address, send_key)) is not None:
                        return SentLookup("yes", external_id)
            except TooManyPages:
                return SENDING_UNKNOWN
            except SlackRefusal as refusal:
                if refusal.code in TEMPORARY:
                    raise
                return SENDING_UNKNOWN  # the bot may not read there
        return NOT_SENT

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
        """Replace the text and the buttons of a message of ours; False: it no longer exists."""
        with map_send_errors():
            try:
                await self._api.tell(
                    "chat.update",
                    channel=parse_address(address).channel,
                    ts=parse_external_id(external_id),
                    **build_content(text, is_markdown=is_markdown, buttons=buttons),
                )
            except SlackRefusal as refusal:
                if refusal.code not in MESSAGE_GONE:
                    raise
                return False
        return True

    @override
    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """Send a spoken reply as a file that Slack plays, and return its external id."""
        del title
        destination = parse_address(address)
        async with self._sending(destination.channel):
            file_id = await self._api.upload(
                destination.channel,
                destination.thread,
                name=f"{build_file_stem(address, send_key)}.{'ogg' if is_opus else 'mp3'}",
                content=audio,
            )
        return f"file:{file_id}"

    @override
    async def download_audio(self, file_id: str) -> bytes:
        """Download a recording."""
        with map_send_errors():
            try:
                return await self._api.download(file_id)
            except SlackRefusal as refusal:
                raise NotFound(f"Slack does not provide this file: {refusal}") from refusal

    @override
    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Receive events without end."""
        async with self._listen_lock:
            with map_receive_errors():
                bot = await self._api.get_identity()
                listener = SlackEventListener(
                    self._api, bot, handle_event, cursors, self._handled, self._read_to
                )
                await listener.begin()
                while True:
                    session = SocketSession(
                        self._api, listener.handle, listener.catch_up, quiet_s=self._quiet_s
                    )
                    await session.run()
                    await asyncio.sleep(RECONNECT_PAUSE_S)


class SendPace:
    """Spaces the messages of each conversation, as Slack asks for."""

    def __init__(self, interval_s: float) -> None:
        """Take the seconds between two messages."""
        self._interval_s = interval_s
        self._locks: dict[str, asyncio.Lock] = {}
        self._free_at: dict[str, float] = {}

    @asynccontextmanager
    async def turn(self, channel: str) -> AsyncIterator[None]:
        """Wait until a message may be sent to a conversation; none other is sent meanwhile."""
        async with self._locks.setdefault(channel, asyncio.Lock()):
            await asyncio.sleep(self._free_at.get(channel, 0.0) - time.monotonic())
            try:
                yield
            finally:
                self._free_at[channel] = time.monotonic() + self._interval_s


def build_content(
    text: str, *, is_markdown: bool, buttons: Sequence[Button]
) -> dict[str, JsonValue]:
    """Return the fields that hold what is said; ``text`` is what notifications show.

    A command is shown as it is written here: "/oldfriend help".
    """
    text = reword_commands(text, f"{SLASH_COMMAND} {{name}}")
    return {
        "text": escape(get_shown_text(text) if is_markdown else text),
        "mrkdwn": False,
        "blocks": build_blocks(text, is_markdown=is_markdown, buttons=buttons),
    }


def hash_key(address: str, send_key: str) -> str:
    """Return the key that a message carries, from which nothing can be read."""
    return sha256(f"{address} {send_key}".encode()).hexdigest()[:32]


def build_file_stem(address: str, send_key: str) -> str:
    """Return the name of a spoken reply, by which it is found again: files carry no metadata."""
    return f"reply-{hash_key(address, send_key)[:12]}"


def find_sent(raw_message: JsonFields, address: str, send_key: str) -> str | None:
    """Return the external id of a part if this is the message or the file that holds it."""
    metadata = find_fields(raw_message, "metadata")
    payload = find_fields(metadata, "event_payload")
    if find_text(payload, "key") == hash_key(address, send_key):
        return build_external_id(parse_address(address).channel, find_text(raw_message, "ts"))
    for file in list_json_objects(raw_message, "files"):
        if find_text(file, "name").startswith(f"{build_file_stem(address, send_key)}."):
            return f"file:{find_text(file, 'id')}"
    return None


def get_timestamp(answer: JsonFields) -> str:
    """Return the id of a message that was sent. Raises SlackUnreachable."""
    timestamp = find_text(answer, "ts")
    if not TIMESTAMP.fullmatch(timestamp):
        raise SlackUnreachable("an answer that tells of no message")
    return timestamp


def diagnose_bot(identity: SlackIdentity) -> BotDiagnosis:
    """Return the bot's name and workspace, and what it may not do and should."""
    name, team = identity.name, identity.team
    known = localizable(
        "slack_known", f"Slack knows the bot as @{name} in {team}.", name=name, team=team
    )
    findings = [BotFinding(text=known, is_problem=False)]
    missing = sorted({*BOT_SCOPES} - identity.scopes) if identity.scopes else []
    if missing:
        scopes = ", ".join(missing)
        lacking = localizable(
            "slack_scopes_missing",
            f"The Slack app lacks what it needs to hear and to answer: {scopes}. Add these under "
            "OAuth & Permissions at api.slack.com/apps, and install the app again.",
            scopes=scopes,
        )
        findings.append(BotFinding(text=lacking, is_problem=True))
    return BotDiagnosis(findings=findings, format_group_hint=None)
