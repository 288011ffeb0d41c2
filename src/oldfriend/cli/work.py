"""oldfriend work: an additional worker process on the same memory, on any machine."""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import configure_logging, log_event, log_warning
from oldfriend.cli.open_context import load_settings_from_options, print_permission_warnings
from oldfriend.persona.soul_file import sync_soul_file
from oldfriend.runtime.supervisor import Supervisor, WorkerPart, handle_signals
from oldfriend.runtime.warmup import preload_language_data, tune_gc
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker


async def process_queues(app: AppContext, stopping: asyncio.Event) -> None:
    """Process the queues, while warming up."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(warm_up(app))
        await run_worker(app, stopping=stopping)


async def warm_up(app: AppContext) -> None:
    """Sync SOUL.md and load ahead whatever would delay the first reply."""
    tune_gc()
    synced = await sync_soul_file(app.db, app.clock, app.settings)
    if synced.problem is not None:
        log_warning("soul-refused", why=synced.problem)
    elif synced.is_new:
        log_event("soul-taken-up", version=synced.version)
    await app.warm_up()
    await preload_language_data()
    tune_gc()


WORK_TASKS: Final[Mapping[str, WorkerPart]] = MappingProxyType({"worker": process_queues})
"""Tasks that a long-running process keeps running."""


async def run(options: argparse.Namespace) -> int:
    """Work until told to stop; 0 if everything that was started has finished."""
    settings = load_settings_from_options(options)
    print_permission_warnings(settings)
    configure_logging(sys.stderr)
    async with open_app(settings, with_channels=True) as app:
        supervisor = Supervisor(
            app, WORK_TASKS, load_settings=partial(load_settings_from_options, options)
        )
        with handle_signals(supervisor):
            log_event("working", data=str(settings.data))
            has_ended = await supervisor.run()
    log_event("stopped")
    return 0 if has_ended else 1
