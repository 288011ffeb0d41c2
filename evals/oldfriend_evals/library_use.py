"""What a program pays that uses the memory alone: single additions, and a first recall."""

import subprocess
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from oldfriend.app.app_context import AppContext
from oldfriend.app.embed_messages import try_embed_missing
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.import_writer import ImportedMessage, ImportTarget, write_imported_messages
from oldfriend_evals.bench_measures import Measure, Scope, build_upper_target, measure_medians_ms
from oldfriend_evals.footprint import fill_store
from oldfriend_evals.processes import ProcessFailed
from oldfriend_evals.temporary_stores import KnownVectors, build_history, open_temporary_store

ADDED = 60
WARMING = 5
REMEMBERED = 200
PROCESSES = 7


async def measure_single_adds(scope: Scope) -> list[Measure]:
    """Adding one message after the other to a long history, beside a short one."""
    short, long = (500, 2_000) if scope.quick else (1_000, 10_000)
    async with AsyncExitStack() as stack:
        adds = []
        for size in (short, long):
            app = await stack.enter_async_context(open_temporary_store())
            line = await build_history(app, size, seed=1)
            known = replace(app, embedder=KnownVectors(app.embedder, {}))
            adds.append(partial(add_message, known, line))
        turns = [tuple(partial(each, number) for each in adds) for number in range(ADDED)]
        await measure_medians_ms(turns[:WARMING])
        reference, value = await measure_medians_ms(turns[WARMING:])
    return [
        Measure(
            name=f"adding one by one among {long:,} messages",
            value=value,
            unit="ms",
            reference=reference,
            target=build_upper_target(1.2),
            note=f"beside embedding; reference: among {short:,}",
        )
    ]


async def add_message(app: AppContext, line: ChatContext, number: int) -> None:
    """Add one message as ``Memory.add`` does."""
    now = app.clock()
    spoken = UnloggedMessage(
        role="person",
        speaker=line.person.name,
        text=f"Bird number {number} was blue.",
        at=now,
        zone="UTC",
        trust="person",
    )
    async with app.db.begin_write() as tx:
        await write_imported_messages(
            tx,
            ImportTarget(chat=line.chat, language="en"),
            [ImportedMessage(message=spoken)],
            now=now,
        )
    await try_embed_missing(app, line.person.id)


async def measure_first_recall(scope: Scope) -> list[Measure]:
    """The first recall of a process, beside a later one of the same process."""
    with TemporaryDirectory(prefix="oldfriend-bench-") as folder:
        await fill_store(Path(folder), REMEMBERED)
        pairs = [time_recalls(Path(folder)) for _ in range(3 if scope.quick else PROCESSES)]
    return [
        Measure(
            name=f"first recall among {REMEMBERED} messages",
            value=median(one for one, _ in pairs),
            unit="ms",
            reference=median(later for _, later in pairs),
            target=build_upper_target(3),
            note="beside loading the embedder; reference: a later one",
        )
    ]


def time_recalls(folder: Path) -> tuple[float, float]:
    """Return the milliseconds of a first and a later recall of a process. Raises ProcessFailed."""
    command = [sys.executable, "-m", "oldfriend_evals.first_recall", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ProcessFailed(f"first_recall: {done.stderr.strip()[-300:]}")
    first, later = done.stdout.split()
    return float(first), float(later)
