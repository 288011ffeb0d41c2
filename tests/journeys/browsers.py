"""A real browser, where there is one: Debian's Chromium, driven by Playwright."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

CHROMIUM: Final = shutil.which("chromium")
OPTIONS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
NEEDS_CHROMIUM: Final = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium here: apt-get install chromium"
)
LONGEST_MS: Final = 40_000


@contextmanager
def opened_browser(*more: str) -> Iterator[Browser]:
    """A browser without a window; with more options, where they are needed."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*OPTIONS, *more])
        try:
            yield browser
        finally:
            browser.close()


def watched(page: Page) -> list[str]:
    """What a page complains of: errors in scripts, and what its policy has refused."""
    complaints: list[str] = []

    def hear(message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        is_question = "409" in message.text and where.endswith("/api/v1/session")
        if message.type == "error" and not is_question:
            complaints.append(f"{message.text} {where}")

    page.on("console", hear)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.set_default_timeout(LONGEST_MS)
    return complaints


def say(page: Page, text: str) -> str:
    """Write something and send it; the reply, once it is whole."""
    replies = page.locator(".theirs .bubble:not(:has(.caret))")
    before = replies.count()
    page.get_by_label("Say something …").fill(text)
    page.keyboard.press("Enter")
    replies.nth(before).wait_for()
    return replies.nth(before).inner_text()
