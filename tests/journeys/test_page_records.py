"""One's own records on the page: diary, numbers, tools, what was done, what was said unasked."""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import DAY, HOUR, from_micros, system_clock
from oldfriend.domain.ids import PersonId, TurnId, new_id
from oldfriend.measurements.measurement_store import Measurement, save_measurements
from oldfriend.memory.import_batches import (
    ImportSource,
    advance_batch,
    finish_batch,
    start_or_resume_batch,
    undo_batch,
)
from oldfriend.memory.limitation_store import Limitation, save_limitation
from oldfriend.memory.people import ensure_owner
from oldfriend.proactive.impulse_store import (
    add_impulses,
    list_waiting_impulses,
    record_impulse_decision,
)
from oldfriend.proactive.policy import Impulse, ProactiveDecision
from oldfriend.runtime.wiring import open_database
from oldfriend.usage.program_questions import ProgramQuestion, save_question
from oldfriend.usage.tool_log import LoggedToolUse, log_tool_use
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import go_to_settings, new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
FORGOTTEN_TOO = "What was learned from it is forgotten, too. It can't be brought back."


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The command line, on a folder of its own."""
    return on_any_port(Program(data=tmp_path / "data"))


def store(program: Program, write: Callable[[Transaction, PersonId], Awaitable[None]]) -> None:
    """Write something into the database of a process that serves."""

    async def run() -> None:
        db = await open_database(f"sqlite:///{program.data}/oldfriend.db", create=False)
        try:
            async with db.begin_write() as tx:
                owner = await ensure_owner(tx, now=system_clock(), zone="UTC")
                await write(tx, owner.id)
        finally:
            await db.close()

    with ThreadPoolExecutor() as elsewhere:  # in this thread the browser may have its loop
        elsewhere.submit(asyncio.run, run()).result()


def go_to_days(page: Page, view: str = "") -> None:
    """To the calendar, the diary or the numbers."""
    places = page.get_by_role("navigation", name="Places")
    places.get_by_role("link", name="Days", exact=True).click()
    if view:
        views = page.get_by_role("navigation", name="Views of your days")
        views.get_by_role("link", name=view).click()


def test_diary_entry_is_written_on_the_page_changed_found_on_its_day_and_removed(
    browser: Browser, program: Program
) -> None:
    """By keyboard alone; an entry that was told in the chat stands beside it."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        say(page, "/journal Planted two pear trees. #garden")
        go_to_days(page, "Diary")
        expect(page.locator(".entry")).to_have_count(1)
        expect(page.locator("figure.sample")).to_have_count(0)
        field = page.get_by_label("Write about today …")
        field.fill("Rain all day.\nRead a whole novel.")
        field.press("Control+Enter")
        entry = page.locator(".entry").filter(has_text="Read a whole novel.")
        expect(entry).to_be_visible()
        expect(field).to_have_value("")
        entry.get_by_role("button", name="edit").press("Enter")
        words = page.get_by_label("Words of the entry")
        expect(words).to_be_focused()
        words.fill("Rain all day. Read half a novel. #books")
        page.locator(".entry").get_by_role("button", name="Save").press("Enter")
        changed = page.locator(".entry").filter(has_text="half a novel")
        expect(changed.get_by_role("button", name="edit")).to_be_focused()
        changed.get_by_role("button", name="#books").click()
        expect(page.locator(".entry")).to_have_count(1)
        page.get_by_role("button", name="All entries").click()
        page.locator(".diary-day h3 a").first.click()
        day = page.get_by_role("heading", name="In your diary")
        expect(day).to_be_visible()
        expect(page.locator(".entry")).to_have_count(2)
        told = page.locator(".entry").filter(has_text="pear trees")
        told.get_by_role("button", name="remove").click()
        expect(told.locator(".sure > span")).to_have_text("It can't be brought back.")
        told.get_by_role("button", name="Cancel").click()
        changed.get_by_role("button", name="remove").click()
        expect(changed.locator(".sure > span")).to_have_text(FORGOTTEN_TOO)
        changed.get_by_role("button", name="remove").press("Enter")
        expect(page.locator(".entry")).to_have_count(1)
        page.reload()
        expect(page.locator(".entry")).to_have_count(1)

    assert complaints == []


