"""Where whoever comes for the first time might stumble: in the first run, over an old chat, in the
talk that holds it, over what was called wrong too soon, in a language of their own.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import go_to_forget, go_to_import, new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
CHAT = "\n".join(
    [
        "03/05/2024, 18:29 - Messages and calls are end-to-end encrypted.",
        "03/05/2024, 18:30 - Ana: We moved to Lisbon!",
        "03/05/2024, 18:31 - Nora Hughes: I work at the bakery on Park Street.",
        *[
            f"03/05/2024, 18:{minute} - Ana: The bread of minute {minute}."
            for minute in range(32, 45)
        ],
    ]
)
DESCRIBED = "Mira is a retired carpenter from Cork. She is dry and patient."
CHINESE = "() => localStorage.setItem('language', 'zh')"
UNKNOWN = """async () => {
  const { use } = await import(document.querySelector("script").src);
  const { request } = use("js/api.js");
  return request("/memories/0a0a0a0a").catch((problem) => problem.message);
}"""
ONE_DAY = """async () => {
  const main = document.querySelector("script").src;
  const { formatOwnTime } = await import(new URL("memory/labels.js", main));
  const [from, until] = ["2025-05-06T00:00:00+00:00", "2025-05-06T23:59:59.999999+00:00"];
  return formatOwnTime({ kind: "event", happened_at: from, until_at: until });
}"""

DUE = """async () => {
  const main = document.querySelector("script").src;
  const { formatOwnTime } = await import(new URL("memory/labels.js", main));
  const due_at = "2099-12-31T23:59:59+00:00";
  const due = (text) => formatOwnTime({ kind: "expectation", due_at, text });
  return [due("Coming up (December 2099): “my exam”"), due("Promised to pay (31 December 2099).")];
}"""
TOLD_IN_UTC = """async () => {
  const main = document.querySelector("script").src;
  const { findDeadline, formatOwnTime } = await import(new URL("memory/labels.js", main));
  const promise = { kind: "commitment", text: "Promised.", zone: "UTC" };
  const due = (due_at, grain = null) => formatOwnTime({ ...promise, due_at, grain });
  const end = "T23:59:59+00:00";
  return [
    due(`2099-12-04${end}`),
    due(`2099-02-28${end}`, "month"),
    due(`2099-12-31${end}`, "year"),
    due("2099-12-05T18:20:00+00:00"),
    formatOwnTime({ kind: "event", happened_at: "2026-11-27T10:15:00+00:00", zone: "UTC" }),
    new Date(findDeadline(`2099-12-04${end}`, null)).getDate(),
  ];
}"""


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """A process that serves somebody new."""
    program = on_any_port(Program(data=tmp_path / "data"))
    with served(program):
        yield program


def home_of(page: Page) -> str:
    """Where the page is, without a place."""
    return "/".join(page.url.split("/")[:3])


def brings(page: Page, tmp_path: Path) -> None:
    """Hand over an old chat with Ana."""
    chat = tmp_path / "WhatsApp Chat with Ana.txt"
    chat.write_text(CHAT, "utf-8")
    page.goto(f"{home_of(page)}/bring")
    page.locator("input[type=file]").set_input_files(chat)


def brings_in(page: Page, tmp_path: Path) -> None:
    """Hand it over as Nora, and have it read."""
    brings(page, tmp_path)
    page.get_by_role("radio", name="Nora Hughes").check()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator(".parcel")).to_contain_text("messages are new")


def test_first_run_description_is_never_silently_lost(browser: Browser, program: Program) -> None:
    """Also where one writes it before the house has told what one may start from. Next says that it
    is not taken yet; whoever comes back finds it as they left it.
    """
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    with opened(browser, new_link(program)) as (page, complaints):
        page.route("**/api/v1/persona", hold)
        page.get_by_role("link", name="Set up (1 minute)").click()
        page.get_by_role("button", name="Begin").click()
        page.get_by_role("radio", name="Describe someone").check()
        page.get_by_label("A description of me").fill(DESCRIBED)
        held[0].continue_()
        page.unroute("**/api/v1/persona")
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_role("alert")).to_contain_text("not taken yet")
        page.get_by_role("button", name="Take it as it stands").click()
        expect(page.get_by_role("alert")).to_have_count(0)
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_text("Step 2 of 2")).to_be_visible()
        page.get_by_role("button", name="Back").click()
        expect(page.get_by_role("radio", name="Describe someone")).to_be_checked()
        expect(page.get_by_label("Who I am, in your words")).to_have_value(DESCRIBED)
    persona = program.done("core", "persona").stdout

    assert DESCRIBED in persona
    assert complaints == []


def test_accepted_line_about_the_person_is_not_overwritten_by_next(
    browser: Browser, program: Program
) -> None:
    """Nor is what was written beside it before; both are shown, and both are kept."""
    with opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="Set up (1 minute)").click()
        page.get_by_role("button", name="Begin").click()
        page.get_by_label("Whatever helps").fill("Call me Nora.")
        page.get_by_role("radio", name="Describe someone").check()
        page.get_by_label("A description of me").fill("I live in Porto.")
        page.get_by_role("button", name="Draft it without a model").click()
        page.get_by_role("button", name="Take it", exact=True).click()
        expect(page.get_by_label("Whatever helps")).to_have_value(re.compile("Nora.*Porto", re.S))
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_text("Step 2 of 2")).to_be_visible()
    kept = program.done("core", "user").stdout

    assert "Call me Nora." in kept
    assert "Lives in Porto." in kept
    assert complaints == []


def test_companion_rename_appears_at_once_in_other_windows(
    browser: Browser, program: Program
) -> None:
    """In the first run, in Settings with an undo, at the command line; only the owner is asked."""
    program.done("core", "user", "I row.", "--person", "Omar", "--new-person")
    with opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="Set up (1 minute)").click()
        page.get_by_role("button", name="Begin").click()
        page.get_by_label("What should I be called?").fill("Mira")
        page.get_by_role("button", name="Next").click()
        expect(page.get_by_text("Step 2 of 2")).to_be_visible()
        page.goto(home_of(page))
        expect(page.get_by_role("heading", name="Mira")).to_be_visible()
        with opened(browser, new_link(program, person="Omar")) as (theirs, their_complaints):
            expect(theirs.get_by_role("heading", name="Mira")).to_be_visible()
            page.goto(f"{home_of(page)}/settings/character")
            field = page.get_by_label("Name", exact=True)
            field.fill("Vera")
            field.blur()
            expect(page.get_by_text("Name: saved.", exact=True)).to_be_visible()
            expect(theirs.get_by_role("heading", name="Vera")).to_be_visible()
            page.get_by_role("button", name="Undo").click()
            expect(theirs.get_by_role("heading", name="Mira")).to_be_visible()
            expect(field).to_have_value("Mira")
            program.done("core", "name", "Nela")
            expect(theirs.get_by_role("heading", name="Nela")).to_be_visible()
            expect(field).to_have_value("Nela")
            theirs.goto(f"{home_of(theirs)}/settings/character")
            expect(theirs.get_by_label("Who I am")).to_be_visible()
            expect(theirs.get_by_label("Name", exact=True)).to_have_count(0)

    assert complaints == their_complaints == []


def test_import_preselects_own_speaker_by_name_or_requires_a_choice(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """Without a name it must be said first; with one, it is chosen; the zone is one's own."""
    with opened(browser, new_link(program)) as (page, complaints):
        brings(page, tmp_path)
        go = page.get_by_role("button", name="Import", exact=True)
        expect(go).to_be_disabled()
        expect(page.get_by_role("radio", checked=True)).to_have_count(0)
        page.get_by_role("radio", name="Ana").check()
        expect(go).to_be_enabled()
        page.goto(f"{home_of(page)}/settings")
        page.get_by_label("Your name").fill("Nora")
        page.get_by_label("Your name").blur()
        page.get_by_label("Time zone").select_option("Asia/Tokyo")
        expect(page.get_by_role("status").filter(has_text="saved")).to_be_visible()
        page.goto(f"{home_of(page)}/bring")
        page.get_by_role("button", name="Not now").click()
        brings(page, tmp_path)
        expect(page.get_by_role("radio", name="Nora Hughes")).to_be_checked()
        expect(page.get_by_label("These times are in")).to_have_value("Asia/Tokyo")
        expect(page.locator(".parcel")).to_contain_text("16 messages in 1 talk, 3 May 2024")

    assert complaints == []


