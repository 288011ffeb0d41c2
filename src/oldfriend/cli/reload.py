"""oldfriend reload: makes the running server reread oldfriend.toml and SOUL.md."""

import argparse
import asyncio
import signal
import sys
import time
from pathlib import Path

from oldfriend.app.pid_lock import ReloadResult, ServerInfo, find_server, send_signal
from oldfriend.cli.open_context import get_data_folder, load_settings_from_options
from oldfriend.config.settings import list_reloadable_settings
from oldfriend.domain.errors import ServerProcessError, StoreError
from oldfriend.persona.soul_file import SOUL_FILE_NAME, sync_soul_file
from oldfriend.runtime.wiring import open_app

POLL_S = 0.05
TIMEOUT_S = 15.0


async def run(options: argparse.Namespace) -> int:
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
        raise ServerProcessError(f"The old settings stay: {outcome.refused}")
    print("The settings are read again.")
    await print_soul_status(options)
    if outcome.needs_start:
        print(
            f"Changed, but only taken up by a new start: {', '.join(outcome.needs_start)}.\n"
            f"(Taken up at once: {', '.join(list_reloadable_settings())}.)"
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
        print(f"{SOUL_FILE_NAME}: version {synced.version} holds.")


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
        f"The process that serves (pid {before.pid}) has not answered. See: oldfriend status"
    )
