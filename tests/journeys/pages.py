"""A page that somebody has open, of a process that serves."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from playwright.sync_api import Browser, Page, expect

from tests.journeys.browsers import watched
from tests.processes import Program

expect.set_options(timeout=40_000)  # on a machine that has much to do
ASKED: Final = 409
LINK: Final = re.compile(r"http://localhost:\d+/#[\w-]+$")


def new_link(program: Program, *, person: str | None = None) -> str:
    """A link that opens the page of a process that serves."""
    whose = () if person is None else ("--person", person)
    found = LINK.search(program.done(*whose, "link").stdout.strip())
    assert found
    return found[0]


@contextmanager
def opened(
    browser: Browser, link: str | None = None, **how: object
) -> Iterator[tuple[Page, list[str]]]:
    """A page of a new visitor who has been let in or not, and what it complains of.

    Without a link it is empty.
    """
    usual = {"locale": "en-GB", "timezone_id": "Europe/Lisbon", "service_workers": "block"}
    context = browser.new_context(**{**usual, **how})
    page = context.new_page()
    complaints = watched(page)
    if link is not None:
        let_in(page, link)
    try:
        yield page, complaints
    finally:
        context.close()


def let_in(page: Page, link: str) -> None:
    """Open a link, and go on as whose it is, where that is asked."""
    with page.expect_response("**/api/v1/session") as answered:  # not to leave before
        page.goto(link)
    if answered.value.status == ASKED:
        with page.expect_response("**/api/v1/session"):
            page.locator(".arriving .goes-on").click()


def go_to_settings(page: Page, section: str = "") -> None:
    """From wherever one is, to a section of Settings."""
    page.get_by_role("navigation", name="Places").get_by_role("link", name="Settings").click()
    if section:
        inside = page.get_by_role("navigation", name="Settings")
        inside.get_by_role("link", name=section, exact=True).click()


def go_to_import(page: Page) -> None:
    """To where old chats are brought in."""
    go_to_settings(page, "Import & export")


def go_to_forget(page: Page) -> None:
    """To where something is forgotten."""
    go_to_settings(page, "Forget")
