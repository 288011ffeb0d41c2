"""How is something answered over HTTP, at an address of this machine, until told to stop?

It does not know what is asked, nor of whom.
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

TO_ASK_S: Final = 20.0
"""So long it may take to say what is asked, all but its body."""
TO_HANG_UP_S: Final = 3
MOST_AT_ONCE: Final = 1000
"""Connections; open pages have one each, and keep it."""


class Impatient(H11Protocol):
    """A connection on which nobody begins to ask and never ends: they would keep out all others."""

    _limit: asyncio.TimerHandle | None = None

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a question."""
        assert isinstance(transport, asyncio.Transport)  # as it is of a socket
        connected: socket.socket = transport.get_extra_info("socket")
        # An answer goes out in pieces: else each but the first waits 40 ms to be acknowledged.
        # asyncio sees to it only where the listening socket names its protocol.
        with suppress(OSError):  # whoever asked has hung up already
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        super().connection_made(transport)
        self._wait_for_head()

    @override
    def data_received(self, data: bytes) -> None:
        """Take it in, and wait for the rest of a head no longer than for the whole."""
        super().data_received(data)
        self._wait_for_head()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        self._stop_waiting()

    def _wait_for_head(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop_waiting()
        elif self._limit is None:
            self._limit = self.loop.call_later(TO_ASK_S, self._hang_up)

    def _stop_waiting(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _hang_up(self) -> None:
        self._limit = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


async def answer_http(app: ASGIApp, listening: socket.socket, stopping: asyncio.Event) -> None:
    """Answer until told to stop; the socket stays open."""
    config = uvicorn.Config(
        app, http=Impatient, ws="none", lifespan="off", log_config=None, access_log=False,
        proxy_headers=False, server_header=False, date_header=False,
        limit_concurrency=MOST_AT_ONCE, timeout_graceful_shutdown=TO_HANG_UP_S,
    )  # fmt: skip
    config.load()
    server = uvicorn.Server(config)  # its own serve() would take the signals, and poll
    server.lifespan = config.lifespan_class(config)
    sockets = [listening.dup()]
    await server.startup(sockets=sockets)
    try:
        await stopping.wait()
    finally:
        await server.shutdown(sockets=sockets)
