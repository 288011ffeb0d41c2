"""How is a piece of work watched over? By something that runs beside it, as long as it lasts."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def beside(watch: Coroutine[Any, Any, None], work: Coroutine[Any, Any, T]) -> T:
    """Do some work while it is watched; what comes of it.

    Raises what the work raises, as it is. What the watch raises ends the work, and is raised.
    """
    try:
        async with asyncio.TaskGroup() as both:
            watching = both.create_task(watch)
            done = await work
            watching.cancel()
    except BaseExceptionGroup as group:
        raise group.exceptions[-1] from group  # the work's own error, if there is one, comes last
    return done
