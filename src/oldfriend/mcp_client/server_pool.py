"""Server pool: all tool servers of an installation, started when tools are first asked for."""

import asyncio
import json
from collections.abc import Mapping
from typing import Final

from oldfriend.config.settings_schema import ToolServerSettings
from oldfriend.domain.errors import ToolServerFailed
from oldfriend.domain.json import JsonValue
from oldfriend.mcp_client.remote_tool import RemoteTool, build_full_name
from oldfriend.mcp_client.server_connection import FindSecret, ServerConnection, ServerStatus

MAX_DEFINITION_CHARS: Final = 12_000
"""Characters of all tools together; they stand in every prompt."""


class ToolServerPool:
    """The tool servers that the settings name."""

    def __init__(self, servers: Mapping[str, ToolServerSettings], find_secret: FindSecret) -> None:
        """Set the servers; none is started."""
        self._servers = servers
        self._find_secret = find_secret
        self._owners: dict[str, str] = {}  # of "a" + "b_c" and "a_b" + "c" the first is offered
        for name, each in servers.items():
            for tool in each.tools:
                self._owners.setdefault(build_full_name(name, tool), name)
        self._connections: dict[str, ServerConnection] = {}

    def list_tools(self) -> tuple[RemoteTool, ...]:
        """Return the tools that are there now; servers that are not connected begin to be."""
        found: dict[str, RemoteTool] = {}
        left = MAX_DEFINITION_CHARS
        for connection in self._list_connections():
            connection.start()
            for tool in connection.tools:
                if self._owners.get(tool.full_name) != tool.server:
                    continue
                left -= len(tool.description) + len(json.dumps(tool.parameters))
                if left >= 0:
                    found.setdefault(tool.full_name, tool)
        return tuple(found.values())

    async def call(self, remote_tool: RemoteTool, arguments: Mapping[str, JsonValue]) -> str:
        """Return what a tool answers. Raises ToolServerFailed, TimeoutError."""
        connection = self._connections.get(remote_tool.server)
        if connection is None:
            raise ToolServerFailed(f"The server {remote_tool.server} is not connected now.")
        return await connection.call(remote_tool, arguments)

    async def check(self, within_s: float) -> list[ServerStatus]:
        """Connect all servers and return how they are doing after at most a while."""
        self.list_tools()
        async with asyncio.TaskGroup() as tasks:
            for each in self._connections.values():
                tasks.create_task(each.wait_until_settled(within_s))
        return [each.status for each in self._connections.values()]

    async def wait_for(self, full_name: str, within_s: float) -> None:
        """Wait at most a while until the server of a tool is connected or has failed."""
        self.list_tools()
        connection = self._connections.get(self._owners.get(full_name, ""))
        if connection is not None:
            await connection.wait_until_settled(within_s)

    async def close(self) -> None:
        """End all connections and the processes behind them."""
        async with asyncio.TaskGroup() as tasks:
            for each in self._connections.values():
                tasks.create_task(each.close())

    def _list_connections(self) -> list[ServerConnection]:
        """Return the connections, made at their first use."""
        for name, settings in self._servers.items():
            if name not in self._connections:
                self._connections[name] = ServerConnection(name, settings, self._find_secret)
        return [*self._connections.values()]
