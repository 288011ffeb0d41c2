"""Reminders, to-dos, goals and watched pages on the page: added, changed, ended, brought back."""

import re
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, from_micros, system_clock
from oldfriend.domain.ids import PersonId
from oldfriend.memory.people import get_person_by_id
from oldfriend.tasks.reminder_jobs import schedule_reminder
from oldfriend.tasks.task_edits import add_task
from oldfriend.tasks.task_store import list_tasks, save_task
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import go_to_settings, new_link, opened
from tests.journeys.test_page_records import store
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The command line, on a folder of its own."""
    return on_any_port(Program(data=tmp_path / "data"))


def in_a_week() -> date:
    """A day that is one and the same at any hour; "tomorrow" is asked about after midnight."""
    return from_micros(system_clock(), "Europe/Lisbon").date() + timedelta(days=7)


def go_to_memory(page: Page, *, name: str = "Memory") -> None:
    """To where the list stands."""
    page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()


def add(page: Page, words: str) -> None:
    """Write a line by keyboard alone."""
    field = page.get_by_label("Add a reminder or a to-do in your words")
    field.fill(words)
    field.press("Enter")


@pytest.mark.quick
def test_task_is_added_in_words_put_off_ended_and_brought_back(
    browser: Browser, program: Program
) -> None:
    """The answer says the committed time, or asks; and the way back stands for a while."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        go_to_memory(page)
        tasks = page.get_by_role("region", name="Reminders and to-dos")
        expect(tasks.get_by_text("Nothing is on your list.")).to_be_visible()
        add(page, "Remind me to call mum every Friday at 4pm")
        expect(tasks.get_by_role("status")).to_contain_text("I'll remind you every Friday")
        expect(tasks.get_by_role("listitem")).to_contain_text("16:00 · every Friday at 4pm")
        add(page, f"remind me to water the plants on {in_a_week()} at 8")
        expect(tasks.get_by_role("status")).to_contain_text("in the morning or in the evening")
        add(page, "in the evening")
        plants = tasks.get_by_role("listitem").filter(has_text="water the plants")
        expect(plants).to_contain_text("20:00")
        plants.get_by_role("button", name="Later").click()
        plants.get_by_role("button", name="Tomorrow").click()
        expect(tasks.get_by_role("status")).to_contain_text("I'll remind you again")
        expect(plants).not_to_contain_text("20:00")
        tomorrow = (
            from_micros(system_clock(), "Europe/Lisbon").date() + timedelta(days=1)
        ).isoformat()
        for hour in ("17:45", "18:30"):  # a whole day would come back with an hour: no undo
            plants.get_by_role("button", name="Later").click()
            plants.get_by_label("Another time").fill(f"{tomorrow}T{hour}")
            plants.get_by_role("button", name="Move").click()
            expect(plants).to_contain_text(hour)
        tasks.get_by_role("button", name="Undo").click()
        expect(plants).to_contain_text("17:45")
        plants.get_by_role("button", name="Cancel").click()
        expect(plants).to_have_count(0)
        tasks.get_by_role("button", name="Undo").press("Enter")
        expect(plants).to_have_count(1)
        plants.get_by_role("button", name="Done").click()
        expect(tasks.get_by_role("status")).to_contain_text("Done: “water the plants”.")
        expect(plants).to_have_count(0)

    assert complaints == []


