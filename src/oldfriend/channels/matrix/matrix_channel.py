"""Matrix channel: hears rooms by syncing and sends replies part by part.

It keeps its login, its keys and what it cannot read yet; it does not know the people.
"""

import asyncio
import json
from collections.abc import Awaitable, Sequence
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import quote

from nio.crypto import decrypt_attachment, encrypt_attachment
from nio.exceptions import EncryptionError
from typing_extensions import override

from oldfriend.channels.channel import (
    BotChannel,
    BotDiagnosis,
    BotFinding,
    Cursors,
    HandleEvent,
    TypingPreview,
)
from oldfriend.channels.json_fields import find_fields, find_text
from oldfriend.channels.matrix.cross_signing import MatrixError
from oldfriend.channels.matrix.event_listener import Listener, RoomDirectory
from oldfriend.channels.matrix.event_mapping import build_external_id
from oldfriend.channels.matrix.matrix_client import (
    MatrixClient,
    to_receive_error,
    to_send_error,
)
from oldfriend.channels.matrix.rendering import SPLITTER, build_content, build_edit
from oldfriend.domain.buttons import Button
from oldfriend.domain.errors import ChatBlocked, DeliveryFailed, NotFound, PlatformUnavailable
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue

T = TypeVar("T")

READY_WAIT_S: Final = 30.0
"""How long a reply waits for the rooms to be known, after a start."""
OWN_WAIT_S: Final = 0.3
"""How long it waits for a listener to begin."""
TYPING_S: Final = 30.0
TYPING_INTERVAL_S: Final = 20.0
VOICE_FIELDS: Final = ("org.matrix.msc1767.audio", "org.matrix.msc3245.voice")


class MatrixChannel(BotChannel):
    """A bot on Matrix."""

    def __init__(
        self,
        homeserver: str,
        user: str,
        password: str,
        *,
        folder: Path,
        debounce_s: float = 2.0,
    ) -> None:
        """Create the channel without connecting; ``folder`` keeps the login and the keys."""
        self.debounce_s = debounce_s
        self._folder = folder
        self._client = MatrixClient(homeserver, user, password, folder=folder)
        self._rooms = RoomDirectory(self._client)
        self._ready = asyncio.Event()  # a listener knows the rooms
        self._sending = SendingConnection(self._client, self._rooms)
        self._listen_lock = asyncio.Lock()  # after a reload two listeners may overlap briefly

    @override
    async def close(self) -> None:
        """Close the connection, unless a listener has it."""
        await self._sending.close()

    @override
    async def register(self) -> str:
        """Log in, and return the account's id. Raises PlatformUnavailable, PlatformRejected."""
        try:
            return (await self._client.log_in()).user_id
        except MatrixError as error:
            raise to_receive_error(error) from error

    @override
    async def diagnose(self) -> BotDiagnosis:
        """Ask the homeserver about the bot. Raises PlatformUnavailable, PlatformRejected."""
        try:
            findings = await diagnose_bot(self._client.clone())
        except MatrixError as error:
            raise to_receive_error(error) from error
        return BotDiagnosis(findings=findings, format_group_hint=None)

    @override
    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """Split a long reply; no parts for a text that shows nothing."""
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
        """Send one part; the homeserver shows once what comes twice with the same key.

        Raises DeliveryFailed, Undeliverable.
        """
        content = build_content(text, is_markdown=is_markdown)
        return await self._send(address, content, send_key=send_key)

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
        """Replace the text of a message of ours; False: it no longer exists.

        Raises DeliveryFailed, ChatBlocked.
        """
        room_id, _, event_id = external_id.partition(" ")
        await self._wait_until_ready()
        found = await try_sending(self._client.load_event(room_id, event_id))
        if found is None or not find_fields(found, "content"):
            return False
        content = build_edit(event_id, build_content(text, is_markdown=is_markdown))
        await try_sending(
            self._client.send_event(room_id, "m.room.message", content, transaction_id=None)
        )
        return True

    @override
    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """Send a spoken reply as a voice message. Raises DeliveryFailed, Undeliverable."""
        room_id, _ = await self._find_room(address)
        info: dict[str, JsonValue] = {
            "mimetype": "audio/ogg" if is_opus else "audio/mpeg",
            "size": len(audio),
        }
        content: dict[str, JsonValue] = {
            "msgtype": "m.audio",
            "body": title,
            "info": info,
            "m.mentions": {},
            **({each: {} for each in VOICE_FIELDS} if is_opus else {}),
        }
        if self._client.rooms[room_id].encrypted:
            audio, keys = await asyncio.to_thread(encrypt_attachment, audio)
            content["file"] = {**keys, "url": await try_sending(self._client.upload(audio))}
        else:
            content["url"] = await try_sending(self._client.upload(audio))
        return await self._send(address, content, send_key=send_key)

    @override
    async def download_audio(self, file_id: str) -> bytes:
        """Download and decrypt a recording. Raises DeliveryFailed, NotFound."""
        where = json.loads(file_id)
        await self._wait_until_ready()
        try:
            content = await self._client.download(find_text(where, "url"))
        except MatrixError as error:
            if error.code in {"M_NOT_FOUND", "M_TOO_LARGE"}:
                raise NotFound(f"The homeserver does not provide this file: {error}") from error
            raise DeliveryFailed(f"The file cannot be downloaded: {error}") from error
        if "key" not in where:
            return content
        key, hashes = find_fields(where, "key"), find_fields(where, "hashes")
        try:
            return bytes(
                await asyncio.to_thread(
                    decrypt_attachment,
                    content,
                    find_text(key, "k"),
                    find_text(hashes, "sha256"),
                    find_text(where, "iv"),
                )
            )
        except (EncryptionError, ValueError) as error:
            raise NotFound("This file is not what its sender encrypted.") from error

    @override
    def open_preview(
        self, address: str, *, send_key: str, external_id: str | None = None
    ) -> TypingPreview:
        """Open a preview that shows that a reply is being written."""
        return TypingPreview(partial(self._show_typing, address), interval_s=TYPING_INTERVAL_S)

    async def _show_typing(self, address: str) -> None:
        room_id, _ = await self._find_room(address)
        path = f"/_matrix/client/v3/rooms/{quote(room_id)}/typing/{quote(self._client.user_id)}"
        body: JsonValue = {"typing": True, "timeout": round(1_000 * TYPING_S)}
        await try_sending(self._client.call("PUT", path, body))

    async def _send(self, address: str, content: dict[str, JsonValue], *, send_key: str) -> str:
        room_id, thread = await self._find_room(address)
        if thread:
            content["m.relates_to"] = {"rel_type": "m.thread", "event_id": thread}
        event_id = await try_sending(
            self._client.send_event(
                room_id, "m.room.message", content, transaction_id=send_key.replace("/", ".")
            )
        )
        return build_external_id(room_id, event_id)

    async def _find_room(self, address: str) -> tuple[str, str]:
        """Return the room of an address, and the thread in it.

        A person's is a room in which nobody else is. Raises DeliveryFailed, ChatBlocked.
        """
        await self._wait_until_ready()
        found = self._rooms.find_room(address)
        if found is None:
            raise ChatBlocked("The bot is in no such room, or not alone with this person.")
        return found

    async def _wait_until_ready(self) -> None:
        """Wait until the rooms are known; where nobody listens, ask for them."""
        try:
            async with asyncio.timeout(READY_WAIT_S if self._listen_lock.locked() else OWN_WAIT_S):
                await self._ready.wait()
        except TimeoutError as error:
            if self._listen_lock.locked():
                raise DeliveryFailed("The rooms of this bot are not known yet.") from error
            await try_sending(self._sending.refresh())

    @override
    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Receive events without end. Raises PlatformUnavailable, PlatformRejected."""
        try:
            async with self._listen_lock:
                await self._listen(handle_event, cursors)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise PlatformUnavailable(f"Matrix's folder cannot be written: {reason}") from error

    async def _listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Receive events without end. Raises PlatformUnavailable, PlatformRejected, OSError."""
        try:
            await self._sending.close()
            async with self._client.opened(keeps_keys=True):
                listener = Listener(
                    self._client, self._rooms, folder=self._folder, on_ready=self._ready.set
                )
                await listener.run(handle_event, cursors)
        except MatrixError as error:
            raise to_receive_error(await self._client.renew_login(error)) from error
        finally:
            self._ready.clear()


