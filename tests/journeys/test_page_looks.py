"""What one does by the way looks as it should: nothing cut, squeezed, or left lying about."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import go_to_settings, new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
WEIGHED = """() => [...performance.getEntriesByType("navigation"),
    ...performance.getEntriesByType("resource")].map((each) => [each.name, each.transferSize])"""
"""What each request of the page has taken to be answered; 0 where the browser had it."""
GAP = """() => {
  const [mine, reply] = [".mine", ".theirs"].map(
    (side) => [...document.querySelectorAll(`${side} .bubble`)].at(-1).getBoundingClientRect());
  return reply.top - mine.bottom;
}"""
"""How far the last reply stands below the last message in pixels, read at once: talk scrolls."""
MOST_REQUESTS = 15
MOST_BYTES = 150_000
NEAR_PX = 32
LINE_PX = 40
"""So high at most is a button of one line."""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """One process that serves, for all of these."""
    program = on_any_port(Program(data=tmp_path_factory.mktemp("looks") / "data"))
    program.data.mkdir()
    (program.data / "oldfriend.toml").write_text("[limits]\nmessages_per_minute = 0\n")
    with served(program):
        yield program


def box_of(one: Locator) -> dict[str, float]:
    """Where something stands."""
    box = one.bounding_box()
    assert box is not None
    return dict(box)


def test_undo_button_keeps_its_width_beside_a_long_text(browser: Browser, program: Program) -> None:
    """However long that is: the button keeps its width."""
    with opened(browser, new_link(program)) as (page, complaints):
        told = "Remember that the boiler wants a new valve before the winter comes to the valley."
        say(page, told)
        page.locator(".belief").first.get_by_role("button", name="wrong").click()
        undo = box_of(page.locator(".taken-back button"))
        page.locator(".taken-back button").click()
        expect(page.locator(".taken-back")).to_have_count(0)

    assert undo["height"] < LINE_PX
    assert undo["width"] > undo["height"]
    assert complaints == []


def test_question_stands_near_its_reply_and_what_was_learned_is_decided_by_signs(
    browser: Browser, program: Program
) -> None:
    """What can be done with a message takes no room of its own; signs have names."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "Remember that the clock in the kitchen runs late.")
        page.wait_for_function(f"() => ({GAP})() > 0")  # the talk of before may come in meanwhile
        apart = page.evaluate(GAP)
        deeds = page.locator(".belief").first.get_by_role("button")
        expect(deeds.get_by_text("wrong")).to_be_hidden()  # until the sign is pointed at
        names = [each.get_attribute("aria-label") for each in deeds.all()]

    assert 0 < apart <= NEAR_PX
    assert names[1:] == ["keep", "wrong", "forget …"]
    assert complaints == []


def test_message_edit_field_fits_the_chat_and_enter_saves(
    browser: Browser, program: Program
) -> None:
    """The field ends where the talk does; Enter says that it is done, as where one writes."""
    with opened(browser, new_link(program)) as (page, _):
        say(page, "The lamp in the hall flickers.")
        mine = page.locator(".mine").last
        mine.hover()
        mine.get_by_role("button", name="edit").click()
        field, talk = box_of(page.locator(".editing textarea")), box_of(page.locator(".lines"))
        page.locator(".editing textarea").fill("The lamp in the hall is mended.")
        page.keyboard.press("Shift+Enter")
        expect(page.locator(".editing")).to_have_count(1)
        page.keyboard.press("Backspace")
        page.keyboard.press("Enter")
        expect(page.locator(".editing")).to_have_count(0)
        expect(mine.locator(".bubble")).to_have_text("The lamp in the hall is mended.")

    assert field["x"] >= talk["x"]
    assert field["x"] + field["width"] <= talk["x"] + talk["width"] + 1


def test_words_that_were_edited_are_marked_where_they_were_learned(
    browser: Browser, program: Program
) -> None:
    """Until the message is read again, which is a while after the edit."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "My aunt Ottilie lives in Bremen.")
        learned = page.get_by_role("complementary", name="What I learned")
        learned.get_by_role("button", name="Read it now").click()
        row = learned.locator("li", has_text="Bremen").first
        expect(row).to_be_visible()
        mine = page.locator(".mine").last
        mine.hover()
        mine.get_by_role("button", name="edit").click()
        page.locator(".editing textarea").fill("My aunt Ottilie lives in Kiel.")
        page.keyboard.press("Enter")
        expect(row).to_contain_text("you have changed these words")

    assert complaints == []


def test_receipt_closes_when_navigating_to_another_page(browser: Browser, program: Program) -> None:
    """A receipt is about the talk: whoever goes elsewhere, or back and forth, has left it."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "Remember that the key hangs behind the door.")
        page.get_by_role("button", name="Why did you say that?").last.click()
        expect(page.get_by_role("dialog")).to_be_visible()
        page.get_by_role("link", name="Memory", exact=True).click()
        expect(page.locator(".memory")).to_be_visible()
        elsewhere = page.get_by_role("dialog").count()
        page.go_back()
        expect(page.get_by_label("Say something …")).to_be_visible()
        again = page.get_by_role("dialog").count()

    assert (elsewhere, again) == (0, 0)
    assert complaints == []


def test_memory_heading_is_not_truncated_on_a_phone_on_the_first_day(
    browser: Browser, program: Program
) -> None:
    """How much is new stands on one line, and below it why the days cannot be turned yet."""
    size = {"width": 390, "height": 780}
    with opened(browser, link := new_link(program), viewport=size) as (page, _):
        say(page, "Remember that the ladder is in the shed.")
        page.goto(f"{link.partition('/#')[0]}/memory")
        new = box_of(page.locator(".slider-told .meta"))
        why = box_of(page.get_by_text("From the second day on"))

    assert new["height"] < LINE_PX
    assert why["width"] > size["width"] / 2


