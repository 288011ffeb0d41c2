"""Somebody opens a link, talks, sees what is learned, and asks why."""

from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import new_link, opened
from tests.processes import Program, kill

pytestmark = NEEDS_CHROMIUM


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The command line, on a folder of its own."""
    return on_any_port(Program(data=tmp_path / "data"))


@pytest.mark.quick
def test_browser_session_from_sign_in_link_to_receipt(browser: Browser, program: Program) -> None:
    """Link, hello, remember something, ask, why; nothing fails on the way, also on a phone."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        expect(page.get_by_label("Say something …")).to_be_focused()
        say(page, "Hello")
        say(page, "Remember that my sister Ana was born in Porto on 3 May 1991.")
        learned = page.locator(".belief", has_text="born in Porto")
        expect(learned.first).to_contain_text("Ana was born in Porto on 3 May 1991.")
        answer = say(page, "Where was my sister Ana born?")
        page.get_by_role("button", name="Why did you say that?").last.click()
        because = page.get_by_role("dialog").locator(".ground q").first.inner_text()
        expect(page.get_by_role("dialog")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)
        page.set_viewport_size({"width": 390, "height": 780})
        page.locator(".strip").click()
        expect(learned.first).to_be_visible()
        wide = page.locator("html").evaluate("e => e.scrollWidth - e.clientWidth")

    assert "Porto" in answer
    assert "Ana was born in Porto" in because
    assert wide == 0
    assert complaints == []


def test_rejected_belief_can_be_restored_by_undo_in_the_browser(
    browser: Browser, program: Program
) -> None:
    """Undo stands beside it; forgetting shows what would go, and does nothing."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        say(page, "Remember that my cat is called Miso.")
        line = page.locator(".belief", has_text="my cat is called Miso")
        line.get_by_role("button", name="wrong").click()
        expect(line).to_have_count(0)
        page.get_by_role("button", name="undo").click()
        expect(line).to_have_count(1)
        expect(line.get_by_role("button", name="keep")).to_be_visible()
        line.get_by_role("button", name="forget").click()
        expect(page.locator(".follows")).to_contain_text("my cat is called Miso.")
        page.get_by_role("link", name="Chat").click()
        expect(line).to_have_count(1)

    assert complaints == []


def test_page_reconnects_after_server_kill_and_sends_pending_message(
    browser: Browser, program: Program
) -> None:
    """The server is killed, words are written meanwhile and said elsewhere; it starts again."""
    with served(program) as first, opened(browser, new_link(program)) as (page, _):
        program.done("say", "hello from the terminal")
        expect(page.locator(".mine", has_text="hello from the terminal")).to_contain_text(
            "terminal"
        )
        kill(first.process)
        expect(page.locator(".lost")).to_be_visible()
        page.get_by_label("Say something …").fill("said into the dark")
        page.keyboard.press("Enter")
        page.get_by_label("Say something …").fill("half a tho")
        program.done("say", "said in between")
        again = replace(
            program, environment={**program.environment, "OLDFRIEND_SERVE_PORT": str(first.port)}
        )
        with served(again):
            expect(page.locator(".lost")).to_have_count(0)
            expect(page.locator(".mine", has_text="said in between")).to_have_count(1)
            expect(page.locator(".mine", has_text="said into the dark")).to_have_count(1)
            expect(page.locator(".is-pending")).to_have_count(0)
            page.reload()
            expect(page.get_by_label("Say something …")).to_have_value("half a tho")
            expect(page.locator(".mine", has_text="said into the dark")).to_have_count(1)


def test_html_in_messages_and_beliefs_is_shown_as_text(browser: Browser, program: Program) -> None:
    """In a message, and in what is learned from it."""
    code = '<img src=x onerror="document.title=1">'
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        say(page, f"Remember that {code} is my motto.")
        expect(page.locator(".belief", has_text=code)).to_have_count(1)
        images = page.locator("img").count()

    assert images == 0
    assert complaints == []


def test_sign_in_link_opens_once_and_sign_out_ends_the_session(
    browser: Browser, program: Program
) -> None:
    """The page then says how to get a new one, which opens."""
    with served(program):
        link = new_link(program)
        with opened(browser, link) as (page, _):
            page.get_by_role("link", name="Settings").click()
            page.get_by_role("button", name="Sign out").click()
            expect(page.get_by_text("oldfriend link")).to_be_visible()
        with opened(browser, link) as (page, _):
            expect(page.get_by_text("oldfriend link")).to_be_visible()
        with opened(browser, new_link(program)) as (page, _):
            expect(page.get_by_label("Say something …")).to_be_visible()