class SendingConnection:
    """The connection of a process that sends and does not listen; it leaves events unread."""

    def __init__(self, client: MatrixClient, rooms: RoomDirectory) -> None:
        """Start without a connection."""
        self._client = client
        self._rooms = rooms
        self._opened: AsyncExitStack | None = None
        self._since: str | None = None
        self._lock = asyncio.Lock()

    async def refresh(self) -> None:
        """Connect, and ask who is in the rooms now. Raises MatrixError."""
        async with self._lock:
            if self._opened is None:
                async with AsyncExitStack() as stack:
                    await stack.enter_async_context(self._client.opened(keeps_keys=True))
                    await self._rooms.load()
                    self._since = await self._sync(None)
                    self._opened = stack.pop_all()
            else:
                self._since = await self._sync(self._since)

    async def _sync(self, since: str | None) -> str:
        batch = await self._client.sync(since, is_first=since is None, wait_s=0)
        await self._client.keep_up_keys()
        return str(batch.next_batch)

    async def close(self) -> None:
        """Close the connection, if it is open."""
        async with self._lock:
            if self._opened is not None:
                opened, self._opened = self._opened, None
                await opened.aclose()


async def try_sending(sending: Awaitable[T]) -> T:
    """Return what was awaited. Raises DeliveryFailed, Undeliverable."""
    try:
        return await sending
    except MatrixError as error:
        raise to_send_error(error) from error


async def diagnose_bot(client: MatrixClient) -> list[BotFinding]:
    """Ask the homeserver about the bot, and whether apps trust its device. Raises MatrixError."""
    async with client.opened(keeps_keys=False):
        await client.call("GET", "/_matrix/client/v3/account/whoami")
        name, is_signed = client.user_id, await client.is_device_signed()
    known = localizable(
        "channel_known", f"Matrix knows the bot as {name}.", title="Matrix", name=name
    )
    findings = [BotFinding(text=known, is_problem=False)]
    if not is_signed:
        unsigned = localizable(
            "matrix_unsigned",
            f"The account {name} does not vouch for this device, so some apps send it no keys. "
            "Verify it from another device of the account, or give the bot an account of its own.",
            name=name,
        )
        findings.append(BotFinding(text=unsigned, is_problem=True))
    return findings