def test_rows_that_only_repeat_a_message_are_folded(browser: Browser, program: Program) -> None:
    """What says something stands above them; they open, and can be called wrong there, too."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "My dog is called Rufus.")
        say(page, "I have been playing the cello since I was nine")
        learned = page.get_by_role("complementary", name="What I learned")
        learned.get_by_role("button", name="Read it now").click()
        expect(learned.locator("li", has_text="Rufus").first).to_be_visible()
        quote = learned.locator("li", has_text="cello")
        expect(quote).to_be_hidden()
        learned.get_by_text("Kept in your own words (1)").click()
        assert quote.inner_text().count("playing the cello") == 1
        name = quote.locator(".deed-name").first
        expect(name).to_have_css("visibility", "hidden")
        quote.get_by_role("button", name="keep").hover()
        expect(name).to_have_css("visibility", "visible")
        quote.get_by_role("button", name="wrong").click()
        quote.get_by_role("button", name="undo").click()
        expect(quote.get_by_role("button", name="wrong")).to_be_visible()

    assert complaints == []


def test_memory_on_a_phone_begins_with_what_is_known(browser: Browser, program: Program) -> None:
    """Its title takes one line; the ways to changes and moods come behind the portrait."""
    size = {"width": 390, "height": 780}
    with opened(browser, link := new_link(program), viewport=size) as (page, _):
        say(page, "My name is Hester and I live in Bedminster.")
        page.goto(f"{link.partition('/#')[0]}/memory")
        title = box_of(page.get_by_role("heading", name="What I know about you"))
        links = page.locator(".memory-head a").count()

    assert title["height"] < LINE_PX
    assert links == 0


def test_microphone_button_without_transcriber_explains_and_links_to_settings(
    browser: Browser, program: Program
) -> None:
    """Nobody listens, and where one chooses who does; before it is pressed, too."""
    with opened(browser, new_link(program)) as (page, complaints):
        button = page.get_by_role("button", name="Say it aloud")
        hint = button.get_attribute("title") or ""
        button.click()
        expect(page.get_by_role("alert")).to_contain_text("Choose a transcription model")
        page.get_by_role("link", name="Choose who listens").click()
        expect(page.get_by_role("heading", name="Voice")).to_be_in_viewport()

    assert hint.startswith("Voice isn't set up yet")
    assert complaints == []


def test_drafted_core_blocks_are_scrolled_into_view(browser: Browser, program: Program) -> None:
    """In the first run: the lines that one is to decide about do not lie below the edge."""
    size = {"width": 1100, "height": 640}
    with opened(browser, link := new_link(program), viewport=size) as (page, complaints):
        page.get_by_label("Say something …").wait_for()
        page.goto(f"{link.partition('/#')[0]}/welcome")
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("radio", name="Describe someone").check()
        page.get_by_label("A description of me").fill(
            "You are Mira. You are calm, and you like rivers. Talk in short sentences."
        )
        page.get_by_role("button", name="Draft it without a model").click()
        expect(page.locator(".draft .parcel").first).to_be_in_viewport()

    assert complaints == []


@pytest.mark.parametrize("width", [320, 390, 768, 1280])
def test_five_places_are_whole_on_every_width(
    browser: Browser, program: Program, width: int
) -> None:
    """Each name is read whole on one line; import and forgetting are reached from Settings."""
    size = {"width": width, "height": 780}
    with opened(browser, new_link(program), viewport=size) as (page, complaints):
        names = page.get_by_role("navigation", name="Places").get_by_role("link")
        expect(names).to_have_text(["Chat", "Memory", "People", "Days", "Settings"])
        broken = page.locator(".places span").evaluate_all(
            "all => all.filter(e => e.scrollWidth > e.clientWidth || e.offsetHeight > 28).length"
        )
        for place in ("Import & export", "Forget"):
            go_to_settings(page, place)
            expect(page.get_by_role("heading", name=place, exact=False).first).to_be_visible()
            expect(page.locator(".places [aria-current]")).to_have_text("Settings")

    assert broken == 0
    assert complaints == []


def test_chat_takes_few_requests_and_bytes_and_none_of_its_files_again(
    browser: Browser, program: Program
) -> None:
    """Counted until one can write, with all that a talk that is there already needs."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "The stairs **creak** at night.")
        page.context.new_cdp_session(page).send("Network.clearBrowserCache")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        with page.expect_response("**/chat/events?*"):
            page.goto(page.url)
        expect(page.get_by_label("Say something …")).to_be_focused()
        page.locator(".theirs .bubble").last.wait_for()
        requests = [*asked]
        cold = page.evaluate(WEIGHED)
        page.goto(page.url)
        page.locator(".theirs .bubble").last.wait_for()
        warm = page.evaluate(WEIGHED)
    files = {each for each, _ in cold if "/static/" in each}

    assert 5 < len(requests) <= MOST_REQUESTS
    assert 50_000 < sum(size for _, size in cold) <= MOST_BYTES
    assert [each for each, size in warm if each in files and size] == []
    assert all("/static/v/" in each for each in files)
    assert complaints == []


def test_window_itself_does_not_scroll(browser: Browser, program: Program) -> None:
    """What only a screen reader says makes the page no longer."""
    beyond = "() => document.documentElement.scrollHeight - innerHeight"
    with opened(browser, new_link(program)) as (page, complaints):
        expect(page.get_by_label("Say something …")).to_be_visible()
        in_chat = page.evaluate(beyond)
        go_to_settings(page)
        expect(page.locator(".settings")).to_be_visible()
        in_settings = page.evaluate(beyond)

    assert (in_chat, in_settings) == (0, 0)
    assert complaints == []
