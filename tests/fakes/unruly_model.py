"""A model that does what a test tells it to, by OpenAI's form: it calls a tool, or talks.

It also calls tools when it was told not to. Who asks for anything but a reply gets plain words.
"""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.fakes.slow_model import LINES, framed

Call = tuple[str, Mapping[str, object]]
"""The name of a tool, and its arguments."""


@dataclass(slots=True)
class UnrulyModel:
    """Answers each request for a reply as it is told to."""

    answer: Callable[[], str | Call]
    is_tame: bool = True  # talks, whatever it is told to
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)  # each request for a reply

    def results(self) -> list[str]:
        """What tools have given it, in its last request."""
        messages = self.asked[-1]["messages"]
        return [str(each["content"]) for each in messages if each["role"] == "tool"]

    def may_use(self, words: str) -> bool:
        """Whether its last request spoke of such tools."""
        return bool(self.asked) and words in json.dumps(self.asked[-1]["tools"])

    def answer_to(self, asked: dict[str, Any]) -> str | Call:
        """What it does at a request."""
        if not asked.get("tools"):
            return "{}"
        self.asked.append(asked)
        return "Hello." if self.is_tame else self.answer()


class Handler(BaseHTTPRequestHandler):
    """Speaks HTTP."""

    server: "Models"

    def do_POST(self) -> None:
        model = self.server.unruly
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        told = model.answer_to(asked)
        delta: dict[str, object] = {"role": "assistant"}
        if isinstance(told, str):
            delta["content"] = told
        else:
            name, arguments = told
            function = {"name": name, "arguments": json.dumps(arguments)}
            number = f"call_{len(model.asked)}"
            delta["tool_calls"] = [
                {"index": 0, "id": number, "type": "function", "function": function}
            ]
        ending = "stop" if isinstance(told, str) else "tool_calls"
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        if asked.get("stream"):
            last = framed([{"index": 0, "delta": {}, "finish_reason": ending}])
            pieces = [
                json.dumps(framed([{"index": 0, "delta": delta, "finish_reason": None}])),
                json.dumps({**last, "usage": usage}),
                "[DONE]",
            ]
            body = "".join(map(LINES.format, pieces)).encode()
        else:
            choice = {"index": 0, "finish_reason": ending, "message": delta}
            whole = {**framed([choice]), "object": "chat.completion", "usage": usage}
            body = json.dumps(whole).encode()
        self.send_response(200)
        is_stream = bool(asked.get("stream"))
        kind = "text/event-stream" if is_stream else "application/json"
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


class Models(ThreadingHTTPServer):
    """Serves one model."""

    daemon_threads = True

    def __init__(self, model: UnrulyModel) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.unruly = model

    def handle_error(self, *_: object) -> None:
        pass  # whoever asked was killed: some tests are about that


@contextmanager
def unruly_model(answer: Callable[[], str | Call]) -> Iterator[UnrulyModel]:
    """Start it, and stop it on leaving."""
    model = UnrulyModel(answer)
    with Models(model) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        model.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield model
        finally:
            server.shutdown()
            thread.join()
