"""The places of the page besides the talk: the first run, what is brought, people, days."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect

from oldfriend.domain.clock import from_micros, system_clock
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import go_to_forget, go_to_import, new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
CHAT = "\n".join(
    [
        "03/05/2024, 18:30 - Ana: We moved to Lisbon!",
        "03/05/2024, 18:31 - Nora: My sister Ana lives in Lisbon now.",
        "04/05/2024, 09:00 - Nora: My dog is called <b>Rufus</b>.",
    ]
)
A_PAGE = 100
MOST_ASKED = 10


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The command line, on a folder of its own."""
    return on_any_port(Program(data=tmp_path / "data"))


@pytest.mark.quick
def test_first_run_stores_answers_and_steps_can_be_skipped(
    browser: Browser, program: Program
) -> None:
    """A sample, a name, a starting point, no model; then the talk, and no offer any more."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="Set up (1 minute)").click()
        expect(page.locator(".sample")).to_contain_text("Jonah is your brother")
        page.get_by_role("button", name="Begin").click()
        expect(page.get_by_text("Step 1 of 2")).to_be_visible()
        page.get_by_label("What may I call you?").fill("Nora")
        page.get_by_role("radio", name="calm").check()
        page.get_by_label("Who I am, in your words").fill("You are Mira, calm and exact.")
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_text("none: offline")).to_be_visible()
        expect(page.get_by_role("button", name="Bring old chats")).to_be_visible()
        page.get_by_role("button", name="Start talking").click()
        expect(page.get_by_label("Say something …")).to_be_visible()
        expect(page.get_by_text("Nora's memory")).to_be_visible()
        expect(page.get_by_role("link", name="Set up (1 minute)")).to_have_count(0)
    persona = program.done("core", "persona").stdout

    assert "You are Mira, calm and exact." in persona
    assert complaints == []


def test_fully_skipped_first_run_is_not_offered_again(browser: Browser, program: Program) -> None:
    """Nothing is told, and nothing said: the first run was gone through all the same.

    Each place then shows what will be there, and says nothing else.
    """
    with served(program), opened(browser, new_link(program)) as (page, _):
        page.get_by_role("link", name="Set up (1 minute)").click()
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("button", name="Skip").click()
        page.get_by_role("button", name="Start talking").click()
        expect(page.locator(".welcome")).to_be_visible()
        offers = page.get_by_role("link", name="Set up (1 minute)").count()
        page.reload()
        expect(page.locator(".welcome")).to_be_visible()
        offers += page.get_by_role("link", name="Set up (1 minute)").count()
        page.get_by_role("link", name="Memory", exact=True).click()
        expect(page.locator(".memory .sample")).to_contain_text("Jonah is your brother")
        expect(page.get_by_placeholder("Search everything")).to_have_count(0)
        page.get_by_role("link", name="People", exact=True).click()
        expect(page.locator(".card.is-sample")).to_contain_text("your brother")
        expect(page.get_by_label("Search names")).to_have_count(0)
        page.get_by_role("link", name="Days", exact=True).click()
        expect(page.get_by_text("Nothing was said yet.")).to_be_visible()
        expect(page.get_by_text("Nothing was said this month.")).to_have_count(0)
        page.get_by_role("link", name="Settings").click()
        expect(page.get_by_label("Time zone")).to_have_value("Europe/Lisbon")  # the browser's

    assert offers == 0


def test_page_opened_while_the_server_is_down_recovers_by_itself(
    browser: Browser, program: Program
) -> None:
    """It says that it could not be loaded, and is there once the server is back."""
    with served(program) as running, opened(browser, new_link(program)) as (page, _):
        expect(page.get_by_label("Say something …")).to_be_visible()
        page.get_by_role("link", name="People").click()
        expect(page.get_by_role("heading", name="People")).to_be_visible()
        running.process.kill()
        running.process.wait()
        expect(page.locator(".companion .lost")).to_be_visible()
        page.get_by_role("link", name="Days").click()
        expect(page.get_by_text("This page couldn't be loaded")).to_be_visible()
        same_port = on_any_port(program, OLDFRIEND_SERVE_PORT=str(running.port))
        with served(same_port):
            expect(page.get_by_role("table", name="Calendar")).to_be_visible()


def test_page_reloads_its_data_once_the_server_is_back(browser: Browser, program: Program) -> None:
    """The place was opened before, so that only its contents are missing."""
    with served(program) as running, opened(browser, new_link(program)) as (page, _):
        page.get_by_role("link", name="Days").click()
        expect(page.locator("table.month td[aria-current=date]")).to_have_count(1)
        page.get_by_role("link", name="Chat").click()
        running.process.kill()
        running.process.wait()
        expect(page.locator(".companion .lost")).to_be_visible()
        page.get_by_role("link", name="Days").click()
        expect(page.locator(".days [role=alert]")).to_be_visible()
        same_port = on_any_port(program, OLDFRIEND_SERVE_PORT=str(running.port))
        with served(same_port):
            expect(page.locator("table.month td[aria-current=date]")).to_have_count(1)
            expect(page.locator(".days [role=alert]")).to_have_count(0)


def test_used_sign_in_link_is_reported_as_used(browser: Browser, program: Program) -> None:
    """Another browser comes by it: it does not open, and it is told why."""
    with served(program):
        link = new_link(program)
        with opened(browser, link) as (page, _):
            expect(page.get_by_label("Say something …")).to_be_visible()
        with opened(browser, link) as (page, _):
            expect(page.get_by_role("alert")).to_contain_text("used already")
        with opened(browser, link.partition("#")[0]) as (page, _):
            expect(page.get_by_text("oldfriend link")).to_be_visible()
            expect(page.get_by_text("make run")).to_be_visible()
            told = page.get_by_role("alert").count()

    assert told == 0


def test_first_hour_learning_forget_and_slider_hints_work(
    browser: Browser, program: Program
) -> None:
    """What is said is read when one wishes, twice; what is not there yet says why."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        expect(page.locator(".mood")).to_have_text("Mood: calm")
        read_now = page.get_by_role("button", name="Read it now")
        expect(read_now).to_have_count(0)
        for told in ("My cat is called Miso.", "My dog is called Rufus."):
            say(page, told)
            read_now.click()
            expect(page.locator(".learned .belief q", has_text=told).first).to_be_visible()
            expect(read_now).to_have_count(0)
        page.get_by_label("Say something …").fill("/forget")
        page.keyboard.press("Enter")
        expect(page.get_by_role("heading", name="Forget", exact=False).first).to_be_visible()
        at = page.url
        page.get_by_role("link", name="Chat").click()
        expect(page.locator(".mine")).to_have_count(2)
        go_to_forget(page)
        expect(page).to_have_url(at)
        page.get_by_role("link", name="Memory", exact=True).click()
        expect(page.locator(".slider")).to_contain_text("From the second day on")

    assert at.endswith("/forget")
    assert complaints == []


