"""Stdio door: serves one program over standard input and output until it is gone.

Standard output carries the protocol and nothing else. The memory is loaded at the first call, in a
thread, so that lists are answered at once.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from functools import partial
from typing import Final, TypeAlias

from mcp.server.stdio import stdio_server

from oldfriend.app.event_log import configure_logging
from oldfriend.mcp_server.memory_port import MemoryPort
from oldfriend.mcp_server.protocol_server import build_server

PARENT_CHECK_S: Final = 2.0
"""Seconds between checks whether the program that started us still lives."""
CLOSE_TIMEOUT_S: Final = 5.0
SIGNAL_CODES: Final = 128
"""What a shell adds to the number of the signal that ended a process."""


LoadMemory: TypeAlias = Callable[[], AbstractAsyncContextManager[MemoryPort]]
"""Imports what a memory needs, in a thread, and returns the memory to be opened."""


class LazyMemory:
    """A memory that is opened at its first use; a failed opening is tried again."""

    def __init__(self, load_memory: LoadMemory) -> None:
        """Set what to open; nothing is opened yet."""
        self._load_memory = load_memory
        self._memory: MemoryPort | None = None
        self._lock = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def get(self) -> MemoryPort:
        """Return the open memory. Raises OldfriendError."""
        async with self._lock:
            if self._memory is None:
                opening = await asyncio.to_thread(self._load_memory)
                self._memory = await self._stack.enter_async_context(opening)
            return self._memory

    async def close(self) -> None:
        """Close the memory if it was opened."""
        await self._stack.aclose()


class Ending:
    """Whether this process is to end, and with which code if not by itself."""

    def __init__(self) -> None:
        """Remember who started this process."""
        self._parent = os.getppid()
        self._wish = asyncio.Event()
        self._code: int | None = None

    def leave(self) -> None:
        """End as usual: the program has closed its end."""
        self._wish.set()

    def stop(self, code: int) -> None:
        """End at once, although a thread may still wait for input."""
        self._code = code
        self._wish.set()

    async def watch(self, lazy_memory: LazyMemory) -> None:
        """Wait for the end; a parent that is gone is one, even if its pipes stay open."""
        while not self._wish.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(PARENT_CHECK_S):
                    await self._wish.wait()
            if os.getppid() != self._parent:
                self.stop(0)
        if self._code is None:
            return
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                await lazy_memory.close()
        finally:
            os._exit(self._code)


async def serve_stdio(lazy_memory: LazyMemory, *, can_write: bool) -> None:
    """Serve the program at standard input and output until it closes them, dies or stops us."""
    configure_logging(sys.stderr, only_warnings=True)
    server = build_server(lazy_memory.get, can_write=can_write)
    ending, loop = Ending(), asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(each, partial(ending.stop, SIGNAL_CODES + each))
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(ending.watch(lazy_memory))
        try:
            async with stdio_server() as (read_stream, write_stream):
                await server.run(read_stream, write_stream, server.create_initialization_options())
        finally:
            await lazy_memory.close()
            ending.leave()
