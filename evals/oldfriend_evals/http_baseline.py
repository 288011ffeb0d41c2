"""HTTP baseline: the plainest code for the page's questions, as a process of its own.

    python -m oldfriend_evals.http_baseline events MODEL_PORT
    python -m oldfriend_evals.http_baseline lists DATABASE ROUTES.json

``events`` has a handler of server-sent events, and passes on what a model says, piece by piece, to
all who listen under a name. ``lists`` runs the SQL that is written in a file for each address, and
answers with the JSON that stands beside it. It tells at which port, and checks nothing.
"""

import asyncio
import json
import socket
import sys
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Final

import apsw
import uvicorn
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

ASKED: Final = b'POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16\r\n\r\n{"stream": true}'
Listeners = dict[str, set[asyncio.Queue[str]]]


def build_event_routes(model: int) -> Starlette:
    """Those who listen, and those who have something said to them."""
    listeners: Listeners = {}

    async def listen(request: Request) -> StreamingResponse:
        heard: asyncio.Queue[str] = asyncio.Queue()
        listeners.setdefault(request.path_params["who"], set()).add(heard)
        return StreamingResponse(stream_events(heard), media_type="text/event-stream")

    async def say(request: Request) -> Response:
        who = listeners.get(request.path_params["who"], set())
        passing = BackgroundTask(relay_reply, model, who)
        return Response(status_code=202, content=b"{}", background=passing)

    return Starlette(
        routes=[Route("/events/{who}", listen), Route("/say/{who}", say, methods=["POST"])]
    )


async def stream_events(heard: "asyncio.Queue[str]") -> AsyncIterator[bytes]:
    """Everything that is heard, as events."""
    yield b"event: ready\ndata: {}\n\n"
    while True:
        yield f"event: token\ndata: {json.dumps({'text': await heard.get()})}\n\n".encode()


async def relay_reply(model: int, listeners: "set[asyncio.Queue[str]]") -> None:
    """Have a model say something, and tell each piece to everybody."""
    reader, writer = await asyncio.open_connection("127.0.0.1", model)
    writer.write(ASKED)
    while line := await reader.readline():
        if line.startswith(b"data: {"):
            piece = json.loads(line[6:])["choices"][0]["delta"].get("content", "")
            for each in listeners if piece else ():
                each.put_nowait(piece)
    writer.close()


def build_list_routes(database: str, routes: str) -> FastAPI:
    """For each address the same SQL and the same JSON, and nothing else."""
    connection = apsw.Connection(database, flags=apsw.SQLITE_OPEN_READONLY)
    app = FastAPI()

    def answer(asked: list[tuple[str, dict[str, str | int]]], told: object) -> JSONResponse:
        for sql, values in asked:
            connection.execute(sql, values).fetchall()
        return JSONResponse(told)

    for path, (asked, told) in json.loads(Path(routes).read_text("utf-8")).items():
        app.add_api_route(path, build_route(partial(answer, asked, told)))
    return app


def build_route(answer: Callable[[], JSONResponse]) -> Callable[[], JSONResponse]:
    """A route as it is written by hand: without parameters, in a thread, for its database waits."""

    def show() -> JSONResponse:
        return answer()

    return show


def main(kind: str, *about: str) -> None:
    """Serve until killed."""
    app: ASGIApp = (
        build_event_routes(int(about[0]))
        if kind == "events"
        else build_list_routes(about[0], about[1])
    )
    listening = socket.socket(proto=socket.IPPROTO_TCP)  # named: no answer is held back
    listening.bind(("127.0.0.1", 0))
    listening.listen(1024)
    sys.stdout.write(f"{listening.getsockname()[1]}\n")
    sys.stdout.flush()
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False))
    server.run(sockets=[listening])


if __name__ == "__main__":
    main(*sys.argv[1:])
