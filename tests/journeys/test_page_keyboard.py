"""Whoever uses the page by keys: Escape closes what is open, and they are back where they were."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
CAT = "Remember that my cat is called Miso."


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A process that serves somebody who has said something."""
    program = on_any_port(Program(data=tmp_path_factory.mktemp("keys") / "data"))
    program.done("say", CAT)
    with served(program):
        yield program


def press(page: Page, button: Locator) -> None:
    """Press something by the keyboard."""
    button.focus()
    page.keyboard.press("Enter")


def test_escape_closes_receipt_or_error_dialog_and_restores_focus(
    browser: Browser, program: Program
) -> None:
    """The drawer has the keyboard while it is open, and whoever opened it afterwards."""
    with opened(browser, new_link(program)) as (page, _):
        why = page.get_by_role("button", name="Why did you say that?").last
        press(page, why)
        receipt = page.get_by_role("dialog", name="Why I said that")
        expect(receipt).to_be_focused()
        page.keyboard.press("Escape")
        expect(receipt).to_have_count(0)
        expect(why).to_be_focused()
        page.route("**/receipt", lambda route: route.abort())
        press(page, why)
        expect(page.get_by_role("dialog")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        expect(why).to_be_focused()


def test_escape_cancels_search_and_message_edit(browser: Browser, program: Program) -> None:
    """What stood in their place has the keyboard again."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "My sister Ana was born in Porto.")
        search = page.get_by_role("button", name="Search what was said")
        press(page, search)
        expect(page.get_by_role("searchbox", name="Search what was said")).to_be_focused()
        page.keyboard.press("Escape")
        expect(search).to_be_focused()
        edit = page.get_by_role("button", name="edit").last
        press(page, edit)
        expect(page.locator(".editing textarea")).to_be_focused()
        page.keyboard.type(" Or not.")
        page.keyboard.press("Escape")
        expect(page.locator(".editing")).to_have_count(0)
        expect(edit).to_be_focused()
        expect(page.get_by_text("Or not.")).to_have_count(0)

    assert complaints == []


def test_enter_in_search_opens_the_first_hit(browser: Browser, program: Program) -> None:
    """Without a pointer, and without walking through all that was found."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "The lorry comes on Friday.")
        page.keyboard.press("Control+k")
        page.keyboard.type("lorry")
        expect(page.locator(".found .words").first).to_contain_text("lorry")
        page.keyboard.press("Enter")
        expect(page.locator(".found")).to_have_count(0)
        expect(page.locator(".mine", has_text="lorry")).to_be_focused()

    assert complaints == []


def test_escape_goes_from_editing_to_the_panel_and_from_there_to_the_list(
    browser: Browser, program: Program
) -> None:
    """One step at a time."""
    with opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="Memory", exact=True).click()
        row = page.get_by_role("link", name="my cat is called Miso").first
        press(page, row)
        panel = page.locator(".memory-panel")
        expect(panel).to_be_focused()
        press(page, panel.get_by_role("button", name="edit"))
        expect(panel.get_by_role("textbox").first).to_be_focused()
        page.keyboard.press("Escape")
        expect(panel.get_by_role("textbox")).to_have_count(0)
        expect(panel.get_by_role("heading").first).to_be_focused()
        page.keyboard.press("Escape")
        expect(panel).to_have_count(0)
        expect(row).to_be_focused()

    assert complaints == []


def test_escape_closes_the_learned_timeline_on_a_phone(browser: Browser, program: Program) -> None:
    """It covers the talk, and has the keyboard meanwhile."""
    phone = {"width": 390, "height": 780}
    with opened(browser, new_link(program), viewport=phone) as (page, complaints):
        strip = page.get_by_role("button", name="Learned: ")
        press(page, strip)
        timeline = page.get_by_role("complementary", name="What I learned")
        expect(timeline).to_be_focused()
        page.keyboard.press("Escape")
        expect(timeline).to_be_hidden()
        expect(strip).to_be_focused()

    assert complaints == []


# Escape in the very moment in which something stands there, before it is painted
AT_ONCE = """what => new MutationObserver((_, watch) => {
  if (!document.querySelector(what)) return;
  watch.disconnect();
  window.hasStood = what;
  const key = new KeyboardEvent("keydown", { key: "Escape", bubbles: true });
  document.activeElement.dispatchEvent(key);
}).observe(document.body, { subtree: true, childList: true, attributes: true })"""


def test_escape_works_immediately_after_a_panel_opens(browser: Browser, program: Program) -> None:
    """On a busy machine a key comes before the first paint, and must not go to nobody."""
    phone = {"width": 390, "height": 780}
    with opened(browser, new_link(program), viewport=phone) as (page, complaints):

        def opens_and_is_left(opener: Locator, what: str) -> None:
            page.evaluate(AT_ONCE, what)
            press(page, opener)
            page.wait_for_function("what => window.hasStood === what", arg=what)
            expect(page.locator(what)).to_have_count(0)
            expect(opener).to_be_focused()

        why = page.get_by_role("button", name="Why did you say that?").last
        opens_and_is_left(why, ".drawer")
        opens_and_is_left(page.get_by_role("button", name="Learned: "), ".learned.is-open")
        page.get_by_role("link", name="Memory", exact=True).click()
        belief = page.get_by_role("link", name="my cat is called Miso").first
        opens_and_is_left(belief, ".memory-panel")

    assert complaints == []
