"""How does Telegram tell what happens, where it is to call us? Over HTTP, one update at a time.

What is told is durable before it is answered: what is not answered with 200 is told again. Only
Telegram knows the secret that every call must bear. It does not know what an update means.
"""

import asyncio
import hmac
import json
import socket
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive as Read
from starlette.types import Scope, Send

from oldfriend.channels.serving import answer_http
from oldfriend.channels.telegram.api import Api
from oldfriend.channels.telegram.polling import Take, read
from oldfriend.domain.errors import PlatformRefused, PlatformUnavailable, StoreError
from oldfriend.domain.json import JsonValue
from oldfriend.domain.sayings import saying

PATH: Final = "/api/telegram"
SECRET: Final = "x-telegram-bot-api-secret-token"
MOST_BYTES: Final = 1_000_000
TO_SEND_S: Final = 30.0
"""ACCEPTANCE A7, both."""
LOOK_AGAIN_S: Final = 300.0
"""So often it is asked whether Telegram still calls us."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """Where Telegram is to call, and where that call arrives on this machine."""

    url: str
    host: str
    port: int


class NotTaken(Exception):
    """A call that is not taken; ``status`` and words say why."""

    def __init__(self, status: int, why: str) -> None:
        """Keep what is answered."""
        super().__init__(why)
        self.status = status


def secret_of(token: str) -> str:
    """The secret that every call must bear; whoever does not know the token cannot know it."""
    return hmac.new(token.encode(), b"oldfriend webhook", sha256).hexdigest()


async def await_calls(api: Api, hook: Hook, secret: str, take: Take) -> None:
    """Have everything taken that Telegram calls about, without end.

    Raises PlatformUnavailable, PlatformRefused.
    """
    inlet = Inlet(secret, take)
    try:
        with listen_at(hook) as listening:
            async with asyncio.TaskGroup() as both:
                both.create_task(answer_http(inlet, listening, asyncio.Event()))
                both.create_task(keep_called(api, hook, secret))
    except BaseExceptionGroup as group:
        raise group.exceptions[-1] from group


def listen_at(hook: Hook) -> socket.socket:
    """Listen where the calls arrive. Raises PlatformUnavailable while something else does."""
    family = socket.AF_INET6 if ":" in hook.host else socket.AF_INET
    try:
        return socket.create_server((hook.host, hook.port), family=family)
    except OSError as error:
        raise PlatformUnavailable(
            f"{hook.host} port {hook.port} cannot be listened at ({error.strerror}). Choose "
            "another: telegram.webhook_host and telegram.webhook_port in oldfriend.toml."
        ) from error


async def keep_called(api: Api, hook: Hook, secret: str) -> None:
    """Have Telegram call us, and see that it still does. Raises as ``await_calls``."""
    await api.set_webhook(hook.url, secret=secret)
    while True:
        await asyncio.sleep(LOOK_AGAIN_S)
        called = (await api.webhook()).url
        if called != hook.url:
            raise PlatformRefused(saying(
                "bot_heard_elsewhere",
                f"Telegram does not call {hook.url} any more, but {called or 'nobody'}: another "
                "program uses this bot. Stop it, or take a bot of its own.",
            ))  # fmt: skip


class Inlet:
    """What answers Telegram's calls."""

    def __init__(self, secret: str, take: Take) -> None:
        """Nothing was told yet."""
        self._secret = secret
        self._take = take
        self._in_order = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Read, send: Send) -> None:
        """Take a call, and answer once what it tells is durable."""
        if scope["type"] != "http":
            return
        try:
            response = await self._answer(Request(scope, receive))
        except NotTaken as error:
            headers = {"connection": "close"} | ({"allow": "POST"} if error.status == 405 else {})
            response = PlainTextResponse(f"{error}\n", status_code=error.status, headers=headers)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        self._check(request)
        update = read(await json_in(request))
        try:
            async with self._in_order:
                await self._take(update)
        except StoreError as error:
            raise NotTaken(503, "It cannot be kept now. Tell it again.") from error
        return Response(status_code=200)

    def _check(self, request: Request) -> None:
        """Raise NotTaken for what is not even read."""
        if request.url.path != PATH:
            raise NotTaken(404, f"There is nothing here but {PATH}.")
        if request.method != "POST":
            raise NotTaken(405, "Only POST.")
        told = request.headers.get(SECRET, "")
        if not hmac.compare_digest(told.encode(), self._secret.encode()):
            raise NotTaken(401, "Only Telegram may call here.")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise NotTaken(415, "Only application/json.")
        length = request.headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > MOST_BYTES:
            raise NotTaken(413, f"At most {MOST_BYTES:,} bytes.")


async def json_in(request: Request) -> JsonValue:
    """What a call tells, of which no more is read than may be. Raises NotTaken."""
    body = bytearray()
    try:
        async with asyncio.timeout(TO_SEND_S):
            async for piece in request.stream():
                body += piece
                if len(body) > MOST_BYTES:
                    raise NotTaken(413, f"At most {MOST_BYTES:,} bytes.")
    except TimeoutError as error:
        raise NotTaken(408, f"It has not arrived within {TO_SEND_S:g} s.") from error
    try:
        told: JsonValue = json.loads(bytes(body))
    except (ValueError, RecursionError) as error:
        raise NotTaken(400, "That is no JSON.") from error
    return told
