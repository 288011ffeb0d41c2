"""How is something answered over HTTP, at an address of this machine, until told to stop?

It does not know what is asked, nor of whom.
"""

import asyncio
import socket
from typing import Final

import uvicorn
from starlette.types import ASGIApp

TO_HANG_UP_S: Final = 3
MOST_AT_ONCE: Final = 1000
"""Connections; open pages have one each, and keep it."""


async def answer_http(app: ASGIApp, listening: socket.socket, stopping: asyncio.Event) -> None:
    """Answer until told to stop; the socket stays open."""
    config = uvicorn.Config(
        app, http="h11", ws="none", lifespan="off", log_config=None, access_log=False,
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