def test_another_time_is_of_the_zone_that_was_chosen_and_says_so(
    browser: Browser, program: Program
) -> None:
    """Not of the browser's, which may be elsewhere; where both are one, none is named."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        go_to_memory(page)
        add(page, f"remind me to water the plants on {in_a_week()} at 8 in the evening")
        plants = page.get_by_role("listitem").filter(has_text="water the plants")
        plants.get_by_role("button", name="Later").click()
        expect(plants.get_by_label("Another time")).to_be_visible()
        expect(plants.get_by_text("Time in")).to_have_count(0)
        page.get_by_role("navigation").get_by_role("link", name="Chat", exact=True).click()
        say(page, "/zone Asia/Tokyo")
        page.reload()
        go_to_memory(page)
        plants.get_by_role("button", name="Later").click()
        expect(plants.get_by_text("Time in Asia/Tokyo")).to_be_visible()
        day = (from_micros(system_clock(), "Asia/Tokyo").date() + timedelta(days=3)).isoformat()
        plants.get_by_label("Another time").fill(f"{day}T17:45")
        plants.get_by_role("button", name="Move").click()
        expect(plants).to_contain_text("17:45")

    assert complaints == []


def test_list_follows_what_is_said_in_the_talk_and_on_another_page(
    browser: Browser, program: Program
) -> None:
    """By the event stream, without a reload; each in their own language."""
    with (
        served(program),
        opened(browser, new_link(program)) as (page, complaints),
        opened(browser, new_link(program), locale="zh-CN") as (other, _),
    ):
        go_to_memory(other, name="记忆")
        tasks = other.get_by_role("region", name="提醒和待办")
        expect(tasks).to_be_visible()
        say(page, "Remind me to call mum tomorrow at 10am")
        expect(tasks.get_by_role("listitem")).to_contain_text("call mum")
        go_to_memory(page)
        page.get_by_role("button", name="Done").click()
        expect(tasks.get_by_role("listitem")).to_have_count(0)

    assert complaints == []


async def make_due(tx: Transaction, owner: PersonId) -> None:
    """Have the only reminder come now."""
    (task,) = await list_tasks(tx, owner)
    due = replace(task, due_at=system_clock())
    await save_task(tx, due)
    await schedule_reminder(tx, due, now=system_clock())
    await tx.notify()


def test_reminder_is_done_by_a_button_below_it_in_the_talk(
    browser: Browser, program: Program
) -> None:
    """By keyboard alone; then the buttons are gone, here and on another page."""
    with (
        served(program),
        opened(browser, new_link(program)) as (page, complaints),
        opened(browser, new_link(program)) as (other, _),
    ):
        say(page, "Remind me to water the plants tomorrow at 10am")
        store(program, make_due)
        done = page.get_by_role("button", name="Done", exact=True)
        expect(done).to_be_visible(timeout=60_000)
        expect(other.get_by_role("button", name="Done", exact=True)).to_be_visible()
        done.press("Enter")
        expect(page.locator(".mine .bubble").last).to_have_text("Done")
        expect(page.locator(".theirs .bubble").last).to_contain_text("water the plants")
        expect(page.locator(".presses")).to_have_count(0)
        expect(other.locator(".presses")).to_have_count(0)
        page.reload()
        expect(page.locator(".mine .bubble").last).to_have_text("Done")
        expect(page.locator(".presses")).to_have_count(0)

    assert complaints == []


def test_yes_and_no_stand_below_the_open_question_only(browser: Browser, program: Program) -> None:
    """Once something else was said, nothing is there to be answered; after a reload as well."""
    answers = re.compile("^(?:Yes|No)$")
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        say(page, "Remind me to water the fig tomorrow at 10am")
        say(page, "Cancel all my reminders")
        expect(page.get_by_role("button", name=answers)).to_have_count(2)
        say(page, "What a wet day it is.")
        expect(page.get_by_role("button", name=answers)).to_have_count(0)
        page.reload()
        expect(page.locator(".theirs .bubble").last).to_be_visible()
        expect(page.get_by_role("button", name=answers)).to_have_count(0)

    assert complaints == []


def test_question_about_a_time_is_answered_by_a_button(browser: Browser, program: Program) -> None:
    """Below the question in the talk, and in the list, where its day shows it then."""
    times = re.compile(r"^\d{2}:\d{2}$")
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        say(page, f"Remind me to jog on {in_a_week()} at 7")
        offered = page.get_by_role("button", name=times)
        expect(offered).to_have_text(["07:00", "19:00"])
        offered.last.press("Enter")
        expect(page.locator(".mine .bubble").last).to_have_text("19:00")
        expect(page.locator(".theirs .bubble").last).to_contain_text("19:00")
        expect(offered).to_have_count(0)
        go_to_memory(page)
        day = in_a_week()
        add(page, f"remind me to water the plants on {day} at 8")
        plants = page.get_by_role("listitem").filter(has_text="water the plants")
        plants.get_by_role("button", name="20:00").press("Enter")
        expect(plants).to_contain_text(", 20:00")
        expect(plants.get_by_role("button", name=times)).to_have_count(0)
        page.goto(f"{page.url.partition('/memory')[0]}/days/{day}")
        expect(page.get_by_role("main")).to_contain_text("water the plants")

    assert complaints == []


def test_focus_goes_on_to_the_next_row_and_then_to_the_heading(
    browser: Browser, program: Program
) -> None:
    """Of reminders and of beliefs, by keyboard alone; what was done is said."""
    where = "() => [document.activeElement.tagName, document.activeElement.textContent]"
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        for number in range(4):
            say(page, f"Remember that box {number} is in the cellar.")
        expect(page.locator(".learned .belief")).to_have_count(4)
        page.locator(".learned .belief").first.get_by_role("button", name="keep").press("Enter")
        expect(page.locator(".learned .belief").first).to_contain_text("kept")
        expect(page.get_by_role("button", name="wrong").first).to_be_focused()
        go_to_memory(page)
        for text in ("Fix the bike", "Buy salt"):
            add(page, text)
            expect(page.get_by_role("listitem").filter(has_text=text)).to_be_visible()
        tasks = page.get_by_role("region", name="Reminders and to-dos")
        done = tasks.get_by_role("button", name="Done")
        done.first.press("Enter")
        expect(tasks.get_by_role("listitem")).to_have_count(1)
        expect(done).to_be_focused()
        page.keyboard.press("Enter")
        expect(tasks.get_by_role("listitem")).to_have_count(0)
        expect(tasks.get_by_role("heading")).to_be_focused()
        rows = page.locator(".rows .row")
        rows.first.get_by_role("button", name="pin").press("Enter")
        expect(page.locator("body > * [role=status]", has_text="pinned: ")).to_be_attached()
        page.locator(".row").get_by_role("button", name="keep").first.press("Enter")
        expect(page.locator("[role=status]", has_text="kept: ")).to_be_attached()
        assert page.evaluate(where)[0] != "BODY"
        rows.first.get_by_role("button", name="wrong").press("Enter")
        expect(rows.first.get_by_role("button", name="Undo")).to_be_focused()

    assert complaints == []


def test_calendar_address_is_made_shown_once_and_revoked(
    browser: Browser, program: Program
) -> None:
    """A calendar reads it without signing in, until it is ended."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        go_to_settings(page, "Signing in")
        page.get_by_role("button", name="Make an address").click()
        expect(page.get_by_role("button", name="Make another address")).to_be_visible()
        address = page.evaluate('document.body.innerHTML.match(/http[^"<]+\\.ics/)[0]')
        feed = page.request.get(address).text()
        page.reload()
        expect(page.get_by_role("button", name="Make another address")).to_be_visible()
        assert address not in page.content()
        page.get_by_role("button", name="end: Reminders in your calendar").click()
        page.locator(".sure button").first.click()
        expect(page.get_by_role("button", name="Make an address")).to_be_visible()
        revoked = page.request.get(address).status

    assert feed.startswith("BEGIN:VCALENDAR")
    assert revoked == 404
    assert complaints == []


