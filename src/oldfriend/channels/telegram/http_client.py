"""HTTP client: sends Bot API calls over a few connections that are kept open.

A bot makes many small calls, and through a general client each takes as much CPU as half a turn.
Files, and whatever goes through a proxy, use the library's own client. Knows no API method.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from socket import gaierror
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode, urlsplit
from urllib.request import getproxies, proxy_bypass

import h11
import httpx
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, HTTPXRequest, RequestData
from typing_extensions import override

from oldfriend.channels.telegram.http_connection import (
    ClosedBeforeSent,
    HttpConnection,
    HttpResponse,
    OnResponse,
    ignore_response,
)

if TYPE_CHECKING:
    from telegram._utils.types import ODVInput
from collections import deque

MAX_CONNECTIONS: Final = 64
"""The most connections; a call beyond them waits for one."""
CALL_TIMEOUT_S: Final = 20.0
SHUTDOWN_TIMEOUT_S: Final = 2.0
"""How long a shutdown waits for calls in flight."""
KEY_FIELD: Final = "oldfriend_key"
"""A parameter that is not sent: the key of a call that must not be made twice."""
ORDER_FIELD: Final = "oldfriend_ordered"
"""A parameter that is not sent: the key of a call that no later one with its key may overtake; it
is never aborted.
"""
QUEUE_SLOT_S: Final = 0.5
"""How long others wait for one call: a chat that hangs delays them no longer than this."""
MAX_QUEUE_WAIT_S: Final = 3.0
"""How long one call waits for all before it, however many and slow they are."""
KEEP_ALIVE_S: Final = 5.0
"""A connection that was idle for longer may have been cut by a middlebox."""
HAPPY_EYEBALLS_DELAY_S: Final = 0.25
"""Seconds after which the server's next address is tried in parallel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """The address of the Bot API server."""

    host: str
    port: int
    is_secure: bool

    @property
    def has_proxy(self) -> bool:
        """Tell whether the environment asks for a proxy."""
        proxies = getproxies()
        matching = {"all", "https" if self.is_secure else "http"} & proxies.keys()
        return bool(matching) and not proxy_bypass(self.host)


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One call of the Bot API."""

    url: str
    body: bytes
    deadline: float  # by the loop's time, for queueing, sending and the answer


class TelegramHttpClient(BaseRequest):
    """Sends each call to Telegram on an idle connection or a new one."""

    def __init__(
        self,
        url: str,
        *,
        on_sent: Callable[[str], None],
        on_response: Callable[[str, HttpResponse], None],
        on_unsent: Callable[[str], None],
    ) -> None:
        """Create the client without connecting; ``url`` is where the Bot API is.

        For a call with a ``KEY_FIELD``, ``on_sent`` is called just before it is written,
        ``on_response`` as soon as its answer is read, and ``on_unsent`` if it reached nobody.
        """
        self._on_sent = on_sent
        self._on_response = on_response
        self._on_unsent = on_unsent
        self._send_queue = SendQueue(QUEUE_SLOT_S, MAX_QUEUE_WAIT_S)
        self._server = parse_server(url)
        self._ssl_context = httpx.create_ssl_context()
        self._fallback_client = HTTPXRequest(
            connection_pool_size=MAX_CONNECTIONS,
            read_timeout=CALL_TIMEOUT_S,
            write_timeout=CALL_TIMEOUT_S,
            connect_timeout=CALL_TIMEOUT_S,
            pool_timeout=CALL_TIMEOUT_S,
            httpx_kwargs={"verify": self._ssl_context},
        )
        self._is_direct = not self._server.has_proxy
        self._limiter = asyncio.Semaphore(MAX_CONNECTIONS)
        self._idle: list[tuple[HttpConnection, float]] = []
        self._in_flight: dict[str, asyncio.Future[HttpResponse]] = {}
        self._is_open = True

    def build_key_field(self, key: str) -> dict[str, str]:
        """Return the field for a call not to be made twice; empty if the fallback is used."""
        return {KEY_FIELD: key} if self._is_direct else {}

    def build_order_field(self, key: str) -> dict[str, str]:
        """Return the field that marks an ordered call; empty if the fallback is used."""
        return {ORDER_FIELD: key} if self._is_direct else {}

    async def wait_until_idle(self, key: str) -> None:
        """Wait until no call with this key is in flight: it was answered or timed out."""
        while (in_flight := self._in_flight.get(key)) is not None:
            await asyncio.wait({in_flight})

    def on_failure(self, key: str, callback: Callable[[], object]) -> None:
        """Call back once the call in flight with this key has failed; at once if there is none."""
        if (in_flight := self._in_flight.get(key)) is None:
            callback()
        else:
            in_flight.add_done_callback(lambda call: call.exception() and callback())

    def on_done(self, key: str, callback: Callable[[], None]) -> None:
        """Call back once no call with this key is in flight; at once if there is none."""
        if (in_flight := self._in_flight.get(key)) is None:
            callback()
        else:
            in_flight.add_done_callback(lambda _: callback())

    @property
    @override
    def read_timeout(self) -> float:
        """Return the default timeout of a call, in seconds."""
        return CALL_TIMEOUT_S

    @override
    async def initialize(self) -> None:
        """Open the fallback client."""
        await self._fallback_client.initialize()

    @override
    async def shutdown(self) -> None:
        """Close all connections; wait briefly for the calls in flight."""
        self._is_open = False
        while self._idle:
            self._idle.pop()[0].close()
        await self._fallback_client.shutdown()
        if self._in_flight:
            await asyncio.wait(self._in_flight.values(), timeout=SHUTDOWN_TIMEOUT_S)

    @override
    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: "ODVInput[float]" = BaseRequest.DEFAULT_NONE,
        write_timeout: "ODVInput[float]" = BaseRequest.DEFAULT_NONE,
        connect_timeout: "ODVInput[float]" = BaseRequest.DEFAULT_NONE,
        pool_timeout: "ODVInput[float]" = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """Make a call; return the status and the body of the answer.

        Raises TimedOut, NetworkError.
        """
        has_files = request_data is not None and bool(request_data.multipart_data)
        if method != "POST" or has_files or not self._is_direct:
            return await self._fallback_client.do_request(
                url,
                method,
                request_data,
                read_timeout,
                write_timeout,
                connect_timeout,
                pool_timeout,
            )
        fields = dict(request_data.json_parameters) if request_data else {}
        key, ordered = fields.pop(KEY_FIELD, None), fields.pop(ORDER_FIELD, None)
        timeout_s = read_timeout if isinstance(read_timeout, int | float) else CALL_TIMEOUT_S
        deadline = asyncio.get_running_loop().time() + timeout_s
        call = HttpCall(url, urlencode(fields).encode(), deadline)
        try:
            answer = await (
                self._send_request(call, ordered) if key is None else self._send_once(call, key)
            )
        except TimeoutError as error:
            raise TimedOut from error
        except gaierror as error:
            message = f"{self._server.host} is not found; is this machine on the network?"
            raise NetworkError(message) from error
        except (OSError, h11.ProtocolError) as error:
            raise NetworkError(f"{type(error).__name__}: {error}") from error
        return answer.status, answer.body

    async def _send_once(self, call: HttpCall, key: str) -> HttpResponse:
        """Send a call that must not be made twice, queued behind others of its kind.

        So, if the process is killed, the outcome is unknown only for the calls in flight. If a call
        with this key is in flight already, its answer is awaited.
        """
        if (in_flight := self._in_flight.get(key)) is not None:
            return await wait_for_response(in_flight)
        with self._report_unsent(key) as on_sent:
            return await self._send_queued(call, key, on_sent)

    @contextmanager
    def _report_unsent(self, key: str) -> Iterator[Callable[[], None]]:
        """Report when a call is sent, and that it was not sent after all if it reached nobody."""
        is_sent = False

        def report_sent() -> None:
            nonlocal is_sent
            is_sent = True
            self._on_sent(key)

        try:
            yield report_sent
        except ClosedBeforeSent:
            if is_sent:
                self._on_unsent(key)
            raise

    async def _send_queued(
        self, call: HttpCall, key: str, on_sent: Callable[[], None]
    ) -> HttpResponse:
        """Send a call once it is admitted by the queue, and release its slot with the answer."""
        in_flight: asyncio.Future[HttpResponse] | None = None

        def handle_response(answer: HttpResponse) -> None:
            self._on_response(key, answer)
            ticket.release()

        def start_on_idle() -> None:
            nonlocal in_flight
            if (connection := self._find_idle()) is not None:
                on_sent()
                in_flight = self._start(connection, call, handle_response, key)

        ticket = self._send_queue.enqueue(start_on_idle)
        try:
            async with asyncio.timeout_at(call.deadline):
                await ticket.is_admitted.wait()
            if in_flight is None:
                return await self._send_request(call, key, handle_response, on_sent)
            return await wait_for_response(in_flight)
        finally:
            ticket.cancel()

    async def _send_request(
        self,
        call: HttpCall,
        key: str | None = None,
        on_response: OnResponse = ignore_response,
        on_sent: Callable[[], None] | None = None,
    ) -> HttpResponse:
        """Send a call, after waiting for a free connection.

        A call without a key is aborted when its caller is cancelled. One with a key runs to its
        end, since hanging up would withdraw nothing that was sent.
        """
        async with asyncio.timeout_at(call.deadline):
            await self._limiter.acquire()
            try:
                connection = self._find_idle() or await self._connect()
                if on_sent is not None:
                    on_sent()
                response = self._start(connection, call, on_response, key)
            except BaseException:
                self._limiter.release()
                raise
        response.add_done_callback(lambda _: self._limiter.release())
        try:
            return await wait_for_response(response)
        except asyncio.CancelledError:
            # Once it is done, another call may use its connection already.
            if key is None and not response.done():
                connection.close()
            raise

    def _start(
        self, connection: HttpConnection, call: HttpCall, on_response: OnResponse, key: str | None
    ) -> asyncio.Future[HttpResponse]:
        """Send a call, which runs to its end on its own.

        So its outcome becomes known even if nobody waits for it any more.
        """
        try:
            answer = connection.send(call.url, call.body, on_response, deadline=call.deadline)
        except BaseException:
            connection.close()
            raise
        answer.add_done_callback(partial(self._return_connection, connection))
        if key is not None:
            self._in_flight[key] = answer
            answer.add_done_callback(lambda _: self._in_flight.pop(key, None))
        return answer

    def _return_connection(
        self, connection: HttpConnection, response: asyncio.Future[HttpResponse]
    ) -> None:
        """Keep a connection for the next call; close it if something went wrong.

        If the server has ended it, so it may have the others: the next call opens a new one.
        """
        error = response.exception()
        if error is None and connection.is_idle and self._is_open:
            self._idle.append((connection, asyncio.get_running_loop().time()))
            return
        connection.close()
        if isinstance(error, ConnectionResetError):
            while self._idle:
                self._idle.pop()[0].close()

    def _find_idle(self) -> HttpConnection | None:
        """Return the last used connection that can still be trusted; close stale ones."""
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection, since = self._idle.pop()
            if connection.is_idle and now - since < KEEP_ALIVE_S:
                return connection
            connection.close()
        return None

    async def _connect(self) -> HttpConnection:
        server = self._server
        _, connection = await asyncio.get_running_loop().create_connection(
            HttpConnection,
            server.host,
            server.port,
            ssl=self._ssl_context if server.is_secure else None,
            happy_eyeballs_delay=HAPPY_EYEBALLS_DELAY_S,
        )
        return connection


async def wait_for_response(call: asyncio.Future[HttpResponse]) -> HttpResponse:
    """Wait for a call's answer; cancelling the wait does not cancel the call.

    Raises OSError, TimeoutError, h11.ProtocolError.
    """
    return await asyncio.shield(call)


def parse_server(url: str) -> ServerAddress:
    """Parse the address of the Bot API server from a URL."""
    parts = urlsplit(url)
    is_secure = parts.scheme != "http"
    port = parts.port or (443 if is_secure else 80)
    return ServerAddress(host=parts.hostname or "", port=port, is_secure=is_secure)


class SendQueue:
    """A queue that admits one ticket at a time, each for at most ``slot_s`` before the next.

    Nobody waits longer than ``max_wait_s`` for all that came before.
    """

    def __init__(self, slot_s: float, max_wait_s: float) -> None:
        """Create an empty queue."""
        self._slot_s = slot_s
        self._max_wait_s = max_wait_s
        self._current: QueueTicket | None = None
        self._waiting: deque[QueueTicket] = deque()

    def enqueue(self, callback: Callable[[], None]) -> "QueueTicket":
        """Call back as soon as nobody is admitted, or after the maximum wait.

        The call is made directly when the previous ticket is released: in a busy process a wake-up
        through the event loop would take long.
        """
        ticket = QueueTicket(self, callback)
        if self._current is None:
            self._admit(ticket)
        else:
            self._waiting.append(ticket)
            ticket.wait_timer = self._call_later(self._max_wait_s, ticket.admit)
        return ticket

    def release(self, ticket: "QueueTicket") -> None:
        """Admit the next ticket if this one was the current one."""
        if self._current is not ticket:
            return
        self._current = None
        while self._waiting:
            next_ticket = self._waiting.popleft()
            if not (next_ticket.is_admitted.is_set() or next_ticket.is_cancelled):
                self._admit(next_ticket)
                return

    def _admit(self, ticket: "QueueTicket") -> None:
        self._current = ticket
        self._call_later(self._slot_s, ticket.release)
        ticket.admit()

    def _call_later(self, after_s: float, callback: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(after_s, callback)


class QueueTicket:
    """A place in the queue, from enqueueing until the call has ended."""

    def __init__(self, queue: SendQueue, callback: Callable[[], None]) -> None:
        """Create a ticket that is not admitted."""
        self.is_admitted = asyncio.Event()
        self.is_cancelled = False
        self.wait_timer: asyncio.TimerHandle | None = None
        self._queue = queue
        self._callback = callback

    def admit(self) -> None:
        """Call back, unless that was done or the ticket was cancelled."""
        if not (self.is_admitted.is_set() or self.is_cancelled):
            self.is_admitted.set()
            self._callback()

    def release(self) -> None:
        """Admit the next ticket at once; does nothing the second time."""
        self._queue.release(self)

    def cancel(self) -> None:
        """Leave the queue, admitted or not; the next ticket is admitted in the loop's next
        iteration, after all tickets that are cancelled together.
        """
        self.is_cancelled = True
        if self.wait_timer is not None:
            self.wait_timer.cancel()
        asyncio.get_running_loop().call_soon(self.release)
