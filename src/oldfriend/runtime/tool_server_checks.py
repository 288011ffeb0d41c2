"""Tool server checks: connects the configured MCP servers, and says how each is doing."""

from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.doctor_checks import CheckResult
from oldfriend.mcp_client.server_connection import ServerStatus

CHECK_WITHIN_S: Final = 15.0
CONNECT_WITHIN_S: Final = 60.0
"""Seconds for a first connection; some servers are downloaded by it."""


async def check_tool_servers(app: AppContext) -> list[CheckResult]:
    """Check each server that the settings name."""
    if app.tool_servers is None:
        return []
    return [build_result(each) for each in await app.tool_servers.check(CHECK_WITHIN_S)]


def build_result(status: ServerStatus) -> CheckResult:
    """Say how a server is doing, and what to change."""
    section = f"[mcp.{status.name}]"
    if status.state != "ready":
        why = status.reason or "it has not answered yet"
        text = (
            f"The tool server {status.name} cannot be used: {why}. See {section} in the settings."
        )
        return CheckResult(is_ok=False, text=text)
    if status.missing:
        text = (
            f"The tool server {status.name} does not offer, or not in a form that can be used: "
            f"{', '.join(status.missing)}. It offers: {', '.join(status.unused) or 'nothing else'}."
        )
        return CheckResult(is_ok=False, text=text)
    used = ", ".join(status.tools) or "none of its tools, because none is named under tools"
    more = f" It also offers: {', '.join(status.unused)}." if status.unused else ""
    return CheckResult(
        is_ok=True, text=f"The tool server {status.name} is connected, with {used}.{more}"
    )