def test_goal_is_set_changed_counted_reached_and_brought_back(
    browser: Browser, program: Program
) -> None:
    """And a page that is watched is no longer; each with a way back."""
    program.data.mkdir()
    (program.data / "oldfriend.toml").write_text("[web]\npages = true\n")
    program.done("say", "Tell me when https://example.org/kettle changes")
    with (
        served(program),
        opened(browser, new_link(program)) as (page, complaints),
        opened(browser, new_link(program)) as (other, _),
    ):
        go_to_memory(page)
        go_to_memory(other)
        theirs = other.get_by_role("region", name="Goals").get_by_role("listitem")
        expect(theirs).to_have_count(1)
        goals = page.get_by_role("region", name="Goals")
        goals.get_by_role("button", name="Add a goal").click()
        page.keyboard.type("Run twice a week")
        page.keyboard.press("Enter")
        running = goals.get_by_role("listitem").filter(has_text="Run twice a week")
        expect(running).to_contain_text("this week 0 of 2")
        running.get_by_role("button", name="Did it").click()
        expect(running).to_contain_text("this week 1 of 2")
        running.get_by_role("button", name="Change").click()
        running.get_by_label("Next step").fill("Buy shoes")
        running.get_by_label("Next step").press("Enter")
        expect(running).to_contain_text("next: Buy shoes")
        running.get_by_role("button", name="Change").click()
        running.get_by_label("By when").fill("2035-12-31")
        running.get_by_role("button", name="Save").click()
        expect(running).to_contain_text("31 Dec 2035")
        running.get_by_role("button", name="Change").click()
        running.get_by_label("Next step").fill("")
        running.get_by_label("By when").fill("")
        running.get_by_role("button", name="Save").click()
        expect(running).not_to_contain_text("31 Dec 2035")
        expect(running).not_to_contain_text("Buy shoes")
        running.get_by_role("button", name="Reached").click()
        expect(running).to_have_count(0)
        goals.get_by_role("button", name="Undo").click()
        expect(running).to_contain_text("this week 1 of 2")
        expect(theirs).to_have_count(2)  # with nothing said in between
        kettle = goals.get_by_role("listitem").filter(has_text="example.org/kettle")
        kettle.get_by_role("button", name="Stop watching").click()
        expect(kettle).to_have_count(0)
        goals.get_by_role("button", name="Undo").click()
        expect(kettle).to_have_count(1)
        program.done("goals", "add", "Read a book a month")
        page.evaluate("dispatchEvent(new Event('focus'))")  # back from the terminal
        expect(goals.get_by_role("listitem").filter(has_text="Read a book")).to_have_count(1)

    assert complaints == []


