"""Forgetting in a browser: seen, done, proved; and gone from every page that is open."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import system_clock
from oldfriend.domain.ids import PersonId
from oldfriend.memory.core_blocks import write_block
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import go_to_forget, go_to_import, new_link, opened
from tests.journeys.test_page_records import store
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
FORGETTING = re.compile(r"/api/v1/forget$")
CODE = '<img src=x onerror="document.title=1">'


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """One process that serves, for all of these."""
    program = on_any_port(Program(data=tmp_path_factory.mktemp("forget") / "data"))
    program.data.mkdir()
    (program.data / "oldfriend.toml").write_text("[limits]\nmessages_per_minute = 0\n")
    with served(program):
        yield program


def test_own_lines_about_oneself_stay_and_the_preview_leads_to_them(
    browser: Browser, program: Program
) -> None:
    """What one wrote under Settings is only changed there."""

    async def write(tx: Transaction, person: PersonId) -> None:
        text = "I am Nora and like tea.\nMy friend Lenka lives in Hamburg."
        await write_block(tx, person, "user", text, now=system_clock())

    with opened(browser, link := new_link(program)) as (page, complaints):
        say(page, "Lenka has moved to Hamburg.")
        store(program, write)
        page.goto(f"{link.partition('/#')[0]}/forget/about=Lenka")
        stays = page.locator(".follows section", has_text="You wrote this yourself")
        expect(stays.get_by_role("listitem")).to_have_text(["My friend Lenka lives in Hamburg."])
        stays.get_by_role("link", name="Change it in Settings").click()
        expect(page).to_have_url(re.compile("/settings/character"))

    assert complaints == []


def test_forgotten_message_disappears_from_every_open_page(
    browser: Browser, program: Program
) -> None:
    """One looks at a receipt and at what was found while it is forgotten: nothing of it stays."""
    words = "Remember that my sister Ana was born in Porto on 3 May 1991."
    with (
        opened(browser, new_link(program)) as (page, complaints),
        opened(browser, new_link(program)) as (other, others),
    ):
        say(page, words)
        say(page, "Where was my sister Ana born?")
        other.get_by_role("button", name="Why did you say that?").last.click()
        expect(other.get_by_role("dialog").locator("q").first).to_contain_text("Porto")
        other.keyboard.press("Control+k")
        expect(other.get_by_label("Search what was said")).to_be_focused()
        other.keyboard.type("sister")
        expect(other.locator(".found .words").last).to_contain_text("Porto")
        page.locator(".mine", has_text=words).hover()
        page.locator(".mine", has_text=words).get_by_role("button", name="delete").click()
        expect(page.locator(".chosen")).to_contain_text(words)
        follows = page.locator(".follows")
        expect(follows).to_contain_text("Words that go (1)")
        expect(follows).to_contain_text("My replies that repeat it lose their words")
        page.get_by_role("button", name="Forget for good").click()
        expect(page.get_by_role("heading", name="It is gone")).to_be_visible()
        proof = page.locator(".proof").inner_text()
        expect(other.get_by_role("dialog")).to_have_count(0)
        expect(other.locator("body")).not_to_contain_text("Porto")
        page.get_by_role("link", name="Back to the talk").click()
        expect(page.locator(".talk")).to_be_visible()
        expect(page.locator("body")).not_to_contain_text("Porto")
        page.goto(page.url.split("/#")[0].rstrip("/") + "/forget")
        page.locator(".before summary").click()
        page.locator(".before").get_by_role("link", name="Proof").first.click()
        expect(page.get_by_role("heading", name="It is gone")).to_be_focused()
        page.reload()
        expect(page.locator(".proof")).to_contain_text("in every place that I can reach")
        expect(page.locator("body")).not_to_contain_text("Porto")

    assert "Porto" not in proof
    assert "Ana" not in proof
    assert complaints == others == []


def test_forgetting_an_entity_shows_a_new_preview_after_a_change(
    browser: Browser, program: Program
) -> None:
    """In a preview, in a quote, in what is found; what changed meanwhile is shown anew first."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, f"Remember that Bruno has the motto {CODE}.")
        expect(page.locator(".belief", has_text=CODE)).to_have_count(1)
        page.keyboard.press("Control+k")
        expect(page.get_by_label("Search what was said")).to_be_focused()
        page.keyboard.type("motto")
        expect(page.locator(".found .words").last).to_contain_text(CODE)
        page.keyboard.press("Escape")
        go_to_import(page)
        page.get_by_role("link", name="Choose what to forget").click()
        page.get_by_label("Somebody or something").check()
        page.get_by_label("Who or what?").fill("Bruno")
        follows = page.locator(".follows")
        expect(follows).to_contain_text(CODE)
        program.done("say", "Bruno also has a red hat.")
        page.get_by_role("button", name="Forget for good").click()
        expect(page.get_by_role("alert")).to_contain_text("Something has changed")
        expect(follows).to_contain_text("a red hat")
        page.get_by_role("button", name="Forget for good").click()
        expect(page.get_by_role("heading", name="It is gone")).to_be_visible()
        images = page.locator("img").count()

    assert images == 0
    assert [each for each in complaints if "412" not in each] == []


