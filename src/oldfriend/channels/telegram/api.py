"""How is the Bot API asked? One method for each thing that we want; its errors become ours.

Knows addresses and texts. What they mean, and who may say them, it does not know.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self
from weakref import WeakValueDictionary

from telegram import (
    Bot,
    BotCommand,
    BotCommandScopeAllGroupChats,
    BotCommandScopeAllPrivateChats,
    Message,
)
from telegram.error import BadRequest, EndPointNotFound, InvalidToken

from oldfriend.channels.telegram.begun import Begun
from oldfriend.channels.telegram.calling import CALL_S, Calls
from oldfriend.channels.telegram.line import Answer
from oldfriend.channels.telegram.refusals import as_undeliverable, hearing, sending
from oldfriend.channels.telegram.rendering import render
from oldfriend.channels.telegram.taken import Taken
from oldfriend.domain.errors import InvalidInput, NotDelivered, NotFound
from oldfriend.domain.json import JsonValue
from oldfriend.prompts.phrasebook import SPOKEN

OFFICIAL: Final = "https://api.telegram.org"
LONGEST_BEGUN_S: Final = CALL_S + 1.0
"""So long who has begun to send something is waited for: no call takes longer, unless its process
does not go on."""
HEARD: Final = (
    "message", "edited_message", "channel_post", "callback_query", "message_reaction",
    "my_chat_member",
)  # fmt: skip
"""What we want to hear of."""
SCOPES: Final = (BotCommandScopeAllPrivateChats(), BotCommandScopeAllGroupChats())
UNREADABLE_MARKUP: Final = "can't parse entities"
UNCHANGED: Final = "message is not modified"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a message goes: a chat, and a topic in it."""

    chat: int
    topic: int | None = None

    @property
    def written(self) -> str:
        """As chats are known in the log: "-100" or "-100/7"."""
        return str(self.chat) if self.topic is None else f"{self.chat}/{self.topic}"


