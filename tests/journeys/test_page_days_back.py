"""Somebody goes back: to what was believed on a day, what changed, what it said to itself."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect

from oldfriend.config.settings import Settings
from oldfriend.domain.clock import DAY, from_micros, system_clock
from oldfriend.domain.ids import new_id
from oldfriend.memory.belief_views import list_memories
from oldfriend.memory.journal import Provenance, get_latest_seq, record_decision
from oldfriend.memory.people import ensure_owner
from oldfriend.memory.reflection_log import (
    ReflectionRecord,
    ReflectionTranscript,
    save_reflection_record,
)
from oldfriend.runtime.wiring import open_app
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM
from tests.journeys.memories import elsewhere, fill, place, rows, serving_much
from tests.journeys.pages import new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
MOST_ROWS = 200
ONE_LINE_PX = 30
FIRST_PAGE = 100
CUT = """() => {
  const told = document.querySelector(".slider-told");
  const cut = [told, ...told.children].filter((one) => one.scrollWidth > one.clientWidth + 1
    && getComputedStyle(one).display !== "inline");
  return [cut.map((one) => one.textContent), document.querySelector(".slider").offsetHeight];
}"""
"""What of the heading of the slider is cut, and how high all of it is."""
COVERED = """() => {
  const all = [...document.querySelectorAll(".scale > *")];
  const boxes = all.map((one) => one.getBoundingClientRect());
  return all.filter((_, place) => boxes.some((other, at) => at !== place
    && boxes[place].left < other.right && other.left < boxes[place].right))
    .map((one) => one.textContent);
}"""
"""Names of months, or the day that is looked at, that lie upon each other."""
UNCHANGED = """() => {
  const told = document.querySelector(".slider-told .meta");
  return told.textContent.includes("no change") ? told.offsetHeight : 0;
}"""
"""How high it is that a day without a change says so."""
SCALE = """() => {
  const line = document.querySelector(".scale").getBoundingClientRect();
  return Object.fromEntries([...document.querySelectorAll(".scale span")].map((one) =>
    [one.textContent, (one.getBoundingClientRect().left - line.left) / line.width]));
}"""
"""Where each label of the slider begins, as a share of the line."""
SENTENCE_SHARE = """() => {
  const row = document.querySelector(".row .line"), body = row.querySelector(".line-body");
  const widest = parseFloat(getComputedStyle(body).maxWidth);
  return body.offsetWidth / Math.min(row.offsetWidth, widest);
}"""
"""How much of a row is its sentence's, of what it may be."""


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A process that serves somebody of whom ten thousand things are known."""
    with serving_much(tmp_path_factory.mktemp("full") / "data", 10_000, 500) as program:
        yield program


def test_day_slider_shows_beliefs_as_of_the_chosen_day(browser: Browser, full: Program) -> None:
    """By keys, too: it says the day, shows what was known then, and keeps what one looks at."""
    link = new_link(full)
    today = from_micros(system_clock()).date()
    with opened(browser, link) as (page, complaints):
        place(page, link)
        slider = page.get_by_role("slider")
        page.locator(".memory-main").evaluate("e => e.scrollTo(0, 1500)")
        page.wait_for_timeout(300)
        slider.focus(timeout=5000)
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
        expect(page.get_by_text("As I saw it on")).to_be_visible()
        words = slider.get_attribute("aria-valuetext") or ""
        day = (today - timedelta(days=3)).day
        slider.fill(str(int(slider.get_attribute("min") or 0) + 10))
        expect(page.locator(".chip", has_text="Events")).to_contain_text(re.compile(r" ?6\d$"))
        expect(page.get_by_role("button", name="wrong")).to_have_count(0)
        page.get_by_role("button", name="Back to today").click()
        expect(page.get_by_text("As I see it today")).to_be_visible()
        expect(page.locator(".chip", has_text="Events")).to_contain_text("2,9")

    assert f"on {day} " in words
    assert "new" in words or "change" in words
    assert complaints == []


def test_day_slider_has_few_steps_for_a_long_time_without_changes(
    browser: Browser, tmp_path: Path
) -> None:
    """Each day on which something changed has its step, with years in between; by keys, too."""
    with (
        serving_much(tmp_path, 4, 2_000) as program,
        opened(browser, new_link(program)) as (page, complaints),
    ):
        page.get_by_role("link", name="Memory", exact=True).click()
        slider = page.get_by_role("slider")
        slider.focus()
        page.keyboard.press("Home")
        expect(rows(page)).to_have_count(1)
        told = [slider.get_attribute("aria-valuetext") or ""]
        for _ in range(16):
            page.keyboard.press("ArrowRight")
            told.append(slider.get_attribute("aria-valuetext") or "")
        expect(rows(page)).to_have_count(4)
        expect(page.get_by_text("As I see it today")).to_be_visible()
        page.keyboard.press("ArrowLeft")
        page.get_by_role("button", name="The day before on which something changed").click()
        expect(page.get_by_text("1 new")).to_be_visible()

    assert len(set(told)) == len(told) == 17
    assert sum("no change" not in each for each in told) == 4
    assert complaints == []


def test_rows_read_while_scrolling_are_marked_as_new_too(browser: Browser, tmp_path: Path) -> None:
    """Not only those of the first page of the day that one turns to."""
    with (
        serving_much(tmp_path, 500, 5) as program,
        opened(browser, link := new_link(program)) as (page, complaints),
    ):
        day = (from_micros(system_clock()) - timedelta(days=3)).date().isoformat()
        page.get_by_label("Say something …").wait_for()
        page.goto(f"{link.partition('/#')[0]}/memory?day={day}")
        rows(page).first.wait_for()
        page.get_by_role("button", name="To the next day on which something changed").click()
        expect(page.locator(".turned-new").first).to_be_attached()
        list_end = page.locator(".memory-main")
        marked = page.locator(".row:has(.turned-new)")
        for _ in range(12):
            list_end.evaluate("e => e.scrollTo(0, e.scrollHeight)")
            page.wait_for_timeout(250)
        read_on = [int(each.get_attribute("aria-posinset") or 0) for each in marked.all()]

    assert max(read_on, default=0) > FIRST_PAGE
    assert complaints == []


async def reword_two_days_ago(data: Path) -> None:
    """Have the first thing that was ever learned say something else since then."""
    database = f"sqlite:///{data / 'oldfriend.db'}"
    settings = Settings(data=data, database=database, zone="UTC", language="en")
    async with open_app(settings) as app:
        at = app.clock() - 2 * DAY
        async with app.db.begin_write() as tx:
            owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
            known = await list_memories(tx, owner.id, kinds=["pattern"])
            first = min((each.memory for each in known), key=lambda each: each.learned_at)
            await record_decision(
                tx,
                replace(first, text="They think of the sea"),
                op="revised",
                base=await get_latest_seq(tx, owner.id, first.id),
                provenance=Provenance(author="test/1"),
                now=at,
            )


def test_row_that_was_not_read_of_the_day_before_is_marked_as_changed(
    browser: Browser, tmp_path: Path
) -> None:
    """It stands far down in the list of both days."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.data.mkdir()
    elsewhere(fill(program.data, 500, 5))
    elsewhere(reword_two_days_ago(program.data))
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        day = (from_micros(system_clock()) - timedelta(days=3)).date().isoformat()
        page.get_by_label("Say something …").wait_for()
        page.goto(f"{link.partition('/#')[0]}/memory?day={day}")
        rows(page).first.wait_for()
        page.get_by_role("button", name="To the next day on which something changed").click()
        expect(page.locator(".turned-new").first).to_be_attached()
        reworded = page.locator(".row:has(.turned-changed)", has_text="They think of the sea")
        for _ in range(40):
            if reworded.count():
                break
            page.locator(".memory-main").evaluate("e => e.scrollBy(0, e.clientHeight)")
            page.wait_for_timeout(100)
        expect(reworded).to_be_visible()
        place_in_list = int(reworded.get_attribute("aria-posinset") or 0)

    assert place_in_list > FIRST_PAGE
    assert complaints == []


