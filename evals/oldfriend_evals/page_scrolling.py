"""Frames while the page scrolls in a browser, beside a page of plain rows.

Without Playwright and a Chromium nothing is measured.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from oldfriend.inbound.account_linking import create_sign_in_link
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_learning import store_beliefs
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured, build_upper_target
from oldfriend_evals.bench_server import serve
from oldfriend_evals.processes import ProcessFailed
from oldfriend_evals.temporary_stores import build_history, build_settings

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

OPTIONS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
ROWS: Final = 200
PLAIN: Final = (
    "<ul style='height: 90vh; overflow: auto; font: 16px/1.5 sans-serif'>"
    + "".join(
        f"<li style='padding: 20px'>Row {n}: the harbour, the orchard</li>" for n in range(ROWS)
    )
    + "</ul>"
)
SCROLLED: Final = """([frames, pixels]) => new Promise((done) => {
  const all = [document.scrollingElement, ...document.querySelectorAll("*")];
  const room = (each) => each.scrollHeight - each.clientHeight;
  const scrolls = (each) => /auto|scroll/.test(getComputedStyle(each).overflowY);
  const one = all.filter(scrolls).sort((a, b) => room(b) - room(a))[0];
  if (room(one) < frames) return done([]);
  let step = one.scrollTop > room(one) / 2 ? -pixels : pixels;
  const times = [];
  let before = null;
  const next = (now) => {
    if (before !== null) times.push(now - before);
    before = now;
    const top = one.scrollTop;
    one.scrollTop += step;
    if (one.scrollTop === top) step = -step;
    if (times.length < frames) requestAnimationFrame(next);
    else done(times);
  };
  requestAnimationFrame(next);
})"""
"""Moves what can be scrolled furthest a little in each frame; how long each took. Empty: nothing
is there to be scrolled."""
PIXELS: Final = 90
SETTLED_S: Final = 2.0
NAME: Final = "scrolling through {}, 95th percentile of frames"
TARGET: Final = build_upper_target(2)


async def measure_page_scrolling(scope: Scope) -> list[Measure]:
    """The talk and the memory, as somebody scrolls fast through them."""
    messages, beliefs = (2_000, 1_000) if scope.quick else (20_000, 10_000)
    places = {f"{messages:,} messages": "/", f"{beliefs:,} beliefs": "/memory"}
    chromium = shutil.which("chromium")
    if chromium is None or not has_playwright():
        why = "needs Playwright and a Chromium"
        return [build_unmeasured(NAME.format(each), why, target=TARGET) for each in places]
    with TemporaryDirectory(prefix="oldfriend-bench-") as name:
        folder = Path(name)
        async with open_app(build_settings(folder)) as app:
            await store_beliefs(app, await build_history(app, messages, seed=1), beliefs)
        async with serve(folder) as server, launch_browser(chromium) as browser:
            async with open_app(build_settings(folder)) as app:
                link = await create_sign_in_link(
                    app.db, app.clock, app.settings, None, port=server.port
                )
            plain, page = await browser.new_page(), await browser.new_page()
            await plain.set_content(PLAIN)
            await page.goto(link)
            return [
                await compare_with_plain(what, place, (plain, page), quick=scope.quick)
                for what, place in places.items()
            ]


def has_playwright() -> bool:
    """Whether a browser can be driven from here."""
    return find_spec("playwright") is not None


@asynccontextmanager
async def launch_browser(chromium: str) -> AsyncIterator["Browser"]:
    """A browser without a window, closed afterwards."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=list(OPTIONS))
        try:
            yield browser
        finally:
            await browser.close()


async def compare_with_plain(
    what: str, place: str, pages: "tuple[Page, Page]", *, quick: bool
) -> Measure:
    """The slow frames of a place and of plain rows, turn about."""
    plain, page = pages
    await page.locator(".places").wait_for()
    await page.evaluate("(to) => history.pushState(null, '', to)", place)
    await page.reload()
    await page.locator(".places").wait_for()
    await asyncio.sleep(SETTLED_S)
    frames, rounds = (120, 3) if quick else (300, 7)
    taken = [
        (await measure_slow_frame_ms(plain, frames), await measure_slow_frame_ms(page, frames))
        for _ in range(rounds)
    ]
    reference, value = (median(each) for each in zip(*taken, strict=True))
    return Measure(
        name=NAME.format(what),
        value=value,
        unit="ms",
        reference=reference,
        target=TARGET,
        note=f"{PIXELS} pixels in each frame; reference: {ROWS} plain rows",
    )


async def measure_slow_frame_ms(page: "Page", frames: int) -> float:
    """The 95th percentile of times between frames, of a page in front. Raises ProcessFailed."""
    await page.bring_to_front()
    times: Sequence[float] = await page.evaluate(SCROLLED, [frames, PIXELS])
    if not times:
        raise ProcessFailed("There is nothing to scroll through on the page.")
    return quantiles(times, n=100)[94]
