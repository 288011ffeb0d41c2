"""The page in each of its languages: no English in sight, nothing wider than the screen."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.api.test_page_words import OTHERS, PLACEHOLDER, read_words
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM
from tests.journeys.pages import new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
PLACES = (
    "",
    "memory",
    "people",
    "days",
    "bring",
    "forget",
    "settings",
    "settings/character",
    "settings/models",
)
WIDE = {"width": 1440, "height": 900}
PHONE = {"width": 320, "height": 640}
DRAWN_MS = 400
"""What is asked of the server is there by then; what is not is not looked at."""
LEAST_LETTERS = 8
"""So many letters at least has a phrase that is English and nothing else."""
SEEN = """() => {
  for (const said of document.querySelectorAll(".said, .belief")) said.remove();
  const beside = [...document.querySelectorAll("[placeholder], [title]")];
  return [document.body.innerText, ...beside.flatMap((one) => [one.placeholder, one.title])]
    .filter(Boolean).join("\\n");
}"""
"""What can be read but what was said, in empty fields and beside the pointer, too."""
TOO_WIDE = """() => {
  const most = document.documentElement.clientWidth;
  const how = (one) => getComputedStyle(one).overflowX;
  const scrolls = (one) => one && (how(one) !== "visible" || scrolls(one.parentElement));
  const isSeen = (one) => one.getClientRects().length && !one.closest(".visually-hidden, .skip");
  const seen = [...document.querySelectorAll("#page *")].filter(isSeen);
  const isWide = (one) => one.getBoundingClientRect().right > most + 1;
  const wide = seen.filter((one) => isWide(one) && !scrolls(one.parentElement));
  const named = seen.filter((one) => one.matches("button, .places span, h1, h2, legend, label"));
  const isCut = (one) => one.scrollWidth > one.clientWidth + 1 && how(one) === "hidden";
  return [...wide, ...named.filter(isCut)].map(
    (one) => `${one.tagName}.${one.className}: ${one.innerText?.slice(0, 60)}`);
}"""
"""What stands beyond the right edge, or is cut."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A process that serves somebody who has said something."""
    program = on_any_port(Program(data=tmp_path_factory.mktemp("languages") / "data"))
    program.done("say", "My sister Nora lives in Lisbon.")
    program.done("say", "Remember that the boiler wants a new valve.")
    with served(program):
        yield program


def list_english(language: str) -> set[str]:
    """Phrases and parts of phrases that only the English page has."""
    words = read_words(language)
    own = "\n".join(words.values())
    parts = {
        part.strip(" .,:;…?!“”()·")
        for name, text in read_words("en").items()
        if text != words[name]
        for part in PLACEHOLDER.split(text)[::2]
    }
    return {each for each in parts if len(each) >= LEAST_LETTERS and each not in own}


def visit(page: Page, place: str) -> None:
    """Go to a place, and wait until it is drawn."""
    page.locator("nav.places").wait_for()
    page.goto("/".join([*page.url.split("/")[:3], place]))
    page.locator("main").wait_for()
    expect(page.locator(".skeleton, [aria-busy=true]")).to_have_count(0)
    page.wait_for_timeout(DRAWN_MS)


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
def test_no_english_phrase_is_in_sight(browser: Browser, program: Program, language: str) -> None:
    """On no place, in the language that the browser prefers."""
    english = list_english(language)
    seen: dict[str, list[str]] = {}
    with opened(browser, new_link(program), locale=language, viewport=WIDE) as (page, complaints):
        for place in PLACES:
            visit(page, place)
            text = page.evaluate(SEEN)
            seen[place] = [each for each in english if re.search(rf"\b{re.escape(each)}\b", text)]
        spoken = page.locator("html").get_attribute("lang")

    assert {place: found for place, found in seen.items() if found} == {}
    assert spoken == language
    assert complaints == []


@pytest.mark.slow
@pytest.mark.parametrize("language", OTHERS)
def test_nothing_is_cut_or_too_wide_on_a_phone(
    browser: Browser, program: Program, language: str
) -> None:
    """However long its words are."""
    found: dict[str, list[str]] = {}
    with opened(browser, new_link(program), locale=language, viewport=PHONE) as (page, _):
        for place in PLACES:
            visit(page, place)
            found[place] = page.evaluate(TOO_WIDE)

    assert {place: ones for place, ones in found.items() if ones} == {}


@pytest.mark.slow
def test_language_is_chosen_by_its_own_name_and_kept(browser: Browser, program: Program) -> None:
    """Whatever the browser prefers; days and numbers are written its way, too."""
    with opened(browser, new_link(program), locale="en-GB") as (page, complaints):
        visit(page, "settings")
        names = page.locator("#language option").all_inner_texts()
        page.locator("#language").select_option("fr")
        expect(page.get_by_label("Langue")).to_have_value("fr")
        page.reload()
        expect(page.get_by_label("Langue")).to_have_value("fr")
        visit(page, "days")
        expect(page.locator("html")).to_have_attribute("lang", "fr")
        shown = page.evaluate(
            "new Intl.DateTimeFormat('fr', { month: 'long', year: 'numeric' }).format(new Date())"
        )
        expect(page.locator("main")).to_contain_text(shown)

    assert names == ["English", "Deutsch", "Español", "Français", "中文"]
    assert complaints == []


@pytest.mark.slow
def test_page_speaks_english_while_the_words_cannot_be_read(
    browser: Browser, program: Program
) -> None:
    """It neither stays empty nor stays so: the words are read again."""
    with opened(browser, locale="de") as (page, _):
        failures: list[str] = []

        def fail_once(route: Route) -> None:
            failures.append("once")
            route.abort()

        page.route("**/i18n/de.js", fail_once, times=1)
        page.goto(new_link(program))
        expect(page.get_by_label("Say something …")).to_be_visible()
        expect(page.get_by_label("Sag etwas …")).to_be_visible()

    assert failures == ["once"]
