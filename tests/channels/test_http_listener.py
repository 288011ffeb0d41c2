"""Whoever asks over HTTP is answered at once, however often they ask on one connection."""

import asyncio
import http.client
import time
from statistics import median

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from oldfriend.channels.http_listener import serve_http
from oldfriend.runtime.admin_http import listen

TIMES = 30
ACKNOWLEDGED_S = 0.04
"""After which Linux acknowledges at the latest what nobody has answered."""


async def nothing(_: Request) -> Response:
    """The plainest answer."""
    return Response("nothing")


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
    stopping = asyncio.Event()
    with listen("127.0.0.1", 0) as listening:
        app = Starlette(routes=[Route("/", nothing)])
        async with asyncio.TaskGroup() as group:
            group.create_task(serve_http(app, listening, stopping))
            taken = await asyncio.to_thread(asked_again_and_again, listening.getsockname()[1])
            stopping.set()

    assert median(taken) < ACKNOWLEDGED_S / 2
