"""Somebody looks at all that is known of them: on any day, in any number, and sets it right."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.memories import place, rows, serving_much
from tests.journeys.pages import new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
MOST_ROWS = 200


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A process that serves somebody of whom ten thousand things are known."""
    with serving_much(tmp_path_factory.mktemp("full") / "data", 10_000, 500) as program:
        yield program


def top_of(page: Page) -> tuple[str, float]:
    """The first row in sight below the slider, and where it stands."""
    key, top = page.evaluate(
        """() => { const edge = document.querySelector(".slider").getBoundingClientRect().bottom;
        const row = [...document.querySelectorAll(".row")].find(
          (each) => each.getBoundingClientRect().bottom > edge + 1);
        return [row.dataset.key, row.getBoundingClientRect().top]; }"""
    )
    return key, top


def test_memory_list_of_10000_beliefs_is_virtualized(browser: Browser, full: Program) -> None:
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


def test_new_belief_above_does_not_shift_the_scroll_position(
    browser: Browser, full: Program
) -> None:
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


def test_memory_search_finds_beliefs_and_messages_and_links_to_the_chat(
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
        expect(page.get_by_text("Nothing found for “zzzzqqq”.")).to_be_visible()
        search.fill("")
        rows(page).first.locator("button.words").first.click()
        expect(page.locator(".mine", has_text="born in Porto")).to_be_in_viewport()

    assert complaints == []


def test_belief_panel_edits_rejects_pins_merges_and_separates(
    browser: Browser, tmp_path: Path
) -> None:
    """Its history, an edit, one that came too late, wrong and undone, pinned, joined, separated."""
    program = on_any_port(Program(data=tmp_path / "data"))
    with served(program), ExitStack() as stack:
        link = new_link(program)
        page, complaints = stack.enter_context(opened(browser, link))
        say(page, "Remember that my cat is called Miso.")
        say(page, "Remember that the cat we have is named Miso.")
        place(page, link)
        rows(page).get_by_role("link", name="my cat is called Miso.").click()
        panel = page.get_by_role("region", name="my cat is called Miso.")
        expect(panel.get_by_text("Learned", exact=True).first).to_be_visible()
        panel.get_by_role("button", name="edit").click()
        panel.get_by_label("Memory").fill("My cat is called Mochi.")
        panel.get_by_role("button", name="Save").click()
        panel = page.get_by_role("region", name="My cat is called Mochi.")
        expect(panel.get_by_text("Put right")).to_be_visible()
        identity = page.url.rpartition("/")[2]

        panel.get_by_role("button", name="edit").click()
        program.done("memory", "edit", identity, "My cat is called Nori.")
        panel = page.get_by_role("region", name="My cat is called Nori.")
        panel.get_by_label("Memory").fill("My cat is called Koko.")
        panel.get_by_role("button", name="Save").click()
        expect(panel.get_by_role("alert")).to_contain_text("changed since you looked")
        panel.get_by_role("button", name="Cancel").click()

        panel.get_by_role("button", name="pin", exact=True).click()
        expect(panel.get_by_role("button", name="unpin")).to_be_visible()
        panel.get_by_role("button", name="wrong").click()
        page.get_by_role("button", name="undo").click()
        expect(panel.get_by_role("button", name="wrong")).to_be_visible()
        panel.get_by_role("button", name="merge with").click()
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


def test_editing_a_belief_value_asks_whether_the_old_one_was_ever_true(
    browser: Browser, tmp_path: Path
) -> None:
    """Whether it was never so, or until when; a wording that merge withks nothing."""
    program = on_any_port(Program(data=tmp_path / "data"))
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        say(page, "I live in Ghent.")
        program.done("consolidate", "--now")
        place(page, link)
        rows(page).get_by_role("link", name="You live in Ghent.").click()
        panel = page.get_by_role("region", name="You live in Ghent.")
        panel.get_by_role("button", name="edit").click()
        panel.get_by_label("Memory").fill("Lives in Ghent, near the canal.")
        expect(panel.get_by_text("It was never so")).to_have_count(0)
        panel.get_by_label("Memory").fill("Lives in Drongen.")
        expect(panel.get_by_label("Key word")).to_have_value("Drongen")
        expect(panel.get_by_text("It was never so")).to_be_visible()
        panel.get_by_role("button", name="Save").click()
        expect(page.get_by_role("region", name="You live in Drongen.")).to_be_visible()
    known = json.loads(program.done("facts", "--json").stdout)

    assert [each["value"] for each in known] == ["Drongen"]
    assert complaints == []


def test_verdict_on_a_concurrently_changed_belief_is_refused(
    browser: Browser, tmp_path: Path
) -> None:
    """In the list, the panel and beside the talk: it says so, and shows how it reads now."""
    program = on_any_port(Program(data=tmp_path / "data"))
    with served(program), opened(browser, new_link(program)) as (page, _):
        say(page, "Remember that the good scissors live in the blue tin.")
        memory = json.loads(program.done("memory", "list", "--json").stdout)[0]["id"]
        texts = iter([f"the good scissors live in {each}" for each in ("Tofu", "Natto", "Soba")])

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


def test_portrait_tells_what_was_said_long_ago_last_and_with_its_time(
    browser: Browser, tmp_path: Path
) -> None:
    """Until it is said again; the list tells it with its time, too."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.data.mkdir()
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        program.done("say", "I live in Ghent.", "--at", "2024-05-03T18:30")
        program.done("say", "My birthday is 4 May 1990.", "--at", "2024-05-03T18:31")
        program.done("say", "I work at Bosch.")
        program.done("consolidate", "--now")
        place(page, link)
        prose = page.get_by_role("region", name="You, in short").locator(".portrait-prose")
        expect(prose).to_contain_text("You work at Bosch.")
        expect(prose).to_have_text(re.compile(r"birthday .* In May 2024 you lived in Ghent\. $"))
        expect(rows(page).filter(has_text="In May 2024 you lived in Ghent.")).to_have_count(1)
        program.done("say", "I live in Ghent.")
        program.done("consolidate", "--now")
        page.reload()
        expect(prose).to_contain_text("You live in Ghent.")

    assert complaints == []


def test_memory_opens_with_a_portrait_in_the_second_person(
    browser: Browser, tmp_path: Path
) -> None:
    """Sentences to the person, what is coming up with its hour; and each row has one date."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.data.mkdir()
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        say(page, "I live in Ghent. I have a dentist appointment on 3 May 2031 at 3pm.")
        program.done("consolidate", "--now")
        expect(page.get_by_label("What I learned")).to_contain_text("You live in Ghent.")
        place(page, link)
        portrait = page.get_by_role("region", name="You, in short")
        expect(portrait.locator(".portrait-prose")).to_have_text("You live in Ghent. ")
        expect(portrait).to_contain_text("3 May 2031, 15:00")
        row = rows(page).filter(has_text="You live in Ghent.")
        expect(row.locator("q")).to_have_count(1)
        years = re.findall(r"\b20\d\d\b|\d\d:\d\d", row.inner_text())
        family = row.locator("q").evaluate("e => getComputedStyle(e).fontFamily")
        sizes = page.evaluate(
            """() => [...new Set([...document.querySelectorAll("body *")]
            .filter((each) => each.innerText?.trim() && !each.closest("svg"))
            .map((each) => getComputedStyle(each).fontSize))]"""
        )
        box = page.locator(".memory-main > .filters").bounding_box()

    assert len(years) == 1
    assert "Georgia" in family
    assert set(sizes) <= {"13px", "16px", "20px", "28px"}
    assert box
    assert box["width"] <= 880
    assert complaints == []


def test_row_that_is_called_wrong_keeps_its_place_with_the_way_back(
    browser: Browser, tmp_path: Path
) -> None:
    """Nothing moves up under the pointer; undone, it is as it was."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.data.mkdir()
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        say(page, "I live in Ghent. I love tea. I speak Dutch.")
        program.done("consolidate", "--now")
        place(page, link)
        expect(rows(page)).to_have_count(3)
        before = [each.inner_text().split("\n")[0] for each in rows(page).all()]
        rows(page).first.hover()
        rows(page).first.get_by_role("button", name="wrong").click()
        expect(rows(page).first.get_by_role("button", name="undo")).to_be_visible()
        page.wait_for_timeout(1500)
        now = [each.inner_text().split("\n")[0] for each in rows(page).all()]
        assert now[1:] == before[1:]
        rows(page).first.get_by_role("button", name="undo").click()
        expect(rows(page).first).to_contain_text(before[0])
    assert complaints == []


def test_sentence_stands_beneath_what_was_learned_from_it(browser: Browser, tmp_path: Path) -> None:
    """It opens there, can be called wrong and taken back there, and once kept stands for itself."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.data.mkdir()
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        say(page, "I'm allergic to nuts, so I never eat cake at the office.")
        program.done("consolidate", "--now")
        place(page, link)
        expect(rows(page)).to_have_count(1)
        expect(rows(page).first).to_contain_text("You are allergic to nuts.")
        page.get_by_text("From the same words (1)").click()
        sentence = page.locator(".folded .belief")
        expect(sentence).to_contain_text("cake at the office")
        sentence.get_by_role("button", name="wrong").click()
        expect(sentence).to_have_count(0)
        page.get_by_role("button", name="undo").click()
        expect(sentence.get_by_role("button", name="forget")).to_be_visible()
        sentence.get_by_role("button", name="keep").click()
        expect(rows(page)).to_have_count(2)
    assert complaints == []
