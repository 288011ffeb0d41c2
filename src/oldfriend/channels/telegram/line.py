"""What is one connection to Telegram? It takes one call after the other, and tells how each ends.

Knows no method of the API, and not which call is whose.
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
class Answer:
    """What came back."""

    status: int
    body: bytes


Heard: TypeAlias = Callable[[Answer], None]


def unheard(answer: Answer) -> None:
    """Nobody has to know at once."""


class Line(asyncio.Protocol):
    """A connection, for one call after the other."""

    def __init__(self) -> None:
        """Not connected yet."""
        self._http = h11.Connection(h11.CLIENT)
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Answer] | None = None
        self._limit: asyncio.TimerHandle | None = None
        self._status = 0
        self._body = bytearray()
        self._heard: Heard = unheard

    @property
    def is_free(self) -> bool:
        """Whether it can take a call."""
        is_open = self._transport is not None and not self._transport.is_closing()
        return is_open and not self._is_asked and self._http.our_state is h11.IDLE

    @property
    def _is_asked(self) -> bool:
        """Whether an answer is waited for."""
        return self._answer is not None and not self._answer.done()

    def begin(
        self, url: str, body: bytes, heard: Heard, *, until: float
    ) -> asyncio.Future[Answer]:  # fmt: skip
        """Send a call; its answer, which fails with OSError, TimeoutError, h11.ProtocolError.

        It is waited for ``until`` then, by the loop's time. ``heard`` is told of it before anything
        else happens in this process.
        """
        is_free, transport, loop = self.is_free, self._transport, asyncio.get_running_loop()
        if not is_free or transport is None:
            self._answer = loop.create_future()
            self._fail(ConnectionResetError("Telegram has hung up."))
            return self._answer
        parts = urlsplit(url)
        head = h11.Request(
            method="POST", target=parts.path,
            headers=[
                ("host", parts.netloc), ("user-agent", BaseRequest.USER_AGENT), ("accept", "*/*"),
                ("content-type", "application/x-www-form-urlencoded"),
                ("content-length", str(len(body))),
            ],
        )  # fmt: skip
        pieces = [self._http.send(each) for each in (head, h11.Data(body), h11.EndOfMessage())]
        self._status, self._body, self._heard = 0, bytearray(), heard
        self._answer = loop.create_future()
        transport.write(b"".join(piece for piece in pieces if piece))
        self._limit = loop.call_at(until, self._time_out)
        return self._answer

    def hang_up(self) -> None:
        """Close it at once; a call that waits for its answer fails."""
        self._fail(ConnectionAbortedError("The call was given up."))
        if self._transport is not None:
            self._transport.abort()

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is open."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        """Something has come; what nobody has asked for ends it."""
        if self._is_asked:
            self._take(data)
        else:
            self.hang_up()

    @override
    def eof_received(self) -> None:
        """Nothing more will come: some answers end by that."""
        if self._is_asked:
            self._take(b"")

    @override
    def connection_lost(self, error: Exception | None) -> None:
        """It is gone, and with it the answer."""
        self._fail(ConnectionResetError(str(error or "Telegram has hung up.")))

    def _take(self, data: bytes) -> None:
        """Read on; what breaks the rules has the call fail."""
        try:
            self._http.receive_data(data)
            while self._is_asked:
                event = self._http.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED:
                    return
                self._take_event(event)
        except h11.ProtocolError as error:
            self._fail(error)

    def _take_event(self, event: object) -> None:
        assert self._answer is not None
        match event:
            case h11.Response():
                self._status = event.status_code
            case h11.Data():
                self._body += event.data
            case h11.EndOfMessage():
                self._begin_anew()
                answer = Answer(status=self._status, body=bytes(self._body))
                self._stop_waiting()
                self._answer.set_result(answer)
                self._heard(answer)

    def _begin_anew(self) -> None:
        """Be free again, unless it is to end, or more has come than was asked for."""
        is_over = self._http.our_state is self._http.their_state is h11.DONE
        if is_over and self._http.trailing_data == (b"", False):
            self._http.start_next_cycle()

    def _fail(self, error: Exception) -> None:
        self._stop_waiting()
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)

    def _time_out(self) -> None:
        """Nobody answers."""
        self._fail(TimeoutError())
        self.hang_up()

    def _stop_waiting(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None
