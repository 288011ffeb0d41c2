"""A reminder told on Telegram comes once, whoever dies around its time (ACCEPTANCE L4)."""

import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from oldfriend.channels.telegram.http_client import QUEUE_SLOT_S
from tests.conftest import SIZE, Sizes
from tests.engines import SEVERAL_PROCESSES, SQLITE_ONLY
from tests.fakes.telegram import World, running_telegram
from tests.fakes.telegram.world import Shown
from tests.journeys.telegram_kills import (
    FIRST_USER,
    STARTS_S,
    WINDOW_S,
    one_who_serves,
    struck_by,
    width_of,
)
from tests.journeys.telegram_server import Home, home_on
from tests.processes import Program, line_of, running, until

STEPS = ("committing", "committed", "sending", "sent", "delivered")
"""Of a reminder, from the list to the chat."""
AHEAD_S = 21 * 60
LATE_S = 40 * 60
LEADS_S = 60
"""A reminder is told a minute before its time."""
PER_KILL = 2
PAUSE_S = 1.5
"""Between two requests for reminders, and in the middle between something shown and a kill."""
USERS = range(FIRST_USER, FIRST_USER + 20)


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


def reminders(world: World) -> list[Shown]:
    """The reminders that were shown, in order."""
    return [each for each in world.shown if each.text.startswith("Reminder: ")]


def box_of(shown: Shown) -> str:
    """What a reminder is about."""
    return shown.text.splitlines()[0].removeprefix("Reminder: water box ")


def have_reminder_set(folder: Path, world: World) -> None:
    """Ask for one in twenty minutes, and end once it is confirmed."""
    world.says(FIRST_USER, "remind me in 20 minutes to water box 1")
    with one_who_serves(folder, world):
        until(
            lambda: any("water box 1" in each for each in world.texts(FIRST_USER)),
            within_s=STARTS_S,
        )
        time.sleep(0.5)  # for what is noted about that


@pytest.mark.parametrize("step", STEPS)
def test_reminder_is_shown_once_by_the_process_after_one_that_died(
    tmp_path: Path, world: World, step: str
) -> None:
    """At each named step between the list and the chat."""
    have_reminder_set(tmp_path, world)
    with one_who_serves(tmp_path, world, step, ahead_s=AHEAD_S) as doomed:
        assert doomed.wait(STARTS_S) == -signal.SIGKILL
    with one_who_serves(tmp_path, world, ahead_s=AHEAD_S):
        until(lambda: bool(reminders(world)), within_s=STARTS_S)
        time.sleep(1)  # for anything that would be shown twice

    assert [each.text for each in reminders(world)] == ["Reminder: water box 1"]


def test_reminder_that_comes_after_a_sleep_says_that_it_is_late(
    tmp_path: Path, world: World
) -> None:
    """Nobody served at its time; it comes once, and names that time."""
    have_reminder_set(tmp_path, world)
    for _ in range(2):
        with one_who_serves(tmp_path, world, ahead_s=LATE_S):
            until(lambda: bool(reminders(world)), within_s=STARTS_S)
            time.sleep(1)  # for anything that would be shown twice
    (shown,) = reminders(world)

    assert "was due on" in shown.text
    assert "late" in shown.text


@contextmanager
def forking(home: Home, database: str) -> Iterator[Callable[[str], int]]:
    """Have processes that serve or work, told by the number of each, gone afterwards."""
    command = [sys.executable, "-m", "tests.forked_servers", database, str(home.program.data)]
    with running(command, home.program.variables) as parent:

        def fork(what: str) -> int:
            assert parent.stdin is not None
            parent.stdin.write(f"{what}\n".encode())
            parent.stdin.flush()
            return int(line_of(parent.stdout))

        yield fork
        assert parent.stdin is not None
        parent.stdin.close()
        parent.wait(60)


