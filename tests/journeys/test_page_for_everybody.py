"""The page for those who see little, hear nothing, or use a keyboard alone: every place of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, opened_browser, say
from tests.journeys.pages import new_link
from tests.packages import installed, why_not_here
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
TOOLS = Path(__file__).parents[1] / "page_tools"
PLACES = (
    "/",
    "/memory",
    "/people",
    "/people/graph",
    "/days",
    "/bring",
    "/settings",
    "/forget",
    "/welcome",
)
WITHIN = (
    "/days/diary",
    "/days/numbers",
    "/settings/tools",
    "/settings/models",
    "/forget/proof",
    "/authorize",
    "/nothing/here",
)
"""What is reached from a place, and built of the same parts."""
HEARD = {
    "/": """
        - navigation "Places":
          - link "Chat"
          - link "Memory"
          - link "People"
          - link "Days"
          - link "Settings"
        - main:
          - log "Conversation":
            - article
          - textbox "Say something …"
        - complementary "What I learned":
          - heading "What I learned"
          - searchbox "Search what I know"
        """,
    "/memory": """
        - main:
          - heading "What I know about you" [level=2]
          - region "Reminders and to-dos":
            - list:
              - listitem:
                - paragraph: call Ana
                - paragraph
                - paragraph:
                  - button "Done"
          - region "Goals":
            - list:
              - listitem:
                - paragraph: run twice a week
                - paragraph
                - paragraph:
                  - button "Did it"
          - search:
            - searchbox "Search what I know, and what was said"
        """,
    "/days/numbers": """
          - navigation "Views of your days":
            - link "Numbers"
          - heading "Numbers" [level=2]
          - navigation "Numbers":
            - link "Weight"
        """,
    "/settings": """
        - main:
          - navigation "Settings":
            - heading "Settings" [level=2]
            - heading "You" [level=3]
            - link "About you"
            - link "Other apps"
            - link "Health data"
            - link "Signing in"
            - link "Import & export"
            - link "Forget"
            - heading "Companion" [level=3]
            - link "Character"
            - heading "This install" [level=3]
            - link "Models"
          - region "About you":
            - heading "About you" [level=3]
            - textbox "Your name"
            - combobox "Language"
            - combobox "Time zone"
            - paragraph:
              - button "Sign out"
          - region "Other apps":
            - group:
              - heading "Telegram" [level=4]
          - region "Health data":
            - paragraph:
              - link "Numbers"
            - group:
              - heading "Oura" [level=4]
          - region "Signing in":
            - heading "Passkeys" [level=4]
        """,
    "/settings/first": """
        - main:
          - navigation "Settings":
            - link "When may I write first?"
          - region "Character":
            - textbox "Name"
          - region "When may I write first?":
            - combobox "How readily"
          - region "Tools":
            - heading "Tools" [level=3]
          - region "What I did for you":
            - paragraph:
              - combobox "Show"
        """,
    "/settings/models": """
        - main:
          - region "Models":
            - heading "Models" [level=3]
            - 'button "change: Replies"'
          - region "Budget and spending":
            - heading "Budget and spending" [level=3]
          - region "People":
            - textbox "Name of somebody to invite"
            - button "Invite"
          - region "Upkeep":
            - paragraph:
              - button "Look now"
        """,
}
"""What a reader of the screen is told of a place, in order."""
WIDE, PHONE = {"width": 1360, "height": 860}, {"width": 390, "height": 800}
TALK = (
    "Remember that my sister Ana was born in Porto.",
    "My dog is called Rufus.",
    "I like green tea in the morning.",
    "Where was Ana born?",
    "I want to run twice a week.",
    "Remind me to call Ana tomorrow at 10am.",
    "Dear diary, the sea was calm.",
    "I weigh 71.4 kg.",
    "Yesterday I weighed 71.9 kg.",
)
OPENED: dict[str, tuple[str, ...]] = {
    "/settings/telegram": (),
    "/settings/health": ("#oura > summary",),
    "/settings/models": ("[aria-label='change: Replies']",),
    "/settings/signing": (),
    "/settings/first": (),
    "/settings/household": (),
    "/memory": (".task [aria-expanded]", ".task:has([aria-describedby^=goal]) [aria-expanded]"),
    "/days/numbers/weight": (".number-table summary",),
}
"""What is opened in a place: its address, and what is pressed there."""
CALLBACK = "https://assistant.example/callback"
CONSENT = {
    "response_type": "code",
    "redirect_uri": CALLBACK,
    "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "code_challenge_method": "S256",
}
NOT_MINOR = """async () => {
  await Promise.all(document.getAnimations().map((each) => each.finished.catch(() => null)));
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.filter(({ impact }) => impact !== "minor").map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => html + failureSummary)}`);
}"""
FOCUSED = """() => {
  const one = document.activeElement;
  if (!one || one === document.body) return null;
  window.passed ??= new Map();
  if (!window.passed.has(one)) window.passed.set(one, window.passed.size);
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
  const around = one.closest("label, .composer, .field, li") ?? one;
  const inside = getComputedStyle(around);
  const shown = (style) => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const box = one.getBoundingClientRect();
  const isShown = shown({ outlineStyle, outlineWidth }) || boxShadow !== "none" || shown(inside);
  return {
    place: window.passed.get(one), html: one.outerHTML.slice(0, 160), isShown,
    isInSight: box.width > 0 && box.bottom > 0 && box.top < innerHeight,
  };
}"""
UNREACHED = """() => [...document.querySelectorAll(
    "button, a[href], input, select, textarea, summary")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled
    && !window.passed?.has(one) && one.closest("[inert]") === null
    && !(one.tabIndex < 0 && one.closest("[tabindex='0'], [role=list], [role=listbox]"))
    && !(one.type === "radio"
      && [...document.getElementsByName(one.name)].some((other) => window.passed.has(other))))
  .map((one) => one.outerHTML.slice(0, 160))"""
MOST_STEPS = 150
SETTLED_MS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A page of somebody with something in it, and how to come in again."""

    browser: Browser
    origin: str
    state: object


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One process and one browser for all of these."""
    program = on_any_port(Program(data=tmp_path_factory.mktemp("everybody") / "data"))
    with served(program), opened_browser() as browser:
        link = new_link(program)
        context = browser.new_context(locale="en-GB")
        page = context.new_page()
        page.goto(link)
        for each in TALK:
            say(page, each)
        program.done("consolidate", "--now")
        yield Home(browser=browser, origin=link.partition("/#")[0], state=context.storage_state())


@contextmanager
def visitor(home: Home, **how: object) -> Iterator[Page]:
    """A browser of the owner's, in which nothing moves."""
    context = home.browser.new_context(
        locale="en-GB", storage_state=home.state, reduced_motion="reduce", bypass_csp=True, **how
    )
    try:
        yield context.new_page()
    finally:
        context.close()


def go(page: Page, address: str) -> None:
    """Go to a place, until it is drawn."""
    page.goto(address)
    page.locator("main, .welcome").first.wait_for()
    page.wait_for_timeout(SETTLED_MS)


@pytest.mark.skipif(why_not_here() is not None, reason=f"axe: {why_not_here()}")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_serious_or_moderate_on_any_page(
    home: Home, theme: str, size: dict[str, int]
) -> None:
    """In any place, with something in each."""
    axe = installed("axe-core", of=TOOLS) / "axe.min.js"
    found = {}
    with visitor(home, color_scheme=theme, viewport=size) as page:
        more = WITHIN if (theme == "dark") is (size is PHONE) else ()  # each once light, once dark
        for place in (*PLACES, *more):
            go(page, home.origin + place)
            page.add_script_tag(path=axe)
            found[place] = page.evaluate(NOT_MINOR)

    assert {place: told for place, told in found.items() if told} == {}


@pytest.mark.skipif(why_not_here() is not None, reason=f"axe: {why_not_here()}")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_axe_finds_nothing_serious_or_moderate_in_what_is_opened(
    home: Home, theme: str, size: dict[str, int]
) -> None:
    """Forms, a chart of several days, the question of notifications, the consent to a program."""
    axe = installed("axe-core", of=TOOLS) / "axe.min.js"
    found = {}
    with visitor(home, color_scheme=theme, viewport=size) as page:
        program = {"client_name": "Aide", "redirect_uris": [CALLBACK]}
        registered = page.request.post(f"{home.origin}/oauth/register", data=program).json()
        asked = {**CONSENT, "client_id": registered["client_id"], "resource": f"{home.origin}/mcp"}
        for place, pressed in {**OPENED, f"/authorize?{urlencode(asked)}": ()}.items():
            go(page, home.origin + place)
            for each in pressed:
                page.locator(each).first.click()
            page.add_script_tag(path=axe)
            found[place] = page.evaluate(NOT_MINOR)
        expect(page.get_by_role("button", name="Let it read", exact=True)).to_be_enabled()

    assert {place: told for place, told in found.items() if told} == {}


@pytest.mark.parametrize("place", HEARD)
def test_reader_of_the_screen_is_told_of_a_place_in_order(home: Home, place: str) -> None:
    """By roles and names: where one can go, what is there, what can be done with each."""
    with visitor(home, viewport=WIDE) as page:
        go(page, home.origin + place)
        expect(page.locator("body")).to_match_aria_snapshot(HEARD[place])


@pytest.mark.parametrize("place", PLACES)
def test_every_control_is_reached_by_tab_with_visible_focus(home: Home, place: str) -> None:
    """Each button is reached by Tab, and shows that it is."""
    with visitor(home, viewport=WIDE) as page:
        go(page, home.origin + place)
        seen, hidden = walked(page)
        unreached = page.evaluate(UNREACHED)

    assert len(seen) > 1
    assert hidden == []
    assert unreached == []


def walked(page: Page) -> tuple[set[int], list[str]]:
    """What Tab comes by until it is round, and what of it does not show that it is focused."""
    seen: set[int] = set()
    hidden: list[str] = []
    last = -1
    for _ in range(MOST_STEPS):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        if focused is None:
            continue  # between the end of the page and its beginning
        place = focused["place"]
        if place == last:
            continue  # a field of several parts
        if place in seen:
            break
        seen.add(place)
        last = place
        if not (focused["isShown"] and focused["isInSight"]):
            hidden.append(focused["html"])
    return seen, hidden
