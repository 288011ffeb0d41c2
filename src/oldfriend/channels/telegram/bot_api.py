"""Bot API client: one method for each call we need, with its errors mapped to ours.

It handles addresses and texts; their meaning and permissions are handled elsewhere.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from weakref import WeakValueDictionary

import httpx
from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    InlineKeyboardButton,
    InlineKeyboardMarkup,
    Message,
)
from telegram.error import BadRequest, EndPointNotFound, InvalidToken, TelegramError, TimedOut

from oldfriend.channels.marked_text import MarkedText
from oldfriend.channels.telegram.api_errors import (
    MARKUP_ERROR,
    map_receive_errors,
    map_send_errors,
    to_undeliverable,
)
from oldfriend.channels.telegram.http_client import CALL_TIMEOUT_S, TelegramHttpClient
from oldfriend.channels.telegram.http_connection import HttpResponse
from oldfriend.channels.telegram.message_editor import MessageEditor
from oldfriend.channels.telegram.sent_log import SendLocks, SentLog
from oldfriend.channels.telegram.telegram_settings import OFFICIAL_URL
from oldfriend.domain.buttons import Button
from oldfriend.domain.errors import DeliveryFailed, DeliveryUncertain, InvalidInput, NotFound
from oldfriend.domain.json import JsonValue
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES

SEND_LOCK_TIMEOUT_S: Final = CALL_TIMEOUT_S + 1.0
"""How long to wait for another process that is sending the same message: no call takes longer,
unless its process is stopped.
"""
ALLOWED_UPDATES: Final = (
    "message",
    "edited_message",
    "channel_post",
    "callback_query",
    "message_reaction",
    "my_chat_member",
)
"""The kinds of updates that we ask for."""
COMMAND_SCOPES: Final = (BotCommandScopeAllPrivateChats(), BotCommandScopeAllGroupChats())
CONNECTION_LOST_ERRORS: Final = (httpx.ReadError, httpx.WriteError, httpx.RemoteProtocolError)
"""How the library's own client fails if a connection is lost after the call was sent."""
UNKNOWN_OUTCOMES: Final = frozenset({HTTPStatus.OK, HTTPStatus.GATEWAY_TIMEOUT})
"""Answers without a message id after which the message may be shown all the same."""
MAX_SEND_ATTEMPTS: Final = 2
"""How often a message is sent at most while no answer tells whether it arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramAddress:
    """The destination of a message: a chat, and a topic in it."""

    chat_id: int
    topic_id: int | None = None

    @property
    def as_text(self) -> str:
        """Return the address as the log has it: "-100" or "-100/7"."""
        return str(self.chat_id) if self.topic_id is None else f"{self.chat_id}/{self.topic_id}"


def parse_address(text: str) -> TelegramAddress:
    """Parse an address such as "-100" or "-100/7". Raises InvalidInput."""
    chat, _, topic = text.partition("/")
    try:
        return TelegramAddress(chat_id=int(chat), topic_id=int(topic) if topic else None)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is not an address on Telegram.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class BotIdentity:
    """The bot, as Telegram knows it."""

    id: int
    name: str
    username: str  # in lower case
    can_read_all_messages: bool = False  # also in groups, where it is not addressed


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookStatus:
    """Where Telegram sends updates; an empty URL: they are polled."""

    url: str
    pending_count: int  # updates not accepted yet
    last_error: str  # of the last failed delivery


class BotApi:
    """A bot's connection to Telegram; open it with ``async with``."""

    def __init__(
        self, token: str, *, base_url: str = OFFICIAL_URL, folder: Path | None = None
    ) -> None:
        """Create the client without connecting.

        ``folder``: where accepted messages are recorded.
        """
        self._sent_log = SentLog(folder)
        self._send_locks = SendLocks(folder, timeout_s=SEND_LOCK_TIMEOUT_S)
        self._local_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._client = TelegramHttpClient(
            base_url,
            on_sent=self._sent_log.record_attempt,
            on_response=self._record_answer,
            on_unsent=self._sent_log.record_refused,
        )
        self._bot = Bot(
            token,
            base_url=f"{base_url}/bot",
            base_file_url=f"{base_url}/file/bot",
            request=self._client,
            get_updates_request=self._client,
        )

        self._editor = MessageEditor(self._bot, self._client)

    async def __aenter__(self) -> Self:
        """Open the client."""
        await self._bot.request.initialize()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close all connections."""
        await self.close()

    async def close(self) -> None:
        """Close all connections; does nothing if none was opened."""
        await self._bot.request.shutdown()
        self._sent_log.close()
        self._send_locks.close()

    async def get_me(self) -> BotIdentity:
        """Return the bot's identity. Raises PlatformUnavailable, PlatformRejected."""
        with map_receive_errors():
            user = await self._bot.get_me()
        return BotIdentity(
            id=user.id,
            name=user.first_name,
            username=(user.username or "").lower(),
            can_read_all_messages=user.can_read_all_group_messages is True,
        )

    async def get_updates(self, *, offset: int, wait_s: int) -> Sequence[JsonValue]:
        """Return the raw updates from an offset on; this confirms all earlier ones.

        Raises PlatformUnavailable, PlatformRejected.
        """
        parameters = {"offset": offset, "timeout": wait_s, "allowed_updates": [*ALLOWED_UPDATES]}
        with map_receive_errors():
            # Under this name the library does not parse the answer: we parse each update alone.
            found = await self._bot.do_api_request(
                "getupdates", api_kwargs=parameters, read_timeout=wait_s + CALL_TIMEOUT_S
            )
        return found if isinstance(found, list) else ()

    async def set_webhook(self, url: str, *, secret: str) -> None:
        """Have updates sent to a URL, one at a time, which keeps their order.

        Raises PlatformUnavailable, PlatformRejected.
        """
        with map_receive_errors():
            await self._bot.set_webhook(
                url, secret_token=secret, allowed_updates=[*ALLOWED_UPDATES], max_connections=1
            )

    async def get_webhook(self) -> WebhookStatus:
        """Return the webhook's status. Raises PlatformUnavailable, PlatformRejected."""
        with map_receive_errors():
            found = await self._bot.get_webhook_info()
        return WebhookStatus(
            url=found.url,
            pending_count=found.pending_update_count,
            last_error=found.last_error_message or "",
        )

    async def remove_webhook(self) -> None:
        """Have updates kept for polling. Raises PlatformUnavailable, PlatformRejected."""
        with map_receive_errors():
            await self._bot.delete_webhook()

    async def get_commands(self, language: str, *, in_groups: bool) -> Mapping[str, str]:
        """Return the offered commands. Raises PlatformUnavailable, PlatformRejected."""
        with map_receive_errors():
            found = await self._bot.get_my_commands(
                COMMAND_SCOPES[in_groups], to_language_code(language)
            )
        return {each.command: each.description for each in found}

    async def set_commands(
        self, commands: Mapping[str, str], language: str, *, in_groups: bool
    ) -> None:
        """Set the commands offered in groups or private chats.

        Raises PlatformUnavailable, PlatformRejected.
        """
        bot_commands = [BotCommand(name, meaning) for name, meaning in commands.items()]
        with map_receive_errors():
            await self._bot.set_my_commands(
                bot_commands, COMMAND_SCOPES[in_groups], to_language_code(language)
            )

    async def send_message(
        self,
        telegram_address: TelegramAddress,
        marked_text: MarkedText,
        *,
        key: str,
        max_attempts: int = MAX_SEND_ATTEMPTS,
        preview_send_key: str | None = None,
        buttons: Sequence[Button] = (),
    ) -> int:
        """Send a text and return its message id; as plain text if Telegram cannot parse its markup.

        A message that was accepted with this key before is not sent again, and another process that
        is sending it is waited for. Raises DeliveryFailed, Undeliverable, GroupMigrated;
        DeliveryUncertain if it was sent ``max_attempts`` times without an answer. A preview
        sent with ``preview_send_key`` and not answered counts as one attempt: it shows the same.
        """
        async with self._exclusive(key):
            if (number := self._sent_log.find_message_id(key)) is not None:
                return number
            self._check_attempts(key, max_attempts - self._count_preview_attempts(preview_send_key))
            number = await self._send_new(
                telegram_address, marked_text, key, build_keyboard(buttons)
            )
            # No other process has edited it.
            self._editor.mark_known(build_edit_key(telegram_address, number))
            return number

    def _count_preview_attempts(self, preview_send_key: str | None) -> int:
        """Return 1 if a preview was sent with this key and never answered, else 0."""
        return (
            0
            if preview_send_key is None
            else min(self._sent_log.count_unanswered(preview_send_key), 1)
        )

    def _check_attempts(self, key: str, max_attempts: int) -> None:
        """Raise DeliveryUncertain if a message was sent too often without an answer."""
        if self._sent_log.count_unanswered(key) >= max_attempts:
            raise DeliveryUncertain(
                "It was sent twice without an answer from Telegram, so it may have arrived. Send "
                "it again only if it is not: oldfriend jobs retry"
            )

    def allow_resend(self, key: str) -> None:
        """Allow another attempt for a message that was sent too often, at somebody's request."""
        for _ in range(self._sent_log.count_unanswered(key)):
            self._sent_log.record_refused(key)

    @asynccontextmanager
    async def _exclusive(self, key: str) -> AsyncIterator[None]:
        """Keep others on this machine from sending with this key until the call has ended."""
        async with self._local_locks.setdefault(key, asyncio.Lock()):
            await self._send_locks.acquire(key)
            try:
                yield
            finally:
                self._client.on_done(key, partial(self._send_locks.release, key))

    async def _send_new(
        self,
        telegram_address: TelegramAddress,
        marked_text: MarkedText,
        key: str,
        keyboard: InlineKeyboardMarkup | None,
    ) -> int:
        try:
            return await self._send_once(telegram_address, marked_text.text, "HTML", key, keyboard)
        except BadRequest as error:
            if MARKUP_ERROR not in str(error).lower():
                raise to_undeliverable(error) from error
        with map_send_errors():
            return await self._send_once(telegram_address, marked_text.visible, None, key, keyboard)

    def find_sent_message_id(self, key: str) -> int | None:
        """Return the id of a message accepted with a key; None: none is known."""
        return self._sent_log.find_message_id(key)

    async def _send_once(
        self,
        telegram_address: TelegramAddress,
        text: str,
        mode: str | None,
        key: str,
        keyboard: InlineKeyboardMarkup | None,
    ) -> int:
        parameters = {
            "chat_id": telegram_address.chat_id,
            "text": text,
            "parse_mode": mode,
            "message_thread_id": telegram_address.topic_id,
            "reply_markup": keyboard,
            **self._client.build_key_field(key),
        }
        attempt = nullcontext() if self._client.build_key_field(key) else self._record_attempt(key)
        with map_send_errors(passthrough=BadRequest if mode else None), attempt:
            # Under this name the library does not parse the answer, which halves its work.
            sent = await self._bot.do_api_request("sendmessage", api_kwargs=parameters)
        number = parse_message_id(sent)
        self._sent_log.record_sent(key, number)  # for calls that bear no key field
        return number

    @contextmanager
    def _record_attempt(self, key: str) -> Iterator[None]:
        """Record an attempt of a call that bears no key field, and its refusal."""
        self._sent_log.record_attempt(key)
        try:
            yield
        except TelegramError as error:
            if not isinstance(error, TimedOut) and not isinstance(
                error.__cause__, CONNECTION_LOST_ERRORS
            ):
                self._sent_log.record_refused(key)  # else the outcome is unknown
            raise

    def _record_answer(self, key: str, response: HttpResponse) -> None:
        """Record the id of a message that Telegram accepted, or that it accepted none.

        Where a gateway gave up waiting, or an accepting answer cannot be read, neither is known.
        """
        if (number := find_message_id(response)) is not None:
            self._sent_log.record_sent(key, number)
        elif response.status not in UNKNOWN_OUTCOMES:
            self._sent_log.record_refused(key)

    async def edit_message(
        self,
        telegram_address: TelegramAddress,
        message_id: int,
        marked_text: MarkedText,
        *,
        is_last: bool = False,
        buttons: Sequence[Button] = (),
    ) -> None:
        """Replace the text and the buttons of a message; does nothing if it is so already.

        Edits of one message are made in order, and none overtakes the last one. Raises
        DeliveryFailed, Undeliverable, GroupMigrated.
        """
        key = build_edit_key(telegram_address, message_id)
        async with self._exclusive(key):
            await self._editor.edit(
                telegram_address.chat_id,
                message_id,
                marked_text,
                key=key,
                is_last=is_last,
                keyboard=build_keyboard(buttons),
            )

    async def remove_buttons(self, telegram_address: TelegramAddress, message_id: int) -> None:
        """Take the buttons away below a message; does nothing if it has none, or is gone.

        Raises DeliveryFailed, Undeliverable, GroupMigrated.
        """
        with suppress(BadRequest), map_send_errors(passthrough=BadRequest):
            await self._bot.edit_message_reply_markup(
                chat_id=telegram_address.chat_id, message_id=message_id, reply_markup=None
            )

    async def send_draft(
        self, telegram_address: TelegramAddress, draft_id: int, marked_text: MarkedText
    ) -> bool:
        """Show a draft in a private chat; False if Telegram offers no drafts.

        Raises DeliveryFailed, Undeliverable, GroupMigrated.
        """
        try:
            with map_send_errors(passthrough=(BadRequest, InvalidToken, EndPointNotFound)):
                return await self._bot.send_message_draft(
                    telegram_address.chat_id,
                    draft_id,
                    marked_text.text,
                    parse_mode="HTML",
                    message_thread_id=telegram_address.topic_id,
                )
        except (BadRequest, InvalidToken, EndPointNotFound):
            return False

    async def send_chat_action(self, telegram_address: TelegramAddress, action: str) -> None:
        """Show an activity such as "typing".

        Raises DeliveryFailed, Undeliverable, GroupMigrated.
        """
        with map_send_errors():
            await self._bot.send_chat_action(
                telegram_address.chat_id, action, message_thread_id=telegram_address.topic_id
            )

    async def answer_callback_query(self, query_id: str, text: str = "") -> None:
        """Acknowledge a button press, with a line for the one who pressed.

        One that is too old is ignored. Raises DeliveryFailed.
        """
        try:
            with map_send_errors(passthrough=BadRequest):
                await self._bot.answer_callback_query(query_id, text=text or None)
        except BadRequest:
            return

    async def send_voice(
        self,
        telegram_address: TelegramAddress,
        audio: bytes,
        *,
        is_opus: bool,
        title: str,
        key: str,
    ) -> int:
        """Send speech, as a voice note if it is Opus, and return its message id.

        Raises DeliveryFailed, Undeliverable, GroupMigrated, DeliveryUncertain.
        """
        async with self._exclusive(key):
            if (number := self._sent_log.find_message_id(key)) is not None:
                return number
            self._check_attempts(key, MAX_SEND_ATTEMPTS)
            with map_send_errors(), self._record_attempt(key):
                sent: Message = await (
                    self._bot.send_voice(
                        telegram_address.chat_id, audio, message_thread_id=telegram_address.topic_id
                    )
                    if is_opus
                    else self._bot.send_audio(
                        telegram_address.chat_id,
                        audio,
                        title=title,
                        message_thread_id=telegram_address.topic_id,
                    )
                )
            self._sent_log.record_sent(key, sent.message_id)
            return sent.message_id

    async def download_file(self, file_id: str) -> bytes:
        """Return a file's content. Raises DeliveryFailed if a retry may help, else NotFound."""
        try:
            with map_send_errors(passthrough=BadRequest):
                found = await self._bot.get_file(file_id)
                return bytes(await found.download_as_bytearray())
        except BadRequest as error:
            raise NotFound(f"Telegram does not provide this file: {error}") from error


def build_keyboard(buttons: Sequence[Button]) -> InlineKeyboardMarkup | None:
    """Return buttons as Telegram takes them, in a row; None if there are none."""
    row = [InlineKeyboardButton(each.label, callback_data=each.command) for each in buttons]
    return InlineKeyboardMarkup([row]) if row else None


def build_edit_key(telegram_address: TelegramAddress, message_id: int) -> str:
    """Return the key under which the edits of a message are ordered."""
    return f"{telegram_address.as_text} {message_id} edit"


def to_language_code(language: str) -> str | None:
    """Return a language code for Telegram; None: the default for all other languages."""
    return None if language == OFFLINE_LANGUAGES[0] else language


def find_message_id(response: HttpResponse) -> int | None:
    """Return the id of the accepted message; None: none was accepted."""
    with suppress(ValueError, RecursionError, DeliveryFailed):
        match json.loads(response.body):
            case {"ok": True, "result": result}:
                return parse_message_id(result)
    return None


def parse_message_id(result: object) -> int:
    """Return the message id in a result of Telegram. Raises DeliveryFailed."""
    match result:
        case {"message_id": int(number)}:
            return number
    raise DeliveryFailed("Telegram's answer tells of no message.")
