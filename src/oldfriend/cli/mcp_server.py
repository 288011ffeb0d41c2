"""oldfriend mcp: this memory as tools for another program, over standard input and output."""

import argparse
import sys
from contextlib import AbstractAsyncContextManager
from typing import Final

from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import build_missing_extra_text
from oldfriend.mcp_server.memory_port import MemoryPort

BY_HAND: Final = (
    "oldfriend: this waits for a program that speaks the Model Context Protocol, and is started by "
    "it. How to tell one: docs/how-to/mcp.md. Ctrl-C ends it."
)


async def run(options: argparse.Namespace) -> int:
    """Serve until the program goes away. Raises InvalidInput without the SDK."""
    try:
        from oldfriend.mcp_server.stdio_door import LazyMemory, serve_stdio
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise InvalidInput(build_missing_extra_text("The MCP server", "oldfriend[mcp]")) from error

    def load_memory() -> AbstractAsyncContextManager[MemoryPort]:
        from oldfriend.cli.open_context import get_person_option, load_settings_from_options
        from oldfriend.mcp_server.local_memory import open_local_memory

        return open_local_memory(
            load_settings_from_options(options),
            person=get_person_option(options),
            can_write=not options.read_only,
            is_own_words=options.own_words,
        )

    if sys.stdin.isatty():
        print(BY_HAND, file=sys.stderr)
    await serve_stdio(LazyMemory(load_memory), can_write=not options.read_only)
    return 0
