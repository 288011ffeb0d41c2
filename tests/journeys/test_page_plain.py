"""What goes wrong, leads nowhere or is long is told in plain words, where it is missed."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import go_to_forget, go_to_settings, new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
PHONE = {"width": 390, "height": 780}
YEAR = ".year li a"
LONG = "\n".join(f"Verse {number} of a song that goes on and on." for number in range(200))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """One process that serves, for all of these."""
    program = on_any_port(Program(data=tmp_path_factory.mktemp("plain") / "data"))
    with served(program):
        yield program


def scroll_of(page: Page) -> int:
    """How far the talk is scrolled."""
    return int(page.locator(".talk").evaluate("list => Math.round(list.scrollTop)"))


@pytest.mark.parametrize(
    ("address", "back"),
    [
        ("/nothing/here", "Back to the chat"),
        ("/days/1999-99-99", "Calendar"),
        ("/days/yesterday", "Calendar"),
        ("/people/xyz", "Everybody"),
        ("/people/00000000-0000-0000-0000-000000000000", "Everybody"),
    ],
)
def test_address_without_anything_says_so_and_leads_back(
    browser: Browser, program: Program, address: str, back: str
) -> None:
    """On the page, and not as JSON."""
    with opened(browser, new_link(program)) as (page, complaints):
        page.get_by_label("Say something …").wait_for()
        page.goto(f"{page.evaluate('location.origin')}{address}")
        expect(page.get_by_role("heading", name="There is nothing here")).to_be_visible()
        page.locator(".nowhere a", has_text=back).click()
        expect(page.locator(".nowhere")).to_have_count(0)

    assert [each for each in complaints if "404" not in each] == []


def test_failed_reading_is_told_beside_the_talk_and_tried_again(
    browser: Browser, tmp_path: Path
) -> None:
    """Not only in Settings, and for whose talk it is."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.done("say", "My cat is called Miso.")
    program.done("say", "My dog is called Rufus.")
    fail_readings(program)
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        failed = page.locator(".learned .failed")
        expect(failed).to_contain_text("I couldn't read one of our talks")
        failed.get_by_role("button", name="Try again").click()
        expect(failed).to_have_count(0)
        expect(page.locator(".learned .belief q", has_text="Rufus").first).to_be_visible()

    assert complaints == []


def fail_readings(program: Program) -> None:
    """Have what is to be read fail for good, as unusable answers of a model do."""
    with sqlite3.connect(program.data / "oldfriend.db") as db:
        found = db.execute(
            "UPDATE job SET dead_lettered_at = enqueued_at, error = 'BrokenOutput: no JSON'"
            " WHERE queue = 'agenda' AND partition LIKE 'memory:%'"
        )
        assert found.rowcount > 0


def test_invalid_setting_is_told_by_its_name_on_the_page(
    browser: Browser, program: Program
) -> None:
    """Not by its name in the file."""
    with opened(browser, new_link(program)) as (page, _):
        go_to_settings(page, "Budget and spending")
        field = page.locator(".choice.is-number input").first
        label = page.locator(".choice.is-number label").first.inner_text()
        field.fill("-3")
        field.press("Enter")
        told = page.locator(".choice.is-number [role=alert]").first
        expect(told).to_contain_text(f"“{label}” must be")
        words = told.inner_text()

    assert "." not in words.split(" must be")[0]


def test_model_by_address_is_only_asked_once_it_is_named(
    browser: Browser, program: Program
) -> None:
    """And what stays on this machine is not said to leave it."""
    with opened(browser, new_link(program)) as (page, complaints):
        go_to_settings(page, "Models")
        page.locator("#models").get_by_role("button", name="change").first.click()
        form = page.locator("form.choosing").first
        form.locator("select").first.select_option(value="")
        expect(form.get_by_role("button", name="Try it")).to_be_disabled(timeout=8_000)
        expect(form).not_to_contain_text("sent to Provider")
        form.get_by_label("Call it").fill("mine")
        form.get_by_label("Address").fill("http://127.0.0.1:9/v1")
        expect(form.get_by_role("button", name="Try it")).to_be_enabled()
        expect(form).to_contain_text("nothing you say leaves it")

    assert complaints == []


def test_whoever_was_invited_is_told_whom_to_ask(browser: Browser, program: Program) -> None:
    """When their link was used already."""
    link = program.done("invite", "Ana").stdout.split()
    spent = next(each for each in link if each.startswith("http"))
    with opened(browser, spent) as (page, _):
        expect(page.get_by_label("Say something …")).to_be_visible()
    with opened(browser, spent) as (page, _):
        expect(page.get_by_text("Ask whoever invited you")).to_be_visible()
        told = page.locator("#page").inner_text()

    assert "ten minutes" not in told


