"""Discord API: requests and the gateway, by the library's client, with errors mapped to ours.

Only the library's requests (with their rate limits) and its gateway are used: what Discord tells is
parsed here, so that nothing odd in it can end the connection.
"""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Final, TypeAlias

import aiohttp
import discord
import yarl
from discord.gateway import DiscordWebSocket
from discord.http import HTTPClient, Route

from oldfriend.channels.json_fields import JsonFields, find_text, get_text
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    OutcomeUnknown,
    PlatformRejected,
    PlatformUnavailable,
    Undeliverable,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue

OFFICIAL_HOST: Final = "discord.com"
GATEWAY: Final = yarl.URL("wss://gateway.discord.gg/")
MESSAGES: Final = "/channels/{channel_id}/messages"
MAX_WAIT_S: Final = 30.0
"""The longest wait for a rate limit within a request; a longer one is the outbox's."""
EVENTS: Final = (
    "READY",
    "MESSAGE_CREATE",
    "MESSAGE_UPDATE",
    "MESSAGE_DELETE",
    "MESSAGE_REACTION_ADD",
    "INTERACTION_CREATE",
)
GONE_CODES: Final = frozenset({10003, 10004, 50001, 50007, 50013, 50278})
"""Of Discord's errors: an unknown channel or server, no access, and who takes no messages."""
NETWORK_ERRORS: Final = (aiohttp.ClientError, OSError, TimeoutError)

FormPart: TypeAlias = Mapping[str, str | bytes]
TakeEvent: TypeAlias = Callable[[str, JsonValue], None]


def point_library_at(base_url: str) -> None:
    """Have the library's requests sent to an address; it knows one for all bots."""
    discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False  # nobody calls
    Route.BASE = f"{base_url}/api/v10"
    url = yarl.URL(base_url)
    own = url.with_scheme("wss" if url.scheme == "https" else "ws") / "gateway"
    DiscordWebSocket.DEFAULT_GATEWAY = GATEWAY if url.host == OFFICIAL_HOST else own


class DiscordApi:
    """A bot's requests to Discord; it logs in when the first is made."""

    def __init__(self, token: str, *, base_url: str) -> None:
        """Create without connecting."""
        self._token = token
        self._base_url = base_url
        self._http: HTTPClient | None = None
        self._lock = asyncio.Lock()
        self._me: JsonFields = {}

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.close()
            self._http = None

    async def get_me(self) -> JsonFields:
        """Return the bot's user. Raises PlatformUnavailable, PlatformRejected."""
        with map_receive_errors():
            await self._login()
        return self._me

    async def request(
        self,
        method: str,
        path: str,
        *,
        json: JsonValue = None,
        params: Mapping[str, str] | None = None,
        form: Sequence[FormPart] = (),
        **ids: str,
    ) -> JsonValue:
        """Make a request; ``{channel_id}`` and the like in the path are ``ids``.

        Raises the library's errors.
        """
        http, route = await self._login(), Route(method, path, metadata=None, **ids)
        parts = [dict(each) for each in form] or None
        found: JsonValue = await (
            http.request(route, form=parts, params=params)
            if json is None
            else http.request(route, json=json)
        )
        return found

    async def download(self, url: str) -> bytes:
        """Download a file of Discord's. Raises as discord."""
        return await (await self._login()).get_from_cdn(url)

    async def _login(self) -> HTTPClient:
        async with self._lock:
            if self._http is None:
                point_library_at(self._base_url)
                http = HTTPClient(asyncio.get_running_loop(), max_ratelimit_timeout=MAX_WAIT_S)
                try:
                    self._me = build_user(await http.static_login(self._token))
                except BaseException:
                    await http.close()
                    raise
                self._http = http
            return self._http

    async def run_gateway(self, take: TakeEvent) -> None:
        """Take events until the connection ends. Raises PlatformUnavailable, PlatformRejected."""
        point_library_at(self._base_url)
        client = GatewayClient(take)
        try:
            with map_receive_errors():
                await client.start(self._token, reconnect=False)
        except (KeyError, ValueError, TypeError, AttributeError) as error:  # the library's parsing
            raise PlatformUnavailable("Discord tells what cannot be read.") from error
        finally:
            with suppress(*NETWORK_ERRORS):
                await client.close()
        raise PlatformUnavailable("Discord has ended the connection.")


