"""Cost of reminders while none is due: a server at rest, with very many for later."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from oldfriend.domain.clock import DAY
from oldfriend.runtime.wiring import open_app
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured, build_upper_target
from oldfriend_evals.bench_server import Server, serve
from oldfriend_evals.reminders_due import fill_reminders
from oldfriend_evals.temporary_stores import build_settings

REMINDERS, QUICK, PEOPLE = 20_000, 1_000, 200
ROUNDS: Final = 6
ROUND_S: Final = 10.0
CALM_S: Final = 2.0
CALM_SHARE: Final = 0.05
CALM_TIMES: Final = 5
LONGEST_START_S: Final = 300.0
MOST_GROWTH: Final = 1.5


async def measure_idling(scope: Scope) -> list[Measure]:
    """Of two servers, one without reminders and one with many, what each takes of a core."""
    count = QUICK if scope.quick else REMINDERS
    name = f"idle with {count:,} reminders for later, of a core"
    try:
        none, many = await compare_idle_shares(count, rounds=2 if scope.quick else ROUNDS)
    except FileNotFoundError:
        return [
            build_unmeasured(name, "needs Linux's /proc", target=build_upper_target(MOST_GROWTH))
        ]
    return [
        Measure(
            name=name,
            value=many,
            unit="%",
            reference=none,
            target=build_upper_target(MOST_GROWTH),
            note="reference: with none",
        )
    ]


async def compare_idle_shares(count: int, *, rounds: int) -> tuple[float, float]:
    """The share of a core, in per cent, that a server takes with no reminders and with many."""
    async with AsyncExitStack() as stack:
        servers: list[Server] = []
        for reminders in (0, count):
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="oldfriend-bench-")))
            async with open_app(build_settings(folder)) as app:
                tomorrow = app.clock() + DAY
                await fill_reminders(
                    app, [tomorrow + number for number in range(reminders)], people=PEOPLE
                )
            servers.append(await stack.enter_async_context(serve(folder)))
        for each in servers:
            await wait_until_calm(each)
        before = [each.processor_ms for each in servers]
        await asyncio.sleep(rounds * ROUND_S)
        taken = [each.processor_ms - then for each, then in zip(servers, before, strict=True)]
    none, many = (ms / 10 / (rounds * ROUND_S) for ms in taken)
    return none, many


async def wait_until_calm(server: Server) -> None:
    """Return once a server has read ahead what it will need: it was at rest some times in turn."""
    calm = 0
    async with asyncio.timeout(LONGEST_START_S):
        while calm < CALM_TIMES:
            before = server.processor_ms
            await asyncio.sleep(CALM_S)
            calm = calm + 1 if server.processor_ms - before < 1000 * CALM_S * CALM_SHARE else 0
