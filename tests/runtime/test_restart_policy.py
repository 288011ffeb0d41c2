"""What crashes now and then is borne, what crashes all the time is not."""

import asyncio

from oldfriend.runtime.restart_policy import (
    CRASH_WINDOW_S,
    MAX_CRASHES,
    SupervisedPart,
    compute_backoff,
    run_with_restarts,
)


def test_crashes_of_long_ago_are_forgotten() -> None:
    """Five in ten minutes are borne; six are not."""
    part = SupervisedPart("worker")
    for at in range(MAX_CRASHES):
        part.record_crash(KeyError(), at)
    assert not part.has_given_up
    part.record_crash(KeyError(), CRASH_WINDOW_S + MAX_CRASHES)
    assert not part.has_given_up
    for _ in range(MAX_CRASHES):
        part.record_crash(KeyError(), CRASH_WINDOW_S + MAX_CRASHES)

    assert part.has_given_up


def test_each_pause_is_longer_up_to_a_minute() -> None:
    """So that what is broken for a while is not asked all the time."""
    assert [compute_backoff(crashes) for crashes in (1, 2, 3, 9, 50)] == [1, 2, 4, 60, 60]


async def test_told_to_stop_a_part_does_not_wait_for_its_next_start() -> None:
    """Nobody waits a minute for a process that has nothing to do."""
    stopping = asyncio.Event()

    async def break_down(stopping: asyncio.Event) -> None:
        raise KeyError

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(
            run_with_restarts(SupervisedPart("x"), break_down, stopping, backoff=lambda _: 1000)
        )
        await asyncio.sleep(0)
        stopping.set()
