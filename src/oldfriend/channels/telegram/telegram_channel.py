"""Telegram channel: receives messages by polling and sends replies part by part.

It keeps only what it lately received and sent; it does not know the people.
"""

import asyncio
import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from typing_extensions import override

from oldfriend.channels.channel import (
    SENDING_UNKNOWN,
    BotChannel,
    BotDiagnosis,
    BotFinding,
    Cursors,
    HandleEvent,
    PressAnswer,
    SentLookup,
)
from oldfriend.channels.telegram.api_errors import GroupMigrated
from oldfriend.channels.telegram.bot_api import (
    BotApi,
    BotIdentity,
    TelegramAddress,
    WebhookStatus,
    parse_address,
)
from oldfriend.channels.telegram.event_mapping import (
    UpdateDedup,
    build_external_id,
    to_channel_event,
)
from oldfriend.channels.telegram.polling import Update, poll
from oldfriend.channels.telegram.rendering import SPLITTER, render, render_text
from oldfriend.channels.telegram.telegram_settings import OFFICIAL_URL
from oldfriend.channels.telegram.updates import CallbackUpdate
from oldfriend.channels.telegram.webhook import WebhookAddress, derive_secret, serve_webhook
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import (
    ChatAddressChanged,
    ChatBlocked,
    DeliveryFailed,
    DeliveryUncertain,
    NotFound,
    PlatformRejected,
    PlatformUnavailable,
    Undeliverable,
)
from oldfriend.domain.i18n_messages import LocalizedText, localizable
from oldfriend.lang.command_menu import OFFERED_COMMANDS, CommandMenu
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES

PRIVATE_COMMANDS: Final = (*OFFERED_COMMANDS, "retry", "stop")
GROUP_COMMANDS: Final = ("stop", "allow", "disallow")
REGISTER_TIMEOUT_S: Final = 5.0
"""No update is received meanwhile."""

TYPING_INTERVAL_S: Final = 4.5
"""Telegram shows "typing" for five seconds."""
MAX_ANSWER_CHARS: Final = 200
"""What Telegram shows to the one who pressed a button."""
DRAFT_INTERVAL_S: Final = 1.0
GROUP_INTERVAL_S: Final = 3.5
"""Telegram accepts twenty messages a minute in a group, counting edits."""


