"""Footprint of the web server: until it is ready, and while hundreds of pages are open."""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Final

from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured, build_upper_target
from oldfriend_evals.bench_server import Line, connect, create_token, serve
from oldfriend_evals.processes import measure_processor_s
from oldfriend_evals.temporary_stores import build_settings

PAGES_EACH: Final = 8
"""Of one person, who may have 32."""
OPENED_S: Final = 60.0
SETTLED_S: Final = 2.0
MOST_MB_EACH: Final = 60 / 500
FRAMEWORK: Final = "import fastapi, uvicorn"
WARM: Final = 1
"""The first of each writes bytecode, or reads it from the disk."""


async def measure_page_weight(scope: Scope) -> list[Measure]:
    """Becoming ready, and open pages on which nothing happens."""
    pages, times = (60, 3) if scope.quick else (500, 9)
    ready, idle = "serve until it is ready", f"{pages} open pages on which nothing happens"
    try:
        return [await measure_ready(ready, times), await measure_open(idle, pages)]
    except FileNotFoundError:
        return [build_unmeasured(name, "needs Linux's /proc") for name in (ready, idle)]


async def measure_ready(name: str, times: int) -> Measure:
    """What a process takes of a processor until it says that it is ready; turn about with bare."""
    taken: list[tuple[float, float]] = []
    bare = [sys.executable, "-c", FRAMEWORK]
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        async with open_app(build_settings(Path(folder))) as app:
            await create_token(app, "Ana")
        for _ in range(WARM + times):
            at_bare = measure_processor_s(bare)
            async with serve(Path(folder)) as server:
                taken.append((at_bare, server.processor_ms / 1000))
    reference, value = (median(each[WARM:]) for each in zip(*taken, strict=True))
    return Measure(
        name=name,
        value=value,
        unit="s",
        reference=reference,
        target=build_upper_target(4),
        note=f"reference: {FRAMEWORK}",
    )


async def measure_open(name: str, pages: int) -> Measure:
    """What a process holds more with so many pages open than with none."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="oldfriend-bench-")))
        async with open_app(build_settings(folder)) as app:
            people = range(-(-pages // PAGES_EACH))
            tokens = [await create_token(app, f"Ana {number}") for number in people]
        server = await stack.enter_async_context(serve(folder))
        await asyncio.sleep(SETTLED_S)
        before = server.resident_mb
        listening = await stack.enter_async_context(asyncio.TaskGroup())
        opened = asyncio.Semaphore(0)
        lines = [
            await stack.enter_async_context(connect(server, tokens[page // PAGES_EACH]))
            for page in range(pages)
        ]
        tasks = [listening.create_task(listen_to_events(line, opened)) for line in lines]
        async with asyncio.timeout(OPENED_S):
            for _ in tasks:
                await opened.acquire()
        await asyncio.sleep(SETTLED_S)
        more = server.resident_mb - before
        for task in tasks:
            task.cancel()
    return Measure(
        name=name,
        value=max(more, 0.0),
        unit="MB",
        target=build_upper_target(MOST_MB_EACH * pages),
        note="more than with none",
    )


async def listen_to_events(line: Line, opened: asyncio.Semaphore) -> None:
    """Have a page open, and say when it is."""

    def hear(topic: bytes, _: bytes) -> None:
        if topic.endswith(b".ready"):
            opened.release()

    await line.hear("/api/v1/chat/events", hear)
