"""SDK session: connects to one server with the official SDK, and passes on its tools and results.

Large to import, so it is imported only where a server is configured. What the server sends beyond
that (requests, notifications, its log) goes nowhere.
"""

import shutil
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Final

from anyio import CancelScope as CancelScope
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    EmbeddedResource,
    Implementation,
    ResourceLink,
    TextContent,
)
from mcp_types import TextResourceContents as TextOfResource

from oldfriend import __version__
from oldfriend.config.settings_schema import ToolServerSettings
from oldfriend.domain.errors import ToolServerFailed
from oldfriend.domain.json import JsonValue
from oldfriend.mcp_client import process_guard
from oldfriend.mcp_client.remote_tool import OfferedTool, RemoteTool

MAX_PAGES: Final = 10
MAX_OFFERED: Final = 500
"""Tools of a server that are looked at."""
REFUSALS: Final = frozenset({INVALID_PARAMS, METHOD_NOT_FOUND})
"""Codes by which a server says that it has not begun; after any other it may have acted."""
SESSION_ENDED: Final = "Session terminated"
BROKEN_OFF: Final = frozenset({SESSION_ENDED, "Server returned an error response"})
"""What the SDK says, in place of the server: to a session that it no longer knows (404), or for
another status of HTTP, such as a proxy's.
"""
OURSELVES: Final = Implementation(name="oldfriend", version=__version__)


async def open_client(
    stack: AsyncExitStack, server_settings: ToolServerSettings, secret: str | None
) -> Client:
    """Connect to a server; it is closed with the stack."""
    if server_settings.url is not None:
        headers = {"Authorization": f"Bearer {secret}"} if secret else None
        http = await stack.enter_async_context(create_mcp_http_client(headers=headers))
        transport = streamable_http_client(server_settings.url, http_client=http)
    else:
        transport = stdio_client(build_parameters(server_settings, secret))
    client = Client(transport, client_info=OURSELVES, cache=None)
    return await stack.enter_async_context(client)


def build_parameters(
    server_settings: ToolServerSettings, secret: str | None
) -> StdioServerParameters:
    """Return how a server is started: behind the guard, with a few variables and its own.

    The SDK adds only PATH, HOME, USER and the like; nothing else of our environment is passed on.
    Raises ToolServerFailed if there is no such program.
    """
    command = server_settings.command or ""
    if shutil.which(command) is None:
        raise ToolServerFailed(f"there is no program {command} on this machine")
    variables = dict(each.split("=", 1) for each in server_settings.env)
    if secret and server_settings.key_from_env:
        variables[server_settings.key_from_env] = secret
    guard = [sys.executable, "-I", str(process_guard.__file__)]
    return StdioServerParameters(
        command=guard[0],
        args=[*guard[1:], command, *server_settings.args],
        env=variables,
        encoding_error_handler="replace",
    )


async def list_offered(client: Client) -> list[OfferedTool]:
    """Return the tools that a server offers."""
    found: list[OfferedTool] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        found += [
            OfferedTool(
                name=each.name, description=each.description or "", input_schema=each.input_schema
            )
            for each in page.tools
        ]
        cursor = page.next_cursor
        if cursor is None or len(found) >= MAX_OFFERED:
            break
    return found[:MAX_OFFERED]


async def call_tool(
    client: Client, remote_tool: RemoteTool, arguments: Mapping[str, JsonValue]
) -> str:
    """Return what a tool answers, as text.

    Raises ToolServerFailed with the server's words, TimeoutError if it is not known whether it was
    done, MCPError if the connection broke off.
    """
    try:
        result = await client.call_tool(remote_tool.name, dict(arguments))
    except MCPError as error:
        if error.code == CONNECTION_CLOSED or error.message in BROKEN_OFF:
            raise
        if remote_tool.is_reading or error.code in REFUSALS:
            raise ToolServerFailed(error.message) from error
        raise TimeoutError(error.message) from error
    parts = [read_content(each) for each in result.content]
    text = "\n".join(part for part in parts if part)
    if result.is_error:
        raise ToolServerFailed(text)
    return text or str(result.structured_content or "")


def has_begun(error: Exception) -> bool:
    """Tell whether a server may have begun a call before the connection broke off."""
    return not (isinstance(error, MCPError) and error.message == SESSION_ENDED)


def read_content(content: object) -> str:
    """Return the text of a part of a result; of what is no text only what it is."""
    if isinstance(content, TextContent):
        return content.text
    if isinstance(content, ResourceLink):
        return f"{content.name}: {content.uri}"
    if isinstance(content, EmbeddedResource) and isinstance(content.resource, TextOfResource):
        return content.resource.text
    return f"[{getattr(content, 'type', 'other')}]"
