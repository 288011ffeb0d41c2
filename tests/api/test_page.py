"""The page itself, while a model is speaking: shown as it comes, stopped when told to."""

import asyncio
import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from oldfriend.app.app_context import AppContext
from oldfriend.llm.scripted import ScriptedModel, ScriptedReply
from tests.api.conftest import Site, opened_site, told
from tests.app.test_turn_queue import with_model
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY
from tests.journeys.browsers import NEEDS_CHROMIUM, opened_browser, watched
from tests.unconfirmed import propose

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


@pytest.mark.slow
async def test_questions_are_announced_on_a_phone_and_do_not_move_when_one_is_answered(
    app: AppContext,
) -> None:
    """The next one is not where the finger is."""

    def top_of(row: Locator) -> float:
        box = row.bounding_box()
        assert box is not None
        return float(box["y"])

    def look(pages: list[Page]) -> None:
        page = pages[0]
        page.set_viewport_size({"width": 390, "height": 800})
        page.get_by_role("button", name="Did I get this right? 3 to answer").click()
        questions = page.get_by_role("region", name="Did I get this right?").get_by_role("listitem")
        expect(questions).to_have_count(3)
        tops = [top_of(questions.nth(place)) for place in range(3)]
        for place, word in enumerate(("yes", "no")):
            questions.nth(place).get_by_role("button", name=word, exact=True).click()
            expect(questions.nth(place).get_by_role("status")).to_be_visible()
            expect(questions).to_have_count(3)
            now = [top_of(questions.nth(each)) for each in range(3)]
            assert now == pytest.approx(tops, abs=2)

    async with opened_site(app) as site:
        async with site.browser() as visitor:
            await told(visitor, "I dreamed that I won a boat.")
            me = (await visitor.get("/session")).json()["id"]
        for text in ("Won a boat.", "Sailed away.", "Sank it."):
            await propose(app.db, me, text)
        complaints = await in_browsers(site, look)

    assert complaints == []


@pytest.mark.slow
async def test_claim_in_doubt_is_shown_with_its_words_and_answered_with_yes_or_no(
    app: AppContext,
) -> None:
    """What is confirmed is learned, on every open page; what is not so is gone."""

    def find_waiting(page: Page, text: str) -> Locator:
        region = page.get_by_role("region", name="Did I get this right?")
        shown = page.get_by_text(text, exact=True)
        return region.get_by_role("listitem").filter(has=shown)

    def look(pages: list[Page]) -> None:
        for page in pages:
            waiting = find_waiting(page, "You won a boat.")
            expect(waiting.get_by_text("I dreamed that I won a boat.")).to_be_visible()
        find_waiting(pages[0], "You won a boat.").get_by_role(
            "button", name="yes", exact=True
        ).click()
        for _ in ("taken back", "and said again"):
            deny = find_waiting(pages[0], "You sailed away.").get_by_role(
                "button", name="no", exact=True
            )
            deny.click()
            undo = pages[0].get_by_role("region", name="Did I get this right?")
            undo.get_by_role("button", name="undo", exact=True).click()
        find_waiting(pages[0], "You sailed away.").get_by_role(
            "button", name="no", exact=True
        ).click()
        expect(pages[0].get_by_text("Taken back: You sailed away.")).to_be_visible()
        expect(pages[1].get_by_role("region", name="Did I get this right?")).to_have_count(0)
        for page in pages:
            expect(page.get_by_text("You won a boat.", exact=True)).to_be_visible()
            expect(page.get_by_text("You sailed away.", exact=True)).to_have_count(0)

    async with opened_site(app) as site:
        async with site.browser() as visitor:
            await told(visitor, "I dreamed that I won a boat.")
            me = (await visitor.get("/session")).json()["id"]
        for text in ("Won a boat.", "Sailed away."):
            await propose(app.db, me, text)
        complaints = await in_browsers(site, look)

    assert complaints == []


@pytest.mark.slow
async def test_what_was_learned_on_earlier_days_is_folded_away(
    app: AppContext, clock: FrozenClock
) -> None:
    """It opens; what is called wrong in either part is brought back where it stood."""

    def look(pages: list[Page]) -> None:
        page = pages[0]
        learned = page.get_by_role("complementary", name="What I learned")
        new = learned.locator("li", has_text="plumber")
        old = learned.locator("li", has_text="Rufus")
        expect(new).to_be_visible()
        expect(old).to_be_hidden()
        page.get_by_text("From earlier days").click()
        expect(old).to_be_visible()
        for row in (old, new):
            row.get_by_role("button", name="wrong").click()
            expect(row.get_by_role("status")).to_contain_text("Taken back")
            row.get_by_role("button", name="undo").click()
            expect(row.get_by_role("button", name="wrong")).to_be_visible()
            expect(learned.locator("details li")).to_have_count(1)
            expect(learned.locator("details li", has_text="Rufus")).to_be_visible()

    async with opened_site(app) as site:
        async with site.browser() as visitor:
            await told(visitor, "My dog is called Rufus.")
            assert (await visitor.post("/learned/now")).json()["read"] == 1
            clock.tick(minutes=2 * 24 * 60)
            await told(visitor, "Remember that the plumber is called Otto.")
        complaints = await in_browsers(site, look)

    assert complaints == []
