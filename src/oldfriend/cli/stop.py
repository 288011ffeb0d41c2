"""oldfriend stop: have the process that serves this folder end what it has begun, and end."""

import argparse
import asyncio
import signal
import time
from pathlib import Path

from oldfriend.app.choices.sections import Limits
from oldfriend.app.running.presence import Serving, find_serving, send
from oldfriend.app.running.supervisor import TO_LEAVE_S
from oldfriend.cli.opening import folder_from, settings_from
from oldfriend.domain.errors import CannotServe, InvalidInput

LOOK_EVERY_S = 0.05
AT_ONCE_S = 1.0
MARGIN_S = 10.0


async def run(options: argparse.Namespace) -> int:
    """Ask it to stop, and wait until it has. Nothing to stop is as good."""
    data = folder_from(options)
    serving = find_serving(data)
    if serving is None:
        print(f"Nothing serves {data}; there is nothing to stop.")
        return 0
    send(serving, signal.SIGTERM)
    if not await has_ended(data, serving, within_s=AT_ONCE_S):
        print("It ends what it has begun …", flush=True)
        most_s = longest_turn_s(options) + TO_LEAVE_S + MARGIN_S
        if not await has_ended(data, serving, within_s=most_s):
            raise CannotServe(
                f"It (pid {serving.pid}) was asked to stop, and still runs after {most_s:.0f} s. "
                "`oldfriend stop` once more ends it at once; whoever comes next goes on with what "
                "it was at."
            )
    print(f"Oldfriend (pid {serving.pid}) has stopped.")
    return 0


def longest_turn_s(options: argparse.Namespace) -> float:
    """How long what it has begun may take; as usual where the settings are broken."""
    try:
        return settings_from(options).limits.turn_timeout_s
    except InvalidInput:
        return Limits().turn_timeout_s


async def has_ended(data: Path, serving: Serving, *, within_s: float) -> bool:
    """Wait for a process to end, so long at most; whether it has."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        now = find_serving(data)
        if now is None or (now.pid, now.started_at) != (serving.pid, serving.started_at):
            return True
        await asyncio.sleep(LOOK_EVERY_S)
    return False
