"""Servers behind HTTP that restart or stand behind a proxy in trouble: nothing is done twice."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from oldfriend.config.settings_schema import ToolServerSettings
from oldfriend.domain.errors import ToolServerFailed
from oldfriend.mcp_client.remote_tool import RemoteTool
from oldfriend.mcp_client.server_pool import ToolServerPool
from tests.mcp_client.conftest import OpenPool

WAIT_S = 30.0
SCHEMA = {"type": "object", "properties": {}}


@dataclass(slots=True)
class WebServer:
    """A server of two tools with sessions, as it is by now."""

    session: int = 1
    status: int = 200  # of each call
    error_code: int | None = None
    url: str = ""
    calls: list[str] = field(default_factory=list)

    def handle(self, request: dict[str, object]) -> dict[str, object]:
        """What it answers."""
        method, params = request["method"], request.get("params", {})
        if method == "initialize":
            info = {"name": "notes", "version": "1"}
            return {
                "result": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": info,
                }
            }
        if method == "tools/list":
            tools = [{"name": each, "inputSchema": SCHEMA} for each in ("search", "create")]
            return {"result": {"tools": tools}}
        if method != "tools/call":
            return {"error": {"code": -32601, "message": "Method not found"}}
        assert isinstance(params, dict)
        self.calls.append(str(params["name"]))
        if self.error_code is not None:
            return {"error": {"code": self.error_code, "message": "It went wrong."}}
        return {"result": {"content": [{"type": "text", "text": "Done."}]}}


class Handler(BaseHTTPRequestHandler):
    """Speaks HTTP."""

    server: "WebServers"

    def do_POST(self) -> None:
        web = self.server.web
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        given, known = self.headers.get("mcp-session-id"), str(web.session)
        if given is not None and given != known:
            return self.answer(404)
        if "id" not in request:
            return self.answer(202)
        answered = web.handle(request)
        if request["method"] == "tools/call" and web.status >= 400:
            return self.answer(web.status)
        return self.answer(200, json.dumps({"jsonrpc": "2.0", "id": request["id"], **answered}))

    def do_GET(self) -> None:
        self.answer(405)

    def do_DELETE(self) -> None:
        self.answer(200)

    def answer(self, status: int, body: str = "") -> None:
        """Send an answer."""
        self.send_response(status)
        self.send_header("content-type", "application/json" if body else "text/html")
        self.send_header("content-length", str(len(body)))
        if self.server.web.session and status == 200:
            self.send_header("mcp-session-id", str(self.server.web.session))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


class WebServers(ThreadingHTTPServer):
    """Serves one."""

    daemon_threads = True

    def __init__(self, web: WebServer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.web = web


@contextmanager
def serving() -> Iterator[WebServer]:
    """Start it, and stop it on leaving."""
    web = WebServer()
    with WebServers(web) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        web.url = f"http://127.0.0.1:{server.server_port}/mcp"
        try:
            yield web
        finally:
            server.shutdown()
            thread.join()


async def connect(open_pool: OpenPool, web: WebServer) -> tuple[ToolServerPool, list[RemoteTool]]:
    """A pool with the server, and its tools: one that reads and one that acts."""
    settings = ToolServerSettings(url=web.url, tools=("search", "create"), reading=("search",))
    pool = open_pool(notes=settings)
    (status,) = await pool.check(WAIT_S)
    assert status.state == "ready", status.reason
    return pool, sorted(pool.list_tools(), key=lambda each: not each.is_reading)


async def test_server_that_is_away_is_noticed(open_pool: OpenPool) -> None:
    """Nobody answers any more."""
    with serving() as web:
        pool, (search, create) = await connect(open_pool, web)
    for tool, error in ((create, TimeoutError), (search, ToolServerFailed)):
        with pytest.raises(error):
            await pool.call(tool, {})

    assert pool.list_tools() == ()


async def test_server_that_has_restarted_is_connected_anew(
    open_pool: OpenPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It knows nothing of the session, so nothing was begun."""
    monkeypatch.setattr("oldfriend.mcp_client.server_connection.FIRST_PAUSE_S", 0.05)
    with serving() as web:
        pool, (_, create) = await connect(open_pool, web)
        web.session += 1
        with pytest.raises(ToolServerFailed):
            await pool.call(create, {})
        for _ in range(500):
            if pool.list_tools():
                break
            await asyncio.sleep(0.02)
        assert await pool.call(create, {}) == "Done."

    assert web.calls == ["create"]


@pytest.mark.parametrize(("status", "error_code"), [(502, None), (504, None), (200, -32603)])
async def test_what_may_have_been_done_is_not_called_failed(
    open_pool: OpenPool, status: int, error_code: int | None
) -> None:
    """The server did it before the proxy gave up: a second yes must not do it again."""
    with serving() as web:
        pool, (search, create) = await connect(open_pool, web)
        web.status, web.error_code = status, error_code
        with pytest.raises(TimeoutError):
            await pool.call(create, {})
        with pytest.raises(ToolServerFailed):
            await pool.call(search, {})

    assert web.calls[0] == "create"


@pytest.mark.parametrize("error_code", [-32601, -32602])
async def test_what_was_refused_has_failed(open_pool: OpenPool, error_code: int) -> None:
    """It was not begun."""
    with serving() as web:
        pool, (_, create) = await connect(open_pool, web)
        web.error_code = error_code
        with pytest.raises(ToolServerFailed, match="It went wrong"):
            await pool.call(create, {})
