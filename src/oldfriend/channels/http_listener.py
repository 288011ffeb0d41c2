"""HTTP listener: serves requests at a local address until it is stopped.

What is asked, and of whom, is up to the handler.
"""

import asyncio
import socket
from contextlib import suppress
from typing import Final

import h11
import uvicorn
from starlette.types import ASGIApp
from typing_extensions import override
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_TIMEOUT_S: Final = 20.0
"""The most seconds from connecting to the end of a request's headers."""
SHUTDOWN_TIMEOUT_S: Final = 3
MAX_CONNECTIONS: Final = 1000
"""The most connections; each open page keeps one."""


class HeaderTimeoutProtocol(H11Protocol):
    """A connection with a timeout for the headers, so that idle clients cannot keep out others."""

    _timer: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the header timeout."""
        assert isinstance(transport, asyncio.Transport)  # always so for a socket
        connected: socket.socket = transport.get_extra_info("socket")
        # A response is sent in pieces: each but the first would wait 40 ms for an ACK.
        # asyncio sets TCP_NODELAY only if the listening socket names its protocol.
        with suppress(OSError):  # the client has disconnected already
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        super().connection_made(transport)
        self._start_timer()

    @override
    def data_received(self, data: bytes) -> None:
        """Feed the data; the timeout covers the headers as a whole."""
        super().data_received(data)
        self._start_timer()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        super().connection_lost(exc)
        self._cancel_timer()

    def _start_timer(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._cancel_timer()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEADER_TIMEOUT_S, self._close_idle)

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _close_idle(self) -> None:
        self._timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


async def serve_http(app: ASGIApp, sock: socket.socket, stop_event: asyncio.Event) -> None:
    """Serve until the stop event is set; the socket stays open."""
    config = uvicorn.Config(
        app,
        http=HeaderTimeoutProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        limit_concurrency=MAX_CONNECTIONS,
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
