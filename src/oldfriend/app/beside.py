"""How is a piece of work watched over? By something that runs beside it, as long as it lasts."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def beside(watch: Coroutine[Any, Any, None], work: Coroutine[Any, Any, T]) -> T:
    """Do some work while it is watched; what comes of it.

    Raises what the work raises, as it is. What the watch raises ends the work, and is raised.
    """
    failed: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as both:
            watching = both.create_task(watch)
            try:
                done = await work
            except Exception as error:
                failed = error
                raise
            watching.cancel()
    except BaseExceptionGroup as group:
        raise failed or group.exceptions[0] from group
    return done
