"""An assistant elsewhere asks for a memory; its person decides in the browser."""

import asyncio
from collections.abc import Iterator
from queue import Queue
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from playwright.sync_api import Browser, Page, Route, expect

from tests.cli.serving import Running, on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM
from tests.journeys.pages import new_link, opened
from tests.mcp_server.test_oauth import Kept
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
ASSISTANT = "https://assistant.example"
CALLBACK = f"{ASSISTANT}/callback"
LONGEST_S = 90
HASTE = """async (button) => {
  const pass = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  dispatchEvent(new Event("focus"));
  await pass(50);
  button.click();
  await pass(500);
}"""
"""A click just after the page came to the front, which was meant for what was there before."""


@pytest.fixture
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A process that serves."""
    data = tmp_path_factory.mktemp("authorize") / "data"
    with served(on_any_port(Program(data=data))) as one:
        yield one


class Assistant:
    """The SDK's own client, in a thread; its person's browser is elsewhere."""

    def __init__(self, origin: str) -> None:
        """Ask the server at an origin."""
        self.url = f"{origin}/mcp"
        self.asks: Queue[str] = Queue()
        self.hears: Queue[str] = Queue()
        self.told: Any = None
        self.thread = Thread(target=lambda: asyncio.run(self.use()), daemon=True)
        self.thread.start()

    async def use(self) -> None:
        """Be let in, and see what it can do."""

        async def show_person(address: str) -> None:
            self.asks.put(address)

        async def hear() -> AuthorizationCodeResult:
            address = await asyncio.to_thread(self.hears.get, timeout=LONGEST_S)
            told = dict(parse_qsl(urlsplit(address).query))
            return AuthorizationCodeResult(code=told["code"], state=told["state"], iss=told["iss"])

        provider = OAuthClientProvider(
            server_url=self.url,
            client_metadata=OAuthClientMetadata(client_name="Aide", redirect_uris=[CALLBACK]),
            storage=Kept(),
            redirect_handler=show_person,
            callback_handler=hear,
        )
        async with httpx2.AsyncClient(auth=provider, trust_env=False, timeout=LONGEST_S) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport) as client:
                self.told = [each.name for each in (await client.list_tools()).tools]


def show_assistant(page: Page, address: str) -> None:
    """Have the browser find the assistant's own pages."""

    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path
        link = address.replace("&", "&amp;")
        body = {
            "/": f'<a href="{link}">Connect</a>',
            "/frame": f'<iframe src="{link}"></iframe>',
        }.get(path, "You can go back now.")
        route.fulfill(content_type="text/html", body=body)

    page.route(f"{ASSISTANT}/**", answer)


def test_assistant_is_let_in_by_its_person_in_the_browser(
    running: Running, browser: Browser
) -> None:
    """Who asks, where the answer goes and what it may do is shown; a frame of another site is not.

    Settings name the assistant afterwards.
    """
    origin = f"http://localhost:{running.port}"
    assistant = Assistant(origin)
    address = assistant.asks.get(timeout=LONGEST_S)
    with opened(browser, new_link(running.program)) as (page, _):
        show_assistant(page, address)
        page.goto(f"{ASSISTANT}/frame")
        framed = page.frame_locator("iframe")
        expect(framed.get_by_role("button")).to_have_count(0)

        page.goto(f"{ASSISTANT}/")
        page.get_by_role("link", name="Connect").click()
        expect(page.get_by_role("heading", name="Let Aide into your memory?")).to_be_focused()
        expect(page.locator(".consent-host")).to_have_text("assistant.example")
        expect(page.get_by_text(CALLBACK)).to_be_visible()
        allow = page.get_by_role("button", name="Let it read", exact=True)
        allow.evaluate(HASTE)
        expect(page.get_by_role("heading", name="Let Aide into your memory?")).to_be_visible()
        allow.click()
        expect(page.get_by_text("You can go back now.")).to_be_visible()
        assistant.hears.put(page.url)
        assistant.thread.join(LONGEST_S)

        page.goto(f"{origin}/settings/signing")
        expect(page.get_by_text("Aide (assistant.example)")).to_be_visible()
    assert "recall" in assistant.told
    assert "remember" not in assistant.told
