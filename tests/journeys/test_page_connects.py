"""Each app is connected on the page, as its guide says, and then talked on, as a person would."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from playwright.sync_api import Browser, Locator, Page, expect

from oldfriend.channels.channel_registry import CHANNELS
from tests.channels.harness import HARNESSES, ChannelHarness
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM
from tests.journeys.pages import go_to_settings, new_link, opened
from tests.processes import Program, until

pytestmark = NEEDS_CHROMIUM
WHO, TOLD, ASKED, FOUND = "ana", "My cat is called Miso.", "What is my cat called?", "Miso"
P, T = ParamSpec("P"), TypeVar("T")


class Platform:
    """A platform in a thread of its own, since the browser has the loop of this one."""

    def __init__(self, portal: BlockingPortal, harness: ChannelHarness, folder: Path) -> None:
        """Take what opens our bot there."""
        self.portal, self.harness = portal, harness
        given = self.do(harness.connect, (), folder) | harness.connect_further() | {"quiet_s": "0"}
        names = [each.name for each in harness.spec.credentials]
        self.credentials = {name: given.pop(name) for name in names if name in given}
        del given["allowed"]
        self.settings = {
            f"OLDFRIEND_{harness.spec.name}_{name}".upper(): value for name, value in given.items()
        }

    def do(self, act: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do something where the platform runs."""
        assert not kwargs
        return self.portal.call(act, *args)

    def hears(self, text: str, words: str) -> str:
        """Somebody says something; the first answer after it with these words."""
        before = len(self.shown())
        self.do(self.harness.says, WHO, text)
        until(lambda: any(words in each for each in self.shown()[before:]), within_s=60)
        return next(each for each in self.shown()[before:] if words in each)

    def shown(self) -> list[str]:
        """What stands from us in their chat."""
        return self.do(self.harness.shown, WHO)


