"""oldfriend reload: have the process that serves this folder read oldfriend.toml again."""

import argparse
import asyncio
import signal
import time
from pathlib import Path

from oldfriend.app.choices.settings import RELOADABLE
from oldfriend.app.running.presence import Reload, Serving, find_serving, send
from oldfriend.cli.opening import folder_from
from oldfriend.domain.errors import CannotServe

LOOK_EVERY_S = 0.05
PATIENCE_S = 15.0


async def run(options: argparse.Namespace) -> int:
    """Ask it to reload, and say what came of it; 1 when it keeps the old settings."""
    data = folder_from(options)
    serving = find_serving(data)
    if serving is None:
        raise CannotServe(
            f"Nothing serves {data}, so there is nothing to reload. `oldfriend serve` reads the "
            "settings when it starts."
        )
    send(serving, signal.SIGHUP)
    outcome = await outcome_of(data, serving)
    if outcome.refused is not None:
        raise CannotServe(f"The old settings stay: {outcome.refused}")
    print("The settings are read again.")
    if outcome.needs_start:
        print(
            f"Changed, but only taken up by a new start: {', '.join(outcome.needs_start)}.\n"
            f"(Taken up at once: {', '.join(RELOADABLE)}.)"
        )
    return 0


async def outcome_of(data: Path, before: Serving) -> Reload:
    """What came of the reload that was just asked for. Raises CannotServe."""
    last = 0 if before.reload is None else before.reload.number
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        now = find_serving(data)
        if now is None or now.pid != before.pid:
            break
        if now.reload is not None and now.reload.number > last:
            return now.reload
        await asyncio.sleep(LOOK_EVERY_S)
    raise CannotServe(
        f"The process that serves (pid {before.pid}) has not answered. See: oldfriend status"
    )
