"""WhatsApp channel: hears people by Meta's webhook and writes to them by the Cloud API.

A call is confirmed only once all that it tells is durable: Meta repeats what is not. WhatsApp
takes messages only within a day after somebody has written, and it has no idempotency keys; what
is known of both is in the delivery ledger.
"""

import asyncio
import hmac
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from typing_extensions import override

from oldfriend.channels.bounded_map import BoundedMap
from oldfriend.channels.channel import (
    BotChannel,
    BotDiagnosis,
    BotFinding,
    ChatAvailability,
    ChatRef,
    Cursors,
    DraftPreview,
    HandleEvent,
    MessageUndelivered,
    PressAnswer,
    SentLookup,
    TypingPreview,
    UnreadableUpdate,
)
from oldfriend.channels.http_listener import (
    Webhook,
    WebhookRejected,
    check_content_length,
    open_webhook_listener,
    read_body,
    serve_http,
)
from oldfriend.channels.whatsapp.delivery_ledger import DeliveryLedger
from oldfriend.channels.whatsapp.event_mapping import (
    CHANNEL_NAME,
    DeliveryStatus,
    ReceivedEvent,
    map_webhook,
)
from oldfriend.channels.whatsapp.graph_api import (
    CHAT_GONE_ERRORS,
    WINDOW_CLOSED,
    GraphApi,
    PhoneNumber,
    to_failure,
)
from oldfriend.channels.whatsapp.message_bodies import build_audio, build_template, build_text
from oldfriend.channels.whatsapp.rendering import SPLITTER, render_text
from oldfriend.channels.whatsapp.whatsapp_settings import WEBHOOK_PATH, WhatsAppSettings
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import (
    ChatBlocked,
    DeliveryFailed,
    OutcomeUnknown,
    PlatformUnavailable,
    Undeliverable,
    WindowClosed,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue

V = TypeVar("V")

SIGNATURE_HEADER: Final = "x-hub-signature-256"
SIGNATURE_CHARS: Final = len("sha256=") + 64
MAX_BODY_BYTES: Final = 3 * 1024 * 1024
"""The most that Meta tells at once."""
SMALL_BODY_BYTES: Final = 64 * 1024
"""A call of usual size, which is read beside any number of others."""
MAX_LARGE_BODIES: Final = 8
"""Larger calls that are read at once."""
MAX_CHALLENGE_CHARS: Final = 200
MAX_REFUSALS: Final = 3
"""How often a message is accepted and not delivered before it is set aside."""
MAX_REMEMBERED: Final = 5_000
"""Events that are known to have been handled, and people whose last message is."""
STATUS_WAIT_S: Final = 5.0
"""How long to wait for Meta to tell what became of a message whose answer was lost."""
STATUS_POLL_S: Final = 0.1
TYPING_INTERVAL_S: Final = 20.0
"""WhatsApp shows "typing" for 25 seconds."""
SHOWN_STATUSES: Final = frozenset({"sent", "delivered", "read", "played"})
DAY_S: Final = 24 * 60 * 60.0


class WhatsAppChannel(BotChannel):
    """A number on WhatsApp."""

    def __init__(
        self,
        credentials: Mapping[str, str],
        whatsapp_settings: WhatsAppSettings,
        *,
        folder: Path | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Create the channel without connecting; the ``folder`` is shared with other processes."""
        self.debounce_s = whatsapp_settings.quiet_s
        self._settings = whatsapp_settings
        self._phone_number_id = credentials["phone_number_id"]
        self._app_secret = credentials["app_secret"]
        self._verify_token = credentials["verify_token"]
        self._api = GraphApi(
            base_url=whatsapp_settings.base_url,
            token=credentials["token"],
            phone_number_id=self._phone_number_id,
            app_secret=self._app_secret,
        )
        self._ledger_thread = ThreadPoolExecutor(1, "whatsapp-ledger")  # its file has a lock
        self._ledger = DeliveryLedger(folder, secret=self._app_secret, clock=clock)
        self._handled = BoundedMap[str, None](MAX_REMEMBERED)
        self._last_heard = BoundedMap[str, str](MAX_REMEMBERED)  # message ids, by address
        self._listen_lock = asyncio.Lock()  # after a reload two listeners may overlap briefly

    @override
    async def close(self) -> None:
        """Close all connections."""
        await self._api.close()
        self._ledger_thread.shutdown(wait=False)

    @override
    async def register(self) -> str:
        """Try the credentials, and return our phone number in digits."""
        return (await self._api.get_phone_number()).number

    @override
    async def diagnose(self) -> BotDiagnosis:
        """Ask Meta about our number and its webhook."""
        number = await self._api.get_phone_number()
        since = self._ledger.clock() - DAY_S
        failures = await self._in_ledger(partial(self._ledger.count_failures, since=since))
        return BotDiagnosis(
            findings=(*describe_number(number), *describe_failures(failures)),
            format_group_hint=None,
        )

    @override
    def split(self, text: str, *, is_markdown: bool = False) -> Sequence[str]:
        """Split a reply at WhatsApp's limit; no parts for a text that shows nothing."""
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
        """Send one part and return its external id."""
        drawn = render_text(text, is_markdown=is_markdown)
        return await self._send(address, build_text(drawn, buttons), send_key=send_key)

    @override
    async def send_audio(
        self, address: str, audio: bytes, *, is_opus: bool, title: str, send_key: str
    ) -> str:
        """Send a spoken reply: a voice note, or a file if it cannot be one."""
        await self._check_window(address)
        media_id = await self._api.upload_audio(audio, is_opus=is_opus)
        message = build_audio(media_id, is_voice=is_opus)
        return await self._send(address, message, send_key=send_key)

    @override
    async def was_sent(self, address: str, send_key: str, *, since: Micros = 0) -> SentLookup:
        """Look into the ledger; Meta may be about to tell what became of the message."""
        del since
        find = partial(self._ledger.find, send_key)
        if not await self._in_ledger(partial(self._ledger.has_attempt, send_key)):
            return await self._in_ledger(find)
        for _ in range(round(STATUS_WAIT_S / STATUS_POLL_S)):
            found = await self._in_ledger(find)
            if found.outcome != "unknown":
                return found
            await asyncio.sleep(STATUS_POLL_S)
        return await self._in_ledger(find)

    @override
    async def ask_to_write(self, address: str, *, send_key: str) -> bool:
        """Send the template, once until they write; a template that is refused is none."""
        if self._settings.template is None:
            return False
        window = await self._in_ledger(partial(self._ledger.get_window, address))
        key = f"window/{address}/{window.heard_at:.3f}"
        if await self._in_ledger(partial(self._ledger.has_attempt, key)):
            return True
        message = build_template(self._settings.template, self._settings.template_language)
        try:
            await self._post(address, message, send_key=key)
        except OutcomeUnknown:
            return True  # they may have been asked, and once is enough
        except ChatBlocked:
            raise
        except Undeliverable:
            return False
        return True

    @override
    async def download_audio(self, file_id: str) -> bytes:
        """Download a recording. Raises DeliveryFailed, NotFound."""
        return await self._api.download_media(file_id)

    @override
    def open_preview(
        self, address: str, *, send_key: str, external_id: str | None = None
    ) -> DraftPreview | None:
        """Open a preview below what they wrote last; None: nothing was heard by this process."""
        heard = self._last_heard.get(address)
        if heard is None:
            return None
        return TypingPreview(partial(self._api.mark_as_read, heard), interval_s=TYPING_INTERVAL_S)

    @override
    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Receive Meta's calls without end; Meta itself keeps what was not confirmed."""
        host, port = self._settings.webhook_host, self._settings.webhook_port
        try:
            async with self._listen_lock, asyncio.TaskGroup() as tasks:
                app = WhatsAppWebhook(
                    app_secret=self._app_secret,
                    verify_token=self._verify_token,
                    handle_payload=partial(self._handle_payload, handle_event, tasks),
                )
                with open_webhook_listener(host, port, section=CHANNEL_NAME) as listener:
                    tasks.create_task(self._check_number())
                    await serve_http(app, listener, asyncio.Event())
        except BaseExceptionGroup as group:
            raise group.exceptions[-1] from group

    async def _check_number(self) -> None:
        """Raise PlatformRejected for credentials that are not accepted; calls come meanwhile."""
        with suppress(PlatformUnavailable):
            await self._api.get_phone_number()

    async def _handle_payload(
        self, handle_event: HandleEvent, tasks: asyncio.TaskGroup, payload: JsonValue
    ) -> None:
        """Handle all that a call tells. Raises StoreError."""
        for item in map_webhook(payload, self._phone_number_id):
            if isinstance(item, DeliveryStatus):
                await self._handle_status(item, handle_event)
            elif item.external_id not in self._handled:
                answer = await self._handle_received(item, handle_event)
                if answer is not None and answer.text:
                    key = f"press/{item.external_id}"
                    telling = self._tell(item.address, answer.text, handle_event, send_key=key)
                    tasks.create_task(telling)

    async def _handle_received(
        self, item: ReceivedEvent, handle_event: HandleEvent
    ) -> PressAnswer | None:
        if item.address:  # before it can be answered
            heard_at = min(item.at / SECOND, self._ledger.clock())
            await self._in_ledger(partial(self._ledger.record_heard, item.address, heard_at))
            self._last_heard[item.address] = item.external_id
        answer = await handle_event(item.event)
        if item.external_id:
            self._handled[item.external_id] = None
        return answer

    async def _handle_status(self, status: DeliveryStatus, handle_event: HandleEvent) -> None:
        code = status.error_code
        record = partial(self._ledger.record_status, status.send_key, status.external_id)
        if status.status in SHOWN_STATUSES:
            await self._in_ledger(record)
        if status.status != "failed":
            return
        await self._in_ledger(partial(record, error_code=code))
        if code == WINDOW_CLOSED:
            await self._in_ledger(partial(self._ledger.record_closed, status.address))
        chat_ref = ChatRef(channel=CHANNEL_NAME, address=status.address, title="", is_private=True)
        if code in CHAT_GONE_ERRORS:
            await handle_event(ChatAvailability(chat_ref=chat_ref, is_available=False))
        count = partial(self._ledger.count_refusals, status.send_key, status.external_id)
        error, times = to_failure(code), await self._in_ledger(count)
        may_retry = isinstance(error, DeliveryFailed | ChatBlocked) and times < MAX_REFUSALS
        await handle_event(
            MessageUndelivered(
                chat_ref=chat_ref,
                external_id=status.external_id,
                reason=str(error),
                may_retry=may_retry,
            )
        )

    async def _tell(
        self, address: str, text: str, handle_event: HandleEvent, *, send_key: str
    ) -> None:
        """Tell what came of a press; best effort. Raises StoreError."""
        try:
            await self.send(address, text, send_key=send_key)
        except Exception as error:
            reason = f"answer to a press: {type(error).__name__}"
            await handle_event(
                UnreadableUpdate(channel=CHANNEL_NAME, update_id=None, reason=reason)
            )

    async def _in_ledger(self, function: Callable[[], V]) -> V:
        """Read or write the ledger, whose file may keep a thread waiting; in order."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._ledger_thread, function)

    async def _check_window(self, address: str) -> None:
        """Raise WindowClosed if they have not written for a day."""
        window = await self._in_ledger(partial(self._ledger.get_window, address))
        if window.is_closed(self._ledger.clock()):
            raise WindowClosed(
                "WhatsApp takes nothing before they write: no message of theirs is known from the "
                "last day."
            )

    async def _send(
        self, address: str, raw_message: Mapping[str, JsonValue], *, send_key: str
    ) -> str:
        await self._check_window(address)
        return await self._post(address, raw_message, send_key=send_key)

    async def _post(
        self, address: str, raw_message: Mapping[str, JsonValue], *, send_key: str
    ) -> str:
        """Send a message and write down what becomes of it.

        Raises OutcomeUnknown, DeliveryFailed, WindowClosed, Undeliverable.
        """
        recipient = "to" if address.isdecimal() else "recipient"
        await self._in_ledger(partial(self._ledger.record_attempt, send_key))
        try:
            external_id = await self._api.send(
                {
                    "recipient_type": "individual",
                    recipient: address,
                    "biz_opaque_callback_data": send_key,
                    **raw_message,
                }
            )
        except OutcomeUnknown:
            raise
        except (DeliveryFailed, Undeliverable):
            await self._in_ledger(partial(self._ledger.record_refused, send_key))
            raise
        await self._in_ledger(partial(self._ledger.record_accepted, send_key, external_id))
        code = await self._in_ledger(partial(self._ledger.find_failure, send_key))
        if code is not None:
            raise to_failure(code)
        return external_id


class WhatsAppWebhook(Webhook):
    """The ASGI app that answers Meta's calls."""

    methods = "GET, POST"

    def __init__(
        self,
        *,
        app_secret: str,
        verify_token: str,
        handle_payload: Callable[[JsonValue], Awaitable[None]],
    ) -> None:
        """Take the secrets and the handler."""
        super().__init__(handle_payload)
        self._app_secret = app_secret.encode()
        self._verify_token = verify_token.encode()
        self._large_bodies = asyncio.Semaphore(MAX_LARGE_BODIES)

    @override
    async def respond(self, request: Request) -> Response:
        """Verify our address, or check a request and handle what it tells."""
        if request.url.path != WEBHOOK_PATH:
            raise WebhookRejected(404, f"There is nothing here but {WEBHOOK_PATH}.")
        if request.method == "GET":
            return self._verify(request)
        if request.method != "POST":
            raise WebhookRejected(405, "Only GET and POST.")
        check_content_length(request, max_bytes=MAX_BODY_BYTES)
        if len(request.headers.get(SIGNATURE_HEADER, "")) != SIGNATURE_CHARS:
            raise WebhookRejected(401, "Only Meta may call here.")
        body = await self._read_body(request)
        self._check_signature(request, body)
        return await self.handle_body(body)

    async def _read_body(self, request: Request) -> bytes:
        """Read a call's body; of those that may be large, a few at a time."""
        length = int(request.headers.get("content-length", MAX_BODY_BYTES))
        if length <= SMALL_BODY_BYTES:
            return await read_body(request, max_bytes=SMALL_BODY_BYTES)
        async with self._large_bodies:
            return await read_body(request, max_bytes=MAX_BODY_BYTES)

    def _verify(self, request: Request) -> Response:
        """Return the challenge to Meta, which asks whether the address is ours."""
        given = request.query_params
        token, challenge = given.get("hub.verify_token", ""), given.get("hub.challenge", "")
        is_known = hmac.compare_digest(token.encode(), self._verify_token)
        if not is_known or given.get("hub.mode") != "subscribe":
            raise WebhookRejected(403, "The verify token is not the one that is known here.")
        return PlainTextResponse(challenge[:MAX_CHALLENGE_CHARS])

    def _check_signature(self, request: Request, body: bytes) -> None:
        """Raise WebhookRejected unless who has sent a body knows the app secret."""
        wanted = f"sha256={hmac.new(self._app_secret, body, sha256).hexdigest()}"
        given = request.headers.get(SIGNATURE_HEADER, "")
        if not hmac.compare_digest(given.encode(), wanted.encode()):
            raise WebhookRejected(401, "Only Meta may call here.")


def describe_number(number: PhoneNumber) -> list[BotFinding]:
    """Say what Meta knows of our number, and whether it calls us."""
    known = localizable(
        "whatsapp_known",
        f"WhatsApp knows the companion as {number.name}, +{number.number}.",
        name=number.name,
        number=number.number,
    )
    findings = [BotFinding(text=known, is_problem=False)]
    if not number.webhook_url.endswith(WEBHOOK_PATH):
        whom = number.webhook_url or "nobody"
        calls = localizable(
            "whatsapp_calls_otherwise",
            f"Meta calls {whom}. Enter the address of your proxy, ending in {WEBHOOK_PATH}, as the "
            "callback URL of your app: developers.facebook.com, WhatsApp, Configuration.",
            whom=whom,
            path=WEBHOOK_PATH,
        )
        findings.append(BotFinding(text=calls, is_problem=True))
    return findings


def describe_failures(failures: Mapping[int, int]) -> list[BotFinding]:
    """Say how many messages WhatsApp has accepted and not delivered."""
    return [
        BotFinding(
            text=localizable(
                "whatsapp_failed",
                f"WhatsApp took {count} messages within a day and did not deliver them "
                f"(error {code}).",
                count=count,
                code=code,
            ),
            is_problem=True,
        )
        for code, count in failures.items()
    ]