@contextmanager
def opened_platform(name: str, folder: Path) -> Iterator[Platform]:
    """Start it."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(HARNESSES[name]()) as harness,
    ):
        yield Platform(portal, harness, folder)


BOTS = {
    "discord": "@oldfriend",
    "matrix": "@friend:example.org",
    "slack": "@oldfriend",
    "telegram": "@oldfriend_bot",
    "whatsapp": "+",
}
"""How each is shown: as people there write it."""


@pytest.mark.parametrize(
    "name", [each for each in sorted(CHANNELS) if CHANNELS[each].pairs_by_code]
)
def test_an_app_is_connected_on_the_page_and_talked_on(
    browser: Browser, tmp_path: Path, name: str
) -> None:
    """The form, the code, the page that says by itself that it knows one there, and a reply."""
    title = CHANNELS[name].title
    with opened_platform(name, tmp_path / "platform") as platform:
        program = on_any_port(Program(data=tmp_path / "data"), **platform.settings)
        with served(program), opened(browser, new_link(program)) as (page, complaints):
            section = open_app(page, name)
            if CHANNELS[name].make_link is not None:
                expect(section.get_by_role("button", name="Copy")).to_have_css("opacity", "1")
            fill_form(page, name, platform.credentials)
            expect(section).to_contain_text("I don't know you there yet")
            expect(section).to_contain_text(f"The bot is {BOTS[name]}")
            platform.do(platform.harness.connected)
            section.get_by_role("button", name="Get a code").click()
            code = section.locator(".code").inner_text().replace(" ", "")
            platform.hears(code, "Now I know who you are")
            expect(section).to_contain_text("I know you there")
            expect(section.locator(".code")).to_have_count(0)
            expect(section.locator("summary")).to_contain_text("connected")
            platform.hears(TOLD, "")
            reply = platform.hears(ASKED, FOUND)
            go_to_settings(page, "Signing in")
            expect(page.locator("#signing li .channel")).to_contain_text([title])

    assert FOUND in reply
    assert complaints == []


def test_app_whose_platform_is_away_says_since_when(browser: Browser, tmp_path: Path) -> None:
    """In its one line, and not that it is connected."""
    away = {
        "OLDFRIEND_TELEGRAM_TOKEN": f"123456:{'A' * 35}",
        "OLDFRIEND_TELEGRAM_BASE_URL": "http://127.0.0.1:1",
    }
    program = on_any_port(Program(data=tmp_path / "data"), **away)
    with served(program), opened(browser, new_link(program)) as (page, _):
        line = open_app(page, "telegram").locator("summary")

        def is_told() -> bool:
            page.reload()
            expect(line).to_contain_text(re.compile("ready|reachable"))
            return "not reachable since" in line.inner_text()

        until(is_told, within_s=60)


def test_a_mailbox_is_connected_on_the_page_and_written_to(
    browser: Browser, tmp_path: Path
) -> None:
    """Codes go by no mail: whose an address is, is said on the page after a fresh sign-in."""
    with opened_platform("email", tmp_path / "platform") as platform:
        server = platform.settings.pop("OLDFRIEND_EMAIL_AUTHSERV_ID")
        program = on_any_port(Program(data=tmp_path / "data"), **platform.settings)
        with served(program), opened(browser, new_link(program)) as (page, complaints):
            section = open_app(page, "email")
            fill_form(page, "email", platform.credentials)
            expect(section).to_contain_text(f"The bot is {platform.credentials['address']}")
            expect(section.get_by_role("button", name="Get a code")).to_have_count(0)
            section.get_by_label("Name of your mail server").fill(server)
            section.get_by_label("Name of your mail server").blur()
            section.get_by_label("Your own address").fill(f"{WHO}@home.example")
            section.get_by_role("button", name="That is me").click()
            expect(section).to_contain_text("I know you there")
            expect(section.get_by_label("People who may write")).to_have_value(
                f"{WHO}@home.example"
            )
            platform.hears(TOLD, "")
            reply = platform.hears(ASKED, FOUND)

    assert FOUND in reply
    assert complaints == []


def test_member_links_their_own_mail_address_by_a_code(browser: Browser, tmp_path: Path) -> None:
    """The owner lets the address in; whoever reads that mailbox and is signed in is known there."""
    with opened_platform("email", tmp_path / "platform") as platform:
        opens = {f"OLDFRIEND_EMAIL_{k}".upper(): v for k, v in platform.credentials.items()}
        allowed = {"OLDFRIEND_EMAIL_ALLOWED": f"{WHO}@home.example"}
        program = on_any_port(
            Program(data=tmp_path / "data"), **platform.settings, **opens, **allowed
        )
        program.done("say", TOLD, "--person", "Ben", "--new-person")
        with (
            served(program),
            opened(browser, new_link(program, person="Ben")) as (page, complaints),
        ):
            section = open_app(page, "email")
            expect(section).to_contain_text("I don't know you there yet")
            expect(section).to_contain_text("first lets your address in")
            section.get_by_role("button", name="Get a code").click()
            code = section.locator(".code").inner_text().replace(" ", "")
            expect(section.get_by_role("link", name="Write the mail")).to_have_attribute(
                "href", f"mailto:{platform.credentials['address']}?body={code}"
            )
            platform.hears(code, "Now I know who you are")
            expect(section).to_contain_text("I know you there")
            reply = platform.hears(ASKED, FOUND)

    assert FOUND in reply
    assert complaints == []


def open_app(page: Page, name: str) -> Locator:
    """Open the part of an app in Settings."""
    go_to_settings(page, "Other apps")
    section = page.locator(f"#{name}")
    section.locator("summary").click()
    return section


def fill_form(page: Page, name: str, credentials: dict[str, str]) -> None:
    """Put in what opens the bot, and connect it."""
    for each, value in credentials.items():
        page.locator(f"#{name}-{each}").fill(value)
    page.locator(f"#{name} form").get_by_role("button", name="Connect").click()
