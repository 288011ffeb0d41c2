"""HTTP protocol: one request of a program, answered by the official SDK without a session."""

from typing import Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from oldfriend.mcp_server.memory_port import MemoryPort
from oldfriend.mcp_server.person_memory import PersonMemory
from oldfriend.mcp_server.protocol_server import build_server

MAX_BODY_BYTES: Final = 4_400_000
"""The longest message in any script, with its JSON envelope."""


async def serve_request(
    person_memory: PersonMemory, scope: Scope, receive: Receive, send: Send
) -> None:
    """Answer one request; what it started ends with it, also if the client goes away."""

    async def open_memory() -> MemoryPort:
        return person_memory

    server = build_server(
        open_memory, person_name=person_memory.person.name, can_write=person_memory.can_write
    )
    manager = StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=MAX_BODY_BYTES
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
