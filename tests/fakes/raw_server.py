"""A server that sends exactly the bytes it is told to, however wrong they are."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

STREAM_HEAD = (
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
)

Step = str | float
"""Bytes to send, or seconds to wait. At the end the connection is closed."""


@dataclass(slots=True)
class RawServer:
    """Sends one script for each request, in order; the last one again and again."""

    scripts: Sequence[Sequence[Step]]
    url: str = ""
    bodies: list[dict[str, object]] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Read one request, play its script, and hang up."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = [
                line for line in head.lower().splitlines() if line.startswith("content-length")
            ]
            if length:
                self.bodies.append(
                    json.loads(await reader.readexactly(int(length[0].split(":")[1])))
                )
            for step in self.scripts[min(len(self.bodies), len(self.scripts)) - 1]:
                if isinstance(step, str):
                    writer.write(step.encode())
                    await writer.drain()
                else:
                    await asyncio.sleep(step)
        except ConnectionError:
            pass  # who asked has hung up: that is what some tests are about
        finally:
            writer.close()


@asynccontextmanager
async def raw_server(*scripts: Sequence[Step]) -> AsyncIterator[RawServer]:
    """Start it on this machine, and stop it on leaving."""
    raw = RawServer(scripts)
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0)
    raw.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield raw


def whole(body: object, *, status: int = 200, headers: str = "") -> list[Step]:
    """A response with a JSON body, or with a text as it is."""
    text = body if isinstance(body, str) else json.dumps(body)
    return [
        f"HTTP/1.1 {status} Whatever\r\ncontent-type: application/json\r\n{headers}"
        f"content-length: {len(text.encode())}\r\nconnection: close\r\n\r\n{text}"
    ]


def chunk(text: str) -> str:
    """A part of a body that comes in parts."""
    return f"{len(text.encode()):x}\r\n{text}\r\n"


def event(body: dict[str, object]) -> str:
    """One event of a stream."""
    return chunk(f"event: {body.get('type', 'message')}\ndata: {json.dumps(body)}\n\n")


END = "0\r\n\r\n"
"""The stream is over, as it should be."""


def chat_piece(text: str, *, ends: str | None = None) -> str:
    """A piece of OpenAI's chat."""
    delta = {"content": text} if text else {}
    return event(
        {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": ends}],
        }
    )
