"""One memory behind every door: told on Discord, asked by a program, shown on the page."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from playwright.sync_api import Browser, expect

from tests.cli.serving import on_any_port, served
from tests.fakes.discord import TOKEN, FakeDiscord, running_discord
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import new_link, opened
from tests.journeys.telegram_server import SHOWN_CODE
from tests.mcp_server.conftest import Caller
from tests.processes import Program, until

pytestmark = NEEDS_CHROMIUM
USER = "201"
TOLD, ASKED = "My cat is called Miso.", "What is my cat called?"


@dataclass(frozen=True, slots=True)
class Town:
    """A Discord in a thread of its own, and what somebody does there."""

    world: FakeDiscord
    portal: BlockingPortal
    chat: str

    def hears(self, text: str) -> str:
        """Somebody says something; what they are answered."""
        shown = len(self.world.shown(self.chat))
        self.portal.call(self.world.says, USER, self.chat, text)
        until(lambda: len(self.world.shown(self.chat)) > shown, within_s=60)
        return str(self.world.shown(self.chat)[shown]["content"])


@contextmanager
def opened_town() -> Iterator[Town]:
    """Start it: a browser has the loop of this thread."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(running_discord()) as world,
    ):
        yield Town(world, portal, portal.call(world.meets, 1, "Ana"))


def test_what_is_told_on_discord_is_found_by_a_program_and_shown_on_the_page(
    browser: Browser, oldfriend: Program
) -> None:
    """With where it comes from, each time, in one process that serves them all."""
    with opened_town() as town:
        program = on_any_port(
            oldfriend, OLDFRIEND_DISCORD_TOKEN=TOKEN, OLDFRIEND_DISCORD_BASE_URL=town.world.url
        )
        with served(program) as running:
            until(lambda: bool(town.world.sessions), within_s=60)
            shown = SHOWN_CODE.search(program.done("connect", "discord", "--no-test").stdout)
            assert shown
            town.hears(shown[1] + shown[2])
            town.hears(TOLD)
            made = program.done("token", "new", "desk", "--scope", "read").stdout
            secret = next(word for word in made.split() if word.startswith("oldfriend_"))
            found, explained = town.portal.call(ask_by_mcp, running.port, secret)
            with opened(browser, new_link(program)) as (page, complaints):
                told = page.locator(".mine", has_text=TOLD)
                expect(told).to_contain_text("Discord")
                answer = say(page, ASKED)
                page.get_by_role("button", name="Why did you say that?").last.click()
                ground = page.get_by_role("dialog").locator(".ground").first
                expect(ground).to_contain_text(TOLD)
                expect(ground).to_contain_text("Discord")

    assert found["answers"] is True
    assert found["results"][0]["text"] == TOLD
    assert TOLD in str(explained)
    assert "discord" in str(explained)
    assert "Miso" in answer
    assert complaints == []


async def ask_by_mcp(port: int, secret: str) -> tuple[Any, Any]:
    """Ask the memory for the cat and where that comes from, as a program does."""
    headers = {"Authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http:
        transport = streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
        async with Client(transport) as client:
            caller = Caller(client)
            found = await caller.told("recall", query=ASKED)
            return found, await caller.told("why", id=found["results"][0]["id"])