def test_empty_diary_shows_what_an_entry_may_be(browser: Browser, program: Program) -> None:
    """With the field at hand; the sample is gone with the first entry."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        go_to_days(page, "Diary")
        sample = page.locator("figure.sample")
        expect(sample).to_contain_text("the pear trees are in")
        field = page.get_by_label("Write about today …")
        field.fill("A quiet day.")
        page.get_by_role("button", name="Save").click()
        expect(page.locator(".entry")).to_have_count(1)
        expect(sample).to_have_count(0)

    assert complaints == []


def test_numbers_are_drawn_read_by_arrow_keys_added_and_brought_back(
    browser: Browser, program: Program
) -> None:
    """The table says the same as the line; a chart names itself to who cannot see it."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        go_to_days(page, "Numbers")
        expect(page.get_by_text("No numbers yet.")).to_be_visible()
        store(program, save_numbers)
        page.reload()
        expect(page.get_by_role("heading", name="Weight")).to_be_visible()
        expect(page.locator(".standing")).to_contain_text("70.5 kg")
        expect(page.locator(".standing")).to_contain_text("Going down by")
        chart = page.get_by_role("group", name="Weight: 3 days")
        chart.focus()
        chart.press("Home")
        expect(chart.get_by_role("status")).to_contain_text("72 kg")
        chart.press("ArrowRight")
        expect(chart.get_by_role("status")).to_contain_text("71.2 kg")
        page.get_by_label("Value in kg").fill("69.9")
        page.get_by_role("button", name="Add").click()
        expect(page.locator(".standing")).to_contain_text("69.9 kg")
        page.get_by_text("As a table").click()
        rows = page.locator(".number-table tbody tr")
        expect(rows).to_have_count(4)
        rows.first.get_by_role("button").click()
        expect(rows).to_have_count(3)
        page.get_by_role("button", name="Undo").click()
        expect(rows).to_have_count(4)
        page.get_by_role("link", name="Blood pressure").click()
        expect(page.locator(".standing")).to_contain_text("121/80 mmHg")
        assert page.url.endswith("/days/numbers/blood_pressure")
        page.get_by_role("button", name="One year").press("Enter")
        expect(page.get_by_role("group", name="Blood pressure: 2 days")).to_be_visible()
        page.get_by_role("link", name="Running").click()
        expect(page.locator(".standing")).to_contain_text("5 km in 33 min")

    assert complaints == []