def test_slash_forget_in_page_chat_prefills_the_forget_page(
    browser: Browser, program: Program
) -> None:
    """On the page that deletes, and not as something said."""
    with served(program), opened(browser, new_link(program)) as (page, _):
        page.get_by_label("Say something …").fill("/forget Tom & Anna + 100%/C++")
        page.keyboard.press("Enter")
        expect(page.get_by_label("Who or what?")).to_have_value("Tom & Anna + 100%/C++")
        page.get_by_role("link", name="Chat").click()
        expect(page.get_by_label("Say something …")).to_be_visible()
        said = page.locator(".mine").count()

    assert said == 0


@pytest.mark.parametrize("size", [{"width": 1360, "height": 800}, {"width": 390, "height": 800}])
def test_document_never_grows_beyond_the_window_on_any_page(
    browser: Browser, program: Program, size: dict[str, int]
) -> None:
    """After a long talk the document is as high as the window, in every place."""
    heights = {}
    with served(program), opened(browser, new_link(program), viewport=size) as (page, _):
        origin = page.url.rstrip("/").partition("/#")[0]
        for number in range(15):
            say(page, f"Remember that box {number} is in the cellar.")
        expect(page.locator(".said")).to_have_count(30)
        field = page.get_by_label("Say something …")
        spare = field.evaluate("(one) => one.scrollHeight - one.clientHeight")
        for place in ("", "memory", "people", "days", "bring", "forget", "settings"):
            page.goto(f"{origin}/{place}")
            page.locator(".place > *, .said").first.wait_for()
            page.wait_for_timeout(500)
            heights[place] = page.evaluate("document.documentElement.scrollHeight")

    assert {place: height for place, height in heights.items() if height > 800} == {}
    assert spare == 0