def test_goal_shows_how_much_of_its_amount_is_done(browser: Browser, program: Program) -> None:
    """In its unit, from the first step on."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        say(page, "I want to run 200 km by 31 December 2035")
        go_to_memory(page)
        running = page.locator(".task").filter(has_text="run 200 km")
        expect(running).to_contain_text("0 of 200 km")
        page.get_by_role("navigation").get_by_role("link", name="Chat", exact=True).click()
        say(page, "I ran 12.5 km today")
        go_to_memory(page)
        expect(running).to_contain_text("12.5 of 200 km")
        running.get_by_role("button", name="Did it").press("Enter")
        running.get_by_label("How much, in km").fill("3")
        page.keyboard.press("Enter")
        expect(running).to_contain_text("15.5 of 200 km")
        running.get_by_text("What was counted").click()
        expect(running.get_by_role("button", name="Take back")).to_have_count(2)
        running.get_by_role("button", name="Take back").first.click()
        expect(running).to_contain_text("12.5 of 200 km")
        go_to_settings(page, "What I did for you")
        expect(page.locator(".audit-day")).to_contain_text("I counted 12.5 km for “run 200 km")
        page.locator(".audit-day").get_by_text("All that was logged").click()
        counted = page.locator(".audit tbody tr").filter(has_text="12.5 km")
        expect(counted).to_contain_text("run 200 km")

    assert complaints == []


RULES = {
    "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR": "every weekday",
    "FREQ=WEEKLY;INTERVAL=2;BYDAY=SA": "every 2 weeks, Saturday",
    "FREQ=WEEKLY;BYDAY=TU,MO": "every Monday and Tuesday",
    "FREQ=MONTHLY;BYDAY=1SA": "monthly",
    "FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1": "monthly",
}


def test_series_without_words_is_told_by_its_days(browser: Browser, program: Program) -> None:
    """And not only by how often it comes."""

    async def write(tx: Transaction, person: PersonId) -> None:
        owner = await get_person_by_id(tx, person)
        due = system_clock() + 400 * DAY
        for number, rule in enumerate(RULES):
            text = f"Stretch {number}"
            await add_task(tx, owner, text, now=system_clock(), due_at=due, rrule=rule)

    with served(program), opened(browser, new_link(program)) as (page, complaints):
        store(program, write)
        go_to_memory(page)
        for number, shown in enumerate(RULES.values()):
            row = page.get_by_role("listitem").filter(has_text=f"Stretch {number}")
            expect(row).to_contain_text(f" · {shown}")

    assert complaints == []


CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Somebody//EN
BEGIN:VEVENT
SUMMARY:Choir
DTSTART:20351124T190000
END:VEVENT
BEGIN:VEVENT
SUMMARY:Long ago
DTSTART:20010101T100000
END:VEVENT
END:VCALENDAR
"""


