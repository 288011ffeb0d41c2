"""A server that keeps every byte it is sent, and answers each request alike."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

REFUSED = "HTTP/1.1 401 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def redirect_to(url: str, *, status: int = 307) -> str:
    """An answer that sends whoever asks on to another address."""
    return (
        f"HTTP/1.1 {status} Elsewhere\r\nlocation: {url}\r\ncontent-length: 0\r\n"
        "connection: close\r\n\r\n"
    )


@dataclass(slots=True)
class RecordingServer:
    """What was sent to it, request by request."""

    answer: str
    port: int = 0
    requests: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def received(self) -> str:
        """Every byte that it was ever sent."""
        return "".join(self.requests)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Keep one request, answer it, and hang up."""
        kept = ""
        try:
            kept = (await reader.readuntil(b"\r\n\r\n")).decode(errors="replace")
            for line in kept.lower().splitlines():
                name, _, value = line.partition(":")
                if name == "content-length":
                    body = await reader.readexactly(int(value))
                    kept += body.decode(errors="replace")
            writer.write(self.answer.encode())
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            kept += getattr(error, "partial", b"").decode(errors="replace")
        finally:
            if kept:
                self.requests.append(kept)
            writer.close()


@asynccontextmanager
async def recording_server(answer: str = REFUSED) -> AsyncIterator[RecordingServer]:
    """Start it on this machine, and stop it on leaving."""
    recording = RecordingServer(answer)
    server = await asyncio.start_server(recording.serve, "127.0.0.1", 0)
    recording.port = server.sockets[0].getsockname()[1]
    async with server:
        yield recording
