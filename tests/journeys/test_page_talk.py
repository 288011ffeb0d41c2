"""The talk in a browser: streamed, stopped, tried again, searched, never lost."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Browser, Error, Locator, Page, Route, expect

from oldfriend.config.settings import load_settings
from oldfriend.domain.clock import DAY, MINUTE
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.inbound.accept import open_local_chat
from oldfriend.lang.command_menu import OFFERED_COMMANDS
from oldfriend.memory.message_log import WriteTarget, write_messages
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.runtime.wiring import open_app
from tests.cli.serving import Running, on_any_port, served
from tests.fakes.slow_model import SlowModel, slow_model
from tests.journeys.browsers import NEEDS_CHROMIUM
from tests.journeys.pages import let_in, new_link, opened
from tests.processes import Program, kill

pytestmark = NEEDS_CHROMIUM
MANY = 20_000
SAY = "Say something …"


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """A process that serves, and whom it asks."""

    program: Program
    running: Running
    model: SlowModel


def settings_of(model: SlowModel) -> str:
    """Those of somebody with a model."""
    return f"""[models]
main = ["slow:one"]
[limits]
messages_per_minute = 0
lease_s = 2.0
heartbeat_s = 0.3
[memory]
thinks = false
[providers.slow]
kind = "openai"
base_url = "{model.url}"
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """One process for those who do not kill it."""
    with slow_model() as model:
        program = on_any_port(Program(data=tmp_path_factory.mktemp("talk")))
        (program.data / "oldfriend.toml").write_text(settings_of(model))
        with served(program) as running:
            yield Home(program=program, running=running, model=model)


@pytest.fixture(autouse=True)
def calm(request: pytest.FixtureRequest) -> None:
    """The model is quick and well before each of these."""
    if "home" in request.fixturenames:
        model = request.getfixturevalue("home").model
        model.says, model.pause_s, model.fails = "All is well here.", 0.01, False


def write(page: Page, text: str) -> None:
    """Write something and send it."""
    page.get_by_label(SAY).fill(text)
    page.keyboard.press("Enter")


def whole(page: Page) -> Locator:
    """The replies that are whole."""
    return page.locator(".theirs .bubble:not(:has(.caret))")


def test_streamed_reply_is_stopped_and_retried(browser: Browser, home: Home) -> None:
    """Stopped in the middle what was written stays in sight, unless something is forgotten while
    the page is away; asked again it comes whole, once.
    """
    home.model.says, home.model.pause_s = "alpha " * 200 + "omega", 0.05
    with opened(browser, new_link(home.program)) as (page, complaints):
        write(page, "Tell me something long.")
        expect(page.locator(".caret")).to_be_visible()
        log = page.get_by_role("log", name="Conversation")  # its end is read aloud, not each word
        expect(log.locator("[aria-busy=true]")).to_contain_text("alpha")
        page.get_by_role("button", name="Stop").click()
        expect(page.get_by_text("You stopped this reply.")).to_be_visible()
        expect(page.locator(".caret")).to_have_count(0)
        expect(page.locator(".is-partial")).to_contain_text("alpha alpha")
        page.get_by_role("link", name="Memory").click()
        page.get_by_role("link", name="Chat").click()
        expect(page.locator(".is-partial")).to_contain_text("alpha alpha")
        page.reload()
        expect(page.get_by_text("You stopped this reply.")).to_be_visible()
        expect(page.locator(".is-partial")).to_contain_text("alpha alpha")
        here = page.url
        page.goto("about:blank")
        home.program.done("say", "The lighthouse is green.")
        home.program.done("forget", "--about", "lighthouse", "--yes")
        page.goto(here)
        expect(page.get_by_text("You stopped this reply.")).to_be_visible()
        expect(page.locator(".is-partial")).to_have_count(0)
        before = whole(page).count()
        home.model.says, home.model.pause_s = "Short, then.", 0.01
        page.get_by_role("button", name="try again").click()
        expect(whole(page).filter(has_text="Short, then.")).to_have_count(1)
        expect(page.get_by_text("You stopped this reply.")).to_have_count(0)

        assert whole(page).count() == before + 1
        assert page.locator(".mine", has_text="Tell me something long.").count() == 1
    assert complaints == []


