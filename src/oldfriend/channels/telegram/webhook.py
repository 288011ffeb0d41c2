"""Telegram webhook: receives updates over HTTP, one at a time.

An update is durable before it is answered: Telegram repeats what is not answered with 200. Every
request must bear the secret that only Telegram knows.
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

from oldfriend.channels.http_listener import serve_http
from oldfriend.channels.telegram.bot_api import BotApi
from oldfriend.channels.telegram.polling import HandleUpdate, try_parse_update
from oldfriend.domain.errors import PlatformRejected, PlatformUnavailable, StoreError
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue
from oldfriend.domain.unicode_text import is_ascii_number

WEBHOOK_PATH: Final = "/api/telegram"
SECRET_HEADER: Final = "x-telegram-bot-api-secret-token"
MAX_LENGTH_DIGITS: Final = 12
"""Digits of the largest content length that is parsed."""
MAX_BODY_BYTES: Final = 1_000_000
BODY_TIMEOUT_S: Final = 30.0
"""Seconds for the whole body of a request."""
CHECK_INTERVAL_S: Final = 300.0
"""Seconds between checks that Telegram still calls our webhook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAddress:
    """The public URL of the webhook, and the local address where its calls arrive."""

    url: str
    host: str
    port: int


class WebhookRejected(Exception):
    """A request that is refused, with its status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        """Take the status and the text of the response."""
        super().__init__(reason)
        self.status = status


def derive_secret(token: str) -> str:
    """Derive the secret that every request must bear; only who knows the token can know it."""
    return hmac.new(token.encode(), b"oldfriend webhook", sha256).hexdigest()


async def serve_webhook(
    api: BotApi, address: WebhookAddress, secret: str, handle_update: HandleUpdate
) -> None:
    """Handle Telegram's calls without end. Raises PlatformUnavailable, PlatformRejected."""
    app = WebhookApp(secret, handle_update)
    try:
        with open_listener(address) as listener:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(serve_http(app, listener, asyncio.Event()))
                tasks.create_task(watch_webhook(api, address, secret))
    except BaseExceptionGroup as group:
        raise group.exceptions[-1] from group


def open_listener(address: WebhookAddress) -> socket.socket:
    """Listen at the local address. Raises PlatformUnavailable if it cannot be used."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        return socket.create_server((address.host, address.port), family=family)
    except OSError as error:
        raise PlatformUnavailable(
            f"{address.host} port {address.port} cannot be used ({error.strerror}). Choose "
            "another: telegram.webhook_host and telegram.webhook_port in oldfriend.toml."
        ) from error


async def watch_webhook(api: BotApi, address: WebhookAddress, secret: str) -> None:
    """Register the webhook, and check that it stays ours.

    Raises PlatformUnavailable, PlatformRejected.
    """
    await api.set_webhook(address.url, secret=secret)
    while True:
        await asyncio.sleep(CHECK_INTERVAL_S)
        actual_url = (await api.get_webhook()).url
        if actual_url != address.url:
            raise PlatformRejected(
                localizable(
                    "bot_heard_elsewhere",
                    f"Telegram does not call {address.url} any more, but "
                    f"{actual_url or 'nobody'}: another program uses this bot. Stop it, or use a "
                    "separate bot.",
                )
            )


class WebhookApp:
    """The ASGI app that answers Telegram's calls."""

    def __init__(self, secret: str, handle_update: HandleUpdate) -> None:
        """Take the secret and the handler."""
        self._secret = secret
        self._handle_update = handle_update
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Read, send: Send) -> None:
        """Handle a request; respond once its update is durable."""
        if scope["type"] != "http":
            return
        try:
            response = await self._handle(Request(scope, receive))
        except WebhookRejected as error:
            headers = {"connection": "close"} | ({"allow": "POST"} if error.status == 405 else {})
            response = PlainTextResponse(f"{error}\n", status_code=error.status, headers=headers)
        await response(scope, receive, send)

    async def _handle(self, request: Request) -> Response:
        self._check(request)
        update = try_parse_update(await read_json(request))
        try:
            async with self._lock:
                await self._handle_update(update)
        except StoreError as error:
            raise WebhookRejected(503, "It cannot be kept now. Tell it again.") from error
        return Response(status_code=200)

    def _check(self, request: Request) -> None:
        """Raise WebhookRejected for a request whose body is not even read."""
        if request.url.path != WEBHOOK_PATH:
            raise WebhookRejected(404, f"There is nothing here but {WEBHOOK_PATH}.")
        if request.method != "POST":
            raise WebhookRejected(405, "Only POST.")
        secret = request.headers.get(SECRET_HEADER, "")
        if not hmac.compare_digest(secret.encode(), self._secret.encode()):
            raise WebhookRejected(401, "Only Telegram may call here.")
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise WebhookRejected(415, "Only application/json.")
        length = request.headers.get("content-length", "0")
        if (
            not is_ascii_number(length)
            or len(length) > MAX_LENGTH_DIGITS
            or int(length) > MAX_BODY_BYTES
        ):
            raise WebhookRejected(413, f"At most {MAX_BODY_BYTES:,} bytes.")


async def read_json(request: Request) -> JsonValue:
    """Read the JSON body of a request, within the size limit. Raises WebhookRejected."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for piece in request.stream():
                body += piece
                if len(body) > MAX_BODY_BYTES:
                    raise WebhookRejected(413, f"At most {MAX_BODY_BYTES:,} bytes.")
    except TimeoutError as error:
        raise WebhookRejected(408, f"It has not arrived within {BODY_TIMEOUT_S:g} s.") from error
    try:
        value: JsonValue = json.loads(bytes(body))
    except (ValueError, RecursionError) as error:
        raise WebhookRejected(400, "That is no JSON.") from error
    return value
