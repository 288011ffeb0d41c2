"""The page as it is installed: kept for when nobody answers, never stale, and nothing private."""

import json
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from oldfriend.api.page_assets import STATIC_DIR
from tests.cli.serving import on_any_port, served
from tests.journeys.browsers import NEEDS_CHROMIUM, say
from tests.journeys.pages import new_link, opened
from tests.processes import Program

pytestmark = NEEDS_CHROMIUM
SECRET = "My safe opens with 4711."
KEPT = """async () => {
  const found = {};
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      found[request.url] = await (await cache.match(request)).text();
    }
  }
  return found;
}"""
"""All that the caches of the page hold, by address."""
AWAY_S = 9
SOON_S = 5.0


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    """The command line, on a folder of its own."""
    yield on_any_port(Program(data=tmp_path / "data"))


def wait_until_kept(page: Page) -> None:
    """Wait for what keeps the page."""
    page.evaluate("() => navigator.serviceWorker.ready")
    page.wait_for_function("() => navigator.serviceWorker.controller")


def test_manifest_names_icons_that_are_there_in_their_sizes(
    browser: Browser, program: Program
) -> None:
    """What a browser asks for before it offers to install a page."""
    with served(program), opened(browser, new_link(program)) as (page, complaints):
        address = page.locator("link[rel=manifest]").evaluate("link => link.href")
        media_type = page.request.get(address).headers["content-type"]
        told = page.context.new_cdp_session(page).send("Page.getAppManifest")
        installable = page.context.new_cdp_session(page).send("Page.getInstallabilityErrors")
    icons = json.loads(told["data"])["icons"]
    sizes = [struct.unpack(">II", (STATIC_DIR / each["src"]).read_bytes()[16:24]) for each in icons]

    assert media_type == "application/manifest+json"
    assert told["errors"] == []
    assert json.loads(told["data"])["start_url"] == "/"
    assert {each["errorId"] for each in installable["installabilityErrors"]} <= {"in-incognito"}
    assert [f"{width}x{height}" for width, height in sizes] == [each["sizes"] for each in icons]
    assert complaints == []


def test_kept_page_opens_while_nobody_answers_and_holds_nothing_private(
    browser: Browser, program: Program
) -> None:
    """It says so in plain words, at any address, and goes on by itself."""
    with (
        served(program) as running,
        opened(browser, new_link(program), service_workers="allow") as (page, _),
    ):
        say(page, SECRET)
        page.get_by_role("link", name="Memory").click()
        wait_until_kept(page)
        kept = page.evaluate(KEPT)
        origin = page.evaluate("location.origin")
        running.process.kill()
        running.process.wait()
        page.goto(f"{origin}/days")
        expect(page.get_by_role("heading", name="I can't reach your Oldfriend")).to_be_visible()
        with served(on_any_port(program, OLDFRIEND_SERVE_PORT=str(running.port))):
            expect(page.get_by_role("table", name="Calendar")).to_be_visible()

    assert f"{origin}/" in kept
    assert all("/static/v/" in each for each in kept if each != f"{origin}/")
    assert len({each.split("/")[5] for each in kept if "/static/" in each}) == 1
    assert not any(SECRET in each or "4711" in each for each in kept.values())


def test_page_of_another_version_takes_the_place_of_the_open_and_the_kept_one(
    browser: Browser, program: Program, tmp_path: Path
) -> None:
    """Of a package with another style sheet, started where the one before was."""
    newer = tmp_path / "newer" / "oldfriend"
    copy_by_links(STATIC_DIR.parents[1], newer)
    sheet = newer / "api" / "static" / "css" / "welcome.css"
    sheet.unlink()
    sheet.write_text("/* newer */")
    version = "document.querySelector('link[rel=stylesheet]').href.split('/')[5]"
    with (
        served(program) as running,
        opened(browser, new_link(program), service_workers="allow") as (page, _),
    ):
        page.get_by_label("Say something …").fill("half a sentence")
        wait_until_kept(page)
        before = page.evaluate(version)
        running.process.kill()
        running.process.wait()
        again = on_any_port(
            program, OLDFRIEND_SERVE_PORT=str(running.port), PYTHONPATH=str(newer.parent)
        )
        with served(again):
            page.wait_for_function(f"() => {version} !== '{before}'")
            expect(page.get_by_label("Say something …")).to_have_value("half a sentence")
            after = page.evaluate(version)
            page.wait_for_function(
                "async (name) => (await caches.keys()).join() === name", arg=f"oldfriend-{after}"
            )

    assert after != before


def copy_by_links(source: Path, target: Path) -> None:
    """A package whose files are links to those of another."""
    for path in source.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            (target / path.relative_to(source)).symlink_to(path)


def test_page_sees_within_seconds_that_the_server_is_back(
    browser: Browser, program: Program
) -> None:
    """Also when it has been away for a while."""
    with served(program) as running, opened(browser, new_link(program)) as (page, _):
        expect(page.get_by_label("Say something …")).to_be_visible()
        running.process.kill()
        running.process.wait()
        expect(page.locator(".companion .lost")).to_be_visible()
        time.sleep(AWAY_S)
        with served(on_any_port(program, OLDFRIEND_SERVE_PORT=str(running.port))):
            began = time.monotonic()
            expect(page.locator(".companion .lost")).to_have_count(0)
            took = time.monotonic() - began

    assert took < SOON_S
