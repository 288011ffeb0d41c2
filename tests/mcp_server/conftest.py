"""A program that uses somebody's memory through the official SDK's own client."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from mcp import Client
from mcp_types import Implementation, TextContent

from oldfriend.api.connections import ConnectionHub
from oldfriend.api.web_app import create_app
from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import load_settings
from oldfriend.domain.messages import Person
from oldfriend.mcp_server.http_door import build_mcp_routes
from oldfriend.mcp_server.memory_port import MemoryPort
from oldfriend.mcp_server.person_memory import PersonMemory
from oldfriend.mcp_server.protocol_server import build_server
from oldfriend.memory.people import ensure_owner, ensure_person
from oldfriend.runtime.admin_http import AdminServer, listen
from oldfriend.runtime.supervisor import Supervisor

PROGRAM = Implementation(name="claude-code", title="Claude Code", version="3")


@dataclass(frozen=True, slots=True)
class Caller:
    """A connected program."""

    client: Client

    async def told(self, tool: str, **arguments: Any) -> Any:
        """What a tool answers that must succeed."""
        is_error, text = await self.tried(tool, **arguments)
        assert not is_error, text
        return json.loads(text)

    async def refused(self, tool: str, **arguments: Any) -> str:
        """What a tool says that must fail."""
        is_error, text = await self.tried(tool, **arguments)
        assert is_error, text
        return text

    async def tried(self, tool: str, **arguments: Any) -> tuple[bool, str]:
        """Whether a tool failed, and what it said."""
        result = await self.client.call_tool(tool, arguments)
        (content,) = result.content
        assert isinstance(content, TextContent)
        return result.is_error, content.text


def read_texts(result: Any) -> list[str]:
    """The texts of what was found."""
    return [each["text"] for each in result["results"]]


async def person_called(app: AppContext, name: str | None) -> Person:
    """Somebody whose memory is here; None: the owner."""
    async with app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=app.clock(), zone=app.settings.zone)
        if name is None:
            return owner
        return await ensure_person(tx, name, now=app.clock(), zone=app.settings.zone)


Connect = Callable[..., AbstractAsyncContextManager[Caller]]


@pytest.fixture
def connect(app: AppContext) -> Connect:
    """Connect a program to somebody's memory, without a process between them."""

    @asynccontextmanager
    async def connect(
        person: str | None = None,
        *,
        can_write: bool = True,
        is_own_words: bool = False,
        mode: str = "auto",
    ) -> AsyncIterator[Caller]:
        memory = PersonMemory(
            get_app=lambda: app,
            person=await person_called(app, person),
            can_write=can_write,
            is_own_words=is_own_words,
        )

        async def open_memory() -> MemoryPort:
            return memory

        server = build_server(open_memory, can_write=can_write)
        async with Client(server, client_info=PROGRAM, mode=mode) as client:
            yield Caller(client)

    return connect


@pytest.fixture
async def origin(app: AppContext) -> AsyncIterator[str]:
    """Where the house can be reached, with its page, API and door for programs."""
    await person_called(app, None)
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        hub = ConnectionHub(app, port=port)
        supervisor = Supervisor(
            app,
            {"pages": hub.run},
            load_settings=lambda: load_settings({}, data=str(app.settings.data)),
        )
        site = create_app(
            hub,
            lambda: supervisor.problems,
            supervisor.reload_now,
            build_mcp_routes(lambda: hub.app),
        )
        door = AdminServer(supervisor=supervisor, listen_socket=listening, web_app=site)
        async with asyncio.TaskGroup() as group:
            group.create_task(supervisor.run(admin_server=door.serve))
            yield f"http://127.0.0.1:{port}"
            supervisor.stop()
