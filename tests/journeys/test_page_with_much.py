"""All of it at once: much said and known, two browsers, a slow network, a server that is killed."""

from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.cli.serving import on_any_port, served
from tests.conftest import Sizes
from tests.fakes.slow_model import slow_model
from tests.journeys.browsers import NEEDS_CHROMIUM
from tests.journeys.memories import elsewhere, fill, rows
from tests.journeys.pages import new_link, opened
from tests.journeys.test_page_talk import rows_in, settings_of, talk_long, whole, write
from tests.processes import Program, kill

pytestmark = NEEDS_CHROMIUM
PHONE = {"width": 390, "height": 800}
DAYS = 120
MOST_ROWS = 200
PLACES = {
    "/people": ".people h2",
    "/days": ".month-head",
    "/days/diary": ".view-head",
    "/forget": "h2",
    "/settings": ".settings h2",
}
"""What stands in each place once it is there."""


def slow_down(page: Page) -> None:
    """Put half a second between a page and the house, and let little through."""
    page.context.new_cdp_session(page).send(
        "Network.emulateNetworkConditions",
        {
            "offline": False,
            "latency": 500,
            "downloadThroughput": 100_000,
            "uploadThroughput": 100_000,
        },
    )


def test_two_pages_go_on_through_a_kill_with_much_said_and_known(
    browser: Browser, tmp_path: Path, sizes: Sizes
) -> None:
    """One of them on a slow network, the other on a phone; each place of both is whole after it."""
    with slow_model() as model:
        model.says, model.pause_s = "beta " * 60 + "end", 0.1
        program = on_any_port(Program(data=tmp_path / "data"))
        program.data.mkdir()
        elsewhere(fill(program.data, sizes.page_beliefs, DAYS))
        elsewhere(talk_long(program.data, sizes.page_messages))
        settings = settings_of(model).replace("thinks = false", "thinks = false\nforms = false")
        (program.data / "oldfriend.toml").write_text(settings)
        with (
            served(program) as first,
            opened(browser, new_link(program)) as (slow, _),
            opened(browser, new_link(program), viewport=PHONE) as (phone, _),
        ):
            for page in (slow, phone):
                last = page.get_by_text(f"Line {sizes.page_messages - 1} of the log.")
                expect(last).to_be_visible()
            slow_down(slow)
            write(slow, "Count for me.")
            for page in (slow, phone):
                expect(page.locator(".caret")).to_be_visible()
            kill(first.process)
            for page in (slow, phone):
                expect(page.locator(".lost")).to_be_visible()
            model.says, model.pause_s = "Counted to the end.", 0.01
            port = {"OLDFRIEND_SERVE_PORT": str(first.port)}
            again = replace(program, environment={**program.environment, **port})
            with served(again):
                for page in (slow, phone):
                    expect(whole(page).last).to_contain_text("Counted to the end.", timeout=90_000)
                    expect(page.locator(".lost")).to_have_count(0)
                    expect(page.locator(".caret")).to_have_count(0)
                    expect(page.locator(".mine", has_text="Count for me.")).to_have_count(1)
                    expect(page.get_by_text("Counted to the end.")).to_have_count(1)
                write(phone, "And now from the phone.")
                expect(slow.locator(".mine", has_text="And now from the phone.")).to_have_count(1)
                origin = f"http://localhost:{first.port}"
                for page in (slow, phone):
                    most = look_around(page, origin)

                    assert most <= MOST_ROWS


def look_around(page: Page, origin: str) -> int:
    """Open every place, which has to come; how many rows stood in the document at most."""
    most = [rows_in(page)]
    page.goto(f"{origin}/memory")
    expect(rows(page).first).to_be_visible()
    page.locator(".memory-main").evaluate("e => e.scrollBy(0, 3000)")
    most.append(rows_in(page))
    for path, sign in PLACES.items():
        page.goto(origin + path)
        expect(page.locator(f"main {sign}").first).to_be_attached()
        most.append(rows_in(page))
    page.goto(origin)
    expect(page.get_by_text("And now from the phone.")).to_be_visible()
    return max(most)
