"""oldfriend work: an additional worker process on the same memory, on any machine.

It compiles the many regular expressions of the language data first: on demand that would delay a
reply.
"""

import argparse
import asyncio
import gc
import sys
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import configure_logging, log_event, log_warning
from oldfriend.cli.open_context import load_settings_from_options, print_permission_warnings
from oldfriend.learning.rule_extraction.rule_loader import precompile_rule_book
from oldfriend.persona.soul_file import sync_soul_file
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.runtime.supervisor import Supervisor, WorkerPart, handle_signals
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from oldfriend.search.question_pattern_loader import preload_grammars

YOUNG_THRESHOLD: Final = 20_000
"""Allocations between collections of the youngest generation; a busy turn makes some thousands."""
OLD_THRESHOLD: Final = 20
"""Collections of a younger generation before an older one is collected."""


def tune_gc() -> None:
    """Exclude existing objects from garbage collection and collect the rest less often.

    This affects the whole process. It does not collect first: with all modules and language data
    that would block for 0.1 s.
    """
    gc.freeze()
    gc.set_threshold(YOUNG_THRESHOLD, OLD_THRESHOLD, OLD_THRESHOLD)


async def preload_language_data() -> None:
    """Load the data of every language in threads; takes seven seconds of processor time."""
    await asyncio.to_thread(preload_grammars)
    for language in OFFLINE_LANGUAGES:
        await asyncio.to_thread(load_phrases, language)
        await asyncio.to_thread(precompile_rule_book, language)


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
        log_warning("soul-file-refused", why=synced.problem)
    elif synced.is_new:
        log_event("soul-file-loaded", version=synced.version)
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
            log_event("worker-started", data=str(settings.data))
            has_ended = await supervisor.run()
    log_event("stopped")
    return 0 if has_ended else 1