def test_calendar_is_shown_before_it_is_put_on_the_list(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """With what is over; brought in again it is there already, and its undo takes it off."""
    file = tmp_path / "choir.ics"
    file.write_text(CALENDAR)
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        go_to_settings(page, "Import & export")
        page.locator("input[type=file]").set_input_files(file)
        parcel = page.locator("li.parcel").filter(has_text="choir.ics")
        expect(parcel).to_contain_text("1 entry to come, 1 new")
        expect(parcel).to_contain_text("Choir")
        expect(parcel).to_contain_text("1 is over")
        expect(parcel.get_by_role("listitem").filter(has_text="Long ago")).to_be_visible()
        parcel.get_by_role("button", name="Put 1 entry on my list").click()
        expect(parcel.get_by_role("status")).to_have_text("1 is on your list now.")
        parcel.get_by_role("button", name="Close").click()
        expect(parcel).to_have_count(0)
        page.locator("input[type=file]").set_input_files(file)
        expect(parcel).to_contain_text("on your list already")
        parcel.get_by_role("button", name="Close").click()
        imported = page.locator("li.import").filter(has_text="choir.ics")
        expect(imported).to_contain_text("1 new entry · A calendar")
        go_to_memory(page)
        tasks = page.get_by_role("region", name="Reminders and to-dos")
        expect(tasks).to_contain_text("Choir")
        go_to_settings(page, "Import & export")
        imported.get_by_role("button", name="Remove this import").click()
        page.locator(".sure button").first.click()
        expect(imported).to_contain_text("removed")
        expect(page.locator(".taken-back")).to_contain_text("1 reminder is off your list")
        go_to_memory(page)
        expect(tasks).not_to_contain_text("Choir")
    assert complaints == []


def test_whole_days_of_a_calendar_are_told_as_days(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """In the preview, on the list and on each of their days; hours are told with their end."""
    file = tmp_path / "autumn.ics"
    file.write_text(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Somebody//EN\nBEGIN:VEVENT\nUID:c\n"
        "SUMMARY:Conference\nDTSTART;VALUE=DATE:20351205\nDTEND;VALUE=DATE:20351210\n"
        "END:VEVENT\nBEGIN:VEVENT\nUID:t\nSUMMARY:Talk\nDTSTART:20351206T100000\n"
        "DTEND:20351206T113000\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    span = re.compile(
        r"Wed,? 5 Dec,? 2035 – Sun,? 9 Dec,? 2035|Wed, Dec 5, 2035 – Sun, Dec 9, 2035"
    )
    with served(program), opened(browser, link := new_link(program)) as (page, complaints):
        go_to_settings(page, "Import & export")
        page.locator("input[type=file]").set_input_files(file)
        parcel = page.locator("li.parcel").filter(has_text="autumn.ics")
        expect(parcel).to_contain_text(span)
        parcel.get_by_role("button", name="Put 2 entries on my list").click()
        go_to_memory(page)
        tasks = page.get_by_role("region", name="Reminders and to-dos")
        expect(tasks.locator("li").filter(has_text="Conference")).to_contain_text(span)
        expect(tasks.locator("li").filter(has_text="Talk")).to_contain_text("10:00–11:30")
        root = link.partition("/#")[0]
        page.goto(f"{root}/days/2035-12-08")
        expect(page.locator(".happening")).to_contain_text("Conference · until")
        page.goto(f"{root}/days/2035-12-09")
        expect(page.locator(".happening")).to_contain_text("Conference · all day")
        page.goto(f"{root}/days/2035-12-10")
        expect(page.locator(".happening")).to_have_count(0)
    assert complaints == []
