"""The page's side of the house: a real server on a real port, and browsers that are signed in."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import httpx
import pytest

from oldfriend.api.connections import ConnectionHub
from oldfriend.api.web_app import create_app
from oldfriend.app.app_context import AppContext
from oldfriend.cli.work import process_queues
from oldfriend.config.settings import load_settings
from oldfriend.inbound.account_linking import create_sign_in_link
from oldfriend.memory.people import ensure_owner, ensure_person
from oldfriend.runtime.admin_http import AdminServer, listen
from oldfriend.runtime.supervisor import Supervisor

LONGEST_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A house whose page can be opened."""

    app: AppContext
    room: ConnectionHub
    port: int
    stop: Callable[[], None]

    @property
    def origin(self) -> str:
        """Where it is."""
        return f"http://localhost:{self.port}"

    async def link(self, person: str | None = None) -> str:
        """What a one-time link for somebody consists of."""
        app = self.app
        link = await create_sign_in_link(app.db, app.clock, app.settings, person, port=self.port)
        return link.partition("#")[2]

    @asynccontextmanager
    async def stranger(self) -> AsyncIterator[httpx.AsyncClient]:
        """A browser that is not signed in."""
        async with httpx.AsyncClient(
            base_url=f"{self.origin}/api/v1",
            headers={"Origin": self.origin},
            timeout=LONGEST_S,
            trust_env=False,
            verify=False,  # nothing is encrypted here, and loading certificates takes a while
        ) as client:
            yield client

    @asynccontextmanager
    async def browser(self, person: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
        """A browser that is signed in as somebody."""
        async with self.stranger() as client:
            signed = await sign_in(client, await self.link(person))
            client.headers["X-CSRF-Token"] = signed.json()["token"]
            yield client


async def sign_in(client: httpx.AsyncClient, link: str) -> httpx.Response:
    """Use a link as a browser does in which somebody goes on as whose it is."""
    asked = await client.post("/session", json={"link": link})
    if asked.status_code != 409:
        return asked
    values = asked.json()["values"]
    wanted = {"person": values["person"], "instead_of": values.get("instead_of")}
    return await client.post("/session", json={"link": link, **wanted})


@asynccontextmanager
async def opened_site(app: AppContext) -> AsyncIterator[Site]:
    """Serve the page of a house."""
    async with app.db.begin_write() as tx:
        await ensure_owner(tx, now=app.clock(), zone="UTC")
        await ensure_person(tx, "Omar", now=app.clock(), zone="UTC")
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        room = ConnectionHub(app, port=port)
        supervisor = Supervisor(
            app,
            {"worker": process_queues, "pages": room.run, "parcels": room.import_worker.run},
            load_settings=lambda: load_settings(
                app.settings.environment,
                data=str(app.settings.data),
                database=app.settings.database,
                overrides=["limits.messages_per_minute=0"],
            ),
        )
        site = create_app(room, lambda: supervisor.problems, supervisor.reload_now)
        door = AdminServer(supervisor=supervisor, listen_socket=listening, web_app=site)
        async with asyncio.TaskGroup() as group:
            group.create_task(supervisor.run(admin_server=door.serve))
            yield Site(app=app, room=room, port=port, stop=supervisor.stop)
            supervisor.stop()


@pytest.fixture
async def site(app: AppContext) -> AsyncIterator[Site]:
    """A house whose page can be opened."""
    async with opened_site(app) as opened:
        yield opened


Browse = Callable[..., Awaitable[httpx.AsyncClient]]


@pytest.fixture
async def browse(site: Site) -> AsyncIterator[Browse]:
    """Open a browser that is signed in as somebody (None: the owner)."""
    async with AsyncExitStack() as opened:

        async def browse(person: str | None = None) -> httpx.AsyncClient:
            return await opened.enter_async_context(site.browser(person))

        yield browse


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """An event as it arrived."""

    topic: str
    data: Any
    id: str | None


async def events(browser: httpx.AsyncClient, *, after: str | None = None) -> AsyncIterator[Heard]:
    """What a page hears from a position on."""
    headers = {} if after is None else {"Last-Event-ID": after}
    async with browser.stream("GET", "/chat/events", headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        fields: dict[str, str] = {}
        async for line in response.aiter_lines():
            if line:
                name, _, value = line.partition(": ")
                fields[name] = value
            else:
                yield Heard(
                    topic=fields["event"], data=json.loads(fields["data"]), id=fields.get("id")
                )
                fields = {}


async def until_topic(heard: AsyncIterator[Heard], topic: str) -> list[Heard]:
    """Everything that is heard, to the first of a topic."""
    found: list[Heard] = []
    async with asyncio.timeout(LONGEST_S):
        async for each in heard:
            found.append(each)
            if each.topic == topic:
                return found
    raise AssertionError(f"no {topic} in {[each.topic for each in found]}")


async def say(browser: httpx.AsyncClient, text: str, *, key: str | None = None) -> httpx.Response:
    """Say something as the page does."""
    return await browser.post(
        "/chat/messages",
        json={"text": text, "zone": "Europe/Lisbon"},
        headers={"Idempotency-Key": key or f"words-{crc32(text.encode())}"},
    )


async def told(browser: httpx.AsyncClient, text: str) -> list[Heard]:
    """Say something, and hear it answered."""
    position = (await browser.get("/chat/messages")).json()["position"]
    assert (await say(browser, text)).status_code == 202
    return await until_topic(events(browser, after=position), "chat.message.done")
