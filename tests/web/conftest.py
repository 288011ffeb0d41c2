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

from oldfriend.app.choices.settings import read_settings
from oldfriend.app.house import House
from oldfriend.app.running.door import Door, listen
from oldfriend.app.running.supervisor import Supervisor
from oldfriend.cli.link import new_link
from oldfriend.cli.work import work_off
from oldfriend.memory.people import ensure_owner, ensure_person
from oldfriend.web.room import Room
from oldfriend.web.site import site_of

LONGEST_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A house whose page can be opened."""

    house: House
    room: Room
    port: int
    stop: Callable[[], None]

    @property
    def origin(self) -> str:
        """Where it is."""
        return f"http://localhost:{self.port}"

    async def link(self, person: str | None = None) -> str:
        """What a one-time link for somebody consists of."""
        return (await new_link(self.house, person, port=self.port)).partition("#")[2]

    @asynccontextmanager
    async def stranger(self) -> AsyncIterator[httpx.AsyncClient]:
        """A browser that is not signed in."""
        async with httpx.AsyncClient(
            base_url=f"{self.origin}/api/v1", headers={"Origin": self.origin}, timeout=LONGEST_S,
            trust_env=False,
        ) as client:  # fmt: skip
            yield client

    @asynccontextmanager
    async def browser(self, person: str | None = None) -> AsyncIterator[httpx.AsyncClient]:
        """A browser that is signed in as somebody."""
        async with self.stranger() as client:
            signed = await client.post("/session", json={"link": await self.link(person)})
            client.headers["X-CSRF-Token"] = signed.json()["token"]
            yield client


@asynccontextmanager
async def opened_site(house: House) -> AsyncIterator[Site]:
    """Serve the page of a house."""
    async with house.db.writing() as tx:
        await ensure_owner(tx, now=house.clock(), zone="UTC")
        await ensure_person(tx, "Omar", now=house.clock(), zone="UTC")
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        room = Room(house, port=port)
        supervisor = Supervisor(
            house, {"worker": work_off, "pages": room.answer_here, "parcels": room.porter.carry},
            read_again=lambda: read_settings(
                house.settings.environment, data=str(house.settings.data),
                database=house.settings.database, typed=["limits.messages_per_minute=0"],
            ),
        )  # fmt: skip
        site = site_of(room, lambda: supervisor.troubles, supervisor.reload_now)
        door = Door(supervisor=supervisor, listening=listening, site=site)
        async with asyncio.TaskGroup() as group:
            group.create_task(supervisor.run(door=door.stay_open))
            yield Site(house=house, room=room, port=port, stop=supervisor.stop)
            supervisor.stop()


@pytest.fixture
async def site(house: House) -> AsyncIterator[Site]:
    """A house whose page can be opened."""
    async with opened_site(house) as opened:
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
        "/chat/messages", json={"text": text, "zone": "Europe/Lisbon"},
        headers={"Idempotency-Key": key or f"words-{crc32(text.encode())}"},
    )  # fmt: skip


async def told(browser: httpx.AsyncClient, text: str) -> list[Heard]:
    """Say something, and hear it answered."""
    position = (await browser.get("/chat/messages")).json()["position"]
    assert (await say(browser, text)).status_code == 202
    return await until_topic(events(browser, after=position), "chat.message.done")