def top_of(part: Locator) -> float:
    """How far down a part of the page begins."""
    box = part.bounding_box()
    assert box is not None
    return float(box["y"])


def test_comparison_of_two_days_lists_added_and_ended_beliefs(
    browser: Browser, full: Program
) -> None:
    """What was added between them, and what has ended, with how much of it."""
    link = new_link(full)
    since = (from_micros(system_clock()) - timedelta(days=100)).date().isoformat()
    with opened(browser, link) as (page, complaints):
        place(page, link)
        changed = page.get_by_role("link", name="What changed?")
        assert top_of(changed) > top_of(page.locator(".slider"))
        changed.click()
        panel = page.get_by_role("region", name="What changed between two days")
        panel.get_by_label("From").fill(since)
        expect(panel.get_by_text(re.compile(r"^(1,9|2,0)\d\d new"))).to_be_visible()
        expect(panel.locator("li").first).to_contain_text("New")
        drawn = page.locator("li").count()

    assert drawn <= MOST_ROWS
    assert complaints == []


def test_comparison_starts_at_the_last_day_with_a_change(browser: Browser, tmp_path: Path) -> None:
    """Not with a span in which nothing did, however long ago the last day is."""
    with (
        serving_much(tmp_path, 4, 2_000) as program,
        opened(browser, new_link(program)) as (page, complaints),
    ):
        page.get_by_role("link", name="Memory", exact=True).click()
        page.get_by_role("link", name="What changed?").click()
        panel = page.get_by_role("region", name="What changed between two days")
        expect(panel.locator("li")).to_have_count(1)
        expect(panel.locator("li")).to_contain_text("New")

    assert complaints == []


