"""Lateness of reminders when very many are due: three workers on PostgreSQL, an hour of them.

The hour is run on a clock that goes several times as fast as the machine's, which all workers
share; lateness is counted on that clock, from when a reminder was due until its platform was given
it. So whatever the machine takes counts as many times: at its own pace it would be less late.
"""

import asyncio
import random
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.domain.clock import HOUR, MINUTE, SECOND, Micros, system_clock
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import new_random_id
from oldfriend.memory.people import ensure_chat, ensure_companion, ensure_person
from oldfriend.runtime.wiring import open_app, open_database
from oldfriend.tasks.reminder_jobs import schedule_reminder
from oldfriend.tasks.task import Task
from oldfriend.tasks.task_store import save_task
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured, build_upper_target
from oldfriend_evals.bench_server import start_process
from oldfriend_evals.reminder_worker import PLATFORM
from oldfriend_evals.temporary_stores import build_settings

SCHEMA: Final = "oldfriend_bench_reminders"
WORKERS: Final = 3
REMINDERS, PEOPLE = 100_000, 10_000
QUICK_SHARE: Final = 20
"""Of the hour, and of its reminders and people: as many a second as in the whole."""
SPEED: Final = 4.0
MOST_LATE_S: Final = 5.0
LEAD_S: Final = 20.0
"""Of the machine's time, for the workers to start in."""
LONGEST_WAIT_S: Final = 120.0
AT_ONCE: Final = 100
"""People whose reminders are put into the store in one transaction."""


class NotDelivered(OldfriendError):
    """Reminders of the measurement were never sent."""


async def measure_reminders(scope: Scope) -> list[Measure]:
    """Reminders at any moment of an hour, and at its full minutes only."""
    share = QUICK_SHARE if scope.quick else 1
    names = [
        f"{REMINDERS // share:,} reminders due within {60 // share} minutes{when}, "
        f"{WORKERS} workers on PostgreSQL: late, 95th percentile"
        for when in ("", ", all at full minutes")
    ]
    if scope.postgres is None:
        why = "needs a database: OLDFRIEND_BENCH_POSTGRES"
        return [
            build_unmeasured(name, why, target=build_upper_target(MOST_LATE_S)) for name in names
        ]
    return [
        await measure_lateness(scope.postgres, name, share=share, step=step)
        for name, step in zip(names, (1, MINUTE), strict=True)
    ]


async def measure_lateness(url: str, name: str, *, share: int, step: Micros) -> Measure:
    """Have reminders of an hour, or a share of it, delivered; due at multiples of a step."""
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        async with open_schema(url) as inside:
            dues = draw_dues(REMINDERS // share, span=HOUR // share, step=step)
            async with open_app(replace(build_settings(Path(folder)), database=inside)) as app:
                begins = system_clock() + HOUR  # of the clock on which it will be run
                await fill_reminders(app, [begins + due for due in dues], people=PEOPLE // share)
            sent = await deliver_all(Path(folder), inside, begins=begins, count=len(dues))
    late = sorted((sent[number] - begins - due) / SECOND for number, due in enumerate(dues))
    return Measure(
        name=name,
        value=quantiles(late, n=100)[94],
        unit="s",
        target=build_upper_target(MOST_LATE_S),
        note=f"median {quantiles(late, n=100)[49]:.2f} s, at most {late[-1]:.2f} s; "
        f"on a clock {SPEED:g} times as fast",
    )


def draw_dues(count: int, *, span: Micros, step: Micros) -> list[Micros]:
    """Draw times within a span, at multiples of a step."""
    chance = random.Random(1)
    return [chance.randrange(0, span, step) for _ in range(count)]


async def fill_reminders(app: AppContext, dues: list[Micros], *, people: int) -> None:
    """Put reminders of so many people into a store, as if they had been asked for just now."""
    now = app.clock()
    for first in range(0, people, AT_ONCE):
        async with app.db.begin_write() as tx:
            companion = await ensure_companion(tx, now=now)
            for each in range(first, min(first + AT_ONCE, people)):
                person = await ensure_person(tx, f"Person {each}", now=now, zone="UTC")
                chat = await ensure_chat(
                    tx,
                    person,
                    companion,
                    channel=PLATFORM,
                    address=f"{each}",
                    title=f"{each}",
                    now=now,
                )
                for number in range(each, len(dues), people):
                    task = Task(
                        id=new_random_id(),
                        person=person.id,
                        chat=chat.id,
                        text=f"turn page {number}",
                        language="en",
                        kind="reminder",
                        zone="UTC",
                        due_at=dues[number],
                        created_at=now,
                        changed_at=now,
                    )
                    await save_task(tx, task)
                    await schedule_reminder(tx, task, now=now)


async def deliver_all(folder: Path, url: str, *, begins: Micros, count: int) -> dict[int, Micros]:
    """Have workers send all reminders; when each was sent, by its number. Raises NotDelivered.

    The clock is to show the beginning once the workers have started.
    """
    starts = system_clock() + round(LEAD_S * SECOND)
    async with AsyncExitStack() as workers:
        files = [folder / f"sent-{number}" for number in range(WORKERS)]
        for file in files:
            command = [
                *(sys.executable, "-m", "oldfriend_evals.reminder_worker"),
                *(str(folder), url, str(starts), str(begins), str(SPEED), str(file)),
            ]
            await workers.enter_async_context(start_process(command))
        return await read_until_all(files, count)


async def read_until_all(files: list[Path], count: int) -> dict[int, Micros]:
    """Read what was sent until all is there. Raises NotDelivered if nothing more comes."""
    loop = asyncio.get_running_loop()
    known, changed_at = 0, loop.time()
    while True:
        await asyncio.sleep(1)
        sent = read_sent(files)
        if len(sent) == count:
            return sent
        if len(sent) > known:
            known, changed_at = len(sent), loop.time()
        if loop.time() - changed_at > LONGEST_WAIT_S + LEAD_S:
            raise NotDelivered(f"{count - len(sent)} of {count} reminders were not sent.")


def read_sent(files: list[Path]) -> dict[int, Micros]:
    """Read when each reminder was sent first, by its number."""
    sent: dict[int, Micros] = {}
    for file in files:
        for line in file.read_text("ascii").splitlines() if file.exists() else []:
            at, number = map(int, line.split())
            sent[number] = min(at, sent.get(number, at))
    return sent


@asynccontextmanager
async def open_schema(url: str) -> AsyncIterator[str]:
    """A PostgreSQL database in a schema beside whatever is in one; gone afterwards."""
    given = await open_database(url)
    try:
        async with given.begin_write() as tx:
            await tx.run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
            await tx.run(f"CREATE SCHEMA {SCHEMA}")
        joint = "&" if "?" in url else "?"
        yield f"{url}{joint}options=-csearch_path%3D{SCHEMA}"
    finally:
        async with given.begin_write() as tx:
            await tx.run(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
        await given.close()
