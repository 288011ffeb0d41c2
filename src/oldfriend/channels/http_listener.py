"""HTTP listener: serves requests at a local address until it is stopped.

What is asked, and of whom, is up to the handler. For platforms that call us, it also opens the
address of their webhook, reads the bodies of their calls within limits, and answers them.
"""

import asyncio
import json
import resource
import socket
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import ClassVar, Final

import h11
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from oldfriend.domain.errors import PlatformUnavailable, StoreError
from oldfriend.domain.json import JsonValue
from oldfriend.domain.unicode_text import is_ascii_number

HEADER_TIMEOUT_S: Final = 20.0
"""The most seconds from connecting to the end of a request's headers."""
KEEP_ALIVE_S: Final = 150
"""Seconds without a request until a connection is closed; proxies close theirs sooner.

Whoever sends the next request should be who closes: a request that is on its way when the server
does is lost. After 5 s, uvicorn's default, it closed whenever it had been busy for so long.
"""
WRITE_TIMEOUT_S: Final = 20.0
"""The most seconds in which a client does not read enough of a response for more to be sent."""
SHUTDOWN_TIMEOUT_S: Final = 3
MAX_CONNECTIONS: Final = 1000
"""The most connections for longer than a moment; each open page keeps one."""
KEPT_SHARE: Final = 0.75
"""Of the most connections, how many are left when some are ended to make room."""
EVICTION_DELAY_S: Final = 0.01
"""Until then the requests that came with their connections have been read."""
BACKLOG: Final = 512
"""The most connections that are accepted at once."""
MAX_OPEN_FILES: Final = 4096
"""Enough for all connections, and for databases and files beside them."""
BODY_TIMEOUT_S: Final = 30.0
"""Seconds for the whole body of a call to a webhook."""
MAX_LENGTH_DIGITS: Final = 12
"""Digits of the largest content length that is parsed."""


class WebhookRejected(Exception):
    """A call to a webhook that is refused, with its status and reason."""

    def __init__(self, status: int, reason: str) -> None:
        """Take the status and the text of the response."""
        super().__init__(reason)
        self.status = status


class Webhook(ABC):
    """The ASGI app that answers a platform's calls, one at a time, once what they tell is durable.

    ``methods`` are what it takes, as the Allow header names them.
    """

    methods: ClassVar[str]

    def __init__(self, handle_payload: Callable[[JsonValue], Awaitable[None]]) -> None:
        """Take what handles the JSON of a call."""
        self._handle_payload = handle_payload
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request; respond once what it tells is durable."""
        if scope["type"] != "http":
            return
        try:
            response = await self.respond(Request(scope, receive))
        except WebhookRejected as error:
            allow = {"allow": self.methods} if error.status == 405 else {}
            headers = {"connection": "close", **allow}
            response = PlainTextResponse(f"{error}\n", status_code=error.status, headers=headers)
        await response(scope, receive, send)

    @abstractmethod
    async def respond(self, request: Request) -> Response:
        """Check a request, and answer it. Raises WebhookRejected."""

    async def handle_body(self, body: bytes) -> Response:
        """Handle the body of a call that is the platform's. Raises WebhookRejected."""
        try:
            payload: JsonValue = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise WebhookRejected(400, "That is no JSON.") from error
        try:
            async with self._lock:
                await self._handle_payload(payload)
        except StoreError as error:
            raise WebhookRejected(503, "It cannot be kept now. Tell it again.") from error
        return Response(status_code=200)


def open_webhook_listener(host: str, port: int, *, section: str) -> socket.socket:
    """Listen at the local address in a section of the settings. Raises PlatformUnavailable."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise PlatformUnavailable(
            f"{host} port {port} cannot be used ({error.strerror}). Choose another: "
            f"{section}.webhook_host and {section}.webhook_port in oldfriend.toml."
        ) from error


def check_content_length(request: Request, *, max_bytes: int) -> None:
    """Raise WebhookRejected for a body that says itself that it is too large."""
    length = request.headers.get("content-length", "0")
    if not is_ascii_number(length) or len(length) > MAX_LENGTH_DIGITS or int(length) > max_bytes:
        raise WebhookRejected(413, f"At most {max_bytes:,} bytes.")


async def read_body(request: Request, *, max_bytes: int) -> bytes:
    """Read the body of a call, within the limits of size and time. Raises WebhookRejected."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for piece in request.stream():
                body += piece
                if len(body) > max_bytes:
                    raise WebhookRejected(413, f"At most {max_bytes:,} bytes.")
    except TimeoutError as error:
        raise WebhookRejected(408, f"It has not arrived within {BODY_TIMEOUT_S:g} s.") from error
    return bytes(body)


