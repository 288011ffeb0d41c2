"""oldfriend stop, reload: asks the running server to finish its work, or to reread its settings."""

import argparse
import asyncio
import signal
import sys
import time
from pathlib import Path

from oldfriend.app.pid_lock import ReloadResult, ServerInfo, find_server, has_ended, send_signal
from oldfriend.cli.open_context import get_data_folder, load_settings_from_options
from oldfriend.config.settings import list_reloadable_settings
from oldfriend.config.settings_schema import LimitSettings
from oldfriend.domain.errors import InvalidInput, ServerProcessError, StoreError
from oldfriend.persona.soul_file import SOUL_FILE_NAME, sync_soul_file
from oldfriend.runtime.supervisor import DRAIN_GRACE_S
from oldfriend.runtime.wiring import open_app

POLL_S = 0.05
GRACE_S = 1.0
MARGIN_S = 10.0
EXIT_S = 10.0
"""How long a process may take to end once it has given its data folder back."""


async def run_stop(options: argparse.Namespace) -> int:
    """Stop the server and wait; succeeds if none runs. Raises ServerProcessError."""
    data = get_data_folder(options)
    server = find_server(data)
    if server is None:
        print(f"Oldfriend is not running for {data}; there is nothing to stop.")
        return 0
    send_signal(server, signal.SIGTERM)
    if not await wait_until_ended(data, server, within_s=GRACE_S):
        print("It is finishing what it has begun …", flush=True)
        max_wait_s = get_turn_timeout_s(options) + DRAIN_GRACE_S + MARGIN_S
        if not await wait_until_ended(data, server, within_s=max_wait_s):
            raise ServerProcessError(
                f"The server (pid {server.pid}) was asked to stop and is still running after "
                f"{max_wait_s:.0f} s. To end it at once, run `oldfriend stop` again; the next "
                "start continues its work."
            )
    if await wait_until_gone(server.pid):
        print(f"Oldfriend (pid {server.pid}) has stopped.")
    else:
        print(f"Oldfriend answers no longer; its process (pid {server.pid}) is about to end.")
    return 0


def get_turn_timeout_s(options: argparse.Namespace) -> float:
    """Return how long work in progress may take; the default if settings are invalid."""
    try:
        return load_settings_from_options(options).limits.turn_timeout_s
    except InvalidInput:
        return LimitSettings().turn_timeout_s


async def wait_until_gone(pid: int) -> bool:
    """Wait a while for a process to end that serves no longer; return whether it has."""
    deadline = time.monotonic() + EXIT_S
    while not has_ended(pid):
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(POLL_S)
    return True


async def wait_until_ended(data: Path, serving: ServerInfo, *, within_s: float) -> bool:
    """Wait up to ``within_s`` seconds for a server to end; return whether it has."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        now = find_server(data)
        if now is None or (now.pid, now.started_at) != (serving.pid, serving.started_at):
            return True
        await asyncio.sleep(POLL_S)
    return False


TIMEOUT_S = 15.0


async def run_reload(options: argparse.Namespace) -> int:
    """Ask the server to reload, and print the result. Raises ServerProcessError."""
    data = get_data_folder(options)
    server = find_server(data)
    if server is None:
        raise ServerProcessError(
            f"Oldfriend is not running for {data}, so there is nothing to reload. "
            "`oldfriend serve` reads the settings when it starts."
        )
    send_signal(server, signal.SIGHUP)
    outcome = await wait_for_reload(data, server)
    if outcome.refused is not None:
        raise ServerProcessError(f"The old settings stay in effect: {outcome.refused}")
    print("The settings were read again.")
    await print_soul_status(options)
    if outcome.needs_start:
        print(
            f"Changed, but in effect only after a restart: {', '.join(outcome.needs_start)}.\n"
            f"(In effect at once: {', '.join(list_reloadable_settings())}.)"
        )
    return 0


async def print_soul_status(options: argparse.Namespace) -> None:
    """Print the state of SOUL.md, which may be all that changed."""
    try:
        async with open_app(load_settings_from_options(options), create=False) as app:
            synced = await sync_soul_file(app.db, app.clock, app.settings)
    except StoreError:  # only the server may open this store; it logs the result
        return
    if synced.problem is not None:
        print(f"oldfriend: {synced.problem}", file=sys.stderr)
    elif synced.version:
        print(f"{SOUL_FILE_NAME}: version {synced.version} is in effect.")


async def wait_for_reload(data: Path, before: ServerInfo) -> ReloadResult:
    """Wait for the result of the requested reload. Raises ServerProcessError."""
    last = 0 if before.reload is None else before.reload.number
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        now = find_server(data)
        if now is None or now.pid != before.pid:
            break
        if now.reload is not None and now.reload.number > last:
            return now.reload
        await asyncio.sleep(POLL_S)
    raise ServerProcessError(
        f"The server (pid {before.pid}) has not answered. See: oldfriend status"
    )
