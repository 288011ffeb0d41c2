"""A house with its doors for programs, and real clients of OpenAI and Ollama."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

import httpx
import pytest
from openai import AsyncOpenAI

from oldfriend.api.connections import ConnectionHub
from oldfriend.api.web_app import create_app
from oldfriend.app.app_context import AppContext, RoleModel
from oldfriend.cli.work import process_queues
from oldfriend.config.settings import load_settings
from oldfriend.domain.messages import Message
from oldfriend.llm.fallback import CircuitBreaker, FallbackChain
from oldfriend.llm.model import CallSink
from oldfriend.llm.scripted import ScriptedAnswer, ScriptedModel
from oldfriend.memory.credentials import generate_api_token, save_api_token
from oldfriend.memory.message_log import list_messages
from oldfriend.memory.web_sessions import Scope
from oldfriend.openai_api.api_routes import build_api_routes
from oldfriend.runtime.admin_http import AdminServer, listen
from oldfriend.runtime.supervisor import Supervisor
from tests.mcp_server.conftest import person_called


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A house that programs talk to."""

    app: AppContext
    hub: ConnectionHub
    origin: str
    model: ScriptedModel | None
    clients: AsyncExitStack
    """Closed at the end of the test."""

    async def token(self, person: str | None = None, scope: Scope = "write") -> str:
        """A new token of somebody."""
        owner = await person_called(self.app, person)
        secret = generate_api_token()
        async with self.app.db.begin_write() as tx:
            now = self.app.clock()
            await save_api_token(tx, owner.id, secret, name="desk", scope=scope, days=1, now=now)
        return secret

    async def client(self, token: str | None = None, **options: object) -> AsyncOpenAI:
        """OpenAI's own client; without a token, with a new one of the owner."""
        http = httpx.AsyncClient(trust_env=False, timeout=20)
        client = AsyncOpenAI(
            api_key=token or await self.token(),
            base_url=f"{self.origin}/v1",
            **{"http_client": http, "max_retries": 0, **options},  # type: ignore[arg-type]
        )
        return await self.clients.enter_async_context(client)

    async def log(self, person: str | None = None) -> list[Message]:
        """All that was said."""
        somebody = await person_called(self.app, person)
        async with self.app.db.begin_read() as tx:
            return await list_messages(tx, somebody.id)

    async def said(self, person: str | None = None) -> list[str]:
        """All that the person has said."""
        return [each.text for each in await self.log(person) if each.role == "person"]


Open = Callable[..., Awaitable[House]]


@pytest.fixture
async def open_house(app: AppContext) -> AsyncIterator[Open]:
    """Open a house, with a model that gives answers, or without one."""
    async with asyncio.TaskGroup() as group, AsyncExitStack() as clients:
        supervisors = []

        async def open_house(
            answers: Sequence[ScriptedAnswer] | Callable[..., ScriptedAnswer] = (),
        ) -> House:
            model = ScriptedModel(answers) if answers else None
            house = app if model is None else with_model(app, model)
            owner = await person_called(house, None)
            listening = listen("127.0.0.1", 0)
            port = listening.getsockname()[1]
            hub = ConnectionHub(house, port=port)
            supervisor = Supervisor(
                house,
                {"worker": process_queues, "pages": hub.run},
                load_settings=lambda: load_settings({}, data=str(app.settings.data)),
            )
            site = create_app(
                hub, lambda: supervisor.problems, supervisor.reload_now, build_api_routes(hub)
            )
            door = AdminServer(supervisor=supervisor, listen_socket=listening, web_app=site)
            group.create_task(run_and_close(supervisor, door, listening))
            supervisors.append(supervisor)
            with hub.connect(owner.id) as connection:
                while not hub.has_capacity:
                    await connection.wait(1.0)
            origin = f"http://127.0.0.1:{port}"
            return House(app=house, hub=hub, origin=origin, model=model, clients=clients)

        yield open_house
        for each in supervisors:
            each.stop()


async def run_and_close(supervisor: Supervisor, door: AdminServer, listening) -> None:
    """Serve until told to stop."""
    with listening:
        await supervisor.run(admin_server=door.serve)


def with_model(app: AppContext, model: ScriptedModel) -> AppContext:
    """The same house with a model."""

    def chain(record: CallSink) -> FallbackChain:
        return FallbackChain(
            models=[model],
            record=record,
            circuit_breaker=CircuitBreaker(),
            clock=app.clock,
            random=random.random,
        )

    return replace(app, models={"main": RoleModel(name=model.name, build_chain=chain)})