def test_reply_arriving_before_the_retry_response_ends_the_pending_state(
    browser: Browser, home: Home
) -> None:
    """Asked for again it comes whole, and then the answer to the asking: nothing waits any more."""
    home.model.says, home.model.pause_s = "alpha " * 200, 0.05
    late: list[tuple[Route, APIResponse]] = []
    with opened(browser, new_link(home.program)) as (page, complaints):
        write(page, "Tell me something long once more.")
        expect(page.locator(".caret")).to_be_visible()
        page.get_by_role("button", name="Stop").click()
        again = page.locator(".ending").last.get_by_role("button", name="try again")
        home.model.says, home.model.pause_s = "Quick as a flash.", 0.01
        page.route("**/retry", lambda route: late.append((route, route.fetch())))
        again.click()
        expect(whole(page).last).to_contain_text("Quick as a flash.")
        for route, answer in late:
            route.fulfill(response=answer)
        page.wait_for_timeout(300)
        expect(page.get_by_role("button", name="Stop")).to_have_count(0)

        assert len(late) == 1
    assert complaints == []


def test_hidden_page_reloads_after_another_person_signed_in(browser: Browser, home: Home) -> None:
    """The page that was out of sight is read anew as theirs; nothing of the first stays on it."""
    home.program.done("--person", "Omar", "say", "--new-person", "This is Omar's.")
    with opened(browser) as (page, _):
        page.clock.install()
        page.goto(new_link(home.program))
        write(page, "This is the owner's.")
        expect(whole(page).last).to_contain_text("All is well here.")
        page.evaluate(HIDE, True)
        page.clock.fast_forward(61_000)
        page.wait_for_timeout(300)
        other = page.context.new_page()
        let_in(other, new_link(home.program, person="Omar"))
        expect(other.get_by_text("This is Omar's.")).to_be_visible()
        with suppress(Error):  # loading anew may end the evaluation
            page.evaluate(HIDE, False)
        expect(page.get_by_text("This is Omar's.")).to_be_visible()
        expect(page.get_by_text("This is the owner's.")).to_have_count(0)


