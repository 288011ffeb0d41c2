"""What `oldfriend serve` keeps running, as a process that kills itself at a named step.

    python -m tests.killable_server DATABASE FOLDER [STEP [AHEAD]]

With a STEP it dies the first time that it gets there; its clock is so many seconds ahead. A test
that starts many forks them from one that has imported everything (``serve_forked``).
Everything else is the product, reached by its environment; nothing but the companion without a
model answers.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from oldfriend.app.app_context import CrashPoint
from oldfriend.cli.serve import SERVE_TASKS
from oldfriend.config.settings import load_settings
from oldfriend.domain.clock import SECOND
from oldfriend.runtime.supervisor import Supervisor
from oldfriend.runtime.wiring import open_app
from tests.killable import NoEmbedder


def serve_forked(environment: Mapping[str, str], log: Path, *arguments: str) -> None:
    """Serve in an environment of its own, as a process that was forked for that."""
    os.environ.clear()  # noqa: TID251 - it is this process's own
    os.environ.update(environment)  # noqa: TID251
    with log.open("ab") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
    asyncio.run(main(*arguments))


async def main(database: str, folder: str, step: str = "", ahead_s: str = "0") -> None:
    """Serve until told to end, or until it gets to the step."""
    settings = load_settings(data=str(Path(folder)), database=database)

    def reached(now: CrashPoint) -> None:
        if now == step:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_app(settings, with_channels=True) as plain:
        app = replace(
            plain,
            on_crash_point=reached,
            embedder=NoEmbedder(),
            clock=lambda: plain.clock() + round(float(ahead_s) * SECOND),
        )
        supervisor = Supervisor(app, SERVE_TASKS, load_settings=partial(lambda: settings))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, supervisor.stop)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await supervisor.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