class GatewayClient(discord.Client):
    """The library's gateway, whose events are taken as they come."""

    def __init__(self, take: TakeEvent) -> None:
        """Ask for messages and reactions; none of that is privileged."""
        intents = discord.Intents.none()
        intents.guilds = intents.messages = intents.reactions = True
        super().__init__(intents=intents, max_messages=None, chunk_guilds_at_startup=False)
        parsers = self._connection.parsers
        parsers.clear()
        parsers.update({name: partial(take, name) for name in EVENTS})


@contextmanager
def map_receive_errors() -> Iterator[None]:
    """Map the library's errors to PlatformUnavailable or PlatformRejected."""
    try:
        yield
    except discord.LoginFailure as error:
        raise PlatformRejected(
            localizable(
                "channel_refuses",
                "Discord does not know this token. Reset it where you made the bot, then: "
                "oldfriend connect discord",
                title="Discord",
            )
        ) from error
    except discord.ConnectionClosed as error:
        if error.code == 4004:
            raise PlatformRejected("Discord does not know this token any more.") from error
        raise PlatformUnavailable(f"Discord has closed the connection: {error.code}") from error
    except discord.PrivilegedIntentsRequired as error:
        raise PlatformRejected("Discord asks for an intent that is not used.") from error
    except discord.RateLimited as error:
        raise PlatformUnavailable(str(error), retry_after_s=error.retry_after) from error
    except (discord.DiscordException, *NETWORK_ERRORS) as error:
        raise PlatformUnavailable(f"Discord cannot be reached: {error}") from error


@contextmanager
def map_send_errors() -> Iterator[None]:
    """Map the library's errors while sending to errors of ours."""
    try:
        yield
    except discord.RateLimited as error:
        raise DeliveryFailed(str(error), retry_after_s=error.retry_after) from error
    except discord.LoginFailure as error:
        raise DeliveryFailed("Discord does not know this token any more.") from error
    except discord.DiscordServerError as error:
        raise OutcomeUnknown(f"Discord fails: {error}") from error
    except discord.HTTPException as error:
        raise to_delivery_error(error) from error
    except NETWORK_ERRORS as error:
        raise OutcomeUnknown(f"Discord cannot be reached: {error}") from error


def to_delivery_error(error: discord.HTTPException) -> DeliveryFailed | Undeliverable:
    """Convert a refusal; to ChatBlocked if nothing is taken in the whole chat."""
    if error.status in {401, 429}:
        return DeliveryFailed(f"Discord refuses for now: {error}")
    if error.code in GONE_CODES:
        return ChatBlocked(f"The bot cannot write there: {error}")
    return Undeliverable(f"Discord refuses: {error}")


def build_user(told: Mapping[str, object]) -> JsonFields:
    """Return what matters of the bot's own user."""
    names = ("id", "username", "global_name")
    return {name: value for name in names if isinstance(value := told.get(name), str)}


def get_name(user: JsonFields) -> str:
    """Return the name of a user."""
    return find_text(user, "global_name") or find_text(user, "username")


def get_id(raw: JsonFields, name: str = "id") -> str:
    """Return a required id. Raises ValueError."""
    found = get_text(raw, name)
    if not (found.isascii() and found.isdigit() and len(found) <= 20):
        raise ValueError(f'"{name}" is no id.')
    return found


def find_number(raw: JsonFields) -> int:
    """Return the number of a message; 0 if it has none."""
    try:
        return int(get_id(raw))
    except ValueError:
        return 0


def build_file_form(
    content: bytes, file_name: str, mime: str, payload: JsonValue
) -> Sequence[FormPart]:
    """Return the form of a message with a file."""
    return [
        {"name": "payload_json", "value": json.dumps(payload)},
        {"name": "files[0]", "value": content, "filename": file_name, "content_type": mime},
    ]
