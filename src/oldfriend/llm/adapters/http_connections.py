"""HTTP connections: provider clients that follow no redirects and reach no forbidden address."""

import ssl
from collections.abc import AsyncIterator, Mapping
from functools import cache
from typing import Any, Final

import httpx2
from typing_extensions import override

from oldfriend.llm.addresses import is_forbidden_host
from oldfriend.llm.providers import ModelConfig, is_local_address

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
