"""Somebody looks at all that is known of them: on any day, in any number, and sets it right."""

import asyncio
import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from oldfriend.app.choices.settings import Settings
from oldfriend.app.wiring import open_house
from oldfriend.domain.clock import DAY, from_micros, system_clock
from oldfriend.domain.ids import new_id
from oldfriend.evals.corpus import random_vectors
from oldfriend.memory.meanings import save_meanings
from oldfriend.memory.people import ensure_owner
from oldfriend.memory.ticks import Tick, Transcript, write_tick
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import new_link, opened
from tests.processes import Program
from tests.web.many import believe_many

pytestmark = NEEDS_CHROMIUM
MANY = 10_000
DAYS = 500
MOST_ROWS = 200
LIST = "What I know about you"


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A process that serves somebody of whom ten thousand things are known."""
    program = on_any_port(Program(data=tmp_path_factory.mktemp("full") / "data"))
    program.data.mkdir()
    with ThreadPoolExecutor() as elsewhere:  # in this thread the browser has its loop
        elsewhere.submit(asyncio.run, fill(program.data, MANY, DAYS)).result()
    with served(program):
        yield program


async def fill(data: Path, count: int, days: int) -> None:
    """Have so many things known, learned over so many days until now."""
    database = f"sqlite:///{data / 'oldfriend.db'}"
    settings = Settings(data=data, database=database, zone="UTC", language="en")
    async with open_house(settings) as house:
        async with house.db.writing() as tx:
            owner = await ensure_owner(tx, now=house.clock(), zone="UTC")
        since = house.clock() - days * DAY
        memories = await believe_many(house, owner.id, count, since=since, days=days)
        vectors = random_vectors(count, seed=1, dimension=house.embedder.dimension)
        meanings = {each.id: vectors[place] for place, each in enumerate(memories)}
        async with house.db.writing() as tx:  # else serve is busy with them all the while
            await save_meanings(tx, owner.id, house.embedder.model, meanings)


def rows(page: Page) -> Locator:
    """What stands in the list."""
    return page.get_by_role("list", name=LIST).locator("> li")


def place(page: Page, link: str) -> None:
    """Go to the Memory place, once signed in."""
    page.get_by_label("Say something …").wait_for()
    page.goto(f"{link.partition('/#')[0]}/memory")
    rows(page).first.wait_for()


def top_of(page: Page) -> tuple[str, float]:
    """The first row in sight below the slider, and where it stands."""
    key, top = page.evaluate(
        """() => { const edge = document.querySelector(".slider").getBoundingClientRect().bottom;
        const row = [...document.querySelectorAll(".row")].find(
          (each) => each.getBoundingClientRect().bottom > edge + 1);
        return [row.dataset.key, row.getBoundingClientRect().top]; }"""
    )
    return key, top


def test_ten_thousand_are_leafed_through_with_few_in_the_document(
    browser: Browser, full: Program
) -> None:
    """However far one scrolls; keys move from row to row, and each says which of how many it is."""
    link = new_link(full)
    with opened(browser, link) as (page, complaints):
        place(page, link)
        most = 0
        for _ in range(12):
            page.locator(".memory-main").evaluate("e => e.scrollBy(0, 3000)")
            page.wait_for_timeout(120)
            most = max(most, page.locator("li").count())
        far = int(rows(page).last.get_attribute("aria-posinset") or 0)
        total = int(rows(page).last.get_attribute("aria-setsize") or 0)
        rows(page).nth(20).focus()
        first = int(page.locator(":focus").get_attribute("aria-posinset") or 0)
        for _ in range(30):
            page.keyboard.press("ArrowDown")
        page.wait_for_timeout(200)
        moved = int(page.locator(":focus").get_attribute("aria-posinset") or 0)
        expect(page.locator(":focus")).to_be_in_viewport()
        most = max(most, page.locator("li").count())
        page.get_by_role("button", name=re.compile("^Patterns")).click()
        expect(rows(page).first).to_contain_text("number")
        expect(page.get_by_role("heading", name=re.compile("^Patterns"))).to_be_visible()

    assert far > 200
    assert total > 9_000
    assert most <= MOST_ROWS
    assert moved == first + 30
    assert complaints == []


def test_the_slider_turns_the_days_back_in_place(browser: Browser, full: Program) -> None:
    """By keys, too: it says the day, shows what was known then, and keeps what one looks at."""
    link = new_link(full)
    today = from_micros(system_clock()).date()
    with opened(browser, link) as (page, complaints):
        place(page, link)
        slider = page.get_by_role("slider")
        page.locator(".memory-main").evaluate("e => e.scrollTo(0, 1500)")
        page.wait_for_timeout(300)
        slider.focus(timeout=5000)
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
        expect(page.get_by_text("As I saw it on")).to_be_visible()
        words = slider.get_attribute("aria-valuetext") or ""
        day = (today - timedelta(days=3)).day
        slider.fill(str(int(slider.get_attribute("min") or 0) + 10))
        expect(page.locator(".chip", has_text="Events")).to_contain_text(re.compile(r" ?6\d$"))
        expect(page.get_by_role("button", name="wrong")).to_have_count(0)
        page.get_by_role("button", name="Back to today").click()
        expect(page.get_by_text("As I see it today")).to_be_visible()
        expect(page.locator(".chip", has_text="Events")).to_contain_text("2,9")

    assert f"on {day} " in words
    assert "new" in words or "change" in words
    assert complaints == []


def test_a_long_silence_takes_a_few_steps_of_the_slider(browser: Browser, tmp_path: Path) -> None:
    """Each day on which something changed has its step, with years in between; by keys, too."""
    program = on_any_port(Program(data=tmp_path))
    with ThreadPoolExecutor() as elsewhere:
        elsewhere.submit(asyncio.run, fill(program.data, 4, 2_000)).result()
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="Memory", exact=True).click()
        slider = page.get_by_role("slider")
        slider.focus()
        page.keyboard.press("Home")
        expect(rows(page)).to_have_count(1)
        told = [slider.get_attribute("aria-valuetext") or ""]
        for _ in range(int(slider.get_attribute("max") or 0)):
            page.keyboard.press("ArrowRight")
            told.append(slider.get_attribute("aria-valuetext") or "")
        expect(rows(page)).to_have_count(4)
        expect(page.get_by_text("As I see it today")).to_be_visible()
        page.keyboard.press("ArrowLeft")
        page.get_by_role("button", name="The day before on which something changed").click()
        expect(page.get_by_text("1 new")).to_be_visible()

    assert len(set(told)) == len(told) == 17
    assert sum("no change" not in each for each in told) == 4
    assert complaints == []


def test_what_it_said_to_itself_is_opened_word_for_word(browser: Browser, tmp_path: Path) -> None:
    """When it thought, why, and what came of it; and markup in it is words."""
    program = on_any_port(Program(data=tmp_path))
    with ThreadPoolExecutor() as elsewhere:
        elsewhere.submit(asyncio.run, fill(program.data, 4, 20)).result()
        elsewhere.submit(asyncio.run, think(program.data, "<b>She misses Ana.</b>")).result()
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="Memory", exact=True).click()
        page.get_by_role("link", name="What I said to myself").click()
        panel = page.get_by_role("region", name="What I said to myself")
        expect(panel.locator("summary")).to_contain_text("2 kept, 1 let go")
        panel.locator("summary").click()
        expect(panel.locator("pre")).to_have_text("<b>She misses Ana.</b>")
        expect(panel.get_by_text("Ana moved to Porto.")).to_be_visible()
        page.keyboard.press("Escape")
        expect(panel).to_have_count(0)

    assert complaints == []


async def think(data: Path, said: str) -> None:
    """Have it thought once."""
    database = f"sqlite:///{data / 'oldfriend.db'}"
    settings = Settings(data=data, database=database, zone="UTC", language="en")
    async with open_house(settings) as house, house.db.writing() as tx:
        owner = await ensure_owner(tx, now=house.clock(), zone="UTC")
        tick = Tick(
            id=new_id(house.clock()), person=owner.id, kind="slow tick", why="news",
            ran_at=house.clock(), outcome={"learned": {"thought": 2}, "rejected": {"tone": 1}},
            transcript=Transcript(shown=("Ana moved to Porto.",), answered=(said,)),
        )  # fmt: skip
        await write_tick(tx, tick)


def test_what_comes_above_does_not_move_what_one_reads(browser: Browser, full: Program) -> None:
    """Something is learned elsewhere, and stands first; the row in sight stays where it is."""
    link = new_link(full)
    with opened(browser, link) as (page, complaints):
        place(page, link)
        page.get_by_label("Order").select_option("newest")
        page.wait_for_timeout(600)
        page.locator(".memory-main").evaluate("e => e.scrollTo(0, 2000)")
        page.wait_for_timeout(400)
        key, before = top_of(page)
        full.done("say", "Remember that my cat is called Miso.")
        expect(rows(page).last).not_to_have_attribute("aria-setsize", "9901", timeout=10_000)
        page.wait_for_timeout(500)
        same, after = top_of(page)

    assert same == key
    assert abs(after - before) <= 2
    assert complaints == []


def test_words_find_beliefs_and_messages_and_lead_to_the_talk(
    browser: Browser, tmp_path: Path
) -> None:
    """One search; a quote leads to where it was said; nothing found says so."""
    program = on_any_port(Program(data=tmp_path / "data"))
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        say(page, "Remember that my sister Ana was born in Porto on 3 May 1991.")
        place(page, link)
        search = page.get_by_label("Search what I know, and what was said")
        search.fill("port")
        expect(rows(page).first).to_contain_text("born in Porto")
        search.fill("porto")
        expect(page.get_by_text(re.compile(r"Said in our talks \(\d"))).to_be_visible()
        search.fill("zzzzqqq")
        expect(page.get_by_text("I know nothing of that.")).to_be_visible()
        search.fill("")
        rows(page).first.locator("button.words").first.click()
        expect(page.locator(".mine", has_text="born in Porto")).to_be_in_viewport()

    assert complaints == []


def test_one_thing_is_looked_into_and_put_right(browser: Browser, tmp_path: Path) -> None:
    """Its history, an edit, one that came too late, wrong and undone, pinned, joined, separated."""
    program = on_any_port(Program(data=tmp_path / "data"))
    with served(program), ExitStack() as stack:
        link = new_link(program)
        page, complaints = stack.enter_context(opened(browser, link))
        say(page, "Remember that my cat is called Miso.")
        say(page, "Remember that the cat we have is named Miso.")
        place(page, link)
        rows(page).filter(has_text="my cat is called Miso").locator(".text a").click()
        panel = page.get_by_role("region", name="my cat is called Miso.")
        expect(panel.get_by_text("Learned", exact=True).first).to_be_visible()
        panel.get_by_role("button", name="edit").click()
        panel.get_by_label("How it is").fill("My cat is called Mochi.")
        panel.get_by_role("button", name="Save").click()
        panel = page.get_by_role("region", name="My cat is called Mochi.")
        expect(panel.get_by_text("Put right")).to_be_visible()
        identity = page.url.rpartition("/")[2]

        panel.get_by_role("button", name="edit").click()
        program.done("memory", "edit", identity, "My cat is called Nori.")
        panel = page.get_by_role("region", name="My cat is called Nori.")
        panel.get_by_label("How it is").fill("My cat is called Koko.")
        panel.get_by_role("button", name="Save").click()
        expect(panel.get_by_role("alert")).to_contain_text("changed since you looked")
        panel.get_by_role("button", name="Cancel").click()

        panel.get_by_role("button", name="pin", exact=True).click()
        expect(panel.get_by_role("button", name="unpin")).to_be_visible()
        panel.get_by_role("button", name="wrong").click()
        page.get_by_role("button", name="undo").click()
        expect(panel.get_by_role("button", name="wrong")).to_be_visible()
        panel.get_by_role("button", name="says the same as").click()
        panel.get_by_label("Which says the same?").fill("cat")
        panel.get_by_role("button", name="the cat we have is named Miso.").click()
        other = rows(page).get_by_role("link", name="the cat we have is named Miso.")
        expect(other).to_have_count(0)
        page.get_by_role("button", name="undo").click()
        expect(other).to_have_count(1)
        page.keyboard.press("Escape")
        expect(page.get_by_role("region", name="My cat")).to_have_count(0)
        page.set_viewport_size({"width": 390, "height": 780})
        wide = page.locator("html").evaluate("e => e.scrollWidth - e.clientWidth")

    assert wide == 0
    assert [each for each in complaints if "412" not in each] == []


def test_two_days_are_compared_in_words(browser: Browser, full: Program) -> None:
    """What was added between them, and what has ended, with how much of it."""
    link = new_link(full)
    since = (from_micros(system_clock()) - timedelta(days=100)).date().isoformat()
    with opened(browser, link) as (page, complaints):
        place(page, link)
        page.get_by_role("link", name="What changed?").click()
        panel = page.get_by_role("region", name="What changed between two days")
        panel.get_by_label("From").fill(since)
        expect(panel.get_by_text(re.compile(r"^(1,9|2,0)\d\d new"))).to_be_visible()
        expect(panel.locator("li").first).to_contain_text("New")
        drawn = page.locator("li").count()

    assert drawn <= MOST_ROWS
    assert complaints == []


def test_a_verdict_on_what_somebody_else_has_changed_is_not_given_unseen(
    browser: Browser, tmp_path: Path
) -> None:
    """In the list, the panel and beside the talk: it says so, and shows how it reads now."""
    program = on_any_port(Program(data=tmp_path / "data"))
    with served(program), opened(browser, new_link(program)) as (page, _):
        say(page, "Remember that my cat is called Miso.")
        memory = json.loads(program.done("memory", "list", "--json").stdout)[0]["id"]
        texts = iter(["my cat is called Tofu", "my cat is called Natto", "my cat is called Soba"])

        def be_quicker(route: Route) -> None:
            program.done("memory", "edit", memory, next(texts))
            route.continue_()

        def refused() -> None:
            page.route("**/verdict", be_quicker, times=1)

        refused()
        page.locator(".learned").get_by_role("button", name="wrong").click()
        expect(page.get_by_role("dialog")).to_contain_text("It has changed since you looked")
        expect(page.locator(".learned .belief")).to_contain_text("Tofu")
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Memory", exact=True).click()
        refused()
        rows(page).first.get_by_role("button", name="wrong").click()
        expect(page.get_by_role("alert")).to_contain_text("It has changed since you looked")
        expect(rows(page).first).to_contain_text("Natto")
        page.get_by_role("link", name="Natto").click()
        refused()
        page.locator(".memory-panel").get_by_role("button", name="wrong").click()
        expect(page.locator(".panel-text")).to_contain_text("Soba")
        expect(page.get_by_role("alert")).to_contain_text("It has changed since you looked")
        page.locator(".memory-panel").get_by_role("button", name="wrong").click()
        expect(page.locator(".memory-panel .pill", has_text="not so")).to_be_visible()
        page.get_by_role("button", name="undo").click()
        expect(page.locator(".memory-panel .pill", has_text="not so")).to_have_count(0)
