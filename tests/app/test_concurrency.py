"""Work that is watched: its own errors come out as they are, the watch's end it."""

import asyncio

import pytest

from oldfriend.app.concurrency import run_with_watcher


async def watching(
    *, error: BaseException | None = None, last: BaseException | None = None
) -> None:
    """Watch for ever, or until an error; with ``last`` fail when told to stop."""
    try:
        if error is not None:
            raise error
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        if last is not None:
            raise last from None
        raise


async def working(error: BaseException | None = None) -> str:
    """Do it, or fail at it."""
    await asyncio.sleep(0)
    if error is not None:
        raise error
    return "done"


async def test_run_with_watcher_returns_the_result_of_the_work() -> None:
    """The watch ends with it."""
    assert await run_with_watcher(watching(), working()) == "done"


async def test_run_with_watcher_raises_the_works_own_error() -> None:
    """Also where the watch fails at being stopped."""
    with pytest.raises(ValueError, match="work"):
        await run_with_watcher(watching(), working(ValueError("work")))
    with pytest.raises(ValueError, match="work"):
        await run_with_watcher(watching(last=KeyError("watch")), working(ValueError("work")))


async def test_run_with_watcher_cancels_the_work_when_the_watcher_fails() -> None:
    """The work is no longer wanted then."""
    endless = asyncio.Event().wait()
    with pytest.raises(KeyError):
        await run_with_watcher(watching(error=KeyError("watch")), endless)
