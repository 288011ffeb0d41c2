"""Safe fetch: reads what a public address serves, within limits of place, size and time.

Each hop is resolved and checked anew, and the connection goes to the address that was checked. No
cookies, no credentials, no proxy. What comes back is untrusted, and no parser has seen it yet.
"""

import asyncio
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Final, TypeAlias
from urllib.parse import urljoin

import h11

from oldfriend.domain.errors import FetchFailed
from oldfriend.web.public_addresses import (
    Resolver,
    WebTarget,
    parse_target,
    resolve_by_system,
    resolve_target,
)

USER_AGENT: Final = "Oldfriend (a self-hosted companion; reads what its person asks for)"
PAGE_TYPES: Final = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
JSON_TYPE: Final = "application/json"
JSON_TYPES: Final = frozenset({JSON_TYPE})
FORM_TYPE: Final = "application/x-www-form-urlencoded"
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
READ_BYTES: Final = 1 << 14
MAX_HEADER_BYTES: Final = 1 << 16
MAX_INFORMATIONAL: Final = 5
"""Answers such as "100 Continue" before the real one."""
MAX_ADDRESSES: Final = 3
"""Addresses of one host that are tried."""
GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32

Streams: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Dialer: TypeAlias = Callable[[str, WebTarget], Awaitable[Streams]]
"""Connects to an IP address for a target. Raises OSError."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchLimits:
    """What one fetch may take, redirects included."""

    max_bytes: int = 2 << 20  # after decompression
    total_s: float = 15.0
    max_redirects: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchRequest:
    """What is asked for; headers go to its own address only."""

    url: str
    content_types: frozenset[str] | None = PAGE_TYPES  # None: whatever comes is not looked at
    statuses: frozenset[int] = frozenset({200})
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    body: bytes | None = None  # if given, it is posted
    body_type: str = JSON_TYPE
    trusted_origin: str | None = None  # from the settings; it may be in this network


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedContent:
    """What an address served."""

    url: str  # the last one, after redirects
    content_type: str
    charset: str  # as the server says; "" if it does not
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseHead:
    """Status and headers of an answer; the names in lower case."""

    status: int
    headers: Mapping[str, str]


@cache
def build_tls_context() -> ssl.SSLContext:
    """Build the context that all connections share."""
    return ssl.create_default_context()


async def dial_by_system(address: str, target: WebTarget) -> Streams:
    """Connect to exactly this address; the certificate must be the host's. Raises OSError."""
    is_tls = target.scheme == "https"
    return await asyncio.open_connection(
        address,
        target.port,
        ssl=build_tls_context() if is_tls else None,
        server_hostname=target.host.rstrip(".") if is_tls else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WebFetcher:
    """Fetches within limits."""

    limits: FetchLimits = field(default_factory=FetchLimits)
    resolve: Resolver = resolve_by_system
    dial: Dialer = dial_by_system

    async def fetch(self, fetch_request: FetchRequest) -> FetchedContent:
        """Return what an address serves. Raises FetchFailed."""
        try:
            async with asyncio.timeout(self.limits.total_s):
                return await self._follow(fetch_request)
        except TimeoutError as error:
            raise FetchFailed("slow", f"{fetch_request.url} did not answer in time.") from error
        except (OSError, EOFError) as error:
            raise FetchFailed("unreachable", f"{fetch_request.url} cannot be reached.") from error
        except (h11.RemoteProtocolError, h11.LocalProtocolError, zlib.error, ValueError) as error:
            raise FetchFailed("unreadable", f"{fetch_request.url} answered unreadably.") from error

    async def _follow(self, fetch_request: FetchRequest) -> FetchedContent:
        """Ask, and follow redirects by hand; only to public addresses, and without the headers."""
        for _ in range(self.limits.max_redirects + 1):
            target = parse_target(fetch_request.url, trusted_origin=fetch_request.trusted_origin)
            answer = await self._ask(target, fetch_request)
            if isinstance(answer, FetchedContent):
                return answer
            if fetch_request.body is not None or fetch_request.headers:
                raise FetchFailed("redirects", f"{target.url} sends elsewhere.")
            fetch_request = replace(fetch_request, url=answer, trusted_origin=None)
        raise FetchFailed("redirects", f"{fetch_request.url} is behind too many redirects.")

    async def _ask(self, target: WebTarget, fetch_request: FetchRequest) -> FetchedContent | str:
        """Ask one address; return its content, or the address to which it redirects."""
        addresses = await resolve_target(
            target, self.resolve, trusted_origin=fetch_request.trusted_origin
        )
        reader, writer = await self._connect(addresses, target)
        try:
            exchange = HttpExchange(reader=reader, writer=writer, max_bytes=self.limits.max_bytes)
            await exchange.send(target, fetch_request)
            head = await exchange.read_head()
            if head.status in REDIRECTS and (location := head.headers.get("location")):
                return urljoin(target.url, location.strip())
            content_type, charset = check_head(target.url, head, fetch_request)
            body = await exchange.read_body(head)
            return FetchedContent(
                url=target.url, content_type=content_type, charset=charset, body=body
            )
        finally:
            writer.transport.abort()

    async def _connect(self, addresses: list[str], target: WebTarget) -> Streams:
        """Connect to the first address that takes the connection. Raises OSError."""
        *first, last = addresses[:MAX_ADDRESSES]
        for address in first:
            with suppress(OSError):
                return await self.dial(address, target)
        return await self.dial(last, target)


def check_head(url: str, head: ResponseHead, fetch_request: FetchRequest) -> tuple[str, str]:
    """Return content type and charset of an answer. Raises FetchFailed."""
    if head.status not in fetch_request.statuses:
        raise FetchFailed("status", f"{url} answered {head.status}.", status=head.status)
    content_type, _, parameters = head.headers.get("content-type", "").partition(";")
    content_type = content_type.strip().lower()
    if fetch_request.content_types is not None and content_type not in fetch_request.content_types:
        raise FetchFailed("kind", f"{url} is of type {content_type[:80]!r}, which is not read.")
    _, _, charset = parameters.lower().partition("charset=")
    return content_type, charset.partition(";")[0].strip(" \"'")[:40]


@dataclass(slots=True, kw_only=True)
class HttpExchange:
    """One request and its answer over one connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    max_bytes: int
    _connection: h11.Connection = field(
        default_factory=lambda: h11.Connection(
            h11.CLIENT, max_incomplete_event_size=MAX_HEADER_BYTES
        )
    )

    async def send(self, target: WebTarget, fetch_request: FetchRequest) -> None:
        """Send the request."""
        headers = {
            "host": target.authority,
            "user-agent": USER_AGENT,
            "accept": ", ".join(sorted(fetch_request.content_types or {"*/*"})),
            "accept-encoding": "gzip",
            "connection": "close",
            **fetch_request.headers,
        }
        body = fetch_request.body
        if body is not None:
            headers |= {"content-type": fetch_request.body_type, "content-length": str(len(body))}
        head = h11.Request(
            method="GET" if body is None else "POST",
            target=target.path,
            headers=[*headers.items()],
        )
        events: list[h11.Event] = [head, *([h11.Data(data=body)] if body else [])]
        for event in (*events, h11.EndOfMessage()):
            self.writer.write(self._connection.send(event) or b"")
        await self.writer.drain()

    async def _read_event(self) -> h11.Event:
        """Return the next event. Raises EOFError."""
        while True:
            event = self._connection.next_event()
            if event is h11.NEED_DATA:
                self._connection.receive_data(await self.reader.read(READ_BYTES))
            elif isinstance(event, h11.ConnectionClosed) or event is h11.PAUSED:
                raise EOFError
            else:
                assert isinstance(event, h11.Event)
                return event

    async def read_head(self) -> ResponseHead:
        """Return status and headers of the answer."""
        for _ in range(MAX_INFORMATIONAL + 1):
            event = await self._read_event()
            if isinstance(event, h11.Response):
                headers = {
                    name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers
                }
                return ResponseHead(status=event.status_code, headers=headers)
        raise FetchFailed("unreadable", "It answers without end.")

    async def read_body(self, head: ResponseHead) -> bytes:
        """Return the content, decompressed as far as the limit. Raises FetchFailed, zlib.error."""
        encoding = head.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"identity", "gzip", "x-gzip", "deflate", ""}:
            raise FetchFailed("unreadable", f"It is packed as {encoding[:40]!r}.")
        unpacker = None if encoding in {"identity", ""} else zlib.decompressobj(GZIP_OR_ZLIB)
        body, packed_bytes = bytearray(), 0
        while isinstance(event := await self._read_event(), h11.Data):
            packed_bytes += len(event.data)
            part = bytes(event.data)
            if unpacker is not None:
                part = unpacker.decompress(part, self.max_bytes + 1 - len(body))
            body += part
            if max(len(body), packed_bytes) > self.max_bytes:
                raise FetchFailed("large", f"It has more than {self.max_bytes:,} bytes.")
        if unpacker is not None and packed_bytes and not unpacker.eof:
            raise FetchFailed("unreadable", "It ends before its end.")
        return bytes(body)
