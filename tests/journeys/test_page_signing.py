"""Signing in as a browser does it: several tabs, a neighbor on this machine, and once more."""

import json
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import Browser, Page, expect

from oldfriend.domain.clock import MINUTE
from tests.cli.serving import Running, on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import go_to_settings, new_link, opened
from tests.journeys.test_page_settings import with_device
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
SPEAK = """async (language) => {
  const { use } = await import(document.querySelector("script").src);
  await use("js/i18n.js").setLanguage(language);
}"""
SAY = "Say something …"
HELD = "JSON.parse(localStorage.getItem('oldfriend-session')).token"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One process for all of these."""
    data = tmp_path_factory.mktemp("signing") / "data"
    with served(on_any_port(Program(data=data))) as one:
        yield one


def let_sign_ins_age(running: Running) -> None:
    """Let everybody have signed in a quarter of an hour ago."""
    with closing(sqlite3.connect(running.program.data / "oldfriend.db", timeout=20)) as database:
        database.execute("UPDATE web_session SET made_at = made_at - ?", (15 * MINUTE,))
        database.commit()


@contextmanager
def neighbor(page: str = "<p>nothing to see here</p>") -> Iterator[tuple[int, list[str]]]:
    """Another server on localhost; its port, and the cookies that browsers have handed it."""
    cookies: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            cookies.append(self.headers.get("Cookie", ""))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = Thread(target=server.serve_forever)
    serving.start()
    try:
        yield server.server_port, cookies
    finally:
        server.shutdown()
        serving.join()
        server.server_close()


def answer_to(origin: str, path: str, cookie: str) -> int:
    """What a program is answered that shows a cookie, and says that it is the page."""
    request = urllib.request.Request(
        f"{origin}/api/v1{path}",
        headers={"Cookie": cookie, "Origin": origin, "Sec-Fetch-Site": "same-origin"},
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_stolen_cookie_on_another_localhost_port_is_useless(
    browser: Browser, running: Running
) -> None:
    """Nor can its page have the browser save what is ours, or read what our page holds."""
    origin = f"http://localhost:{running.port}"
    with (
        opened(browser, new_link(running.program)) as (page, _),
        neighbor() as (port, cookies),
    ):
        expect(page.get_by_label(SAY)).to_be_visible()
        there = page.context.new_page()
        there.goto(f"http://localhost:{port}/")
        theirs = there.evaluate("localStorage.length")
        handed = next(each for each in cookies if "oldfriend-" in each)
        answers = {
            path: answer_to(origin, path, handed)
            for path in ("/session", "/chat/messages", "/export", "/memories", "/tokens")
        }
        with there.expect_response("**/export") as sent:
            there.evaluate(f"location.assign('{origin}/api/v1/export')")
        navigated = sent.value.status

    assert theirs == 0
    assert set(answers.values()) == {401}
    assert navigated == 403


def test_sign_in_in_another_tab_keeps_this_tab_working(browser: Browser, running: Running) -> None:
    """It goes on with the new session, unasked; so does a page that is loaded again."""
    with opened(browser, new_link(running.program)) as (page, complaints):
        say(page, "My boat is called Dora.")
        before = page.evaluate(HELD)
        other = page.context.new_page()
        other.goto(new_link(running.program))
        expect(other.get_by_label(SAY)).to_be_visible()
        after = page.evaluate(HELD)
        say(page, "She lies in the harbor.")
        expect(other.locator(".mine", has_text="She lies in the harbor.")).to_be_visible()
        page.reload()
        expect(page.locator(".mine", has_text="My boat is called Dora.")).to_be_visible()

    assert before != after
    assert [each for each in complaints if "401" not in each] == []


def test_browser_without_csrf_token_must_sign_in_by_link(
    browser: Browser, running: Running
) -> None:
    """As one that was signed in before there was such a thing."""
    with opened(browser, new_link(running.program)) as (page, _):
        expect(page.get_by_label(SAY)).to_be_visible()
        page.evaluate("localStorage.removeItem('oldfriend-session')")
        page.reload()
        expect(page.get_by_text("oldfriend link")).to_be_visible()
        page.goto(new_link(running.program))
        expect(page.get_by_label(SAY)).to_be_visible()


def make_token(page: Page, name: str) -> None:
    """Ask for a token."""
    page.get_by_label("What for").fill(name)
    page.get_by_role("button", name="Make a token").click()


def test_creating_a_token_asks_for_recent_sign_in_by_link(
    browser: Browser, running: Running
) -> None:
    """It says how; once the link was opened in another tab, what was asked for is done."""
    with opened(browser, new_link(running.program)) as (page, _):
        go_to_settings(page, "Signing in")
        let_sign_ins_age(running)
        make_token(page, "watering")
        asking = page.locator(".sign-in-again")
        expect(asking).to_contain_text("oldfriend link")
        expect(asking.get_by_role("button", name="Sign in with a passkey")).to_have_count(0)
        asking.get_by_role("button", name="go on").click()
        expect(asking).to_be_visible()  # nothing has changed yet
        other = page.context.new_page()
        other.goto(new_link(running.program))
        expect(other.get_by_label(SAY)).to_be_visible()
        asking.get_by_role("button", name="go on").click()
        expect(page.locator(".shown-once pre").last).to_contain_text("oldfriend_")
        expect(asking).to_have_count(0)
        expect(page.get_by_role("button", name="end: watering")).to_have_count(1)


def test_creating_an_invitation_asks_for_recent_sign_in_by_passkey(
    browser: Browser, running: Running
) -> None:
    """One press, and the invitation is made; the page stays where it is, in either language."""
    with opened(browser, new_link(running.program)) as (page, _):
        go_to_settings(page, "Signing in")
        with_device(page.context, page)
        page.get_by_role("button", name="Add a passkey").click()
        expect(page.get_by_role("button", name="remove: Chrome on Linux")).to_be_visible()
        let_sign_ins_age(running)
        go_to_settings(page, "People")
        page.get_by_placeholder("Name of somebody to invite").fill("Bo")
        page.get_by_role("button", name="Invite", exact=True).click()
        asking = page.locator(".sign-in-again")
        page.evaluate(SPEAK, "zh")
        expect(asking).to_contain_text("再登录一次")
        page.evaluate(SPEAK, "en")
        asking.get_by_role("button", name="Sign in with a passkey").click()
        expect(page.locator(".shown-once pre")).to_contain_text("/#")
        expect(page.locator(".lost")).to_have_count(0)
        held = json.loads(page.evaluate("localStorage.getItem('oldfriend-session')"))
        page.get_by_role("link", name="Chat", exact=True).click()
        say(page, "Still here.")

    assert held["token"]


def who(page: Page) -> str:
    """As whom a page is signed in, by what it holds."""
    asked = f"fetch('/api/v1/session', {{ headers: {{ 'X-CSRF-Token': {HELD} }} }})"
    return str(page.evaluate(f"{asked}.then((answer) => answer.json()).then(({{ name }}) => name)"))


def with_guest(running: Running) -> str:
    """A link of somebody besides the owner."""
    running.program.done("core", "user", "I row.", "--person", "Omar", "--new-person")
    return new_link(running.program, person="Omar")


def test_sign_in_link_opened_by_a_foreign_page_needs_confirmation(
    browser: Browser, running: Running
) -> None:
    """Who is signed in stays so by Enter, and after loading anew; only a clear yes is a yes."""
    link = with_guest(running)
    leading = f"<script>location = {json.dumps(link)}</script>"
    with opened(browser, new_link(running.program)) as (page, _), neighbor(leading) as (port, _):
        expect(page.locator(".whose")).to_have_text("Your memory")
        before = page.evaluate(HELD)
        page.goto(f"http://localhost:{port}/")
        asking = page.locator(".arriving")
        expect(asking).to_contain_text("You are signed in as owner.")
        expect(asking).to_contain_text("opens Omar's page")
        asked = (who(page), page.evaluate(HELD))
        expect(page.get_by_role("button", name="Stay signed in as owner")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator(".whose")).to_have_text("Your memory")
        expect(page.get_by_label(SAY)).to_be_visible()
        stayed = (who(page), page.evaluate(HELD))
        page.goto(f"http://localhost:{port}/")
        expect(asking).to_be_visible()
        page.reload()
        expect(page.locator(".whose")).to_have_text("Your memory")
        page.goto(f"http://localhost:{port}/")
        page.get_by_role("button", name="Switch to Omar").click()
        expect(page.locator(".whose")).to_have_text("Omar's memory")
        switched = who(page)

    assert asked == stayed == ("owner", before)
    assert switched == "Omar"


def test_guest_sign_in_link_names_the_person_before_opening(
    browser: Browser, running: Running
) -> None:
    """One button, in the language of the browser; the owner's own link needs none."""
    link = with_guest(running)
    with opened(browser, locale="zh-CN") as (page, complaints):
        page.goto(link)
        expect(page.locator(".arriving")).to_contain_text("Omar")
        expect(page.get_by_role("button")).to_have_count(1)
        page.get_by_role("button", name="打开“Omar”的页面").click()
        expect(page.locator(".whose")).to_have_text("这里是“Omar”的记忆")
    with opened(browser) as (own, _):
        own.goto(new_link(running.program))
        expect(own.locator(".whose")).to_have_text("Your memory")

    assert complaints == []


def test_memory_owner_name_is_visible_on_every_page(browser: Browser, running: Running) -> None:
    """At every place, also in the first run and on a phone."""
    with opened(browser, new_link(running.program), viewport={"width": 390, "height": 800}) as (
        page,
        _,
    ):
        expect(page.get_by_label(SAY)).to_be_visible()
        for place in ("", "memory", "people", "days", "bring", "forget", "settings", "welcome"):
            page.goto(f"http://localhost:{running.port}/{place}")
            expect(page.locator(".whose")).to_be_in_viewport(ratio=1)
