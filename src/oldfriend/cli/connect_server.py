"""oldfriend connect mcp: stores the key of a tool server that the settings name, and tries it."""

import argparse

from oldfriend.cli.open_context import ask_secret
from oldfriend.config.keys import store_key
from oldfriend.config.provider_resolution import find_tool_server_key, get_tool_server_key_name
from oldfriend.config.settings import Settings
from oldfriend.domain.errors import InvalidInput
from oldfriend.mcp_client.server_pool import ToolServerPool
from oldfriend.runtime.tool_server_checks import CONNECT_WITHIN_S, build_result


async def connect_tool_server(options: argparse.Namespace, settings: Settings) -> int:
    """Ask for a key, store it, and say which tools there are. Raises InvalidInput."""
    name: str = options.name or ""
    server = settings.mcp.get(name)
    if server is None:
        known = ", ".join(settings.mcp) or "none yet"
        raise InvalidInput(
            f"{settings.file} has no section [mcp.{name or 'NAME'}]. Write there how the server is "
            f"reached, and name it with --name. There are: {known}."
        )
    if server.url is not None or server.key_from_env is not None:
        key = ask_secret(f"Key of {name}, or nothing to leave it as it is")
        if key:
            where = store_key(
                get_tool_server_key_name(name), key, data=settings.data, address=server.url
            )
            print(f"The key is stored in {where}.")
    pool = ToolServerPool(
        {name: server}, lambda _, chosen: find_tool_server_key(settings, name, chosen)
    )
    try:
        (status,) = await pool.check(CONNECT_WITHIN_S)
    finally:
        await pool.close()
    result = build_result(status)
    print(result.text)
    return 0 if result.is_ok else 1
