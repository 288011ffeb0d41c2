"""Take the pictures of the docs anew, into docs/pictures: take_pictures.py [NAME …].

The demo life (`demo_life.py`) is made in a folder of its own and served by a real `oldfriend
serve`; Chromium looks at it. `pictures.json` says of which life and which page they were taken, so
that a test can tell when they are no longer true.
"""

import asyncio
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import demo_life
from playwright.sync_api import Browser, Page, StorageState, expect, sync_playwright

from oldfriend.app.pid_lock import find_server
from oldfriend.config.settings import load_settings
from oldfriend.domain.clock import system_clock

ROOT: Final = Path(__file__).parents[1]
PICTURES: Final = ROOT / "docs" / "pictures"
PAGE: Final = ROOT / "src" / "oldfriend" / "api" / "static"
OPTIONS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WIDE, PHONE = (1100, 680), (390, 780)
LINK: Final = re.compile(r"http://localhost:\d+/#[\w-]+")
STARTS_S: Final = 90.0
SETTLES_MS: Final = 700

Act = Callable[[Page], None]


def look(_: Page) -> None:
    """Nothing but look."""


def ask_why(page: Page) -> None:
    """Open the receipt of the last reply."""
    page.get_by_role("button", name="Why did you say that?").last.click()
    page.get_by_role("dialog").locator("q").first.wait_for()


def go_back_in_time(page: Page) -> None:
    """See the patterns as they were believed in the middle of the life."""
    slider = page.get_by_role("slider")
    slider.fill(str(int(slider.get_attribute("max") or 0) // 2))
    expect(page.get_by_text("As I saw it on")).to_be_visible()
    page.locator(".chip", has_text="Patterns").click()


def open_pattern(page: Page) -> None:
    """See one pattern with its strength over time."""
    page.locator(".chip", has_text="Patterns").click()
    page.get_by_text("You always bake when worried.", exact=True).first.click()


def see_connections(page: Page) -> None:
    """See who is tied to whom."""
    page.get_by_text("How they are connected").click()
    page.wait_for_timeout(2_500)


def leaf_back(page: Page) -> None:
    """See a month that is full."""
    page.get_by_role("button", name="‹").or_(page.locator("button", has_text="‹")).first.click()


def drop_a_file(page: Page) -> None:
    """Hand over an old chat, and see what is in it."""
    page.locator("input[type=file]").first.set_input_files(
        demo_life.FOLDER / "WhatsApp Chat with Sam.txt"
    )
    page.locator(".parcel").get_by_role("radio", name="Hester").check()


def foresee(page: Page) -> None:
    """See what would go with somebody, and stop there."""
    page.get_by_label("Somebody or something").check()
    page.get_by_label("Who or what?").fill("Mr Pell")
    expect(page.locator(".follows")).to_contain_text("cried a little")


def see_spending(page: Page) -> None:
    """See what it has cost."""
    page.get_by_role("link", name="Budget and spending").click()


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One picture: where it is taken, in which light, and what is done before."""

    name: str
    path: str = "/"
    theme: Literal["light", "dark"] = "light"
    size: tuple[int, int] = WIDE
    act: Act = look
    is_new: bool = False  # of somebody who has just begun


ALL: Final = (
    Picture(name="chat"),
    Picture(name="why", act=ask_why),
    Picture(name="memory", path="/memory"),
    Picture(name="pattern", path="/memory", act=open_pattern),
    Picture(name="memory-then", path="/memory", theme="dark", act=go_back_in_time),
    Picture(name="people", path="/people"),
    Picture(name="connections", path="/people", act=see_connections),
    Picture(name="days", path="/days", act=leaf_back),
    Picture(name="bring", path="/bring", act=drop_a_file),
    Picture(name="forget", path="/forget", act=foresee),
    Picture(name="settings", path="/settings", theme="dark", act=see_spending),
    Picture(name="phone", size=PHONE, theme="dark"),
    Picture(name="welcome", path="/welcome", is_new=True),
)


@contextmanager
def served(data: Path) -> Iterator[str]:
    """A process that serves a folder, and a link that opens its page."""
    command = [sys.executable, "-m", "oldfriend", "--data", str(data), "--set", "serve.port=0"]
    with subprocess.Popen(
        [*command, "serve"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until_ready(data)
            said = subprocess.run([*command, "link"], capture_output=True, text=True, check=True)
            found = LINK.search(said.stdout)
            assert found, said.stdout
            yield found[0]
        finally:
            process.terminate()


def wait_until_ready(data: Path) -> None:
    """Until it does all its work."""
    deadline = time.monotonic() + STARTS_S
    while time.monotonic() < deadline:
        serving = find_server(data)
        if serving is not None and serving.url is not None:
            with suppress(OSError), urllib.request.urlopen(f"{serving.url}/ready", timeout=5):
                return
        time.sleep(0.2)
    raise TimeoutError(f"Nothing serves {data}.")


def take(browser: Browser, link: str, pictures: list[Picture]) -> None:
    """All pictures of one folder."""
    origin, state = link.split("/#")[0], signed_in(browser, link)
    for picture in pictures:
        width, height = picture.size
        context = browser.new_context(
            locale="en-GB",
            timezone_id="Europe/London",
            color_scheme=picture.theme,
            viewport={"width": width, "height": height},
            reduced_motion="reduce",
            storage_state=state,
        )
        page = context.new_page()
        page.goto(origin + picture.path)
        page.locator(".places, .first-run").first.wait_for()
        page.wait_for_timeout(SETTLES_MS)
        picture.act(page)
        page.wait_for_timeout(SETTLES_MS)
        page.screenshot(path=PICTURES / f"{picture.name}.png")
        context.close()


def signed_in(browser: Browser, link: str) -> StorageState:
    """Somebody who has opened the link."""
    context = browser.new_context(locale="en-GB", timezone_id="Europe/London")
    page = context.new_page()
    page.goto(link)
    page.locator(".places, .first-run").first.wait_for()
    state = context.storage_state()
    context.close()
    return state


def digest_of_page() -> str:
    """By which the page is known: all that makes it look as it does."""
    files = sorted(each for each in PAGE.rglob("*") if each.suffix in {".js", ".css", ".html"})
    return hashlib.sha256(b"".join(each.read_bytes() for each in files)).hexdigest()


def write_manifest() -> None:
    """Of which life and page they were taken."""
    names = sorted(each.stem for each in PICTURES.glob("*.png"))
    told = {"life": demo_life.digest(), "page": digest_of_page(), "pictures": names}
    (PICTURES / "pictures.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def main() -> int:
    """Take all pictures, or those that are named."""
    wanted = [each for each in ALL if not sys.argv[1:] or each.name in sys.argv[1:]]
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="oldfriend-pictures-") as folder:
        lived, new = Path(folder) / "lived", Path(folder) / "new"
        settings = load_settings({}, data=str(lived))
        asyncio.run(demo_life.make(settings, until=system_clock()))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=[*OPTIONS]
            )
            for data, is_new in ((lived, False), (new, True)):
                pictures = [each for each in wanted if each.is_new is is_new]
                if pictures:
                    with served(data) as link:
                        take(browser, link, pictures)
            browser.close()
    if len(wanted) == len(ALL):
        write_manifest()
    return 0


if __name__ == "__main__":
    sys.exit(main())
