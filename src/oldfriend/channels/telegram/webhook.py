"""Telegram webhook: receives updates over HTTP, one at a time.

An update is durable before it is answered: Telegram repeats what is not answered with 200. Every
request must bear the secret that only Telegram knows.
"""

import asyncio
import hmac
import json
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from oldfriend.channels.http_listener import (
    WebhookRejected,
    check_content_length,
    open_webhook_listener,
    read_body,
    serve_http,
)
from oldfriend.channels.telegram.bot_api import BotApi
from oldfriend.channels.telegram.polling import HandleUpdate, try_parse_update
from oldfriend.domain.errors import PlatformRejected, StoreError
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue

WEBHOOK_PATH: Final = "/api/telegram"
SECRET_HEADER: Final = "x-telegram-bot-api-secret-token"
MAX_BODY_BYTES: Final = 1_000_000
CHECK_INTERVAL_S: Final = 300.0
"""Seconds between checks that Telegram still calls our webhook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookAddress:
    """The public URL of the webhook, and the local address where its calls arrive."""

    url: str
    host: str
    port: int


def derive_secret(token: str) -> str:
    """Derive the secret that every request must bear; only who knows the token can know it."""
    return hmac.new(token.encode(), b"oldfriend webhook", sha256).hexdigest()


async def serve_webhook(
    api: BotApi, address: WebhookAddress, secret: str, handle_update: HandleUpdate
) -> None:
    """Handle Telegram's calls without end. Raises PlatformUnavailable, PlatformRejected."""
    app = WebhookApp(secret, handle_update)
    try:
        with open_webhook_listener(address.host, address.port, section="telegram") as listener:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(serve_http(app, listener, asyncio.Event()))
                tasks.create_task(watch_webhook(api, address, secret))
    except BaseExceptionGroup as group:
        raise group.exceptions[-1] from group


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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
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
        check_content_length(request, max_bytes=MAX_BODY_BYTES)


async def read_json(request: Request) -> JsonValue:
    """Read the JSON body of a request, within the limits. Raises WebhookRejected."""
    body = await read_body(request, max_bytes=MAX_BODY_BYTES)
    try:
        value: JsonValue = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise WebhookRejected(400, "That is no JSON.") from error
    return value