def test_import_progress_continues_after_one_failed_poll(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """Looking fails once while it is under way; and whoever has gone elsewhere looks no more."""
    chat = tmp_path / "chat.txt"
    chat.write_text(CHAT, "utf-8")
    looks: list[str] = []

    def lose_the_second(route: Route) -> None:
        looks.append(route.request.method)
        if len(looks) == 2:
            route.abort()
        else:
            route.continue_()

    with served(program), opened(browser, new_link(program)) as (page, _):
        broken: list[str] = []
        page.on("pageerror", lambda error: broken.append(str(error)))
        go_to_import(page)
        page.locator("input[type=file]").set_input_files(chat)
        parcel = page.locator(".parcel", has_text="3 messages in 2 talks")
        parcel.get_by_role("radio", name="Nora").check()
        page.route("**/api/v1/uploads", lose_the_second)
        parcel.get_by_role("button", name="Import", exact=True).click()
        expect(parcel).to_contain_text("3 messages are new", timeout=20_000)
        page.get_by_role("link", name="People", exact=True).click()
        expect(page.locator(".people")).to_be_visible()
        looked = len(looks)
        page.wait_for_timeout(1_500)

    assert looked > 2
    assert len(looks) == looked
    assert broken == []


def test_uploaded_chat_is_previewed_imported_browsed_and_undone(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """Who is in it, progress, what came of it; then people, days, and all of it taken out again."""
    chat = tmp_path / "WhatsApp Chat with <i>Ana.txt"
    chat.write_text(CHAT, "utf-8")
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        go_to_import(page)
        page.locator("input[type=file]").set_input_files(chat)
        parcel = page.locator(".parcel", has_text="3 messages in 2 talks")
        parcel.get_by_role("radio", name="Nora").check()
        parcel.get_by_role("button", name="Import", exact=True).click()
        expect(parcel).to_contain_text("3 messages are new", timeout=60_000)
        expect(page.locator(".import")).to_contain_text("3 new messages")

        page.get_by_role("link", name="People", exact=True).click()
        page.get_by_role("link", name="Ana", exact=True).click()
        lives = page.locator(".people .line", has_text="lives in Lisbon")
        expect(lives.first).to_be_visible()
        known = lives.count()
        lives.first.get_by_role("button", name="wrong").click()
        expect(lives).to_have_count(known - 1)
        page.get_by_role("button", name="undo").click()
        expect(lives).to_have_count(known)
        page.goto(page.url.replace(page.url.split("/", 3)[3], "people/graph"))
        expect(page.get_by_role("link", name="Ana")).to_be_visible()

        page.goto(page.url.replace("people/graph", "days/2024-05"))
        page.get_by_role("link", name="3 May 2024: 2 messages").click()
        expect(page.get_by_role("heading", name="3 May 2024")).to_be_visible()
        expect(page.get_by_text("A day is summed up by a language model")).to_be_visible()
        page.get_by_role("button", name="open in the chat").click()
        expect(page.locator(".said", has_text="We moved to Lisbon!")).to_be_visible()

        go_to_import(page)
        page.get_by_role("button", name="Remove this import").click()
        asked = page.locator(".import .sure")
        expect(asked).to_contain_text("what I learned from them alone")
        asked.get_by_role("button", name="Cancel").click()
        expect(page.locator(".import")).to_contain_text("3 new messages")
        page.get_by_role("button", name="Remove this import").click()
        asked.get_by_role("button", name="Remove this import").click()
        expect(parcel).to_contain_text("removed")
        expect(parcel.get_by_role("link", name="See what I learned")).to_have_count(0)
        expect(page.get_by_role("status").first).to_contain_text("3 messages were removed")
        with page.expect_download() as taken:
            page.get_by_role("button", name="Save what is mine").click()
        lines = Path(taken.value.path()).read_text("utf-8").splitlines()
        elements = page.locator("b, i").count()

    assert json.loads(lines[0])["oldfriend"] == "export"
    assert elements == 0
    assert complaints == []


def test_commitment_appears_in_the_calendar_on_its_due_date(
    browser: Browser, program: Program
) -> None:
    """Also when that is in a month to come, to which one leafs."""
    due = from_micros(system_clock()).date() + timedelta(days=40)
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        say(page, f"I promised Ana to send her the map on {due:%-d %B %Y}.")
        page.get_by_role("button", name="Read it now").click()
        expect(page.locator(".learned .belief", has_text="the map").first).to_be_visible()
        page.get_by_role("link", name="Days", exact=True).click()
        after = page.get_by_role("button", name="The month after")
        while page.url.rpartition("/")[2] != f"{due:%Y-%m}":
            expect(after).to_be_enabled()
            before = page.url
            after.click()
            expect(page).not_to_have_url(before)
        page.get_by_role("link", name=re.compile("the map")).click()
        expect(
            page.get_by_role("heading", name="Promised or expected for this day")
        ).to_be_visible()
        page.get_by_role("link", name=re.compile("the map")).click()
        expect(page.locator(".memory-panel")).to_contain_text("the map")

    assert complaints == []


def test_new_entity_appears_on_the_open_people_page(browser: Browser, program: Program) -> None:
    """The place is open all the while."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="People", exact=True).click()
        expect(page.locator(".card.is-sample")).to_be_visible()
        program.done("say", "My sister Berta lives in Faro.")
        program.done("consolidate", "--now")
        expect(page.locator(".card", has_text="your sister")).to_be_visible()

    assert complaints == []


def test_people_are_grouped_with_the_relation_first(browser: Browser, program: Program) -> None:
    """As seen from the person; two columns, one on a phone; a page opens with it, too."""
    program.done("say", "I am Jonah's sister.")
    program.done("say", "My brother Jonah lives in Leeds.")
    program.done("say", "My sister Berta lives in Faro.")
    program.done("consolidate", "--now")
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="People", exact=True).click()
        expect(page.locator(".group").first).to_have_text("Family")
        jonah = page.locator(".card", has_text="your brother · Leeds")
        berta = page.locator(".card", has_text="your sister · Faro")
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(page.locator(".cards").first.locator(".card")).to_have_count(2)
        wide = [one.bounding_box() for one in (jonah, berta)]
        page.set_viewport_size({"width": 390, "height": 800})
        expect(page.locator(".cards").first.locator(".card")).to_have_count(1)
        jonah.get_by_role("link").click()
        expect(page.locator(".person-head .relation")).to_have_text("your brother · Leeds")
        expect(page.locator(".said-of")).to_contain_text("My brother Jonah")

    assert None not in wide
    assert wide[0]["y"] == wide[1]["y"]
    assert complaints == []


def test_two_names_that_may_be_one_are_asked_about_among_the_people(
    browser: Browser, program: Program
) -> None:
    """On the card, with the way back; whoever has answered is not asked again."""
    program.done("say", "My best friend is Tom.")
    program.done("say", "Tom Hughes is my boss.")
    program.done("consolidate", "--now")
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="People", exact=True).click()
        question = page.get_by_text("Is Tom Hughes the same as Tom?")
        expect(question).to_be_visible()
        page.get_by_role("button", name="The same", exact=True).click()
        expect(page.locator(".card")).to_have_count(1)
        page.get_by_role("button", name="undo").click()
        expect(page.locator(".card")).to_have_count(2)
        program.done("say", "Anna Weber is my aunt.")
        program.done("say", "Anna is my sister.")
        program.done("consolidate", "--now")
        page.get_by_role("button", name="Two different ones").click()
        expect(page.get_by_text(re.compile("the same as"))).to_have_count(0)
        expect(page.locator(".card")).to_have_count(4)

    assert complaints == []


def test_people_page_does_not_retry_without_pause_on_lost_connection(
    browser: Browser, program: Program
) -> None:
    """Of two pages the second does not come any more: it is not asked for without a pause."""
    lost: list[str] = []
    is_lost = False

    def answer(route: Route) -> None:
        """Whom the house names, as often as fills two pages; once it is lost, only the first."""
        is_second = "cursor=" in route.request.url
        if is_second and is_lost:
            lost.append(route.request.url)
            route.abort()
            return
        told = route.fetch(url=route.request.url.partition("&cursor=")[0]).json()
        first = A_PAGE if is_second else 0
        told["items"] = [told["items"][0] | {"id": str(first + each)} for each in range(A_PAGE)]
        told |= {"total": 2 * A_PAGE, "next": None if is_second else "more"}
        route.fulfill(json=told)

    with served(program), opened(browser, new_link(program)) as (page, _):
        program.done("say", "My sister Berta lives in Faro.")
        program.done("consolidate", "--now")
        page.route("**/api/v1/people?*", answer)
        page.get_by_role("link", name="People", exact=True).click()
        expect(page.locator(".card").first).to_be_visible()
        page.mouse.move(500, 400)
        with page.expect_response(lambda response: "cursor=" in response.url):
            page.mouse.wheel(0, 100_000)
        page.mouse.wheel(0, -100_000)
        is_lost = True
        program.done("say", "My aunt Dora lives in Braga.")
        program.done("consolidate", "--now")
        expect(page.get_by_role("alert")).to_be_visible()
        page.wait_for_timeout(1000)

    assert 1 <= len(lost) <= MOST_ASKED
