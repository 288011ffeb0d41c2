"""HTTP connections: to no forbidden address, without redirects, and within limits of time."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import cache
from typing import Any, Final, TypeVar

import httpx2
from typing_extensions import override

from oldfriend.domain.errors import ModelUnavailable
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.messages import sanitize_text
from oldfriend.llm.addresses import is_forbidden_host
from oldfriend.llm.model import TextCallback
from oldfriend.llm.providers import ModelConfig, Timeouts, is_local_address

MAX_ANSWER_CHARS: Final = 400_000
"""Far more than any token limit that is asked for allows, and less than a message may hold."""
HIGH_SURROGATES: Final = frozenset(map(chr, range(0xD800, 0xDC00)))
"""The first halves of characters; a server may send the second one in the next piece."""

CONNECT_EVENT: Final = "connection.connect_tcp.complete"

CONNECTION_LIMITS: Final = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
"""High, because chats wait for models in parallel and concurrency is limited elsewhere."""

MAX_RESPONSE_BYTES: Final = 32 << 20
"""Of one response: ten times the longest answer of a model, or the vectors of a whole batch."""


def open_http_client(
    url: str,
    *,
    base: str = "",
    headers: Mapping[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    limits: httpx2.Limits | None = None,
) -> httpx2.AsyncClient:
    """Open a client for the provider at an address; no proxy is used for this machine.

    Redirects are not followed: they would send the key and the user's text to another server.
    """
    return httpx2.AsyncClient(
        base_url=base,
        headers=headers,
        timeout=timeout or httpx2.Timeout(5.0),
        limits=limits or httpx2.Limits(),
        verify=build_ssl_context(),
        trust_env=not is_local_address(url),
        follow_redirects=False,
        event_hooks={"request": [attach_address_check], "response": [limit_response]},
    )


def open_model_http(config: ModelConfig) -> httpx2.AsyncClient:
    """Open connections to a provider; those to this machine use no proxy."""
    return open_http_client(
        config.base_url, timeout=build_timeout(config), limits=CONNECTION_LIMITS
    )


def build_timeout(config: ModelConfig) -> httpx2.Timeout:
    """Build the network timeout; pauses between pieces are limited by the adapter."""
    return httpx2.Timeout(config.timeouts.total_s, connect=config.timeouts.connect_s)


@cache
def build_ssl_context() -> ssl.SSLContext:
    """Build the context that all clients share: reading the certificates takes a while."""
    return httpx2.create_ssl_context()


async def limit_response(response: httpx2.Response) -> None:
    """Have the reading of a response end with ValueError where it is longer than any answer."""
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = LimitedStream(response.stream)


class LimitedStream(httpx2.AsyncByteStream):
    """The body of a response, read up to a limit: a server may send without end."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        """Take the body as it comes."""
        self._stream = stream

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Yield its parts. Raises ValueError."""
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MAX_RESPONSE_BYTES:
                raise ValueError(f"more than {MAX_RESPONSE_BYTES >> 20} MB")
            yield part

    @override
    async def aclose(self) -> None:
        """Close the body."""
        await self._stream.aclose()


async def attach_address_check(request: httpx2.Request) -> None:
    """Have a request's connection checked before anything is sent over it."""
    request.extensions = {**request.extensions, "trace": reject_forbidden_address}


async def reject_forbidden_address(event: str, info: Mapping[str, Any]) -> None:
    """Raise ConnectError for a connection to a forbidden address, whatever name resolved to it."""
    if event != CONNECT_EVENT:
        return
    stream = info["return_value"]
    host = str(stream.get_extra_info("server_addr")[0])
    if is_forbidden_host(host):
        await stream.aclose()
        raise httpx2.ConnectError(f"{host} is an address that is not asked.")


T = TypeVar("T")


@asynccontextmanager
async def limit_time(model: str, seconds: float) -> AsyncIterator[asyncio.Timeout]:
    """Raise ModelUnavailable when a model takes longer."""
    limit = asyncio.timeout(seconds)
    try:
        async with limit:
            yield limit
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise ModelUnavailable(
            localizable("model_slow", f"{model} did not answer in time.", model=model),
            outage="slow",
        ) from error


def check_length(model: str, chars: int) -> None:
    """Raise ModelUnavailable for an answer that is too long to be one."""
    if chars > MAX_ANSWER_CHARS:
        said = f"more than {MAX_ANSWER_CHARS:,} characters"
        raise ModelUnavailable(
            localizable(
                "answer_unreadable",
                f"{model} answered with something that cannot be read: {said}",
                model=model,
                said=said,
            ),
            outage="failing",
        )


async def relay_pieces(
    pieces: AsyncGenerator[str | T, None], on_text: TextCallback, *, model: str, timeouts: Timeouts
) -> T:
    """Pass the pieces of text on, and return the response that ends them."""
    loop = asyncio.get_running_loop()
    end = loop.time() + timeouts.total_s
    length, half = 0, ""
    async with (
        limit_time(model, min(timeouts.first_token_s, timeouts.total_s)) as limit,
        aclosing(pieces) as relayed,
    ):
        async for piece in relayed:
            if not isinstance(piece, str):
                return piece
            limit.reschedule(end)  # a slow reader may use all of the remaining time
            length += len(piece)
            check_length(model, length)
            whole = f"{half}{piece}"
            half = whole[-1:] if whole[-1:] in HIGH_SURROGATES else ""
            if text := whole[: len(whole) - len(half)]:
                await on_text(sanitize_text(text))
            limit.reschedule(min(end, loop.time() + timeouts.idle_s))
    raise AssertionError("a stream ends with the response")
