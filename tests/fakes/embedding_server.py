"""A server for embeddings on this machine, as Ollama and many others are one."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from tests.hashed_embedder import Hashed


@dataclass(slots=True)
class EmbeddingServer:
    """Gives hashed vectors, three times as long as they should be, in the wrong order."""

    url: str = ""
    longest: int = 100_000  # characters that it takes in one text
    refusals: list[tuple[int, str]] = field(default_factory=list)  # status and text, used up first
    dollars: float | None = None  # what it says that one request costs
    asked: list[list[str]] = field(default_factory=list)  # the texts of each request
    headers: list[dict[str, str]] = field(default_factory=list)

    def answer(self, texts: Sequence[str]) -> tuple[int, object]:
        """What one request gets."""
        self.asked.append(list(texts))
        if self.refusals:
            status, text = self.refusals.pop(0)
            return status, {"error": {"message": text}}
        if any(len(text) > self.longest for text in texts):
            return 400, {"error": {"message": "the input is longer than the context"}}
        vectors = 3 * np.stack([Hashed.vector(text) for text in texts])
        items = [
            {"object": "embedding", "index": place, "embedding": vector.tolist()}
            for place, vector in enumerate(vectors)
        ]
        return 200, {"object": "list", "data": items[::-1], "usage": self.usage}

    @property
    def usage(self) -> dict[str, float]:
        """What one request is charged at."""
        counted: dict[str, float] = {"prompt_tokens": 7}
        return counted if self.dollars is None else {**counted, "cost": self.dollars}


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """Start it, and stop it on leaving."""
    fake = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            fake.headers.append({name.lower(): value for name, value in self.headers.items()})
            status, answer = (
                (404, {}) if self.path != "/v1/embeddings" else fake.answer(body["input"])
            )
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        fake.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield fake
        finally:
            server.shutdown()
            thread.join()
