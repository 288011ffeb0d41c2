"""The page itself, while a model is speaking: shown as it comes, stopped when told to."""

import asyncio
import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from oldfriend.app.app_context import AppContext
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from tests.api.conftest import Site, opened_site
from tests.app.test_lanes_of_turns import with_model
from tests.engines import SQLITE_ONLY
from tests.journeys.browsers import NEEDS_CHROMIUM, opened_browser, watched

pytestmark = [NEEDS_CHROMIUM, SQLITE_ONLY]
LONG = "and then the road goes on along the river, " * 20


async def in_browsers(site: Site, look: Callable[[list[Page]], None]) -> list[str]:
    """Look at two pages of the owner, each in a browser of its own; what they complain of."""
    links = []
    for _ in range(2):
        async with site.stranger() as visitor:
            signed = await visitor.post("/session", json={"link": await site.link()})
            held = {"id": signed.json()["id"], "token": signed.json()["token"]}
            hold = f"localStorage['oldfriend-session'] = {json.dumps(json.dumps(held))}"
            links.append((dict(visitor.cookies), hold))

    def run() -> list[str]:
        complaints: list[str] = []
        pages: list[Page] = []
        with opened_browser() as browser:
            for cookies, hold in links:
                context = browser.new_context(locale="en-GB")
                context.add_init_script(hold)
                for name, value in cookies.items():
                    context.add_cookies([{"name": name, "value": value, "url": site.origin}])
                page = context.new_page()
                complaints = watched(page)
                page.goto(site.origin)
                page.get_by_label("Say something …").wait_for()
                pages.append(page)
            look(pages)
        return complaints

    return await asyncio.to_thread(run)


@pytest.mark.slow
async def test_streamed_reply_appears_on_every_open_page_and_can_be_stopped(
    app: AppContext,
) -> None:
    """On the page that asked, and on the other one that is open."""
    model = ScriptedModel([ScriptedReply(text=LONG, chunk_delay_s=0.1), "Good night."])

    def look(pages: list[Page]) -> None:
        asking, other = pages
        asking.get_by_label("Say something …").fill("Tell me of the road")
        asking.keyboard.press("Enter")
        for page in pages:
            expect(page.locator(".theirs .bubble:has(.caret)")).to_contain_text("the road goes on")
        asking.get_by_role("button", name="Stop").click()
        for page in pages:
            expect(page.get_by_text("You stopped this reply.")).to_be_visible()
            expect(page.locator(".caret")).to_have_count(0)
        other.get_by_label("Say something …").fill("Good night")
        other.keyboard.press("Enter")
        for page in pages:
            expect(page.locator(".theirs .bubble", has_text="Good night.")).to_have_count(1)

    async with opened_site(with_model(app, model)) as site:
        complaints = await in_browsers(site, look)

    assert complaints == []
