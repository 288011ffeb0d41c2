"""Processes that serve or work, each forked from one that has imported and read all: up at once.

    python -m tests.forked_servers DATABASE FOLDER

For each line of its input, "serve", "work" or "door", it forks a process that keeps running what
that command does, and tells its number; whoever gave the line kills it. All end with the input.
"serve" has no door for programs; "door" is one at the port in the settings, with all of "work".
"""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from oldfriend.api.connections import ConnectionHub
from oldfriend.api.web_app import create_app
from oldfriend.app.app_context import AppContext
from oldfriend.cli.serve import SERVE_TASKS
from oldfriend.cli.work import WORK_TASKS, preload_language_data
from oldfriend.config.settings import Settings, load_settings
from oldfriend.openai_api.api_routes import build_api_routes
from oldfriend.runtime.admin_http import AdminServer, listen
from oldfriend.runtime.supervisor import Supervisor, WorkerPart
from oldfriend.runtime.wiring import open_app
from tests.killable import NoEmbedder

TASKS: Mapping[str, Mapping[str, WorkerPart]] = {"serve": SERVE_TASKS, "work": WORK_TASKS}


async def run(settings: Settings, command: str) -> None:
    """Keep the tasks of a command running."""
    async with open_app(settings, with_channels=True) as plain:
        app = replace(plain, embedder=NoEmbedder())
        if command == "door":
            await run_door(app)
        else:
            await Supervisor(app, TASKS[command], load_settings=lambda: settings).run()


async def run_door(app: AppContext) -> None:
    """Answer programs, and work."""
    serve = app.settings.serve
    hub = ConnectionHub(app, port=serve.port)
    parts = {**WORK_TASKS, "pages": hub.run}
    supervisor = Supervisor(app, parts, load_settings=lambda: app.settings)
    site = create_app(
        hub, lambda: supervisor.problems, supervisor.reload_now, build_api_routes(hub)
    )
    with listen(serve.host, serve.port) as listening:
        door = AdminServer(supervisor=supervisor, listen_socket=listening, web_app=site)
        await supervisor.run(admin_server=door.serve)


def main(database: str, folder: str) -> None:
    """Fork what is asked for."""
    settings = load_settings(data=str(Path(folder)), database=database)
    asyncio.run(preload_language_data())
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that are killed
    forked: list[int] = []
    for line in sys.stdin:
        if not (pid := os.fork()):
            os.dup2(os.open(os.devnull, os.O_RDWR), sys.stdin.fileno())
            asyncio.run(run(settings, line.strip()))
            os._exit(0)
        forked.append(pid)
        sys.stdout.write(f"{pid}\n")
        sys.stdout.flush()
    for each in forked:
        with suppress(ProcessLookupError):
            os.kill(each, signal.SIGKILL)


if __name__ == "__main__":
    main(*sys.argv[1:])
