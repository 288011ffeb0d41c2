"""Whoever asks over HTTP is answered at once, however often they ask on one connection."""

import asyncio
import http.client
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from statistics import median

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from oldfriend.channels import http_listener
from oldfriend.channels.http_listener import serve_http
from oldfriend.runtime.admin_http import listen
from tests.processes import until

TIMES = 30
ACKNOWLEDGED_S = 0.04
"""After which Linux acknowledges at the latest what nobody has answered."""


FEW = 20
"""The most connections, where a test opens more."""
CLIENTS_KEEP_S = 120.0
"""How long proxies keep a connection on which nothing is asked; browsers ask again."""
LARGE = b"x" * 12_000_000
"""More than the buffers of both sides hold."""


async def nothing(_: Request) -> Response:
    """The plainest answer."""
    return Response("nothing")


async def large(_: Request) -> Response:
    """An answer that does not fit into any buffer."""
    return Response(LARGE)


async def body_length(request: Request) -> Response:
    """How long the body is."""
    return Response(str(len(await request.body())))


@asynccontextmanager
async def served() -> AsyncIterator[int]:
    """The port of a server of this test."""
    stopping = asyncio.Event()
    routes = [
        Route("/", nothing),
        Route("/large", large),
        Route("/body", body_length, methods=["POST"]),
    ]
    with listen("127.0.0.1", 0) as listening:
        async with asyncio.TaskGroup() as group:
            group.create_task(serve_http(Starlette(routes=routes), listening, stopping))
            try:
                yield listening.getsockname()[1]
            finally:
                stopping.set()


@contextmanager
def connections(port: int, count: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """So many connections, each of which has sent something and reads nothing."""
    with ExitStack() as opened:
        sockets = []
        for _ in range(count):
            sockets.append(
                opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=10))
            )
            with suppress(ConnectionError):  # it was ended already
                sockets[-1].sendall(sent)
        yield sockets


def is_ended(connection: socket.socket) -> bool:
    """Whether the other side has ended it."""
    connection.setblocking(False)
    try:
        while data := connection.recv(1 << 20):
            assert data
    except BlockingIOError:
        return False
    except ConnectionError:
        return True
    return True


HEAD = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"
BODY = b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n1234"


def asked_again_and_again(port: int) -> list[float]:
    """How long each answer takes on a connection that is kept."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    taken = []
    for _ in range(TIMES):
        began = time.perf_counter()
        connection.request("GET", "/")
        assert connection.getresponse().read() == b"nothing"
        taken.append(time.perf_counter() - began)
    connection.close()
    return taken


async def test_response_is_not_delayed_by_tcp_delayed_ack() -> None:
    """Head and body are written one after the other; a page asks for much on one connection."""
    async with served() as port:
        taken = await asyncio.to_thread(asked_again_and_again, port)

    assert median(taken) < ACKNOWLEDGED_S / 2


async def test_connection_is_kept_longer_than_clients_keep_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that was busy for so long must not end it while the next request is on its way."""
    loop = asyncio.get_running_loop()

    async def pass_time(seconds: float) -> None:
        now = loop.time
        monkeypatch.setattr(loop, "time", lambda: now() + seconds)
        for _ in range(3):  # the timers are due, then what they do
            await asyncio.sleep(0)

    async with served() as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await reader.readuntil(b"nothing")).startswith(b"HTTP/1.1 200 ")
            await pass_time(CLIENTS_KEEP_S)
        await pass_time(http_listener.KEEP_ALIVE_S)

        assert await reader.read() == b""
        writer.close()
        await writer.wait_closed()


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\nHo", BODY, HEAD], ids=["none", "half", "body", "unread"]
)
async def test_connections_that_wait_for_their_client_shut_nobody_out(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    """Whoever sends no request, half of one, or does not read the answer gives way to others."""
    monkeypatch.setattr(http_listener, "MAX_CONNECTIONS", FEW)

    def ask(port: int) -> None:
        with connections(port, 3 * FEW, sent) as held:
            asked_again_and_again(port)
            until(lambda: sum(is_ended(each) for each in held) >= 2 * FEW, within_s=5)

    async with served() as port:
        await asyncio.wait_for(asyncio.to_thread(ask, port), 10)


async def test_request_that_waits_to_be_read_is_answered_among_silent_connections(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It came in the same moment as all the others."""
    monkeypatch.setattr(http_listener, "MAX_CONNECTIONS", FEW)

    def ask_first(port: int) -> bytes:
        with (
            connections(port, 1, b"GET / HTTP/1.0\r\n\r\n") as (first,),
            connections(port, 3 * FEW, b""),
        ):
            return b"".join(iter(lambda: first.recv(100), b""))

    async with served() as port:
        asking = asyncio.get_running_loop().run_in_executor(None, ask_first, port)
        time.sleep(0.5)  # noqa: ASYNC251 - the loop is busy while all of them connect
        answer = await asyncio.wait_for(asking, 10)

    assert answer.endswith(b"nothing")


async def test_answer_that_nobody_reads_ends_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So that it is not held for as long as its client likes."""
    monkeypatch.setattr(http_listener, "WRITE_TIMEOUT_S", 0.2)

    def wait_for_end(port: int) -> int:
        with connections(port, 1, HEAD) as (unread,):
            time.sleep(1)
            unread.settimeout(5)
            return sum(map(len, iter(lambda: unread.recv(1 << 20), b"")))

    async with served() as port:
        try:
            received = await asyncio.to_thread(wait_for_end, port)
        except ConnectionResetError:
            received = 0

    assert received < len(LARGE)
