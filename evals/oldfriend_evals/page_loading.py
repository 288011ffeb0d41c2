"""Time until one can write: the page in a browser that has nothing of it, beside a static page.

Without Playwright and a Chromium nothing is measured.
"""

import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from typing_extensions import override

from oldfriend.inbound.account_linking import create_sign_in_link
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured, build_upper_target
from oldfriend_evals.bench_server import serve
from oldfriend_evals.page_scrolling import has_playwright, launch_browser
from oldfriend_evals.temporary_stores import build_history, build_settings

if TYPE_CHECKING:
    from playwright.async_api import Browser, StorageState

NAME: Final = "cold load until one can write, 95th percentile"
TARGET: Final = build_upper_target(4)
MESSAGES: Final = 200
FIELD: Final = "#say"
LOADED_BYTES: Final = """() => [...performance.getEntriesByType("navigation"),
    ...performance.getEntriesByType("resource")]
  .reduce((sum, each) => sum + each.transferSize, 0)"""
STATIC: Final = b"<!doctype html><title>Static</title><textarea id=say></textarea><!-- %b -->"


async def measure_page_loading(scope: Scope) -> list[Measure]:
    """The chat, as it is opened for the first time on a device that is signed in."""
    chromium = shutil.which("chromium")
    if chromium is None or not has_playwright():
        return [build_unmeasured(NAME, "needs Playwright and a Chromium", target=TARGET)]
    times = 8 if scope.quick else 40
    with TemporaryDirectory(prefix="oldfriend-bench-") as name:
        folder = Path(name)
        async with open_app(build_settings(folder)) as app:
            await build_history(app, MESSAGES, seed=1)
        async with serve(folder) as server, launch_browser(chromium) as browser:
            async with open_app(build_settings(folder)) as app:
                link = await create_sign_in_link(
                    app.db, app.clock, app.settings, None, port=server.port
                )
            state, size = await sign_in(browser, link)
            address = link.partition("#")[0]
            with serve_static_page(size) as plain:
                taken = [
                    (await load_ms(browser, plain, None), await load_ms(browser, address, state))
                    for _ in range(times + 1)
                ]
    reference, value = (quantiles(each, n=20)[18] for each in zip(*taken[1:], strict=True))
    return [
        Measure(
            name=NAME,
            value=value,
            unit="ms",
            reference=reference,
            target=TARGET,
            note=f"{size / 1000:.0f} KB; reference: a static page of as many bytes",
        )
    ]


async def sign_in(browser: "Browser", link: str) -> "tuple[StorageState, int]":
    """Open a link; what is kept of it, and the bytes that came until one could write."""
    context = await browser.new_context(service_workers="block")
    try:
        page = await context.new_page()
        await page.goto(link)
        await page.locator(FIELD).wait_for()
        return await context.storage_state(), int(await page.evaluate(LOADED_BYTES))
    finally:
        await context.close()


async def load_ms(browser: "Browser", address: str, state: "StorageState | None") -> float:
    """The milliseconds until one can write on a page of which the browser has nothing."""
    context = await browser.new_context(service_workers="block", storage_state=state)
    try:
        page = await context.new_page()
        began = time.perf_counter()
        await page.goto(address)
        await page.locator(FIELD).wait_for()
        return 1000 * (time.perf_counter() - began)
    finally:
        await context.close()


@contextmanager
def serve_static_page(size: int) -> Iterator[str]:
    """The address of a page that is nothing but as many bytes."""

    class Static(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = STATIC % (b"x" * size)
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        @override
        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Static) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
