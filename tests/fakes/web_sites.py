"""A web of its own: names that resolve to public addresses, served by this machine.

Nothing of the guard is replaced: what is resolved is checked, and what is dialled must be what was
checked. Only the last step, from the checked address to this machine, is the fake's.
"""

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from oldfriend.web.public_addresses import WebTarget
from oldfriend.web.safe_fetch import FetchLimits, Streams, WebFetcher

PUBLIC = "93.184.216.34"
Write = Callable[[bytes], Awaitable[None]]
Serve = Callable[[str, Write], Awaitable[None]]
"""Answers a request, given as its head and body, by writing."""


def page(
    body: str | bytes,
    *,
    content_type: str = "text/html; charset=utf-8",
    packed: bool = False,
    status: str = "200 OK",
    headers: str = "",
) -> Serve:
    """Serve this."""
    content = body.encode() if isinstance(body, str) else body
    content = gzip.compress(content) if packed else content
    packing = "content-encoding: gzip\r\n" if packed else ""
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\n"
        f"content-length: {len(content)}\r\n{packing}{headers}\r\n"
    )

    async def serve(request: str, write: Write) -> None:
        del request
        await write(head.encode() + content)

    return serve


def redirect(to: str, *, status: int = 302) -> Serve:
    """Send whoever asks elsewhere."""
    return page("", status=f"{status} Found", headers=f"location: {to}\r\nset-cookie: a=b\r\n")


@dataclass(slots=True)
class WebSites:
    """The sites by host and path ("site.example/a"), and what was asked of whom."""

    sites: Mapping[str, Serve]
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)  # others: PUBLIC
    port: int = 0
    dialled: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    resolved: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        """Resolve a name; the next answer of a list of lists each time."""
        del port
        self.resolved.append(host)
        known = self.names.get(host)
        if known is not None:
            return known
        if not any(key.partition("/")[0] == host for key in self.sites):
            raise OSError("not known")
        return [PUBLIC]

    async def dial(self, address: str, target: WebTarget) -> Streams:
        """Connect to this machine in place of the address."""
        self.dialled.append(address)
        del target
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = dict(
                line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line
            )
            sent = await reader.readexactly(int(lines.get("content-length", 0)))
            body = sent.decode(errors="surrogateescape")  # it need not be text
            self.requests.append(head + body)
            path = urlsplit(head.split(" ")[1]).path
            site = self.sites.get(lines["host"] + path) or self.sites.get(lines["host"])

            async def write(data: bytes) -> None:
                writer.write(data)
                await writer.drain()

            await (site or page("", status="404 Not Found"))(head + body, write)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # who asked has hung up
        finally:
            writer.close()

    def fetcher(self, **limits: float) -> WebFetcher:
        """A fetcher that sees this web."""
        return WebFetcher(limits=FetchLimits(**limits), resolve=self.resolve, dial=self.dial)


@asynccontextmanager
async def web_sites(
    sites: Mapping[str, Serve], names: Mapping[str, Sequence[str]] | None = None
) -> AsyncIterator[WebSites]:
    """Serve them, and stop on leaving."""
    web = WebSites(sites, names or {})
    server = await asyncio.start_server(web.serve, "127.0.0.1", 0)
    web.port = server.sockets[0].getsockname()[1]
    async with server:
        yield web
