"""Tool servers as real processes, and the pool that uses them."""

import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from oldfriend.config.settings_schema import ToolServerSettings
from oldfriend.mcp_client.server_pool import ToolServerPool

SERVER = Path(__file__).parents[1] / "fakes" / "tool_server.py"
NAMED = ("search", "create", "environment", "slow", "die", "ordered", "large", "deep")


def server_settings(
    folder: Path, mode: str = "", *, tools: tuple[str, ...] = NAMED, **more: object
) -> ToolServerSettings:
    """How the fake server is reached."""
    reading = tuple(each for each in tools if each not in {"create", "die"})
    settings = {"tools": tools, "reading": reading, "call_timeout_s": 5.0, **more}
    return ToolServerSettings(
        command=sys.executable, args=("-I", str(SERVER), str(folder), mode), **settings
    )


def list_alive(folder: Path) -> list[int]:
    """The processes of fake servers that still live."""
    pids = [int(each.name.removeprefix("pid-")) for each in folder.glob("pid-*")]
    return [each for each in pids if is_alive(each)]


def is_alive(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


OpenPool = Callable[..., ToolServerPool]


@pytest.fixture
async def open_pool() -> AsyncIterator[OpenPool]:
    """Make pools of servers, which are closed afterwards."""
    async with AsyncExitStack() as stack:

        def open_pool(key: str | None = None, **servers: ToolServerSettings) -> ToolServerPool:
            pool = ToolServerPool(servers, lambda name, settings: key)
            stack.push_async_callback(pool.close)
            return pool

        yield open_pool
