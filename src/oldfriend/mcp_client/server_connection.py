"""Server connection: keeps one tool server connected in the background, and calls its tools.

Nobody waits for a server: until it is connected its tools are not there. One that fails is tried
again at the next use, ever later.
"""

import asyncio
import importlib
import math
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from oldfriend.config.settings_schema import ToolServerSettings
from oldfriend.domain.errors import OldfriendError, ToolServerFailed
from oldfriend.domain.json import JsonValue
from oldfriend.mcp_client.remote_tool import RemoteTool, select_tools, to_short_line

FindSecret: TypeAlias = Callable[[str, ToolServerSettings], str | None]
"""Looks up the key of a server, in a thread. Raises InvalidInput."""
ServerState = Literal["not started", "connecting", "ready", "failed"]
CONNECT_TIMEOUT_S: Final = 60.0
"""Seconds a server may take to start; some are downloaded first."""
CLOSE_TIMEOUT_S: Final = 8.0
FIRST_PAUSE_S: Final = 10.0
LONGEST_PAUSE_S: Final = 600.0
MAX_REASON_CHARS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """How a server is doing."""

    name: str
    state: ServerState
    reason: str = ""  # why it failed
    tools: tuple[str, ...] = ()  # that are used, as the server calls them
    missing: tuple[str, ...] = ()  # that the owner has named and the server does not offer
    unused: tuple[str, ...] = ()  # that it offers and the owner has not named


class ServerConnection:
    """One tool server."""

    def __init__(
        self, name: str, server_settings: ToolServerSettings, find_secret: FindSecret
    ) -> None:
        """Set how the server is reached; nothing is started yet."""
        self.name = name
        self.tools: tuple[RemoteTool, ...] = ()
        self._settings = server_settings
        self._find_secret = find_secret
        self._state: ServerState = "not started"
        self._reason = ""
        self._offered: tuple[str, ...] = ()
        self._client: Any = None
        self._sdk: Any = None
        self._task: asyncio.Task[None] | None = None
        self._scope: Any = None  # what is awaited of the server; None while nothing is started
        self._stopping = asyncio.Event()
        self._settled = asyncio.Event()
        self._pause_s = FIRST_PAUSE_S
        self._retry_at = 0.0

    @property
    def status(self) -> ServerStatus:
        """Return how the server is doing."""
        used = tuple(each.name for each in self.tools)
        is_ready = self._state == "ready"
        return ServerStatus(
            name=self.name,
            state=self._state,
            reason=self._reason,
            tools=used,
            missing=tuple(each for each in self._settings.tools if is_ready and each not in used),
            unused=tuple(each for each in self._offered if each not in self._settings.tools),
        )

    def start(self) -> None:
        """Connect in the background, unless it is connected or has failed a moment ago."""
        loop = asyncio.get_running_loop()
        is_running = self._task is not None and not self._task.done()
        if is_running or loop.time() < self._retry_at:
            return
        self._state, self._reason = "connecting", ""
        self._stopping.clear()
        self._settled.clear()
        self._task = loop.create_task(self._run())

    async def wait_until_settled(self, within_s: float) -> None:
        """Wait until it is connected or has failed, but not for long."""
        try:
            async with asyncio.timeout(within_s):
                await self._settled.wait()
        except TimeoutError:
            return

    async def call(self, remote_tool: RemoteTool, arguments: Mapping[str, JsonValue]) -> str:
        """Return what a tool answers.

        Raises ToolServerFailed, TimeoutError if it is not known whether it was done.
        """
        if self._client is None:
            raise ToolServerFailed(f"The server {self.name} is not connected now.")
        try:
            async with asyncio.timeout(self._settings.call_timeout_s):
                text: str = await self._sdk.call_tool(self._client, remote_tool, arguments)
                return text
        except (OldfriendError, TimeoutError):
            raise
        except Exception as error:
            self._fail(error)
            self._stopping.set()  # it is connected anew at the next use
            if not remote_tool.is_reading and self._sdk.has_begun(error):
                raise TimeoutError(str(error)) from error
            raise ToolServerFailed(f"The connection to {self.name} broke off.") from error

    async def close(self) -> None:
        """End the connection and the processes behind it."""
        if self._task is None:
            return
        self._stopping.set()
        if self._state == "connecting":
            self._break_off(self._task)
        await asyncio.wait([self._task], timeout=CLOSE_TIMEOUT_S)
        if not self._task.done():
            self._break_off(self._task)
            await asyncio.wait([self._task])

    def _break_off(self, async_task: "asyncio.Task[None]") -> None:
        """Stop waiting for the server, but not for the end of its processes.

        The SDK ends them behind a shield that holds off the scope and not a cancelled task.
        """
        if self._scope is None:
            async_task.cancel()
        else:
            self._scope.cancel()

    async def _run(self) -> None:
        """Connect, and stay connected until told to stop."""
        try:
            self._sdk = await asyncio.to_thread(
                importlib.import_module, "oldfriend.mcp_client.sdk_session"
            )
            secret = await asyncio.to_thread(self._find_secret, self.name, self._settings)
            self._scope = self._sdk.CancelScope()
            with self._scope:
                await self._stay_connected(secret)
            if self._scope.cancelled_caught and not self._stopping.is_set():
                self._fail(TimeoutError())
        except Exception as error:
            self._fail(error)
        finally:
            self._client, self.tools, self._scope = None, (), None
            self._settled.set()

    async def _stay_connected(self, secret: str | None) -> None:
        """Connect within the time for that, and wait until told to stop."""
        self._scope.deadline = asyncio.get_running_loop().time() + CONNECT_TIMEOUT_S
        async with AsyncExitStack() as stack:
            client = await self._sdk.open_client(stack, self._settings, secret)
            offered = await self._sdk.list_offered(client)
            self._scope.deadline = math.inf
            self.tools = select_tools(self.name, self._settings, offered)
            self._offered = tuple(each.name for each in offered)
            self._client, self._state = client, "ready"
            self._pause_s = FIRST_PAUSE_S
            self._settled.set()
            await self._stopping.wait()
            self._client = None

    def _fail(self, error: Exception) -> None:
        """Note why it failed, and when to try again."""
        self._client, self.tools = None, ()
        self._state, self._reason = "failed", describe_failure(error)
        self._retry_at = asyncio.get_running_loop().time() + self._pause_s
        self._pause_s = min(self._pause_s * 2, LONGEST_PAUSE_S)


def describe_failure(error: BaseException) -> str:
    """Return why a server failed, in a few words; of several errors the first."""
    if isinstance(error, BaseExceptionGroup):
        return describe_failure(error.exceptions[0])
    if isinstance(error, TimeoutError):
        return f"it did not answer within {CONNECT_TIMEOUT_S:g} s"
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("mcp"):
        return 'an extra is not installed: pip install "oldfriend[mcp]"'
    return to_short_line(str(error), MAX_REASON_CHARS) or type(error).__name__