def test_chosen_day_heading_is_never_truncated_at_any_width(
    browser: Browser, tmp_path: Path
) -> None:
    """With and without something open beside; nor does the list move while one turns the days."""
    covered: list[tuple[int, str]] = []
    wide: list[float] = []
    named: list[int] = []
    unchanged: list[int] = []
    seen = []
    with serving_much(tmp_path, 60, 200) as program:
        for width in (1600, 1280, 1090, 390):
            size = {"width": width, "height": 800}
            with opened(browser, link := new_link(program), viewport=size) as (page, _):
                place(page, link)
                slider = page.get_by_role("slider")
                steps = int(slider.get_attribute("max") or 0)
                for beside in (False, True):
                    if beside and width > 1080:
                        rows(page).first.get_by_role("link").first.click()
                        page.locator(".memory-panel h3").first.wait_for()
                        wide += [page.evaluate(SENTENCE_SHARE)]
                    for step in (steps, steps // 2, steps // 3, steps // 4):
                        slider.fill(str(step))
                        page.wait_for_timeout(300)
                        seen.append(((width, beside), *page.evaluate(CUT)))
                        covered += [(width, each) for each in page.evaluate(COVERED)]
                        named += [page.locator(".scale span").count()]
                        unchanged += [page.evaluate(UNCHANGED)]

    assert covered == []
    assert min(wide) > 0.85
    assert min(named) > 0  # beside the day below the thumb, on a phone too
    assert max(unchanged) < ONE_LINE_PX
    assert [each for each in seen if each[1]] == []
    assert len({(how, height) for how, _, height in seen}) == len({how for how, _, _ in seen})


def test_reflection_transcript_is_shown_verbatim_with_markup_as_text(
    browser: Browser, tmp_path: Path
) -> None:
    """When it thought, why, and what came of it; and markup in it is words."""
    elsewhere(think(tmp_path, "<b>She misses Ana.</b>"))
    with (
        serving_much(tmp_path, 4, 20) as program,
        opened(browser, new_link(program)) as (page, complaints),
    ):
        page.get_by_role("link", name="Memory", exact=True).click()
        page.get_by_role("link", name="What I said to myself").click()
        panel = page.get_by_role("region", name="What I said to myself")
        expect(panel.locator("summary")).to_contain_text("2 new, 1 let go")
        panel.locator("summary").click()
        expect(panel.locator("pre")).to_have_text("<b>She misses Ana.</b>")
        expect(panel.get_by_text("Ana moved to Porto.")).to_be_visible()
        page.keyboard.press("Escape")
        expect(panel).to_have_count(0)

    assert complaints == []


async def think(data: Path, said: str) -> None:
    """Have it thought once."""
    database = f"sqlite:///{data / 'oldfriend.db'}"
    settings = Settings(data=data, database=database, zone="UTC", language="en")
    async with open_app(settings) as app, app.db.begin_write() as tx:
        owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
        tick = ReflectionRecord(
            id=new_id(app.clock()),
            person=owner.id,
            kind="slow tick",
            why="news",
            ran_at=app.clock(),
            outcome={"learned": {"thought": 2}, "rejected": {"tone": 1}},
            transcript=ReflectionTranscript(shown=("Ana moved to Porto.",), answered=(said,)),
        )
        await save_reflection_record(tx, tick)


def test_slider_goes_back_by_what_was_said_right_after_an_import(
    browser: Browser, tmp_path: Path
) -> None:
    """With months below it, a day at the thumb, and what is looked at in the address."""
    program = on_any_port(Program(data=tmp_path / "data"))
    program.data.mkdir()
    said = [("2023-03-04", "I live in Porto."), ("2024-05-06", "I moved to Leeds.")]
    said += [("2024-07-01", "My cat is called Miso."), ("2025-01-09", "I love tea.")]
    lines = [
        json.dumps({"speaker": "Nora", "at": f"{day}T10:00", "text": text}) for day, text in said
    ]
    (tmp_path / "talk.jsonl").write_text("\n".join(lines) + "\n")
    program.done("import", tmp_path / "talk.jsonl", "--me", "Nora")
    program.done("consolidate", "--now")
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        place(page, link)
        expect(rows(page).filter(has_text="You moved to Leeds.")).to_have_count(1)
        slider = page.get_by_role("slider")
        expect(page.get_by_label("Which day counts")).to_have_value("said")
        expect(page.locator(".scale span").first).to_have_text("Mar 2023")
        expect(page.locator(".scale span", has_text="2024")).to_have_count(1)
        expect(page.locator(".scale span").last).to_have_text("today")
        page.locator(".scale span", has_text="Jan 2024").wait_for()
        places = page.evaluate(SCALE)
        day_of = {"Jan 2024": date(2024, 1, 1), "Jan 2025": date(2025, 1, 1)}
        span = (from_micros(system_clock()).date() - date(2023, 3, 4)).days
        for name, day in day_of.items():
            assert abs(places[name] - (day - date(2023, 3, 4)).days / span) < 0.01
        slider.fill("0")
        expect(page.get_by_text("What you had told me by 4 March 2023")).to_be_visible()
        expect(page.locator(".scale b")).to_have_text("4 March 2023")
        expect(rows(page).filter(has_text="Porto")).to_have_count(1)
        expect(rows(page).filter(has_text="Leeds")).to_have_count(0)
        expect(page).to_have_url(re.compile(r"/memory\?day=2023-03-04&by=said$"))
        page.get_by_role("button", name="To the next day on which something changed").click()
        expect(rows(page).filter(has_text="Leeds").first).to_contain_text("new")
        expect(rows(page).filter(has_text="You live in Porto.")).to_contain_text("no longer so")
        page.get_by_role("button", name="The day before on which something changed").click()
        expect(rows(page).filter(has_text="Porto")).to_contain_text("ended later")
        expect(rows(page).filter(has_text="Leeds")).to_have_count(0)
        page.reload()
        expect(page.get_by_text("What you had told me by 4 March 2023")).to_be_visible()
        expect(rows(page).filter(has_text="Leeds")).to_have_count(0)
        page.get_by_role("button", name="Back to today").click()
        page.get_by_role("searchbox").fill("tea")
        expect(page).to_have_url(re.compile(r"/memory\?q=tea$"))
        page.reload()
        expect(page.get_by_role("searchbox")).to_have_value("tea")
        expect(rows(page)).to_have_count(1)
    assert complaints == []