def test_long_message_is_folded_and_opens(browser: Browser, program: Program) -> None:
    """What is above and below it stays within reach."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, LONG)
        mine = page.locator(".mine", has_text="Verse 0 of")
        more = mine.get_by_role("button", name="Show all of it")
        expect(more).to_have_attribute("aria-expanded", "false")
        folded = mine.locator(".bubble").evaluate("one => one.parentElement.clientHeight")
        more.click()
        opened_px = mine.locator(".bubble").evaluate("one => one.parentElement.clientHeight")
        mine.get_by_role("button", name="Show less").click()
        expect(more).to_be_visible()

    assert folded < 500 < 3000 < opened_px
    assert complaints == []


def test_talk_stays_where_one_read_and_marks_where_one_was_led(
    browser: Browser, program: Program
) -> None:
    """Also after a look at another place."""
    with opened(browser, new_link(program)) as (page, complaints):
        for place in ("Brae", "Oban", "Luss", "Crail", "Elie", "Nairn", "Wick", "Tain"):
            say(page, f"The tide at {place} was high.")
        page.locator(".talk").evaluate("list => { list.scrollTop = 200; }")
        page.wait_for_timeout(300)
        before = scroll_of(page)
        page.get_by_role("link", name="Days", exact=True).click()
        page.get_by_role("table", name="Calendar").wait_for()
        page.get_by_role("link", name="Chat", exact=True).click()
        page.locator(".mine").last.wait_for()
        page.wait_for_timeout(300)
        after = scroll_of(page)
        page.keyboard.press("Control+k")
        page.keyboard.type("tide at Crail")
        sought = page.locator(".found .words").first
        expect(sought).to_contain_text("Crail")  # not what was found for the first letters
        sought.click()
        found = page.locator(".is-found")
        expect(found).to_contain_text("Crail")
        page.wait_for_timeout(2_500)
        expect(found).to_contain_text("Crail")
        say(page, "Thanks.")
        expect(found).to_have_count(0)

    assert abs(after - before) < 30
    assert complaints == []


def test_year_stands_above_the_month_and_a_day_shows_its_conversation(
    browser: Browser, program: Program
) -> None:
    """Whoever looks at an empty month is led to the last one that is not."""
    with opened(browser, new_link(program)) as (page, complaints):
        said = "The swallows left the barn this morning."
        say(page, said)
        page.get_by_role("link", name="Days", exact=True).click()
        year = page.get_by_role("navigation", name="The year")
        expect(year.locator("li")).to_have_count(12)
        expect(year.locator("[aria-current]")).not_to_have_class("heat-0")
        this_month = year.locator("[aria-current]").get_attribute("href")
        assert this_month is not None
        empty = year.locator(f"li a:not([href='{this_month}'])").last
        empty.click()
        expect(page.get_by_text("Nothing was said this month.")).to_be_visible()
        page.get_by_role("link", name="Go to the last month").click()
        expect(page.locator(f"{YEAR}[href='{this_month}']")).to_have_attribute(
            "aria-current", "true"
        )
        expect(page.locator(".month td[aria-current] .said-much")).to_have_class(
            re.compile("heat-4")
        )
        page.locator(".month td[aria-current] a").click()
        expect(page.locator(".day-talk .bubble", has_text=said)).to_be_visible()
        page.get_by_role("button", name="open in the chat").last.click()
        expect(page.locator(".is-found")).to_be_visible()

    assert complaints == []


def test_phone_says_that_it_is_offline(browser: Browser, program: Program) -> None:
    """Where the longer words have no room."""
    with opened(browser, new_link(program), viewport=PHONE) as (page, complaints):
        expect(page.locator(".companion").get_by_text("offline", exact=True)).to_be_visible()

    assert complaints == []


def test_forget_asks_what_stays_only_once_something_is_chosen(
    browser: Browser, program: Program
) -> None:
    """Of what was said, not of nothing."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "The gate of the Hollister farm squeaks.")
        go_to_forget(page)
        expect(page.get_by_role("radio", name="Somebody or something")).to_be_visible()
        expect(page.locator(".orphan")).to_have_count(0)
        page.get_by_label("Somebody or something").check()
        page.get_by_label("Who or what?").fill("Hollister")
        expect(page.locator(".orphan")).to_be_visible()

    assert complaints == []
