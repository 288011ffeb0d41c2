"""Telegram webhook: receives updates over HTTP, one at a time.

An update is durable before it is answered: Telegram repeats what is not answered with 200. Every
request must bear the secret that only Telegram knows.
"""

import asyncio
import hmac
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from typing_extensions import override

from oldfriend.channels.http_listener import (
    Webhook,
    WebhookRejected,
    check_content_length,
    open_webhook_listener,
    read_body,
    serve_http,
)
from oldfriend.channels.telegram.bot_api import BotApi
from oldfriend.channels.telegram.polling import HandleUpdate, try_parse_update
from oldfriend.domain.errors import PlatformRejected
from oldfriend.domain.i18n_messages import localizable

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
    api: BotApi, webhook_address: WebhookAddress, secret: str, handle_update: HandleUpdate
) -> None:
    """Handle Telegram's calls without end. Raises PlatformUnavailable, PlatformRejected."""
    app = TelegramWebhook(secret, handle_update)
    try:
        with open_webhook_listener(
            webhook_address.host, webhook_address.port, section="telegram"
        ) as listener:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(serve_http(app, listener, asyncio.Event()))
                tasks.create_task(watch_webhook(api, webhook_address, secret))
    except BaseExceptionGroup as group:
        raise group.exceptions[-1] from group


async def watch_webhook(api: BotApi, webhook_address: WebhookAddress, secret: str) -> None:
    """Register the webhook, and check that it stays ours.

    Raises PlatformUnavailable, PlatformRejected.
    """
    await api.set_webhook(webhook_address.url, secret=secret)
    while True:
        await asyncio.sleep(CHECK_INTERVAL_S)
        actual_url = (await api.get_webhook()).url
        if actual_url != webhook_address.url:
            raise PlatformRejected(
                localizable(
                    "bot_heard_elsewhere",
                    f"Telegram does not call {webhook_address.url} any more, but "
                    f"{actual_url or 'nobody'}: another program uses this bot. Stop it, or use a "
                    "separate bot.",
                )
            )


class TelegramWebhook(Webhook):
    """The ASGI app that answers Telegram's calls."""

    methods = "POST"

    def __init__(self, secret: str, handle_update: HandleUpdate) -> None:
        """Take the secret and the handler."""
        super().__init__(lambda payload: handle_update(try_parse_update(payload)))
        self._secret = secret

    @override
    async def respond(self, request: Request) -> Response:
        """Check a request, and handle its update."""
        self._check(request)
        return await self.handle_body(await read_body(request, max_bytes=MAX_BODY_BYTES))

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