def test_imported_messages_show_their_speaker_and_notices_have_none(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """Nothing that Ana wrote looks as if the companion had said it."""
    with opened(browser, new_link(program)) as (page, complaints):
        brings_in(page, tmp_path)
        page.get_by_role("link", name="Chat").click()
        expect(page.locator(".belief").first).to_be_visible()
        ana = page.locator(".said", has_text="We moved to Lisbon!")
        expect(ana.locator(".speaker")).to_be_visible()
        expect(ana.locator(".speaker")).to_contain_text("Ana")
        expect(ana.locator(".channel")).to_have_text("WhatsApp")
        notice = page.locator(".said", has_text="end-to-end encrypted")
        expect(notice.locator(".bubble")).to_have_count(0)
        page.keyboard.press("Control+k")
        page.keyboard.type("bread")
        expect(page.locator(".found li")).to_have_count(13)
        wide = page.locator(".talk-search").evaluate("e => e.scrollWidth - e.clientWidth")

    assert wide == 0
    assert complaints == []


def test_slash_why_opens_the_receipt_and_is_not_stored(browser: Browser, program: Program) -> None:
    """The command that the companion names is not kept as something said."""
    with opened(browser, new_link(program)) as (page, complaints):
        page.get_by_label("Say something …").fill("/why")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_contain_text("no reply yet")
        expect(page.get_by_role("dialog")).to_be_focused()
        page.keyboard.press("Escape")
        say(page, "My cat is called Miso.")
        page.get_by_role("button", name="Read it now").click()
        expect(page.locator(".belief", has_text="Miso").first).to_be_visible()
        say(page, "What is my cat's name?")
        page.get_by_label("Say something …").fill("/why")
        page.keyboard.press("Enter")
        expect(page.get_by_role("dialog")).to_contain_text("Because …")
        expect(page.get_by_role("dialog").locator("q").first).to_contain_text("Miso")
        said, breaks = page.locator(".mine").count(), page.get_by_role("separator").count()
        today = page.evaluate("new Date().toLocaleDateString('sv')")
        page.goto(f"{home_of(page)}/days/{today}")
        expect(page.locator(".day-talk", has_text="4 messages")).to_have_count(1)

    assert (said, breaks) == (2, 0)
    assert complaints == []


def test_link_to_imported_beliefs_clears_an_old_search(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """Not what an old search left in the field finds."""
    with opened(browser, new_link(program)) as (page, complaints):
        page.get_by_role("link", name="Memory", exact=True).click()
        page.get_by_label("Search what I know, and what was said").fill("zzzqqq")
        expect(page.get_by_text("Nothing found for “zzzqqq”.")).to_be_visible()
        go_to_import(page)
        chat = tmp_path / "WhatsApp Chat with Ana.txt"
        chat.write_text(CHAT, "utf-8")
        page.locator("input[type=file]").set_input_files(chat)
        page.get_by_role("radio", name="Nora Hughes").check()
        page.get_by_role("button", name="Import", exact=True).click()
        page.get_by_role("link", name="See what I learned").click()
        expect(page.get_by_label("Search what I know, and what was said")).to_have_value("")
        expect(page.get_by_role("combobox", name="Order")).to_have_value("learned")
        expect(page.get_by_text("Nothing found for “zzzqqq”.")).to_have_count(0)

    assert complaints == []


def test_undo_of_a_rejected_belief_restores_it_in_place_by_keyboard(
    browser: Browser, program: Program
) -> None:
    """The way back stands in its place, by keyboard too, however far down that is."""
    with opened(browser, new_link(program), viewport={"width": 1280, "height": 500}) as (page, _):
        for number in range(6):
            say(page, f"Remember that box {number} is in the cellar.")
        rows = page.locator(".learned li")
        expect(rows).to_have_count(6)
        last = rows.last
        wrong = last.get_by_role("button", name="wrong")
        wrong.scroll_into_view_if_needed()
        wrong.press("Enter")
        undo = page.get_by_role("button", name="undo")
        expect(undo).to_be_focused()
        expect(undo).to_be_in_viewport()
        undo.press("Enter")
        back = page.locator(".belief", has_text="box 0 is in the cellar")
        expect(back.get_by_role("button", name="keep")).to_be_visible()
        expect(page.locator(".taken-back")).to_have_count(0)


def test_forget_page_finds_by_words_and_lists_everything_affected(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """What is not beside a message or a belief begins under Forget; none of it is only counted."""
    with opened(browser, new_link(program)) as (page, complaints):
        brings_in(page, tmp_path)
        go_to_forget(page)
        page.get_by_label("Words, or something I know").check()
        page.get_by_label("Some of the words").fill("bakery")
        page.get_by_role("button", name=re.compile("^this: Works? at")).first.click()
        expect(page.locator(".follows")).to_contain_text("What I believe goes (1)")
        expect(page.get_by_label("Keep what I learned from it")).to_have_count(0)
        page.get_by_role("button", name="this: I work at the bakery on Park Street.").first.click()
        expect(page.locator(".chosen")).to_contain_text("bakery")
        expect(page.locator(".follows")).to_contain_text("bakery")
        page.get_by_label("An import").check()
        page.locator(".chooser select").select_option(index=1)
        words = page.locator(".follows section", has_text="Words that go (16)")
        expect(words.locator("li")).to_have_count(8)
        words.get_by_role("button", name="show them").click()
        expect(words.locator("li")).to_have_count(16)

    assert complaints == []


def test_receipt_proof_and_presets_have_no_english_on_a_chinese_page(
    browser: Browser, program: Program
) -> None:
    """What comes from the house as a cause or a remark is told in the page's language."""
    with opened(browser, new_link(program)) as (page, complaints):
        say(page, "我对花生过敏。")
        say(page, "今天下雨了。")
        say(page, "我对什么过敏？")
        page.evaluate(CHINESE)
        page.reload()
        page.get_by_role("button", name="你为什么这么说？").last.click()
        drawer = page.get_by_role("dialog")
        drawer.locator("summary", has_text="也考虑过").click()
        reasons = drawer.locator("details li > p.meta")
        expect(reasons.first).to_be_visible()
        causes = reasons.all_inner_texts()
        page.goto(f"{home_of(page)}/forget")
        page.get_by_label("全部").check()
        page.locator(".do-forget").click()
        expect(page.locator(".proof h2")).to_have_text("已经没有了")
        proof = page.locator(".proof .meta").all_inner_texts()
        page.goto(f"{home_of(page)}/welcome")
        page.get_by_role("button", name="开始", exact=True).click()
        expect(page.locator(".start")).to_have_count(6)
        starts = page.locator(".start").all_inner_texts()
        told = page.evaluate(UNKNOWN)

    assert told == "没有这条记忆，可能已经被忘掉了。"
    assert causes
    assert not any("you said" in each or "it holds" in each for each in causes)
    assert not any("What I cannot delete" in each for each in proof)
    assert any("无法删除" in each for each in proof)
    assert not any("quiet and attentive" in each for each in starts)
    assert [each for each in complaints if "0a0a0a0a" not in each] == []


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York"])
def test_one_day_event_keeps_its_date_in_another_browser_time_zone(
    browser: Browser, program: Program, zone: str
) -> None:
    """Not on two, nor on the day before."""
    with opened(browser, new_link(program), timezone_id=zone) as (page, _):
        assert page.evaluate(ONE_DAY) == "6 May 2025"


def test_due_date_known_to_the_month_is_shown_without_a_day(
    browser: Browser, program: Program
) -> None:
    """As far as its words tell; where they name the day, it is told."""
    with opened(browser, new_link(program), timezone_id="UTC") as (page, complaints):
        due = page.evaluate(DUE)

    assert due == ["December 2099", "31 Dec 2099"]
    assert complaints == []


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York"])
def test_said_times_are_shown_as_said_in_every_browser_time_zone(
    browser: Browser, program: Program, zone: str
) -> None:
    """A day is over when it ends there; a clock time tells its zone where clocks differ."""
    with opened(browser, new_link(program), timezone_id=zone) as (page, complaints):
        told = page.evaluate(TOLD_IN_UTC)

    where = "" if zone == "UTC" else " (UTC)"
    assert told == [
        "due 4 Dec 2099",
        "due February 2099",
        "due 2099",
        f"due 5 Dec 2099, 18:20{where}",
        "27 Nov 2026",
        4,
    ]
    assert complaints == []
