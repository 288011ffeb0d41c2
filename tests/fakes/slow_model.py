"""A model that writes word by word, as slowly as it is told to, or fails; by OpenAI's form.

Only what is needed to watch a reply come: it says the same to everybody, and thinks of nothing.
"""

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LINES = "data: {}\n\n"


@dataclass(slots=True)
class SlowModel:
    """Says this, one word after the other."""

    url: str = ""
    says: str = "One word comes after the other, and so on."
    pause_s: float = 0.02
    fails: bool = False
    asked: int = 0  # for a reply
    about: list[str] = field(default_factory=list)  # the last words of each request
    ended: int = 0  # of how many answers the last byte was sent


def chunk(**delta: str) -> str:
    """One piece of a reply, as it is sent."""
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    return LINES.format(json.dumps(framed([choice])))


def framed(choices: list[dict[str, object]]) -> dict[str, object]:
    """What is around every piece."""
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "slow",
        "choices": choices,
    }


LAST = LINES.format(
    json.dumps(
        {
            **framed([{"index": 0, "delta": {}, "finish_reason": "stop"}]),
            "usage": {"prompt_tokens": 120, "completion_tokens": 12, "total_tokens": 132},
        }
    )
)


def whole(text: str) -> dict[str, object]:
    """A reply that is sent at once."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "c2",
        "object": "chat.completion",
        "created": 1,
        "model": "slow",
        "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 12, "total_tokens": 132},
    }


class Server(ThreadingHTTPServer):
    """Serves one model."""

    daemon_threads = True

    def __init__(self, model: SlowModel) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.model = model

    def handle_error(self, *_: object) -> None:
        pass  # whoever asked was killed: some tests are about that


class Handler(BaseHTTPRequestHandler):
    """Speaks HTTP."""

    server: Server

    def do_POST(self) -> None:
        model = self.server.model
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if model.fails:
            self.answer(503, {"error": {"message": "overloaded", "type": "server_error"}})
            return
        last = str(asked["messages"][-1]["content"])
        model.about.append(last.rpartition("[[The last message:]]")[2].strip())
        if not asked.get("stream"):
            time.sleep(model.pause_s * len(model.says.split()))
            self.answer(200, whole(model.says))
            model.ended += 1
            return
        model.asked += 1
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        with suppress(OSError):  # they have hung up
            for word in re.findall(r"\s*\S+", model.says):
                self.wfile.write(chunk(content=word).encode())
                self.wfile.flush()
                time.sleep(model.pause_s)
            self.wfile.write((LAST + LINES.format("[DONE]")).encode())
            self.wfile.flush()
            model.ended += 1

    def answer(self, status: int, told: object) -> None:
        """Answer at once, and whole."""
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def slow_model() -> Iterator[SlowModel]:
    """Start it, and stop it on leaving."""
    model = SlowModel()
    with Server(model) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        model.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
