"""Only what was alone when its process died is ever counted against, on whatever path it came."""

import asyncio
import time
from pathlib import Path

import pytest

from oldfriend.domain.job_types import Job
from oldfriend.queues.queue import CRASHES_BEFORE_ISOLATION, MAX_CRASHES, list_jobs
from oldfriend.runtime.wiring import open_database
from tests.engines import SQLITE_ONLY
from tests.fakes.slow_model import slow_model
from tests.journeys.http_chat import talker_on, wait_for_replies
from tests.journeys.test_crashes import bring_all, process, say
from tests.killable import CHANNELS, LEASE_S, Town
from tests.processes import Program, kill, until

DEATHS = MAX_CRASHES + 2
"""More than would set a message aside that was alone each time."""
SLOW_S = 1.0
DEADLY = "deadly nightshade"
PATHS = pytest.mark.parametrize("path", ["work", "page"])
"""By partitions, as a worker takes them; or each by whoever waits for it, as a page does."""


@pytest.fixture
def town(database_url: str, tmp_path: Path) -> Town:
    """A town with nobody in it yet."""
    (tmp_path / "town").mkdir()
    return Town(url=database_url, folder=tmp_path / "town")


def jobs_of(town: Town) -> list[Job]:
    """What waits in the inbox, and what is set aside."""

    async def look() -> list[Job]:
        database = await open_database(town.url)
        try:
            async with database.begin_read() as tx:
                jobs = await list_jobs(tx, is_dead_letter=False)
        finally:
            await database.close()
        return [each for each in jobs if each.queue == "inbox"]

    return asyncio.run(look())


def replies_in(town: Town) -> list[str]:
    """What was answered, as it is kept."""

    async def look() -> list[str]:
        database = await open_database(town.url)
        try:
            async with database.begin_read() as tx:
                rows = await tx.rows("SELECT text FROM message WHERE role = 'companion'")
        finally:
            await database.close()
        return [row[0] for row in rows]

    return asyncio.run(look())


def called(town: Town) -> list[str]:
    """What the model was asked about so far."""
    return town.called.read_text("utf-8").splitlines() if town.called.exists() else []


@SQLITE_ONLY
@PATHS
def test_crashes_with_several_turns_in_flight_create_no_dead_letter(town: Town, path: str) -> None:
    """All are answered in the end: of one that was alone, too, no process has died so often."""
    lines = [("Ana", channel, f"in the {channel}") for channel in CHANNELS[:4]]
    say(town, lines)
    bring_all(town)
    for crash in range(DEATHS):
        before = len(called(town))
        is_suspect = crash > CRASHES_BEFORE_ISOLATION  # then they are done one by one
        with process(town, path, delay_s=SLOW_S) as doomed:
            if is_suspect:
                time.sleep(LEASE_S)
            else:
                until(lambda: len(called(town)) >= before + len(lines))  # noqa: B023
            kill(doomed)
        assert not any(job.is_dead_letter for job in jobs_of(town))
    with process(town, path):
        until(lambda: not jobs_of(town), within_s=60)

    assert sorted(replies_in(town)) == sorted(f"re: {text}" for _, _, text in lines)


@SQLITE_ONLY
@PATHS
def test_job_that_crashes_its_worker_becomes_the_only_dead_letter(town: Town, path: str) -> None:
    """It has killed each process that began it, in company and alone; the others are answered."""
    say(town, [("Ana", CHANNELS[0], DEADLY), *(("Ana", each, each) for each in CHANNELS[1:4])])
    bring_all(town)
    crashes = 0
    while any(not job.is_dead_letter for job in jobs_of(town)):
        assert crashes <= CRASHES_BEFORE_ISOLATION + MAX_CRASHES
        with process(town, path) as worker:
            until(
                lambda: (
                    worker.poll() is not None or all(job.is_dead_letter for job in jobs_of(town))
                ),
                within_s=90,
            )
            crashes += worker.poll() is not None
    (failed,) = jobs_of(town)

    assert (failed.partition, failed.isolated_crashes) == (failed.partition, MAX_CRASHES)
    assert crashes == CRASHES_BEFORE_ISOLATION + MAX_CRASHES
    assert called(town).count(DEADLY) == crashes
    assert {text: called(town).count(text) >= 1 for text in CHANNELS[1:4]} == dict.fromkeys(
        CHANNELS[1:4], True
    )


def test_api_messages_are_answered_after_repeated_server_crashes(
    oldfriend: Program,
) -> None:
    """Four people talk at once; the server dies again and again while it answers them."""
    with slow_model() as model:
        model.says, model.pause_s = "All is well here.", 0.001
        first = talker_on(oldfriend, model)
        talkers = [first, *(first.as_somebody(name) for name in ("Ana", "Ben", "Omar"))]
        model.pause_s = 1.0
        for crash in range(DEATHS):
            before = len(model.about)
            with first.served() as running:
                for talker in talkers if crash == 0 else []:
                    talker.says(running, "Remember my boat, please.")
                until(lambda: len(model.about) > before, within_s=30)  # noqa: B023
                kill(running.process)
        model.pause_s = 0.001
        with first.served() as running:
            for talker in talkers:
                wait_for_replies(talker, running, 2, within_s=60)
                assert talker.replies(running)[-1] == model.says
        failed = oldfriend.done("letters", "--parked", "--json").json

    assert failed == []