class TelegramChannel(BotChannel):
    """A bot on Telegram."""

    def __init__(
        self,
        token: str,
        *,
        base_url: str = OFFICIAL_URL,
        debounce_s: float = 2.0,
        webhook: WebhookAddress | None = None,
        folder: Path | None = None,
    ) -> None:
        """Create the channel without connecting.

        With a ``webhook`` Telegram calls us; else it is polled. ``folder``: where sent messages are
        recorded for later processes.
        """
        self.debounce_s = debounce_s
        self._api = BotApi(token, base_url=base_url, folder=folder)
        self._webhook = webhook
        self._secret = derive_secret(token)
        self._dedup = UpdateDedup(time.monotonic)
        self._listen_lock = asyncio.Lock()  # after a reload two listeners may overlap briefly

    @override
    async def close(self) -> None:
        """Close all connections."""
        await self._api.close()

    @override
    async def register(self) -> str:
        """Register the webhook, if one is set, and return the bot's username.

        Raises PlatformUnavailable, PlatformRejected.
        """
        if self._webhook is not None:
            await self._api.set_webhook(self._webhook.url, secret=self._secret)
        return (await self._api.get_me()).username

    @override
    async def diagnose(self) -> BotDiagnosis:
        """Ask Telegram about the bot and its webhook.

        Raises PlatformUnavailable, PlatformRejected.
        """
        wanted_url = "" if self._webhook is None else self._webhook.url
        return diagnose_bot(
            await self._api.get_me(), await self._api.get_webhook(), wanted_url=wanted_url
        )

    @override
    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """Split a reply at Telegram's limit; no parts for a text that shows nothing."""
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
        """Send one part and return its external id.

        Raises DeliveryFailed, Undeliverable, ChatAddressChanged.
        """
        destination, send_key = parse_address(address), f"{address} {send_key}"
        sent_preview_key = (
            None if preview_send_key is None else build_preview_key(destination, preview_send_key)
        )
        try:
            return build_external_id(
                destination.chat_id,
                await self._api.send_message(
                    destination,
                    render_text(text, is_markdown=is_markdown),
                    key=send_key,
                    preview_send_key=sent_preview_key,
                    buttons=buttons,
                ),
            )
        except DeliveryUncertain:
            self._api.allow_resend(send_key)  # in case somebody retries it by hand
            raise
        except GroupMigrated as moved:
            raise to_address_changed(destination, moved) from moved

    @override
    async def was_sent(self, address: str, send_key: str, *, since: Micros = 0) -> SentLookup:
        """Tell whether Telegram accepted a part, as far as this machine's log of sends knows."""
        del since
        message_id = self._api.find_sent_message_id(f"{address} {send_key}")
        if message_id is None:
            return SENDING_UNKNOWN
        return SentLookup("yes", build_external_id(parse_address(address).chat_id, message_id))

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

        Raises DeliveryFailed, ChatBlocked, ChatAddressChanged.
        """
        destination = parse_address(address)
        try:
            await self._api.edit_message(
                destination,
                parse_external_id(external_id),
                render_text(text, is_markdown=is_markdown),
                is_last=True,
                buttons=buttons,
            )
        except ChatBlocked:
            raise
        except Undeliverable:
            return False
        except GroupMigrated as moved:
            raise to_address_changed(destination, moved) from moved
        return True

    @override
    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """Send a spoken reply: a voice note, or a file if it cannot be one.

        Raises DeliveryFailed, Undeliverable, ChatAddressChanged.
        """
        destination = parse_address(address)
        send = partial(
            self._api.send_voice, destination, audio, title=title, key=f"{address} {send_key}"
        )
        try:
            try:
                message_id = await send(is_opus=is_opus)
            except ChatBlocked:
                raise
            except Undeliverable:
                if not is_opus:
                    raise
                message_id = await send(is_opus=False)  # who blocks voice notes may accept a file
        except GroupMigrated as moved:
            raise to_address_changed(destination, moved) from moved
        return build_external_id(destination.chat_id, message_id)

    @override
    async def download_audio(self, file_id: str) -> bytes:
        """Download a recording. Raises DeliveryFailed, NotFound."""
        try:
            return await self._api.download_file(file_id)
        except (Undeliverable, GroupMigrated) as error:
            raise NotFound(f"Telegram does not provide this file: {error}") from error

    @override
    def open_preview(
        self, address: str, *, send_key: str, external_id: str | None = None
    ) -> "TelegramDraftPreview":
        """Open a preview of a reply that is being written, or continue one."""
        return TelegramDraftPreview(
            self._api, parse_address(address), send_key, external_id=external_id
        )

    @override
    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Receive events without end; Telegram keeps what was not confirmed.

        Raises PlatformUnavailable, PlatformRejected.
        """
        del cursors
        try:
            async with self._listen_lock, asyncio.TaskGroup() as tasks:
                await self._listen(handle_event, tasks)
        except BaseExceptionGroup as group:
            raise group.exceptions[-1] from group

    async def _listen(self, handle_event: HandleEvent, task_group: asyncio.TaskGroup) -> None:
        identity = await self._api.get_me()
        await register_commands(self._api)

        async def handle_update(update: Update) -> None:
            if self._dedup.is_duplicate(update):
                return
            event = to_channel_event(update, identity)
            answer = None if event is None else await handle_event(event)
            if isinstance(update, CallbackUpdate):
                task_group.create_task(self._acknowledge(update, answer))
            self._dedup.record(update)

        if self._webhook is None:
            await poll(self._api, handle_update)
        else:
            await serve_webhook(self._api, self._webhook, self._secret, handle_update)

    async def _acknowledge(self, press: CallbackUpdate, answer: PressAnswer | None) -> None:
        """Acknowledge a button press, and take used buttons away.

        If this fails, the person presses again, which does nothing twice.
        """
        text = "" if answer is None else answer.text[:MAX_ANSWER_CHARS]
        with suppress(DeliveryFailed, Undeliverable, GroupMigrated):
            await self._api.answer_callback_query(press.query_id, text)
        if answer is not None and answer.is_used and press.chat is not None:
            with suppress(DeliveryFailed, Undeliverable, GroupMigrated):
                address = TelegramAddress(chat_id=press.chat.id, topic_id=press.chat.topic_id)
                await self._api.remove_buttons(address, press.message_id)


class TelegramDraftPreview:
    """A preview of a reply: typing, then a draft, else a message that is edited.

    Drafts exist only in private chats, and not everywhere.
    """

    def __init__(
        self, api: BotApi, telegram_address: TelegramAddress, key: str, *, external_id: str | None
    ) -> None:
        """Create a preview, or continue in the message that shows it, if one is known."""
        draft_id = int.from_bytes(hashlib.sha256(key.encode()).digest()[:4], "big") >> 1
        self.interval_s = DRAFT_INTERVAL_S if telegram_address.chat_id > 0 else GROUP_INTERVAL_S
        self.is_sending = False
        self._api = api
        self._address = telegram_address
        self._key = build_preview_key(telegram_address, key)
        self.external_id = external_id if external_id is not None else self._find_external_id()
        self._draft_id = draft_id or 1
        self._has_drafts = telegram_address.chat_id > 0 and self.external_id is None
        self._typed_at = -TYPING_INTERVAL_S
        self._shown_text = ""

    async def show(self, text: str) -> None:
        """Show the text so far, or only that a reply is being written."""
        parts = await asyncio.to_thread(SPLITTER.split, text, is_markdown=True)
        try:
            if parts and self._has_drafts:
                self._has_drafts = await self._api.send_draft(
                    self._address, self._draft_id, render(parts[-1])
                )
            if parts and not self._has_drafts:
                await self._show_as_message(parts[0])
            elif not parts and time.monotonic() - self._typed_at >= TYPING_INTERVAL_S:
                self._typed_at = time.monotonic()
                await self._api.send_chat_action(self._address, "typing")
        except GroupMigrated as moved:
            raise to_address_changed(self._address, moved) from moved

    def _find_external_id(self) -> str | None:
        """Return the id of the message that shows it already, sent by a process that died."""
        message_id = self._api.find_sent_message_id(self._key)
        return None if message_id is None else build_external_id(self._address.chat_id, message_id)

    async def _show_as_message(self, text: str) -> None:
        """Show the first part in a message that is sent once and then edited."""
        if text == self._shown_text:
            return
        if self.external_id is not None:
            await self._api.edit_message(
                self._address, parse_external_id(self.external_id), render(text)
            )
        else:
            self.is_sending = True
            try:
                message_id = await self._api.send_message(
                    self._address, render(text), key=self._key, max_attempts=1
                )
                self.external_id = build_external_id(self._address.chat_id, message_id)
            finally:
                self.is_sending = False
        self._shown_text = text


