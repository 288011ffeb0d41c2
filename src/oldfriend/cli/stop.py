"""oldfriend stop: stops the server of this data folder after it finishes its work."""

import argparse
import asyncio
import signal
import time
from pathlib import Path

from oldfriend.app.pid_lock import ServerInfo, find_server, send_signal
from oldfriend.cli.open_context import get_data_folder, load_settings_from_options
from oldfriend.config.settings_schema import LimitSettings
from oldfriend.domain.errors import InvalidInput, ServerProcessError
from oldfriend.runtime.supervisor import DRAIN_GRACE_S

POLL_S = 0.05
GRACE_S = 1.0
MARGIN_S = 10.0


async def run(options: argparse.Namespace) -> int:
    """Stop the server and wait; succeeds if none runs. Raises ServerProcessError."""
    data = get_data_folder(options)
    server = find_server(data)
    if server is None:
        print(f"Oldfriend is not running for {data}; there is nothing to stop.")
        return 0
    send_signal(server, signal.SIGTERM)
    if not await wait_until_ended(data, server, within_s=GRACE_S):
        print("It ends what it has begun …", flush=True)
        max_wait_s = get_turn_timeout_s(options) + DRAIN_GRACE_S + MARGIN_S
        if not await wait_until_ended(data, server, within_s=max_wait_s):
            raise ServerProcessError(
                f"It (pid {server.pid}) was asked to stop, and still runs after "
                f"{max_wait_s:.0f} s. "
                "`oldfriend stop` once more ends it at once; whoever comes next goes on with what "
                "it was at."
            )
    print(f"Oldfriend (pid {server.pid}) has stopped.")
    return 0


def get_turn_timeout_s(options: argparse.Namespace) -> float:
    """Return how long work in progress may take; the default if settings are invalid."""
    try:
        return load_settings_from_options(options).limits.turn_timeout_s
    except InvalidInput:
        return LimitSettings().turn_timeout_s


async def wait_until_ended(data: Path, serving: ServerInfo, *, within_s: float) -> bool:
    """Wait up to ``within_s`` seconds for a server to end; return whether it has."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        now = find_server(data)
        if now is None or (now.pid, now.started_at) != (serving.pid, serving.started_at):
            return True
        await asyncio.sleep(POLL_S)
    return False
