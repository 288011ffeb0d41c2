"""HTTP connection: one connection to Telegram that takes one call at a time.

Knows no API method and not who makes a call.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import urlsplit

import h11
from telegram.request import BaseRequest
from typing_extensions import override


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """An HTTP response."""

    status: int
    body: bytes


class ClosedBeforeSent(ConnectionResetError):
    """A connection was closed before a call could have reached the server."""


OnResponse: TypeAlias = Callable[[HttpResponse], None]


def ignore_response(response: HttpResponse) -> None:
    """Ignore a response."""


class HttpConnection(asyncio.Protocol):
    """An HTTP/1.1 connection for one call at a time."""

    def __init__(self) -> None:
        """Create a connection that is not open yet."""
        self._http = h11.Connection(h11.CLIENT)
        self._transport: asyncio.Transport | None = None
        self._response: asyncio.Future[HttpResponse] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._status = 0
        self._body = bytearray()
        self._on_response: OnResponse = ignore_response
        self._has_received = False  # any part of the current answer

    @property
    def is_idle(self) -> bool:
        """Tell whether the connection can take a call."""
        is_open = self._transport is not None and not self._transport.is_closing()
        return is_open and not self._is_waiting and self._http.our_state is h11.IDLE

    @property
    def _is_waiting(self) -> bool:
        """Tell whether an answer is awaited."""
        return self._response is not None and not self._response.done()

    def send(
        self, url: str, body: bytes, on_response: OnResponse, *, deadline: float
    ) -> asyncio.Future[HttpResponse]:
        """Send a call and return a future of its answer.

        It fails with OSError, TimeoutError or h11.ProtocolError. ``deadline`` is by the loop's
        time. ``on_response`` is called with the answer before anything else happens in this
        process.
        """
        is_free, transport, loop = self.is_idle, self._transport, asyncio.get_running_loop()
        if not is_free or transport is None:
            self._response = loop.create_future()
            self._fail(ClosedBeforeSent("Telegram closed the connection."))
            return self._response
        parts = urlsplit(url)
        head = h11.Request(
            method="POST",
            target=parts.path,
            headers=[
                ("host", parts.netloc),
                ("user-agent", BaseRequest.USER_AGENT),
                ("accept", "*/*"),
                ("content-type", "application/x-www-form-urlencoded"),
                ("content-length", str(len(body))),
            ],
        )
        pieces = [self._http.send(each) for each in (head, h11.Data(body), h11.EndOfMessage())]
        self._status, self._body, self._on_response = 0, bytearray(), on_response
        self._response = loop.create_future()
        self._has_received = False
        transport.write(b"".join(piece for piece in pieces if piece))
        self._timer = loop.call_at(deadline, self._time_out)
        return self._response

    def close(self) -> None:
        """Close the connection at once; a call that waits for its answer fails."""
        self._fail(ConnectionAbortedError("The call was given up."))
        if self._transport is not None:
            self._transport.abort()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport of the open connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        """Feed the data to the parser; unexpected data closes the connection."""
        if self._is_waiting:
            self._has_received = True
            self._receive(data)
        else:
            self.close()

    @override
    def eof_received(self) -> None:
        """Handle the end of the stream, which ends some answers."""
        if self._is_waiting and not self._has_received:
            self._fail_reset("Telegram closed the connection.")
        elif self._is_waiting:
            self._receive(b"")

    @override
    def connection_lost(self, error: Exception | None) -> None:
        """Fail the current call."""
        self._fail_reset(str(error or "Telegram closed the connection."))

    def _fail_reset(self, reason: str) -> None:
        """Fail the current call because the connection ended; the server may have read it."""
        self._fail(ConnectionResetError(reason))

    def _receive(self, data: bytes) -> None:
        """Parse data; a protocol error fails the call."""
        try:
            self._http.receive_data(data)
            while self._is_waiting:
                event = self._http.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    return
                self._handle_event(event)
        except h11.ProtocolError as error:
            self._fail(error)

    def _handle_event(self, event: object) -> None:
        assert self._response is not None
        match event:
            case h11.Response():
                self._status = event.status_code
            case h11.Data():
                self._body += event.data
            case h11.EndOfMessage():
                self._reset()
                answer = HttpResponse(status=self._status, body=bytes(self._body))
                self._cancel_timer()
                self._response.set_result(answer)
                self._on_response(answer)

    def _reset(self) -> None:
        """Make the connection reusable, unless it is to be closed or has sent too much."""
        is_over = self._http.our_state is self._http.their_state is h11.DONE
        if is_over and self._http.trailing_data == (b"", False):
            self._http.start_next_cycle()

    def _fail(self, error: Exception) -> None:
        self._cancel_timer()
        if self._response is not None and not self._response.done():
            self._response.set_exception(error)

    def _time_out(self) -> None:
        """Fail the call at its deadline and close the connection."""
        self._fail(TimeoutError())
        self.close()

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