def build_preview_key(telegram_address: TelegramAddress, send_key: str) -> str:
    """Return the send key of the message that previews a reply."""
    return f"{telegram_address.as_text} {send_key}/shown"


def parse_external_id(external_id: str) -> int:
    """Return the message's number in its chat from its external id."""
    return int(external_id.rpartition(":")[2])


def to_address_changed(
    telegram_address: TelegramAddress, moved: GroupMigrated
) -> ChatAddressChanged:
    """Return the error that names a chat's new address."""
    return ChatAddressChanged(
        TelegramAddress(chat_id=moved.chat_id, topic_id=telegram_address.topic_id).as_text
    )


async def register_commands(api: BotApi) -> None:
    """Register our commands unless they are; best effort, since they work without it."""
    with suppress(PlatformUnavailable, PlatformRejected, TimeoutError):
        async with asyncio.timeout(REGISTER_TIMEOUT_S):
            await update_commands(api)


async def update_commands(api: BotApi) -> None:
    """Register our commands unless they are. Raises PlatformUnavailable, PlatformRejected."""
    last = OFFLINE_LANGUAGES[-1]
    wanted = {True: GROUP_COMMANDS, False: PRIVATE_COMMANDS}
    for is_group, commands in wanted.items():
        known = await api.get_commands(last, in_groups=is_group)
        if known != list_command_descriptions(last, commands):
            break
    else:
        return  # the last ones written are there, so all are
    for language in OFFLINE_LANGUAGES:
        await api.set_commands(
            list_command_descriptions(language, PRIVATE_COMMANDS), language, in_groups=False
        )
        await api.set_commands(
            list_command_descriptions(language, GROUP_COMMANDS), language, in_groups=True
        )


def list_command_descriptions(language: str, commands: tuple[str, ...]) -> Mapping[str, str]:
    """Return the description of each command in a language."""
    does = CommandMenu.load(language).does
    return {each: does[each] for each in commands}


MANY_PENDING_UPDATES: Final = 100


def diagnose_bot(me: BotIdentity, webhook: WebhookStatus, *, wanted_url: str) -> BotDiagnosis:
    """Return the bot's name, and what is wrong with its webhook; no wanted URL: it is polled."""
    name = f"@{me.username}"
    known = localizable(
        "channel_known", f"Telegram knows the bot as {name}.", title="Telegram", name=name
    )
    return BotDiagnosis(
        findings=(
            BotFinding(text=known, is_problem=False),
            *list_webhook_problems(webhook, wanted_url),
        ),
        format_group_hint=None if me.can_read_all_messages else format_group_hint,
    )


def format_group_hint(names: str) -> LocalizedText:
    """Say what to do so that the bot hears all in some groups."""
    return localizable(
        "bot_hears_little",
        f"Telegram: of {names} it only receives what is said to it. To let it receive everything, "
        "write /setprivacy to @BotFather, choose Disable, and add the bot to the group again.",
        names=names,
    )


def list_webhook_problems(webhook: WebhookStatus, wanted_url: str) -> list[BotFinding]:
    """List what is wrong with the webhook that Telegram calls, and with its deliveries."""
    problems = []
    if webhook.url != wanted_url:
        whom = f"calls {webhook.url}" if webhook.url else "calls nobody"
        how = (
            f"is to call {wanted_url}"
            if wanted_url
            else "is to be asked (no telegram.webhook is set)"
        )
        problems.append(
            localizable(
                "bot_calls_otherwise",
                f"Telegram {whom}, but {how}. `oldfriend serve` changes that when it starts; if "
                "it is already running, another program uses this bot.",
                whom=whom,
                how=how,
            )
        )
    if webhook.last_error and webhook.url:
        problems.append(
            localizable(
                "bot_not_delivered",
                f"Telegram could not deliver to {webhook.url} last time: {webhook.last_error}",
                address=webhook.url,
                error=webhook.last_error,
            )
        )
    if webhook.pending_count >= MANY_PENDING_UPDATES:
        problems.append(
            localizable(
                "bot_holds",
                f"Telegram holds {webhook.pending_count:,} updates that have not been fetched. Is "
                "Oldfriend running?",
                count=webhook.pending_count,
            )
        )
    return [BotFinding(text=each, is_problem=True) for each in problems]