@contextmanager
def telling(world: World, due: dict[str, float], *, count: int) -> Iterator[None]:
    """Ask for a reminder every now and then meanwhile, and note when each is due."""
    stopping = threading.Event()

    def tell() -> None:
        for number in range(count):
            due[str(number)] = time.monotonic() + LEADS_S
            user = USERS[number % len(USERS)]
            world.says(user, f"remind me in 1 minute to water box {number}")
            if stopping.wait(PAUSE_S):
                return

    teller = threading.Thread(target=tell)
    teller.start()
    try:
        yield
    finally:
        stopping.set()
        teller.join()


def is_all_shown(world: World, due: dict[str, float], count: int) -> bool:
    """Whether so many reminders were told, and all of them were shown."""
    return len(due) == count and {box_of(each) for each in reminders(world)} == due.keys()


@pytest.mark.timeout(7200)
@(SEVERAL_PROCESSES if SIZE == "full" else SQLITE_ONLY)
def test_reminder_comes_once_although_processes_are_killed_around_its_time(
    oldfriend: Program,
    world: World,
    database_url: str,
    engine: str,
    sizes: Sizes,
    record_property: Callable[[str, object], None],
) -> None:
    """`serve` is killed at random around each, on PostgreSQL in turn with two `work`.

    Between two kills something is shown, so that around each something is sent. Shown twice is only
    what Telegram had shown when whoever sent it died before it was told so, which Telegram cannot
    be asked about: one by a kill.
    """
    chance = random.Random(7)
    home = home_on(
        oldfriend,
        world,
        OLDFRIEND_DATABASE=database_url,
        OLDFRIEND_TELEGRAM_QUIET_S="0",
        OLDFRIEND_LIMITS_LEASE_S="2",
        OLDFRIEND_LIMITS_HEARTBEAT_S="0.5",
        OLDFRIEND_TELEGRAM_ALLOWED=",".join(map(str, USERS)),
        OLDFRIEND_MEMORY_FORMS="false",
    )
    commands = ["serve"] if engine == "sqlite" else ["serve", "work", "work"]
    due: dict[str, float] = {}
    kills: list[float] = []
    with forking(home, database_url) as fork:
        team = [fork(each) for each in commands]
        until(lambda: world.poller > 0, within_s=300)
        with telling(world, due, count=PER_KILL * sizes.reminder_kills):
            time.sleep(LEADS_S - 1)
            while len(kills) < sizes.reminder_kills:
                before = len(world.shown)
                world.wait(lambda: len(world.shown) > before, seconds=120)  # noqa: B023
                time.sleep(chance.uniform(0, 2 * PAUSE_S))
                nth = chance.randrange(len(team))
                kills.append(time.monotonic())
                os.kill(team[nth], signal.SIGKILL)
                team[nth] = fork(commands[nth])
            until(lambda: is_all_shown(world, due, PER_KILL * sizes.reminder_kills), within_s=600)
            time.sleep(3)  # for anything that would be shown twice
    shown = reminders(world)
    times = Counter(map(box_of, shown))
    doubled = [
        each for place, each in enumerate(shown) if box_of(each) in map(box_of, shown[place + 1 :])
    ]
    struck = struck_by(kills, doubled)
    lateness = sorted(
        next(each.at for each in shown if box_of(each) == box) - at for box, at in due.items()
    )
    record_property(
        "told",
        f"{len(due)} reminders, {len(kills)} kills, lost {len(due.keys() - times.keys())}, twice "
        f"{len(doubled)}, early {sum(each < -2 for each in lateness)}; late by "
        f"{lateness[len(lateness) // 2]:.1f} s in the middle, {lateness[-1]:.1f} s at most",
    )

    assert times.keys() == due.keys()
    assert max(times.values()) <= 2
    assert min(lateness) > -2  # Telegram tells whole seconds
    assert all(width_of(each) < WINDOW_S for each in struck)
    in_time = [each.kill for each in struck if width_of(each) < QUEUE_SLOT_S]
    assert set(Counter(in_time).values()) <= {1}  # whoever is late is waited for no longer
