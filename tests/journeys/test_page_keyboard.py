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


FOCUSED = """() => {
  const one = document.activeElement;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
  const hasOutline = outlineStyle !== "none" && parseFloat(outlineWidth) > 0;
  const name = one.getAttribute("aria-label") ?? (one.id || one.textContent.trim());
  return [`${one.tagName} ${name}`.slice(0, 40), hasOutline || boxShadow !== "none"];
}"""
"""What has the keyboard, and whether that can be seen."""


def walk(page: Page, steps: int) -> list[tuple[str, bool]]:
    """What has the keyboard after each Tab."""
    found = []
    for _step in range(steps):
        page.keyboard.press("Tab")
        found.append(tuple(page.evaluate(FOCUSED)))
    return found


def test_help_sheet_lists_every_key_and_command_and_gives_the_keyboard_back(
    browser: Browser, program: Program
) -> None:
    """By "?", by a button, while one writes, and as a command."""
    with opened(browser, new_link(program)) as (page, complaints):
        help_sheet = page.get_by_role("dialog", name="Keys and commands")
        composer = page.get_by_label("Say something …")
        composer.fill("half a ?")
        page.keyboard.press("?")
        expect(help_sheet).to_have_count(0)
        expect(composer).to_have_value("half a ??")
        for opener, keys in (
            (composer, "Control+/"),
            (page.get_by_role("button", name="Keys and commands"), "Enter"),
            (page.get_by_role("link", name="Days", exact=True), "?"),
        ):
            opener.focus()
            page.keyboard.press(keys)
            expect(help_sheet).to_be_focused()
            page.keyboard.press("Escape")
            expect(help_sheet).to_have_count(0)
            expect(opener).to_be_focused()
        composer.fill("/help")
        page.keyboard.press("Enter")
        expect(help_sheet).to_be_focused()
        told = help_sheet.inner_text()
        page.keyboard.press("Escape")
        composer.fill("/")
        offered = page.locator(".commands b").all_inner_texts()

    assert len(offered) >= 3
    assert all(each in told for each in (*offered, "Alt", "Ctrl", "Shift", "Esc", "search"))
    assert complaints == []


def test_keys_lead_to_every_place_and_to_the_search(browser: Browser, program: Program) -> None:
    """From wherever one is, also while one writes."""
    with opened(browser, new_link(program)) as (page, complaints):
        places = page.get_by_role("navigation", name="Places")
        expect(page.get_by_label("Say something …")).to_be_focused()
        for number, name in ((2, "Memory"), (3, "People"), (4, "Days"), (5, "Settings")):
            page.keyboard.press(f"Alt+{number}")
            expect(places.locator("[aria-current]")).to_have_text(name)
        page.keyboard.press("Control+k")
        expect(page.get_by_role("searchbox", name="Search what was said")).to_be_focused()
        page.keyboard.press("Escape")
        page.keyboard.press("Alt+1")
        expect(page.get_by_label("Say something …")).to_be_focused()

    assert complaints == []


def test_places_come_before_the_talk_and_messages_are_one_step(
    browser: Browser, program: Program
) -> None:
    """Arrows go from message to message, and Tab to what can be done with it; all is seen."""
    with opened(browser, new_link(program)) as (page, complaints):
        for told in ("My brother Ben plays the oboe.", "My aunt Ida keeps bees."):
            say(page, told)
        page.reload()
        page.get_by_label("Say something …").wait_for()
        page.locator(".mine").last.wait_for()
        page.get_by_role("link", name="Skip to what you want to say").focus()
        forwards = walk(page, 16)
        names = [name for name, _ in forwards]
        page.get_by_label("Say something …").focus()
        page.keyboard.press("Shift+Tab")
        page.get_by_role("log").focus()
        page.keyboard.press("ArrowUp")
        expect(page.locator(".theirs").last).to_be_focused()
        for _ in range(3):
            page.keyboard.press("ArrowUp")
        expect(page.locator(".mine", has_text="Ben")).to_be_focused()
        inside = walk(page, 3)

    assert names[:6] == [
        "BUTTON Keys and commands",
        *(f"A {name}" for name in ("Chat", "Memory", "People", "Days", "Settings")),
    ]
    assert names.index("TEXTAREA Say something …") < 14
    assert [name for name, _ in inside] == ["BUTTON copy", "BUTTON edit", "BUTTON ask again"]
    assert [name for name, is_marked in (*forwards, *inside) if not is_marked] == []
    assert complaints == []


@pytest.mark.parametrize("place", ["memory", "people", "days", "settings", "bring", "forget"])
def test_keyboard_is_seen_wherever_it_is_in_every_place(
    browser: Browser, program: Program, place: str
) -> None:
    """On all that Tab comes to."""
    with opened(browser, new_link(program)) as (page, complaints):
        expect(page.get_by_label("Say something …")).to_be_visible()
        page.goto(f"{page.evaluate('location.origin')}/{place}")
        page.locator("#place :is(h2, h1)").first.wait_for()
        page.locator(".places [aria-current]").focus()
        found = walk(page, 30)

    assert len({name for name, _ in found}) > 4
    assert [name for name, is_marked in found if not is_marked and "BODY" not in name] == []
    assert complaints == []


def test_skip_link_leads_past_what_was_learned(browser: Browser, program: Program) -> None:
    """Instead of through every keep, wrong and forget behind the text box."""
    with opened(browser, new_link(program)) as (page, complaints):
        learned = page.get_by_role("complementary", name="What I learned")
        learned.get_by_role("button", name="wrong").first.wait_for()
        skip = learned.get_by_role("link", name="Skip past what I learned")
        press(page, skip)
        expect(page.locator("#learned-end")).to_be_focused()
        page.keyboard.press("Tab")
        expect(learned.locator(":focus")).to_have_count(0)

    assert complaints == []
