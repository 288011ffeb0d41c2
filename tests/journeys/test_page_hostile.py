"""Words that would be code on a page that was careless: shown as the words they are, wherever."""

from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import go_to_import, new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
IMAGE: Final = '<img src="x" onerror="window.ran=1">'
SCRIPT: Final = "<script>window.ran=2</script>"
DRAWING: Final = "\"'><svg onload=window.ran=3>"
LINK: Final = "[here](javascript:window.ran=4)"
CALLED: Final = {"cat": IMAGE, "dog": SCRIPT, "boat": DRAWING, "lorry": LINK}
CHAT: Final = "\n".join(
    [
        f"03/05/2024, 18:30 - {IMAGE}: {SCRIPT} we moved to Lisbon {DRAWING}",
        f"03/05/2024, 18:31 - Nora: My sister {IMAGE} lives in Lisbon now. {LINK}",
        f"04/05/2024, 09:00 - Nora: Remember that my dog is called {DRAWING}.",
    ]
)
PLACES: Final = (
    "",
    "memory",
    "memory/changes",
    "people",
    "people/graph",
    "days",
    "days/2024-05",
    "days/2024-05-03",
    "bring",
    "forget",
    "settings",
)


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The command line, on a folder of its own."""
    return on_any_port(Program(data=tmp_path / "data"))


def taken_for_code(page: Page) -> list[object]:
    """What of it ran, and what became an element of the page."""
    found: list[object] = page.evaluate(
        """() => [window.ran, ...[...document.querySelectorAll(
            "img, svg[onload], [onerror], a[href^='javascript']")].map((each) => each.outerHTML)
        ].filter((each) => each !== undefined)"""
    )
    return found


def test_html_in_messages_and_beliefs_is_escaped_on_every_page(
    browser: Browser, program: Program
) -> None:
    """In the talk, its receipt, the timeline, the memory, a history, a forgetting and its proof."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        seen: list[object] = []
        for what, words in CALLED.items():
            say(page, f"Remember that my {what} is called {words}.")
            expect(page.locator(".mine .bubble").last).to_contain_text(words)
            expect(page.locator(".learned .belief", has_text=words).first).to_be_visible()
        say(page, "What is my cat called?")
        page.get_by_role("button", name="Why did you say that?").last.click()
        expect(page.get_by_role("dialog")).to_contain_text("my cat is called")
        seen += taken_for_code(page)
        page.keyboard.press("Escape")
        page.get_by_role("link", name="Memory", exact=True).click()
        page.get_by_role("link", name=SCRIPT).first.click()
        expect(page.locator(".memory-panel")).to_contain_text(SCRIPT)
        seen += taken_for_code(page)
        page.locator(".memory-panel").get_by_role("button", name="forget").click()
        expect(page.locator(".place")).to_contain_text(SCRIPT)
        seen += taken_for_code(page)
        page.get_by_role("button", name="Forget for good (").click()
        expect(page.get_by_role("heading", name="It is gone")).to_be_visible()
        seen += taken_for_code(page)

    assert seen == []
    assert complaints == []


def test_html_in_imported_chats_and_file_names_is_escaped_on_every_page(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """Who speaks, what they say and what the file is called; before it is in, and in each place."""
    chat = tmp_path / f"Chat with {IMAGE}{SCRIPT.replace('/', '')}.txt"
    chat.write_text(CHAT, "utf-8")
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        go_to_import(page)
        page.locator("input[type=file]").set_input_files(chat)
        parcel = page.locator(".parcel", has_text="3 messages")
        expect(parcel).to_contain_text(IMAGE)
        seen = taken_for_code(page)
        parcel.get_by_role("radio", name="Nora").check()
        parcel.get_by_role("button", name="Import", exact=True).click()
        expect(parcel).to_contain_text("3 messages are new", timeout=60_000)
        expect(page.locator(".import")).to_contain_text(IMAGE)
        seen += taken_for_code(page)
        app = page.url.partition("/bring")[0]
        for place in PLACES:
            page.goto(f"{app}/{place}")
            page.locator("main:not([aria-busy])").wait_for()
            page.wait_for_timeout(400)
            seen += taken_for_code(page)
        page.goto(f"{app}/")
        expect(page.locator(".said", has_text=SCRIPT).first).to_be_visible()

    assert seen == []
    assert complaints == []