class LimitedProtocol(H11Protocol):
    """A connection that cannot keep out others by waiting for its client.

    There are timeouts for the headers of a request and for reading a response; the body's stands in
    ``api.security_middleware``. Where there is no room for another connection, those that have
    waited for their clients longest are ended.
    """

    _header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the header timeout."""
        assert isinstance(transport, asyncio.Transport)  # always so for a socket
        connected: socket.socket = transport.get_extra_info("socket")
        # A response is sent in pieces: each but the first would wait 40 ms for an ACK.
        # asyncio sets TCP_NODELAY only if the listening socket names its protocol.
        with suppress(OSError):  # the client has disconnected already
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        self.connected_at = self.loop.time()
        super().connection_made(transport)
        self._start_header_timer()
        if len(self.connections) >= MAX_CONNECTIONS:
            self.loop.call_later(EVICTION_DELAY_S, self._evict_waiting)

    @override
    def data_received(self, data: bytes) -> None:
        """Feed the data; the timeout covers the headers as a whole."""
        super().data_received(data)
        self._start_header_timer()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeouts."""
        super().connection_lost(exc)
        self._cancel_header_timer()
        self._cancel_write_timer()

    @override
    def pause_writing(self) -> None:
        """Start the write timeout."""
        super().pause_writing()
        if self._write_timer is None:
            self._write_timer = self.loop.call_later(WRITE_TIMEOUT_S, self.transport.abort)

    @override
    def resume_writing(self) -> None:
        """Cancel the write timeout."""
        super().resume_writing()
        self._cancel_write_timer()

    @property
    def is_waiting(self) -> bool:
        """Whether the client is to act next, by sending a request or reading a response."""
        cycle: RequestResponseCycle | None = self.cycle  # of no request yet
        return (
            cycle is None
            or cycle.response_complete
            or cycle.more_body
            or self._write_timer is not None
        )

    def _evict_waiting(self) -> None:
        """End the connections that are waiting and were made first, if there are too many."""
        if len(self.connections) < MAX_CONNECTIONS:
            return
        waiting = [
            each
            for each in self.connections
            if isinstance(each, LimitedProtocol) and each.is_waiting
        ]
        waiting.sort(key=lambda each: each.connected_at)
        for each in waiting[: len(self.connections) - round(MAX_CONNECTIONS * KEPT_SHARE)]:
            self.connections.discard(each)  # now, for those that come in the same moment
            each.transport.abort()

    def _start_header_timer(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._cancel_header_timer()
        elif self._header_timer is None:
            self._header_timer = self.loop.call_later(HEADER_TIMEOUT_S, self._close_idle)

    def _cancel_header_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None

    def _cancel_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None

    def _close_idle(self) -> None:
        self._header_timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


async def serve_http(app: ASGIApp, sock: socket.socket, stop_event: asyncio.Event) -> None:
    """Serve until the stop event is set; the socket stays open."""
    raise_open_file_limit()
    config = uvicorn.Config(
        app,
        http=LimitedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        limit_concurrency=MAX_CONNECTIONS + 2 * BACKLOG,  # until some are ended
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
    )
    config.load()
    server = uvicorn.Server(config)  # its own serve() would install signal handlers and poll
    server.lifespan = config.lifespan_class(config)
    sockets = [sock.dup()]
    await server.startup(sockets=sockets)
    try:
        await stop_event.wait()
    finally:
        await server.shutdown(sockets=sockets)


def raise_open_file_limit() -> None:
    """Let this process open as many files as it needs, where the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_OPEN_FILES if hard == resource.RLIM_INFINITY else min(MAX_OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # a system may allow less than it says
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
