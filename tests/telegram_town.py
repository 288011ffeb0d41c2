"""What `oldfriend serve` keeps running, as a process that kills itself at a named step.

    python -m tests.telegram_town DATABASE FOLDER [STEP]

With a STEP it dies the first time that it gets there. Everything else is the product, reached by
its environment; nothing but the companion without a model answers.
"""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path

from oldfriend.app.app_context import CrashPoint
from oldfriend.cli.serve import SERVE_TASKS
from oldfriend.config.settings import load_settings
from oldfriend.runtime.supervisor import Supervisor
from oldfriend.runtime.wiring import open_app
from tests.town import NoEmbedder


async def main(database: str, folder: str, step: str = "") -> None:
    """Serve until told to end, or until it gets to the step."""
    settings = load_settings(data=str(Path(folder)), database=database)

    def reached(now: CrashPoint) -> None:
        if now == step:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_app(settings, with_channels=True) as plain:
        app = replace(plain, on_crash_point=reached, embedder=NoEmbedder())
        supervisor = Supervisor(app, SERVE_TASKS, load_settings=partial(lambda: settings))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, supervisor.stop)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await supervisor.run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
