"""Connecting a bot, where something answers that is not the platform."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.provider_resolution import build_credentials
from oldfriend.config.settings import Settings
from oldfriend.domain.errors import PlatformRejected, PlatformUnavailable
from oldfriend.runtime.bot_connections import diagnose_bot, register_bot

VALUES = {
    "bot_token": "xoxb-1",
    "app_token": "xapp-1",
    "phone_number_id": "1",
    "app_secret": "secret",
    "verify_token": "word",
    "user": "@friend:matrix.example",
    "password": "word",
}
BODIES = {
    "a list": b"[]",
    "nothing in it": b"{}",
    "a page": b"<html>Sign in to the network</html>",
    "deep": b"[" * 100_000,
    "deep in a field": b'{"ok": true, "result": ' + b"[" * 100_000,
    "a list as result": b'{"ok": true, "result": []}',
    "fields of other kinds": b'{"ok": true, "result": {"id": [], "username": {}}, "url": 1}',
}


@contextmanager
def serving(body: bytes) -> Iterator[str]:
    """A server that answers everything with the same."""

    class Answer(BaseHTTPRequestHandler):
        """The answer."""

        def do_GET(self) -> None:
            """Answer."""
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            """Answer."""
            self.do_GET()

        def do_PUT(self) -> None:
            """Answer."""
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Say nothing of it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("name", ["telegram", "discord", "slack", "whatsapp", "matrix"])
async def test_answer_of_something_else_is_told_as_such(
    settings: Settings, name: str, body: bytes
) -> None:
    """Whatever it answers; it is no error of this program's."""
    spec = CHANNELS[name]
    with serving(body) as url:
        token = "123456789:" + "A" * 35
        credentials = build_credentials(spec, {**VALUES, "token": token, "homeserver": url})
        assert credentials is not None
        chosen = replace(settings.channels[name], base_url=url)
        there = replace(settings, channels={**settings.channels, name: chosen})
        with pytest.raises((PlatformUnavailable, PlatformRejected)):
            await register_bot(spec, credentials, there)
        told = await diagnose_bot(spec, credentials, there)

    assert isinstance(told, str)
    assert token not in told