HIDE = """isHidden => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => isHidden });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
"""As a browser does when its window is covered, or shown again."""


def test_failed_reply_is_retried_with_one_click_and_has_a_receipt(
    browser: Browser, home: Home
) -> None:
    """The trouble is told in words; once the model is back, one click is enough."""
    home.model.fails = True
    with opened(browser, new_link(home.program)) as (page, complaints):
        write(page, "Are you there?")
        again = page.get_by_role("button", name="try again")
        again.wait_for(timeout=30_000)
        home.model.fails = False
        again.click()
        expect(whole(page).last).to_contain_text("All is well here.")
        expect(again).to_have_count(0)
        page.get_by_role("button", name="Why did you say that?").last.click()
        drawer = page.get_by_role("dialog")
        drawer.get_by_text("What the model was told, part by part").click()
        expect(drawer.locator(".sections tbody tr").first).to_be_visible()
        drawer.get_by_text("Technical details").click()
        expect(drawer).to_contain_text("slow:one")
        expect(drawer).to_contain_text("120 tokens in")
    assert complaints == []


def test_reply_is_completed_after_a_server_kill_mid_stream(
    browser: Browser, tmp_path: Path
) -> None:
    """The next process answers; nothing is said twice, what is typed meanwhile stays."""
    with slow_model() as model:
        model.says, model.pause_s = "beta " * 60 + "end", 0.1
        program = on_any_port(Program(data=tmp_path / "data"))
        program.data.mkdir()
        (program.data / "oldfriend.toml").write_text(settings_of(model))
        with served(program) as first, opened(browser, new_link(program)) as (page, _):
            write(page, "Count for me.")
            expect(page.locator(".caret")).to_be_visible()
            kill(first.process)
            expect(page.locator(".lost")).to_be_visible()
            page.get_by_label(SAY).fill("half a tho")
            model.says, model.pause_s = "Counted to the end.", 0.01
            again = replace(
                program,
                environment={
                    **program.environment,
                    "OLDFRIEND_SERVE_PORT": str(first.port),
                },
            )
            with served(again):
                expect(whole(page).last).to_contain_text("Counted to the end.", timeout=60_000)
                expect(page.locator(".lost")).to_have_count(0)
                expect(page.locator(".caret")).to_have_count(0)

                assert page.locator(".mine").count() == 1
                assert page.get_by_text("Counted to the end.").count() == 1
                assert page.get_by_label(SAY).input_value() == "half a tho"


MESSAGES = """async () => {
  const { token } = JSON.parse(localStorage.getItem("oldfriend-session"));
  const answer = await fetch("/api/v1/chat/messages", { headers: { "X-CSRF-Token": token } });
  return answer.text();
}"""
"""What the page may read of the talk, as whoever it is signed in as."""


def test_unsent_message_is_kept_for_its_author_only(browser: Browser, home: Home) -> None:
    """Who else signs in here neither sends nor sees them; whoever wrote them finds them again."""
    home.program.done("--person", "Omar", "say", "--new-person", "hello")
    context = browser.new_context(locale="en-GB")
    page = context.new_page()

    def refuse(route: Route) -> None:
        route.abort() if route.request.method == "POST" else route.continue_()

    page.goto(new_link(home.program))
    page.route("**/api/v1/chat/messages", refuse)
    write(page, "for my eyes only")
    page.get_by_label(SAY).fill("half of mine")
    expect(page.locator(".is-pending")).to_contain_text("for my eyes only")
    other = context.new_page()
    let_in(other, new_link(home.program, person="Omar"))
    expect(other.get_by_label(SAY)).to_have_value("")
    expect(other.locator(".is-pending")).to_have_count(0)
    page.unroute("**/api/v1/chat/messages")
    page.reload()
    expect(page.get_by_label(SAY)).to_have_value("")
    page.wait_for_timeout(500)
    of_omar = page.evaluate(MESSAGES)
    let_in(page, new_link(home.program))
    expect(page.locator(".mine:not(.is-pending)", has_text="for my eyes only")).to_have_count(1)
    expect(page.get_by_label(SAY)).to_have_value("half of mine")
    page.get_by_label(SAY).fill("")
    context.close()

    assert '"items":' in of_omar
    assert "for my eyes only" not in of_omar


def test_sent_message_appears_at_once_and_only_once_on_a_slow_network(
    browser: Browser, home: Home
) -> None:
    """With two seconds to the house what one writes stands there at once, and never twice."""
    with opened(browser, new_link(home.program)) as (page, complaints):
        expect(page.get_by_label(SAY)).to_be_focused()
        network = page.context.new_cdp_session(page)
        network.send(
            "Network.emulateNetworkConditions",
            {
                "offline": False,
                "latency": 2000,
                "downloadThroughput": 20_000,
                "uploadThroughput": 20_000,
            },
        )
        page.evaluate(COUNT_MOST, "slowly but surely")
        write(page, "slowly but surely")
        written = page.locator(".mine", has_text="slowly but surely")
        expect(written.first).to_be_visible(timeout=1_500)
        page.get_by_label(SAY).fill("and on")
        expect(page.locator(".mine:not(.is-pending)", has_text="slowly but surely")).to_have_count(
            1
        )
        expect(whole(page).last).to_contain_text("All is well here.")
        expect(written).to_have_count(1)

        assert page.evaluate("most") == 1
        assert page.get_by_label(SAY).input_value() == "and on"
        page.get_by_label(SAY).fill("")
    assert complaints == []


COUNT_MOST = """text => {
  window.most = 0;
  new MutationObserver(() => {
    const written = [...document.querySelectorAll(".mine")];
    const same = written.filter((each) => each.textContent.includes(text));
    window.most = Math.max(window.most, same.length);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
"""Count how often a text stands on the page at most."""


async def talk_long(folder: Path, count: int = MANY) -> None:
    """Twenty thousand messages over half a year, or fewer, written at once."""
    async with open_app(load_settings({}, data=str(folder))) as app:
        chat_context = await open_local_chat(
            app.db, app.clock, app.settings, person=None, channel="web"
        )
        began = app.clock() - 190 * DAY
        async with app.db.begin_write() as tx:
            for day in range(count // 200):
                at = began + day * DAY
                place = WriteTarget(
                    chat=chat_context.chat,
                    session=await ensure_open_session(tx, chat_context.chat, at),
                )
                await write_messages(
                    tx,
                    place,
                    [
                        UnloggedMessage(
                            role="person",
                            speaker="owner",
                            trust="person",
                            at=at + number * MINUTE,
                            text=f"Line {day * 200 + number} of the log." + " More." * (number % 9),
                        )
                        for number in range(200)
                    ],
                    now=at,
                    is_searchable=False,
                )


@pytest.fixture(scope="module")
def long_talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A process that serves a long talk."""
    program = on_any_port(Program(data=tmp_path_factory.mktemp("long")))
    (program.data / "oldfriend.toml").write_text("[memory]\nforms = false\n")
    with ThreadPoolExecutor() as beside:  # the browser's own loop runs in this thread
        beside.submit(asyncio.run, talk_long(program.data)).result()
    with served(program):
        yield program


def rows_in(page: Page) -> int:
    """How many rows stand in the document."""
    return page.locator("article, li, tr").count()


def test_long_chat_is_virtualized_and_keeps_the_scroll_position(
    browser: Browser, long_talk: Program
) -> None:
    """At most 200 rows at any time; one keeps one's place, and finds the way back to now."""
    with opened(browser, new_link(long_talk)) as (page, complaints):
        expect(page.get_by_text(f"Line {MANY - 1} of the log.")).to_be_visible()
        page.keyboard.press("Control+k")
        page.keyboard.type("line 4321 of")
        page.get_by_role("button", name="Line 4321 of the log.").click()
        found = page.get_by_text("Line 4321 of the log.")
        expect(found).to_be_in_viewport()
        rows = [rows_in(page)]
        talk = page.locator(".talk")
        for _ in range(40):
            talk.evaluate("e => e.scrollBy(0, -700)")
            page.wait_for_timeout(30)
            rows.append(rows_in(page))
        first = page.locator("article[id]").first.inner_text()
        shift = talk.evaluate(MEASURE)
        page.get_by_role("button", name="Back to now").click()
        expect(page.get_by_text(f"Line {MANY - 1} of the log.")).to_be_in_viewport()
        write(page, "I am back")
        expect(page.locator(".mine", has_text="I am back")).to_be_in_viewport()

    assert max(rows) <= 200
    assert int(first.split()[1]) < 4200
    assert shift < 2
    assert complaints == []


def test_scroll_position_in_old_messages_is_kept_and_new_ones_are_not_lost(
    browser: Browser, long_talk: Program
) -> None:
    """Whether settings change, or something is said while the newest page is on its way."""
    late: list[tuple[Route, APIResponse]] = []
    with opened(browser, new_link(long_talk)) as (page, complaints):
        expect(page.get_by_text(f"Line {MANY - 1} of the log.")).to_be_visible()
        page.keyboard.press("Control+k")
        page.keyboard.type("line 4321 of")
        page.get_by_role("button", name="Line 4321 of the log.").click()
        found = page.get_by_text("Line 4321 of the log.")
        expect(found).to_be_in_viewport()
        with page.expect_response("**/api/v1/state"):
            page.evaluate(CHOOSE)
        page.wait_for_timeout(300)
        expect(found).to_be_in_viewport()
        page.route(
            "**/chat/messages?limit=50", lambda route: late.append((route, route.fetch())), times=1
        )
        page.get_by_role("button", name="Back to now").click()
        page.wait_for_timeout(300)
        long_talk.done("say", "Said while you came back.")
        page.wait_for_timeout(500)
        for route, answer in late:
            route.fulfill(response=answer)
        expect(page.get_by_text("Said while you came back.")).to_be_visible()

        assert len(late) == 1
    assert complaints == []


CHOOSE = """async () => {
  const { use } = await import(document.querySelector("script").src);
  const { request } = use("js/api.js");
  const values = { "budget.background_per_day": 0.5 };
  await request("/settings", { method: "PATCH", json: { values } });
}"""
"""As the Settings place does."""

MEASURE = """async list => {
  const earlier = document.querySelector(".earlier");
  const first = [...list.querySelectorAll("article[id]")].find(
    each => each.getBoundingClientRect().bottom > list.getBoundingClientRect().top);
  const before = first.getBoundingClientRect().top;
  earlier?.click();
  await new Promise(done => setTimeout(done, 700));
  return Math.abs(document.getElementById(first.id).getBoundingClientRect().top - before);
}"""
"""How far the words before one's eyes move when earlier ones are read."""


MARKDOWN = """## A plan

Some **bold** words, *soft* ones and `code`:

- first
- second, see [the docs](https://example.org/docs)

| what | when |
| --- | --- |
| tea | four |

```py
print("<b>hello</b>")
```

<img src=x onerror="document.title='taken'"> [bad](javascript:alert(1)) ![seen](https://example.org/a.png)
"""


def test_markdown_of_a_reply_is_drawn_and_its_html_is_only_text(
    browser: Browser, home: Home
) -> None:
    """Lists, tables, code and links are elements; markup, scripts and pictures are none."""
    home.model.says = MARKDOWN
    link = new_link(home.program)
    with opened(browser, link, permissions=["clipboard-read", "clipboard-write"]) as (page, bad):
        write(page, "How do I begin? See https://example.org/begin.")
        reply = whole(page).last
        expect(reply.locator("strong")).to_have_text("bold")
        expect(reply.locator("em")).to_have_text("soft")
        expect(reply.locator("li")).to_have_count(2)
        expect(reply.locator("td")).to_have_text(["tea", "four"])
        expect(reply.locator("pre")).to_have_text('print("<b>hello</b>")')
        expect(reply.get_by_role("heading", name="A plan")).to_be_visible()
        links = reply.get_by_role("link").evaluate_all("all => all.map((each) => each.href)")
        assert links == ["https://example.org/docs", "https://example.org/a.png"]
        assert (
            reply.get_by_role("link").first.get_attribute("rel") == "noopener noreferrer nofollow"
        )
        assert reply.locator("img, script, [onerror]").count() == 0
        expect(reply).to_contain_text("<img src=x")
        mine = page.locator(".mine").last
        expect(mine.get_by_role("link")).to_have_attribute("href", "https://example.org/begin")
        reply.locator(".code").hover()
        reply.get_by_role("button", name="copy").click()
        expect(reply.get_by_role("button", name="copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == 'print("<b>hello</b>")'
        assert page.title() != "taken"
    assert bad == []


PASSWORD = r"My wifi password is a*b\_c*d~e~f&amp;g and `x`."


def test_quoted_words_are_shown_as_they_were_said(browser: Browser, home: Home) -> None:
    """What answers without a model quotes; a password with marks of Markdown stays right."""
    with opened(browser, new_link(home.program)) as (page, complaints):
        write(page, PASSWORD)
        expect(whole(page).last).to_contain_text("All is well here.")
        home.model.fails = True
        write(page, "What is my wifi password?")
        expect(whole(page).last).to_contain_text(PASSWORD)
        page.reload()
        expect(whole(page).last).to_contain_text(PASSWORD)
        assert whole(page).last.locator("em, code, del, strong").count() == 0
    assert complaints == []


LINKS = """[your bank](https://evil.example/login) [example.org](https://example.org/)
[x](http:/forget/all) [a\u202eb](https://example.org/c) <https://example.org/d>
"""


def test_link_tells_where_it_leads(browser: Browser, home: Home) -> None:
    """A label that is no address has one beside it, turns nothing around, and leads out of here."""
    home.model.says = LINKS
    with opened(browser, new_link(home.program)) as (page, complaints):
        write(page, "Some links?")
        reply = whole(page).last
        expect(reply).to_contain_text("your bank (evil.example/login)")
        links = reply.get_by_role("link").evaluate_all("all => all.map((each) => each.href)")
        assert links == [
            "https://evil.example/login",
            "https://example.org/",
            "https://example.org/c",
            "https://example.org/d",
        ]
        expect(reply).to_contain_text("a\ufffdb (example.org/c)")
        assert reply.locator(".address").count() == 2
    assert complaints == []


def test_message_is_asked_again_as_it_was_and_in_other_words(browser: Browser, home: Home) -> None:
    """What was said stays as it was; it is said anew, and answered."""
    with opened(browser, new_link(home.program)) as (page, complaints):
        write(page, "What is a good tea?")
        expect(whole(page).last).to_contain_text("All is well here.")
        mine = page.locator(".mine", has_text="What is a good tea?")
        replies = whole(page).count()
        mine.hover()
        mine.get_by_role("button", name="ask again").click()
        expect(mine).to_have_count(2)
        expect(whole(page)).to_have_count(replies + 1)
        mine.last.hover()
        mine.last.get_by_role("button", name="edit").click()
        page.get_by_role("textbox", name="edit").fill("What is a good coffee?")
        page.get_by_role("button", name="Ask again with this").click()
        expect(page.locator(".mine", has_text="What is a good coffee?")).to_have_count(1)
        expect(whole(page)).to_have_count(replies + 2)
        expect(mine).to_have_count(2)
    assert complaints == []


ORDER = """() => {
    const all = [...document.querySelectorAll(".lines article")].map((each) => each.innerText);
    const first = all.findLastIndex((each) => each.includes("first thing"));
    return all.slice(first).map((each) => each.trim().split(/\\s/)[0]); }"""
"""The first words of what stands from the first thing on."""


def test_message_sent_while_a_reply_streams_stays_below_it(browser: Browser, home: Home) -> None:
    """From the first word of the reply to its last nothing changes its place; nor read anew."""
    home.model.says, home.model.pause_s = "alpha " * 200 + "omega", 0.05
    with opened(browser, new_link(home.program)) as (page, complaints):
        page.get_by_label(SAY).wait_for()
        page.wait_for_timeout(1_000)  # what was said in tests before is read
        before = whole(page).count()
        write(page, "Tell me of the first thing.")
        expect(page.locator(".caret")).to_be_visible()
        write(page, "And of the second thing.")
        second = page.locator(".mine:not(.is-pending)", has_text="And of the second thing.")
        expect(second).to_be_visible()
        expect(page.locator(".caret")).to_be_visible()
        during = page.evaluate(ORDER)
        expect(page.locator(".theirs", has_text="omega").first).to_be_visible()
        home.model.says, home.model.pause_s = "beta", 0.01  # where the second is not asked yet
        expect(whole(page)).to_have_count(before + 2)
        after = page.evaluate(ORDER)
        page.reload()
        expect(whole(page)).to_have_count(before + 2)
        anew = page.evaluate(ORDER)

    assert during[:3] == ["Tell", "alpha", "And"]
    assert after[:3] == during[:3]
    assert len(after) == 4
    assert anew == after
    assert complaints == []


TOLD_BY_THE_TEST = """
const fetched = window.fetch;
window.fetch = async (url, how) => {
  if (!String(url).includes("/events")) return fetched(url, how);
  const encoder = new TextEncoder();
  return new Response(new ReadableStream({ start: (stream) => { window.tell = (topic, data) =>
    stream.enqueue(encoder.encode(`event: ${topic}\\ndata: ${JSON.stringify(data)}\\n\\n`)); } }));
};"""
"""The page hears what the test tells it, in place of what happens."""
SAID_IN_ONE_SECOND = """async () => {
    const said = (id, role, turn, text) => ({ id, role, turn, text, at: "2999-03-01T10:00:00+00:00",
      channel: "web", session: "s", speaker: "x", version: 1, key: null, buttons: [] });
    const written = (turn, text) =>
      tell("chat.message.token", { turn, start: 0, text, remark: "" });
    const seen = [];
    const firstWords = () => [...document.querySelectorAll(".lines article")]
      .map((each) => each.innerText.trim().split(/\\s/)[0]);
    const look = async (newest) => {
      while (!firstWords().includes(newest)) await new Promise(requestAnimationFrame);
      const all = firstWords();
      seen.push(all.slice(all.findIndex((each) => ["One?", "Won?"].includes(each))));
    };
    written("t1", "Alpha …");
    tell("chat.message.user_appended", said("1", "person", "t1", "One?"));
    await look("One?");
    tell("chat.message.user_appended", said("2", "person", "t2", "Two?"));
    await look("Two?");
    written("t2", "Beta …");
    tell("chat.message.done", said("3", "companion", "t1", "Alpha."));
    await look("Alpha.");
    tell("chat.message.done", said("4", "companion", "t2", "Beta."));
    tell("chat.message.edited", { ...said("1", "person", "t1", "Won?"), version: 2 });
    await look("Won?");
    return seen; }"""


def test_replies_stand_below_their_questions_asked_within_one_second(
    browser: Browser, home: Home
) -> None:
    """Times are told to the second: what a reply answers decides its place, from its first word.

    A piece of a reply may come before what it answers is known to the page.
    """
    with opened(browser) as (page, complaints):
        page.add_init_script(TOLD_BY_THE_TEST)
        let_in(page, new_link(home.program))
        page.wait_for_function("() => window.tell")
        seen = page.evaluate(SAID_IN_ONE_SECOND)

    assert seen == [
        ["One?", "Alpha"],
        ["One?", "Alpha", "Two?"],
        ["One?", "Alpha.", "Two?", "Beta"],
        ["Won?", "Alpha.", "Two?", "Beta."],
    ]
    assert complaints == []


def test_commands_are_offered_where_one_writes_a_slash(browser: Browser, home: Home) -> None:
    """Chosen, one stands where one writes."""
    with opened(browser, new_link(home.program)) as (page, complaints):
        page.get_by_label(SAY).fill("/")
        commands = page.get_by_role("list", name="Commands")
        expect(commands.get_by_role("button", name="/tasks")).to_be_visible()
        offered = commands.locator("b").all_inner_texts()
        assert {"/why", "/forget", "/help", *(f"/{each}" for each in OFFERED_COMMANDS)} == {
            *offered
        }
        commands.get_by_role("button", name="/forget").click()
        expect(page.get_by_label(SAY)).to_have_value("/forget")
        expect(commands).to_have_count(0)
    assert complaints == []
