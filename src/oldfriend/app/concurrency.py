"""Concurrency: runs work next to a watcher task that can end it."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def run_with_watcher(watcher: Coroutine[Any, Any, None], work: Coroutine[Any, Any, T]) -> T:
    """Run the work while the watcher runs, and return the result of the work.

    Raises the error of the work unchanged. An error of the watcher cancels the work and is raised.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(watcher)
            done = await work
            watching.cancel()
    except BaseExceptionGroup as group:
        raise group.exceptions[-1] from group  # the work's own error, if there is one, comes last
    return done
