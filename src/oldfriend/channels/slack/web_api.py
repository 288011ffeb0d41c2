"""Web API client: one method for each call to Slack that we need, with its errors."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient

from oldfriend.channels.bounded_map import BoundedMap
from oldfriend.channels.json_fields import (
    JsonFields,
    find_fields,
    find_text,
    get_json_object,
    get_text,
    list_json_objects,
)
from oldfriend.channels.slack.slack_errors import (
    TEMPORARY,
    TOKEN_REFUSED,
    SlackRefusal,
    SlackUnreachable,
    TooManyPages,
    check_answer,
    to_call_error,
)
from oldfriend.domain.errors import NotFound
from oldfriend.domain.json import JsonValue

CALL_TIMEOUT_S: Final = 30.0
PAGE_SIZE: Final = 200
MAX_PAGES: Final = 50
MAX_READ_RETRIES: Final = 5
MAX_FILE_BYTES: Final = 25 * 1024 * 1024
SLACK_HOST: Final = "slack.com"
CONVERSATION_TYPES: Final = ("im", "mpim", "public_channel", "private_channel")


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackIdentity:
    """The bot as Slack knows it."""

    user_id: str
    bot_id: str
    name: str
    team: str
    team_id: str  # "" if Slack does not say
    scopes: frozenset[str]  # what it may do; empty: Slack does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackUser:
    """Somebody in a workspace."""

    name: str
    language: str | None = None
    is_bot: bool = False


Kept = TypeVar("Kept")


class RecentlyKnown(BoundedMap[str, tuple[float, Kept]]):
    """What was looked up lately, for an hour."""

    TTL_S: Final = 3_600.0
    MAX_KEYS: Final = 2_000

    def __init__(self) -> None:
        """Start empty."""
        super().__init__(self.MAX_KEYS)

    def find(self, key: str) -> Kept | None:
        """Return what was looked up for a key lately."""
        at, value = self.get(key, (0.0, None))
        return value if time.monotonic() - at < self.TTL_S else None

    def keep(self, key: str, value: Kept) -> Kept:
        """Keep what was looked up for a key."""
        self[key] = (time.monotonic(), value)
        return value


Ask: TypeAlias = Callable[..., Awaitable[JsonFields]]
"""A way to call a method that reads."""


class SlackApi:
    """Calls of the Web API; none that writes is ever repeated by itself."""

    def __init__(self, bot_token: str, app_token: str, *, base_url: str) -> None:
        """Create the client without connecting."""
        self._bot_token, self._app_token = bot_token, app_token
        self._base_url = base_url
        self._session: aiohttp.ClientSession | None = None
        self._users = RecentlyKnown[SlackUser]()
        self._titles = RecentlyKnown[str]()
        self._directs = RecentlyKnown[str]()
        self._parents = RecentlyKnown[JsonFields]()
        # Of its own, so that no level set elsewhere makes it log what is said.
        self._logger = logging.Logger("slack", level=logging.ERROR)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        """Return the connections, opened when they are first needed."""
        if self._session is None or self._session.closed:
            timeout = aiohttp.ClientTimeout(total=CALL_TIMEOUT_S)
            self._session = aiohttp.ClientSession(timeout=timeout, trust_env=True)
        return self._session

    async def ask(self, method: str, **parameters: str | int | bool | None) -> JsonFields:
        """Call a method that reads. Raises SlackRefusal, SlackUnreachable."""
        return (await self._call(method, params=parameters))[0]

    async def _ask_patiently(
        self, method: str, **parameters: str | int | bool | None
    ) -> JsonFields:
        """Call a method that reads, again a few times where that fails or is to wait.

        One failure must not end all listening. Raises SlackRefusal, SlackUnreachable.
        """
        for tries in range(MAX_READ_RETRIES):
            pause_s = 2.0 ** (tries - 2)
            try:
                return await self.ask(method, **parameters)
            except SlackUnreachable as error:
                pause_s = pause_s if error.retry_after_s is None else error.retry_after_s
            except SlackRefusal as refusal:
                if refusal.code not in TEMPORARY:
                    raise
            await asyncio.sleep(pause_s)
        return await self.ask(method, **parameters)

    async def tell(self, method: str, **fields: JsonValue) -> JsonFields:
        """Call a method that writes. Raises SlackRefusal, SlackUnreachable."""
        given: dict[str, JsonValue] = {
            name: value for name, value in fields.items() if value is not None
        }
        return (await self._call(method, json=given))[0]

    async def _call(
        self,
        method: str,
        *,
        params: dict[str, str | int | bool | None] | None = None,
        json: dict[str, JsonValue] | None = None,
        token: str | None = None,
    ) -> tuple[JsonFields, Mapping[str, str]]:
        """Return the answer to a call and its headers."""
        client = AsyncWebClient(
            token or self._bot_token,
            base_url=self._base_url,
            session=self.session,
            logger=self._logger,
            retry_handlers=[],  # the SDK would post twice what lost its answer
        )
        try:
            answer = await client.api_call(
                method, http_verb="POST" if params is None else "GET", params=params, json=json
            )
        except SlackApiError as error:
            raise to_call_error(error.response) from None
        except aiohttp.ClientConnectorError as error:
            raise SlackUnreachable(type(error).__name__, is_unsent=True) from None
        except (
            aiohttp.ClientError,
            SlackClientError,
            TimeoutError,
            OSError,
            AttributeError,  # what the SDK raises for an answer that is no object
            ValueError,
        ) as error:
            raise SlackUnreachable(type(error).__name__) from None
        assert isinstance(answer.data, dict)
        return answer.data, answer.headers

    async def get_identity(self) -> SlackIdentity:
        """Ask who the bot is. Raises SlackRefusal, SlackUnreachable."""
        found, headers = await self._call("auth.test", json={})
        scopes = headers.get("x-oauth-scopes", "")
        with check_answer():
            return SlackIdentity(
                user_id=get_text(found, "user_id"),
                bot_id=find_text(found, "bot_id"),
                name=find_text(found, "user") or get_text(found, "user_id"),
                team=find_text(found, "team"),
                team_id=find_text(found, "team_id"),
                scopes=frozenset(filter(None, (each.strip() for each in scopes.split(",")))),
            )

    async def open_connection(self) -> str:
        """Return the address of a socket, which holds a ticket.

        Raises SlackRefusal, SlackUnreachable.
        """
        found, _ = await self._call("apps.connections.open", json={}, token=self._app_token)
        with check_answer():
            return get_text(found, "url")

    async def find_user(self, user_id: str) -> SlackUser:
        """Return somebody; by their id if Slack says no more."""
        if (known := self._users.find(user_id)) is not None:
            return known
        try:
            found = await self.ask("users.info", user=user_id, include_locale=True)
        except SlackUnreachable:  # asked too often, say: no reason to hear nobody
            return SlackUser(name=user_id)
        except SlackRefusal as refusal:
            unknown = SlackUser(name=user_id)
            return unknown if refusal.code in TEMPORARY else self._users.keep(user_id, unknown)
        user = find_fields(found, "user")
        profile = find_fields(user, "profile")
        name = find_text(profile, "display_name") or find_text(user, "real_name")
        return self._users.keep(
            user_id,
            SlackUser(
                name=name or find_text(user, "name") or user_id,
                language=find_text(user, "locale").partition("-")[0].lower() or None,
                is_bot=user.get("is_bot") is True,
            ),
        )

    async def find_title(self, channel: str) -> str:
        """Return the name of a conversation, or ""."""
        if (known := self._titles.find(channel)) is not None:
            return known
        try:
            found = await self.ask("conversations.info", channel=channel)
        except SlackUnreachable:
            return ""
        except SlackRefusal as refusal:
            return "" if refusal.code in TEMPORARY else self._titles.keep(channel, "")
        conversation = find_fields(found, "channel")
        return self._titles.keep(channel, find_text(conversation, "name"))

    async def find_direct(self, user_id: str, channel: str) -> str:
        """Return the conversation of the bot with somebody: the given one, if it is; "": none.

        Raises SlackRefusal, SlackUnreachable.
        """
        key = f"{user_id}/{channel}"
        if (known := self._directs.find(key)) is not None:
            return known
        found = await self._ask_if_allowed("conversations.info", channel=channel)
        if find_text(find_fields(found, "channel"), "user") == user_id:
            return self._directs.keep(key, channel)
        found = await self._ask_if_allowed("conversations.open", users=user_id)
        direct = find_text(find_fields(found, "channel"), "id")
        return self._directs.keep(key, direct) if direct else ""

    async def _ask_if_allowed(self, method: str, **parameters: str) -> JsonFields:
        """Return the answer to a call; nothing if Slack refuses it for good."""
        try:
            return await self._ask_patiently(method, **parameters)
        except SlackRefusal as refusal:
            if refusal.code in TEMPORARY | TOKEN_REFUSED:
                raise
            return {}

    async def find_parent(self, channel: str, thread: str) -> JsonFields:
        """Return the message that a thread is about, or nothing. Raises SlackUnreachable."""
        key = f"{channel}/{thread}"
        if (known := self._parents.find(key)) is not None:
            return known
        try:
            found = await self._ask_patiently(
                "conversations.replies", channel=channel, ts=thread, limit=1
            )
        except SlackRefusal:
            return {}
        parents = [each for each in list_json_objects(found, "messages") if "text" in each]
        return self._parents.keep(key, parents[0] if parents else {})

    def forget_parent(self, channel: str, thread: str) -> None:
        """Forget what was looked up of a message that was edited or deleted."""
        self._parents.pop(f"{channel}/{thread}", None)

    async def list_conversations(self) -> AsyncIterator[str]:
        """Yield the ids of the conversations that the bot is in.

        Raises SlackRefusal, SlackUnreachable.
        """
        for kind in CONVERSATION_TYPES:
            try:
                async for page in self._list_pages(
                    self._ask_patiently, "users.conversations", types=kind, exclude_archived=True
                ):
                    for each in list_json_objects(page, "channels"):
                        if channel := find_text(each, "id"):
                            yield channel
            except SlackRefusal as error:
                if error.code in TEMPORARY | TOKEN_REFUSED:
                    raise  # any other: the bot may not ask for these
            except TooManyPages:
                continue

    async def list_history(
        self, channel: str, *, oldest: str, thread: str | None = None, is_patient: bool = False
    ) -> AsyncIterator[JsonFields]:
        """Yield the messages of a conversation, or of a thread, that came after ``oldest``.

        ``is_patient``: what fails or is to wait is asked again. Raises SlackRefusal,
        SlackUnreachable.
        """
        method = "conversations.history" if thread is None else "conversations.replies"
        ask = self._ask_patiently if is_patient else self.ask
        async for page in self._list_pages(
            ask, method, channel=channel, ts=thread, oldest=oldest, include_all_metadata=True
        ):
            for each in list_json_objects(page, "messages"):
                yield each

    async def _list_pages(
        self, ask: Ask, method: str, **parameters: str | int | bool | None
    ) -> AsyncIterator[JsonFields]:
        """Yield the pages of a list; raises TooManyPages at its end if there are more."""
        cursor = None
        for _ in range(MAX_PAGES):
            page = await ask(method, limit=PAGE_SIZE, cursor=cursor, **parameters)
            yield page
            cursor = find_text(find_fields(page, "response_metadata"), "next_cursor")
            if not cursor:
                return
        raise TooManyPages

    async def upload(self, channel: str, thread: str | None, *, name: str, content: bytes) -> str:
        """Upload a file into a conversation and return its id; what fails before the end is unsent.

        Raises SlackRefusal, SlackUnreachable.
        """
        place = await self.ask("files.getUploadURLExternal", filename=name, length=len(content))
        with check_answer():
            file_id, url = get_text(place, "file_id"), get_text(place, "upload_url")
        if not self.is_trusted(url):
            raise SlackUnreachable("an upload elsewhere", is_unsent=True)
        try:
            async with self.session.post(url, data=content, allow_redirects=False) as answer:
                if answer.status != 200:
                    raise SlackUnreachable(f"HTTP {answer.status}", is_unsent=True)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SlackUnreachable(type(error).__name__, is_unsent=True) from None
        await self.tell(
            "files.completeUploadExternal",
            files=[{"id": file_id, "title": name}],
            channel_id=channel,
            thread_ts=thread,
        )
        return file_id

    async def download(self, file_id: str) -> bytes:
        """Return the content of a file. Raises NotFound, SlackRefusal, SlackUnreachable."""
        found = await self.ask("files.info", file=file_id)
        with check_answer():
            url = get_text(get_json_object(found, "file"), "url_private_download")
        if not self.is_trusted(url):
            raise NotFound("Slack names an address for this file that is not its own.")
        headers = {"Authorization": f"Bearer {self._bot_token}"}
        try:
            async with self.session.get(url, headers=headers, allow_redirects=False) as answer:
                if answer.status >= 500:
                    raise SlackUnreachable(f"HTTP {answer.status}")
                # A sign-in page comes where the bot may not read files.
                if answer.status != 200 or answer.content_type == "text/html":
                    raise NotFound("Slack does not provide this file.")
                return await read_limited(answer)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise SlackUnreachable(type(error).__name__) from None

    def is_trusted(self, url: str) -> bool:
        """Tell whether an address is Slack's, or that of the server that stands for it."""
        given, base = urlsplit(url), urlsplit(self._base_url)
        if (given.scheme, given.netloc) == (base.scheme, base.netloc):
            return True
        host = given.hostname or ""
        return given.scheme == "https" and (host == SLACK_HOST or host.endswith(f".{SLACK_HOST}"))


async def read_limited(answer: aiohttp.ClientResponse) -> bytes:
    """Read the body of an answer. Raises NotFound if it is too long."""
    content = bytearray()
    async for chunk in answer.content.iter_chunked(1 << 16):
        content += chunk
        if len(content) > MAX_FILE_BYTES:
            raise NotFound("The file is too large.")
    return bytes(content)