def test_health_data_is_brought_in_and_drawn(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """A table of one's own is entries, not talk: nobody is asked who they are in it."""
    table = tmp_path / "body.csv"
    table.write_text("date,weight (kg),steps\n2026-03-01,72.4,6100\n2026-03-08,71.9,8400\n")
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        go_to_settings(page, "Health data")
        health = page.get_by_role("region", name="Health data")
        expect(health.get_by_text("not connected")).to_be_visible()
        health.get_by_text("Oura", exact=True).click()
        expect(health.get_by_label("Client ID")).to_be_visible()
        expect(health.get_by_role("button", name="Save")).to_be_disabled()
        health.get_by_role("link", name="Import & export").click()
        page.locator("input[type=file]").set_input_files(table)
        parcel = page.locator(".parcel", has_text="A table of measurements: 2 entries")
        expect(parcel).to_be_visible()
        expect(parcel.get_by_text("Which one is you?")).to_have_count(0)
        parcel.get_by_role("button", name="Import", exact=True).click()
        done = page.locator(".parcel", has_text="2 entries are new.")
        done.wait_for(timeout=60_000)
        expect(page.locator(".import")).to_contain_text("2 new entries")
        done.get_by_role("link", name="See it under Numbers").click()
        page.get_by_role("link", name="Weight").click()
        expect(page.get_by_role("heading", name="Weight")).to_be_visible()
        page.get_by_role("button", name="All", exact=True).click()
        chart = page.get_by_role("group", name="Weight: 2 days")
        chart.focus()
        chart.press("Home")
        expect(chart.get_by_role("status")).to_contain_text("72.4 kg")
        page.get_by_role("link", name="Steps").click()
        expect(page.locator(".standing")).to_contain_text("8,400")
        expect(page.get_by_text("Nothing in this time.")).to_be_visible()
        page.get_by_role("button", name="Show all").click()
        expect(page.get_by_role("group", name="Steps: 2 days")).to_be_visible()

    assert complaints == []


async def save_numbers(tx: Transaction, owner: PersonId) -> None:
    """Three weights, two blood pressures and a run of the last days."""
    now = system_clock()
    told = [("weight", back, value, "kg", None) for back, value in ((10, 72), (6, 71.2), (2, 70.5))]
    told += [("blood_pressure", back, 121, "mmHg", 80) for back in (3, 4)]
    told += [("running", 5, 5, "km", 33)]
    measured = [
        Measurement(
            id=new_id(now),
            person=owner,
            name=name,
            day=from_micros(now - back * DAY).date(),
            measured_at=now - back * DAY,
            zone="UTC",
            value=value,
            unit=unit,
            second_value=second,
            second_unit="" if second is None else "min" if unit == "km" else unit,
        )
        for name, back, value, unit, second in told
    ]
    await save_measurements(tx, owner, measured, now=now)


def test_tools_and_what_was_done_are_listed_and_narrowed(
    browser: Browser, program: Program
) -> None:
    """With what was not allowed; a tool that asks outside is switched on by its owner."""

    async def write(tx: Transaction, owner: PersonId) -> None:
        for number in range(60):
            use = LoggedToolUse(
                turn=TurnId(f"t{number}"),
                name="current_time" if number else "read_page",
                status="done" if number else "declined",
                arguments={},
                made_at=system_clock() - number,
            )
            await log_tool_use(tx, owner, use)
        now = system_clock()
        asked = ProgramQuestion(
            program="Aide",
            tool="recall",
            asked="where do they live",
            given=(new_id(now),),
            asked_at=now,
        )
        await save_question(tx, owner, asked)
        await save_limitation(
            tx,
            Limitation(
                id=new_id(now), person=owner, title="Read scans", created_at=now, changed_at=now
            ),
        )

    with served(program), opened(browser, new_link(program)) as (page, complaints):
        store(program, write)
        go_to_settings(page, "What I did for you")
        day = page.locator(".audit-day")
        expect(day.locator("li").filter(has_text="Tell the time")).to_have_count(1)
        expect(day).to_contain_text("Aide asked about you: “where do they live”")
        rows = page.locator(".audit tbody tr")
        expect(rows).to_have_count(0)
        expect(page.locator("#audit").get_by_role("button", name="Earlier")).to_have_count(0)
        day.get_by_text("All that was logged (61)").click()
        expect(rows).to_have_count(61)
        page.get_by_label("that ended").select_option("denied")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("Read a page")
        expect(rows).to_contain_text("you said no")
        page.get_by_label("that ended").select_option("")
        page.get_by_label("Show").select_option("question")
        expect(rows).to_contain_text("Aide · recall")
        expect(rows).to_contain_text("where do they live")
        rows.get_by_text("What it was given (1)").click()
        expect(rows).to_contain_text("Some of it is gone by now.")
        page.get_by_label("Show").select_option("deletion")
        expect(page.get_by_text("Nothing of this kind.")).to_be_visible()
        go_to_settings(page, "Tools")
        tools = page.locator("#tools")
        expect(tools.get_by_text("Used 59 times, 59 went well")).to_be_visible()
        expect(tools.locator("li", has_text="Read scans")).to_be_visible()
        expect(tools.locator(".list").first).not_to_contain_text("weather")
        tools.get_by_label("Tell the weather").click()
        expect(
            page.get_by_role("status").filter(has_text="Tell the weather: saved.")
        ).to_be_visible()
        page.reload()
        expect(tools.locator(".list").first).to_contain_text("Look up the weather")

    assert complaints == []


def test_a_day_says_what_was_done_and_not_what_was_only_asked_or_taken_back(
    browser: Browser, program: Program
) -> None:
    """With its replies and cost however much it holds; of earlier days, that more may follow."""

    async def write(tx: Transaction, owner: PersonId) -> None:
        now = system_clock()
        reading = LoggedToolUse(
            turn=TurnId("t"), name="read_page", status="asked", arguments={}, made_at=now
        )
        await log_tool_use(tx, owner, reading)
        for format_name in ("calendar", "notes"):
            source = ImportSource(
                file=format_name, format=format_name, sha256=format_name, me="", zone="UTC"
            )
            batch = await start_or_resume_batch(tx, owner, source, now=now)
            await advance_batch(tx, batch, added=1, known=0)
            await finish_batch(tx, batch, now=now)
            if format_name == "notes":
                await undo_batch(tx, owner, batch.number, now=now)
        for number in range(150):
            made_at = now - number - (5 * DAY if number >= 70 else 0)
            await tx.run(
                """INSERT INTO model_call (id, person, turn, step, request, purpose, prompt, model,
                     outcome, shown, answer, tokens_in, tokens_cached, tokens_out, cost, latency,
                     is_background, made_at)
                   VALUES (:id, :person, :turn, 0, 'x', :purpose, 'p/1', 'a:b', 'done', '', '{}',
                     1, 0, 1, 10000, 5, 0, :made_at)""",
                id=new_id(now),
                person=owner,
                turn=f"t{number // 2}",
                purpose="reply" if number % 2 else "classify",
                made_at=made_at,
            )

    with served(program), opened(browser, new_link(program)) as (page, complaints):
        store(program, write)
        go_to_settings(page, "What I did for you")
        today, earlier = (page.locator(".audit-day").nth(each) for each in range(2))
        expect(today).to_contain_text("I read what you brought in: A calendar")
        expect(today).to_contain_text("A file brought in · Notes")
        expect(today).to_contain_text("removed")
        expect(today).not_to_contain_text("I read what you brought in: Notes")
        expect(today.get_by_role("list")).not_to_contain_text("Read a page")
        expect(today.locator("li.meta")).to_have_text("35 replies · $0.70")
        expect(earlier.locator("li.meta")).to_contain_text("more of this day under “Earlier”")
        today.get_by_text("All that was logged (73)").click()
        asked = today.get_by_role("row").filter(has_text="Read a page")
        expect(asked).to_contain_text("you are asked")
        page.locator("#audit").get_by_role("button", name="Earlier").click()
        expect(earlier.locator("li.meta")).to_have_text("40 replies · $0.80")

    assert complaints == []


def test_what_was_said_unasked_is_shown_with_its_reason_and_not_done_again(
    browser: Browser, program: Program
) -> None:
    """What was let go too; and it can be allowed again."""

    async def write(tx: Transaction, owner: PersonId) -> None:
        now = system_clock()
        for kind, verdict, reason in (
            ("follow_up", "say", "trigger"),
            ("anniversary", "drop", "cold_user"),
        ):
            impulse = Impulse(
                person=owner,
                kind=kind,  # type: ignore[arg-type]
                key=kind,
                sources=(),
                not_before=now,
                expires_at=now + HOUR,
                urgency=0.9,
            )
            await add_impulses(tx, owner, [impulse], now=now)
            (stored,) = await list_waiting_impulses(tx, owner)
            decision = ProactiveDecision(verdict=verdict, reason=reason)  # type: ignore[arg-type]
            await record_impulse_decision(tx, stored, decision, now=now)

    with served(program), opened(browser, new_link(program)) as (page, complaints):
        store(program, write)
        go_to_settings(page, "When may I write first?")
        first = page.locator("#first")
        expect(first.get_by_text("How something went")).to_be_visible()
        expect(first.get_by_text("Its time had come.")).to_be_visible()
        first.get_by_role("button", name="don't do this again: How something went").click()
        again = first.get_by_role("button", name="allow again: How something went")
        expect(again).to_be_visible()
        page.reload()
        again.click()
        expect(first.get_by_role("button", name="don't do this again")).to_be_visible()
        first.get_by_role("button", name="Let go").click()
        expect(first.get_by_text("On this day, years ago")).to_be_visible()
        expect(first.get_by_text("You hadn't answered the last ones")).to_be_visible()
        first.get_by_role("button", name="Waiting").click()
        expect(first.get_by_text("Nothing is waiting to be said.")).to_be_visible()

    assert complaints == []
