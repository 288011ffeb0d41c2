"""oldfriend reload: have whoever serves this folder read oldfriend.toml and SOUL.md again."""

import argparse
import asyncio
import signal
import sys
import time
from pathlib import Path

from oldfriend.app.choices.settings import RELOADABLE
from oldfriend.app.persona.soul import FILE, take_up_soul
from oldfriend.app.running.presence import Reload, Serving, find_serving, send
from oldfriend.app.wiring import open_house
from oldfriend.cli.opening import folder_from, settings_from
from oldfriend.domain.errors import CannotServe, StoreError

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
    await tell_of_soul(options)
    if outcome.needs_start:
        print(
            f"Changed, but only taken up by a new start: {', '.join(outcome.needs_start)}.\n"
            f"(Taken up at once: {', '.join(RELOADABLE)}.)"
        )
    return 0


async def tell_of_soul(options: argparse.Namespace) -> None:
    """Say what came of SOUL.md, where there is one: who reloads may have changed that alone."""
    try:
        async with open_house(settings_from(options), create=False) as house:
            taken = await take_up_soul(house)
    except StoreError:  # only the process that serves may open it, and tells in its log
        return
    if taken.trouble is not None:
        print(f"oldfriend: {taken.trouble}", file=sys.stderr)
    elif taken.version:
        print(f"{FILE}: version {taken.version} holds.")


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
