"""Whoever reads the page in one language is told there what they said in another."""

from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect

from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM
from tests.journeys.memories import place, rows
from tests.journeys.pages import go_to_settings, new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
SAID = "Ich wohne in Ulm. Ich mag keinen Rosenkohl. Meine Schwester heißt Ana."


def row(page: Page, text: str) -> Locator:
    """The row of one belief."""
    return rows(page).filter(has_text=text)


def test_german_beliefs_are_told_in_english_on_an_english_page_and_in_french_on_a_french_one(
    browser: Browser, tmp_path: Path
) -> None:
    """In lists and in the portrait; words that have no template are marked with their language."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.done("say", SAID)
    program.done("say", "Merk dir, dass der Schlüssel unter der Matte liegt.")
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        place(page, link)
        home = page.url.partition("/memory")[0]
        expect(row(page, "You live in Ulm.")).to_be_visible()
        expect(row(page, "You do not like “Rosenkohl”.")).to_be_visible()
        expect(page.locator(".portrait-prose")).to_contain_text("You live in Ulm.")
        own = rows(page).locator("p.text [lang=de]").first
        expect(own).to_contain_text("Matte")
        page.goto(f"{home}/people")
        expect(page.get_by_text("your sister", exact=True)).to_be_visible()
        go_to_settings(page)
        page.locator("#language").select_option("fr")
        page.goto(f"{home}/memory")
        expect(page.get_by_role("link", name="Tu habites à Ulm.").first).to_be_visible()
        disliked = page.get_by_role("link", name="Tu n’aimes pas « Rosenkohl ».")
        expect(disliked.first).to_be_visible()

    assert complaints == []