def address_from(text: str) -> Address:
    """The same again. Raises InvalidInput."""
    chat, _, topic = text.partition("/")
    try:
        return Address(chat=int(chat), topic=int(topic) if topic else None)
    except ValueError as error:
        raise InvalidInput(f"{text!r} is no address on Telegram.") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Me:
    """The bot, as Telegram knows it."""

    id: int
    name: str
    username: str  # in lower case
    hears_all: bool = False  # also what is said in groups, and not to it


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where Telegram sends what happens; nowhere: it is asked for it."""

    url: str
    waiting: int  # updates that nobody has taken yet
    error: str  # of the last time that it was not taken


class Api:
    """A bot's connection to Telegram; open it with ``async with``."""

    def __init__(
        self, token: str, *, base_url: str = OFFICIAL, folder: Path | None = None
    ) -> None:  # fmt: skip
        """Ask nothing yet. ``folder``: where it is noted what was taken."""
        self._taken = Taken(folder)
        self._begun = Begun(folder, patience_s=LONGEST_BEGUN_S)
        self._sending: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._calls = Calls(base_url, note=self._note)
        self._bot = Bot(
            token, base_url=f"{base_url}/bot", base_file_url=f"{base_url}/file/bot",
            request=self._calls, get_updates_request=self._calls,
        )  # fmt: skip

    async def __aenter__(self) -> Self:
        """Be ready to ask."""
        await self._bot.request.initialize()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Close all connections."""
        await self.close()

    async def close(self) -> None:
        """Close all connections; where none was opened, nothing happens."""
        await self._bot.request.shutdown()
        self._taken.close()
        self._begun.close()

    async def me(self) -> Me:
        """Who the bot is. Raises PlatformUnavailable, PlatformRefused."""
        with hearing():
            user = await self._bot.get_me()
        return Me(
            id=user.id, name=user.first_name, username=(user.username or "").lower(),
            hears_all=user.can_read_all_group_messages is True,
        )  # fmt: skip

    async def updates(self, *, offset: int, wait_s: int) -> Sequence[JsonValue]:
        """What has happened from an offset on, as it was sent; all before it is confirmed.

        Raises PlatformUnavailable, PlatformRefused.
        """
        asked = {"offset": offset, "timeout": wait_s, "allowed_updates": [*HEARD]}
        with hearing():
            # By this name the library leaves the answer as it is: each update is read by itself.
            found = await self._bot.do_api_request(
                "getupdates", api_kwargs=asked, read_timeout=wait_s + CALL_S
            )
        return found if isinstance(found, list) else ()

    async def set_webhook(self, url: str, *, secret: str) -> None:
        """Have updates sent to an address, one after the other, which keeps their order.

        Raises PlatformUnavailable, PlatformRefused.
        """
        with hearing():
            await self._bot.set_webhook(
                url, secret_token=secret, allowed_updates=[*HEARD], max_connections=1
            )

    async def webhook(self) -> Webhook:
        """Where updates are sent, and how that goes. Raises PlatformUnavailable, …Refused."""
        with hearing():
            found = await self._bot.get_webhook_info()
        return Webhook(
            url=found.url, waiting=found.pending_update_count,
            error=found.last_error_message or "",
        )  # fmt: skip

    async def remove_webhook(self) -> None:
        """Have updates kept until they are asked for. Raises PlatformUnavailable, …Refused."""
        with hearing():
            await self._bot.delete_webhook()

    async def commands(self, language: str, *, in_groups: bool) -> Mapping[str, str]:
        """Which commands are offered. Raises PlatformUnavailable, PlatformRefused."""
        with hearing():
            found = await self._bot.get_my_commands(SCOPES[in_groups], code_of(language))
        return {each.command: each.description for each in found}

    async def offer(
        self, commands: Mapping[str, str], language: str, *, in_groups: bool
    ) -> None:  # fmt: skip
        """Have commands offered, in groups or elsewhere. Raises PlatformUnavailable, …Refused."""
        told = [BotCommand(name, meaning) for name, meaning in commands.items()]
        with hearing():
            await self._bot.set_my_commands(told, SCOPES[in_groups], code_of(language))

    async def send(self, address: Address, markdown: str, *, key: str) -> int:
        """Send a text; its number in the chat. As plain words where Telegram cannot read its marks.

        What was taken with this key before is not sent again; whoever sends the same meanwhile,
        having lost what they held, is waited for. Raises NotDelivered, Undeliverable, Moved.
        """
        async with self._alone(key):
            number = self._taken.find(key)
            return await self._send_anew(address, markdown, key) if number is None else number

    @asynccontextmanager
    async def _alone(self, key: str) -> AsyncIterator[None]:
        """Nobody else of this machine sends something, until the call that does has ended."""
        async with self._sending.setdefault(key, asyncio.Lock()):
            await self._begun.hold(key)
            try:
                yield
            finally:
                self._calls.when_over(key, partial(self._begun.let_go, key))

    async def _send_anew(self, address: Address, markdown: str, key: str) -> int:
        rendered = render(markdown)
        try:
            return await self._send(address, rendered.html, "HTML", key)
        except BadRequest as error:
            if UNREADABLE_MARKUP not in str(error).lower():
                raise as_undeliverable(error) from error
        with sending():
            return await self._send(address, rendered.visible, None, key)

    def find_taken(self, key: str) -> int | None:
        """The number of a message that was taken with a key; None: none was, as far as is known."""
        return self._taken.find(key)

    async def _send(self, address: Address, text: str, mode: str | None, key: str) -> int:
        asked = {
            "chat_id": address.chat, "text": text, "parse_mode": mode,
            "message_thread_id": address.topic, **self._calls.marks(key),
        }  # fmt: skip
        with sending(but=BadRequest if mode else None):
            # By this name the library leaves the answer as it is: half of its work is not done.
            sent = await self._bot.do_api_request("sendmessage", api_kwargs=asked)
        number = number_of(sent)
        self._taken.note(key, number)  # for calls that cannot be marked
        return number

    def _note(self, key: str, answer: Answer) -> None:
        """Note the number of a message that Telegram has just taken."""
        if (number := number_in(answer)) is not None:
            self._taken.note(key, number)

    async def edit(self, address: Address, number: int, markdown: str) -> None:
        """Have a message read otherwise; nothing where it does already.

        Raises NotDelivered, Undeliverable, Moved.
        """
        rendered = render(markdown)
        for text, mode in ((rendered.html, "HTML"), (rendered.visible, None)):
            try:
                with sending(but=BadRequest):
                    await self._bot.edit_message_text(
                        text, chat_id=address.chat, message_id=number, parse_mode=mode
                    )
            except BadRequest as error:
                if UNCHANGED in str(error).lower():
                    return
                if UNREADABLE_MARKUP not in str(error).lower() or mode is None:
                    raise as_undeliverable(error) from error
            else:
                return

    async def draft(self, address: Address, draft: int, markdown: str) -> bool:
        """Show what is being written, in a private chat; False where Telegram offers no drafts.

        Raises NotDelivered, Undeliverable, Moved.
        """
        try:
            with sending(but=(BadRequest, InvalidToken, EndPointNotFound)):
                return await self._bot.send_message_draft(
                    address.chat, draft, render(markdown).html, parse_mode="HTML",
                    message_thread_id=address.topic,
                )  # fmt: skip
        except (BadRequest, InvalidToken, EndPointNotFound):
            return False

    async def show_doing(self, address: Address, action: str) -> None:
        """Show that something is being done, such as "typing". Raises as ``send``."""
        with sending():
            await self._bot.send_chat_action(
                address.chat, action, message_thread_id=address.topic
            )  # fmt: skip

    async def acknowledge(self, query: str) -> None:
        """Tell Telegram that a button was heard; too late is as good. Raises NotDelivered."""
        try:
            with sending(but=BadRequest):
                await self._bot.answer_callback_query(query)
        except BadRequest:
            return

    async def send_spoken(
        self, address: Address, audio: bytes, *, is_opus: bool, title: str, key: str
    ) -> int:
        """Send speech, as a voice note where it is Opus; its number. Raises as ``send``."""
        async with self._alone(key):
            if (number := self._taken.find(key)) is not None:
                return number
            with sending():
                sent: Message = await (
                    self._bot.send_voice(address.chat, audio, message_thread_id=address.topic)
                    if is_opus
                    else self._bot.send_audio(
                        address.chat, audio, title=title, message_thread_id=address.topic
                    )
                )
            self._taken.note(key, sent.message_id)
            return sent.message_id

    async def fetch(self, file: str) -> bytes:
        """What a file holds. Raises NotDelivered where it may be had later, NotFound else."""
        try:
            with sending(but=BadRequest):
                found = await self._bot.get_file(file)
                return bytes(await found.download_as_bytearray())
        except BadRequest as error:
            raise NotFound(f"Telegram does not give this file out: {error}") from error


def code_of(language: str) -> str | None:
    """A language, as Telegram takes it; None: whoever has one for which nothing else is there."""
    return None if language == SPOKEN[0] else language


def number_in(answer: Answer) -> int | None:
    """The number of the message that was taken; None: none was."""
    with suppress(ValueError, RecursionError, NotDelivered):
        match json.loads(answer.body):
            case {"ok": True, "result": taken}:
                return number_of(taken)
    return None


def number_of(taken: object) -> int:
    """The number of a message that Telegram tells of. Raises NotDelivered for anything else."""
    match taken:
        case {"message_id": int(number)}:
            return number
    raise NotDelivered("Telegram's answer tells of no message.")