def test_forgetting_a_belief_offers_its_source_message_too(
    browser: Browser, program: Program
) -> None:
    """A belief goes; the words and what else was read from them are shown, and go when chosen."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "I live in Faro with my aunt Berta.")
        page.get_by_role("button", name="Read it now").click()
        page.locator(".learned .belief", has_text="Berta").first.get_by_role(
            "button", name="forget"
        ).click()
        follows = page.locator(".follows")
        expect(follows).to_contain_text("These stay, and were read from the same words")
        words = follows.locator("section", has_text="The message itself stays")
        expect(words).to_contain_text("my aunt Berta")
        words.get_by_role("button", name=re.compile("this, too: .*my aunt Berta")).click()
        expect(page.get_by_role("heading", name="What will go")).to_be_focused()
        expect(follows).to_contain_text("Words that go (1)")
        expect(follows).not_to_contain_text("These stay, and were read from the same words")
        expect(page.locator(".chosen")).to_contain_text("my aunt Berta")
        page.get_by_role("button", name="Forget for good (").click()
        expect(page.get_by_role("heading", name="It is gone")).to_be_visible()
        page.get_by_role("link", name="Back to the talk").click()
        expect(page.locator(".talk")).to_be_visible()
        expect(page.locator("body")).not_to_contain_text("Berta")

    assert complaints == []


def test_forget_proof_of_a_belief_links_to_its_source_message(
    browser: Browser, program: Program
) -> None:
    """They stay unless one wants them gone; the way there is one click, not a command."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "Remember that Carlos sings in the cellar.")
        page.locator(".learned .belief", has_text="Carlos").first.get_by_role(
            "button", name="forget"
        ).click()
        page.get_by_role("button", name="Forget for good (").click()
        expect(page.locator(".proof")).to_contain_text("The words it was read from stay")
        expect(page.locator(".proof")).not_to_contain_text("oldfriend forget")
        page.get_by_role("link", name="Forget these words, too").click()
        expect(page.locator(".chosen")).to_contain_text("Carlos sings")

    assert complaints == []


def test_forget_selection_survives_a_changed_name_and_can_be_unselected(
    browser: Browser, program: Program
) -> None:
    """Whoever goes on typing loses nothing; whoever thinks better of it takes it back."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "Remember that Davide keeps the small red boat in the old harbour all winter.")
        say(page, "Remember that he keeps the small red boat in the old harbour all winter.")
        go_to_import(page)
        page.get_by_role("link", name="Choose what to forget").click()
        page.get_by_label("Somebody or something").check()
        page.get_by_label("Who or what?").fill("David")
        page.get_by_label("Who or what?").fill("Davide")
        also = page.locator(".follows").get_by_role("button", name="this, too")
        also.first.click()
        chosen = page.locator(".chosen")
        expect(chosen).to_contain_text("that he keeps")
        page.get_by_label("Who or what?").fill("")
        expect(page.locator(".follows")).to_be_visible()
        expect(chosen).to_contain_text("that he keeps")
        page.locator(".orphan").click()
        expect(page.locator(".orphan input")).to_be_checked()
        chosen.get_by_role("button", name="not this").click()
        expect(chosen).to_have_count(0)
        expect(page.get_by_text("Choose something")).to_be_visible()
        expect(page.locator(".orphan")).to_have_count(0)  # of nothing, nothing is kept

    assert complaints == []


def test_commands_save_everything_and_forget_everything(browser: Browser, program: Program) -> None:
    """“/export” has the browser save it, “/purge” shows all that would go, and both say nothing."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "Remember that Elif paints the lighthouse.")
        with page.expect_download() as taken:
            page.get_by_label("Say something …").fill("/Export")
            page.keyboard.press("Enter")
        lines = Path(taken.value.path()).read_text("utf-8").splitlines()
        assert any("Elif" in each for each in lines)
        page.get_by_label("Say something …").fill("/purge")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Everything")).to_be_checked()
        page.get_by_role("button", name="Forget for good").click()
        expect(page.get_by_role("heading", name="It is gone")).to_be_visible()
        page.get_by_role("link", name="Back to the talk").click()
        expect(page.get_by_label("Say something …")).to_be_visible()
        expect(page.locator("body")).not_to_contain_text("Elif")

    assert complaints == []


def test_whoever_goes_on_while_it_is_forgotten_is_left_where_they_are(
    browser: Browser, program: Program
) -> None:
    """A long text is begun only, and read whole where one wants to; Forget keeps the proof."""
    words = "Remember that the boat is called Petrel. " + "The sails are grey and patched. " * 12
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with opened(browser, new_link(program)) as (page, complaints):
        say(page, words)
        message = page.locator(".mine", has_text="Petrel")
        message.hover()
        message.get_by_role("button", name="delete").click()
        going = page.locator(".follows li", has_text="Petrel").first
        expect(going.locator("q")).to_contain_text("…")
        going.get_by_role("button", name="Show all of it").click()
        expect(going.locator("q")).to_contain_text(words.strip())
        page.route(FORGETTING, hold)
        page.get_by_role("button", name="Forget for good").click()
        expect(page.get_by_role("button", name="Forgetting")).to_be_disabled()
        page.get_by_role("navigation", name="Places").get_by_role("link", name="Chat").click()
        with page.expect_response(FORGETTING):
            held[0].continue_()
        expect(page.locator(".mine", has_text="Petrel")).to_have_count(0)
        expect(page.get_by_label("Say something …")).to_be_visible()
        go_to_forget(page)
        page.locator(".before summary").click()
        page.locator(".before a").first.click()
        expect(page.locator(".proof")).to_be_visible()

    assert complaints == []
