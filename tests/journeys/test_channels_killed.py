"""On any channel processes are killed and calls fail, and nothing is lost, whatever else happens.

Each message asks for a note, so that each reply quotes the message that it answers.
"""

import asyncio
import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from oldfriend.channels.channel_registry import CHANNELS
from tests.channels.harness import HARNESSES, ChannelHarness
from tests.conftest import SIZE, Sizes
from tests.engines import SEVERAL_PROCESSES
from tests.fakes.weather import Storm
from tests.journeys.test_telegram_crashes import STEPS, note
from tests.killable_server import serve_forked

FAULTY = 0.25
STARTS_S, FALLS_S = 60.0, 20.0
"""At most, on a machine that has much else to do: until it answers, until it gets to a step."""
PUT_RIGHT_AFTER = 2
"""Kills, before what its owner had left unset is set: what was said until then is answered, too."""
PAUSE_S = 180.0
"""The longest between two answers, after many failures in a row."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        SIZE != "full", reason="Telegram's is run each time, and test_channel_crashes.py"
    ),
]


@dataclass(frozen=True, slots=True)
class Seen:
    """What all chats show in the end."""

    shown: int
    lost: list[str]
    disordered: list[str]  # people
    doubled: list[str]


class Town:
    """People on a platform, and the processes that serve them one after the other."""

    def __init__(self, harness: ChannelHarness, folder: Path, database: str, chats: int) -> None:
        """Nothing was said yet."""
        self.harness, self.folder, self.database = harness, folder, database
        self.people = [f"p{number}" for number in range(chats)]
        self.said: dict[str, list[str]] = {who: [] for who in self.people}
        self.chance = random.Random(5)
        folder.mkdir(mode=0o700, exist_ok=True)
        name = harness.spec.name
        self.forks = multiprocessing.get_context("forkserver")
        channel = f"oldfriend.channels.{name}.{name}_channel"
        self.forks.set_forkserver_preload(["tests.killable_server", channel])
        self.settings = dict[str, str]()
        self.configure(harness.connect(self.people, folder / name) | {"quiet_s": "0"})

    def configure(self, settings: dict[str, str]) -> None:
        """Let the processes that follow have these settings of the channel, too."""
        name = self.harness.spec.name
        self.settings |= {f"OLDFRIEND_{name}_{key}".upper(): each for key, each in settings.items()}

    @contextmanager
    def process(self, step: str = "") -> Iterator[ForkServerProcess]:
        """What `oldfriend serve` keeps running, which may die at a step.

        Each is forked from a process that has imported everything: that takes longest.
        """
        environment = {
            "PATH": os.defpath,
            "HOME": str(self.folder),
            "OMP_NUM_THREADS": "1",
            "OLDFRIEND_LIMITS_LEASE_S": "5",
            "OLDFRIEND_LIMITS_HEARTBEAT_S": "0.5",
            "OLDFRIEND_LIMITS_MESSAGES_PER_MINUTE": "0",
            "OLDFRIEND_MEMORY_FORMS": "false",
            **self.settings,
        }
        arguments = (environment, self.folder / "log", self.database, str(self.folder), step)
        process = self.forks.Process(target=serve_forked, args=arguments, daemon=True)
        process.start()
        try:
            yield process
        finally:
            process.kill()
            process.join()

    async def hears(self, process: ForkServerProcess) -> None:
        """Wait until a process is told what happens, or has died of what it caught up with."""
        async with asyncio.TaskGroup() as tasks:
            connected = tasks.create_task(self.harness.connected())
            await waited(lambda: connected.done() or not process.is_alive(), within_s=STARTS_S)
            connected.cancel()

    def says(self, number: int) -> None:
        """Somebody asks for a note."""
        who = self.chance.choice(self.people)
        self.said[who].append(note(number))
        self.harness.says(who, f"remember that {note(number)}")

    def count_shown(self) -> int:
        """How many answers stand in all chats."""
        return sum(len(self.harness.shown(who)) for who in self.people)

    def has_answered(self) -> bool:
        """Whether each note was answered."""
        shown = {who: "\n".join(self.harness.shown(who)) for who in self.people}
        return all(each in shown[who] for who, notes in self.said.items() for each in notes)

    async def settles(self) -> None:
        """Wait until each note was answered, or nothing more comes."""
        shown, is_going_on = -1, True
        while is_going_on:
            is_going_on = shown != (shown := self.count_shown())
            is_going_on &= not await waited(self.has_answered, within_s=PAUSE_S)

    async def strike(self, process: ForkServerProcess, step: str, before: int) -> bool:
        """Kill a process that has answered, unless it dies by itself at a step; whether it did."""
        if step and await waited(lambda: not process.is_alive(), within_s=FALLS_S):
            return process.exitcode == -signal.SIGKILL
        await waited(lambda: self.count_shown() > before, within_s=STARTS_S)
        await asyncio.sleep(self.chance.uniform(0, 0.5))
        process.kill()
        return False

    def look(self) -> Seen:
        """Compare what was said with what was answered, chat by chat."""
        lost, disordered, doubled = [], [], []
        for who, notes in self.said.items():
            shown = self.harness.shown(who)
            answers = [each for text in shown for each in notes if each in text]
            times = Counter(answers)
            lost += [each for each in notes if each not in times]
            doubled += [each for each in times for _ in range(times[each] - 1)]
            if list(dict.fromkeys(answers)) != [each for each in notes if each in times]:
                disordered.append(who)
        return Seen(self.count_shown(), lost, disordered, doubled)


async def waited(is_so: Callable[[], bool], *, within_s: float) -> bool:
    """Wait until something is so, while the platform goes on; whether it came to be."""
    until = (looked := time.monotonic()) + within_s
    while not (found := is_so()) and time.monotonic() < until:
        await asyncio.sleep(max(0.05, 5 * (time.monotonic() - looked)))  # the fake runs here, too
        looked = time.monotonic()
    return found


@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", sorted(CHANNELS))
@SEVERAL_PROCESSES
async def test_no_message_is_lost_or_reordered_by_kills_and_faults_on_any_channel(
    name: str,
    database_url: str,
    sizes: Sizes,
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    """Real processes die at random and at each step; where nobody can be asked, one doubles one."""
    kills, messages, chats = sizes.kills, sizes.crash_messages, sizes.crash_chats
    async with HARNESSES[name]() as harness:
        town = Town(harness, tmp_path / "data", database_url, chats)
        knows = harness.spec.capabilities.sends_once or harness.can_tell
        storm = Storm(FAULTY, carried_out=0.5 if knows else 0.0, seed=3)
        harness.storm(storm)
        fell, each_time, began = 0, messages // (kills + 1), time.monotonic()
        for number in range(kills):
            if number == PUT_RIGHT_AFTER:
                town.configure(harness.connect_further())
            step = STEPS[number // 2 % len(STEPS)] if number % 2 else ""
            before = town.count_shown()
            with town.process(step) as process:
                await town.hears(process)
                for each in range(number * each_time, (number + 1) * each_time):
                    town.says(each)
                fell += await town.strike(process, step, before)
        with town.process() as process:
            await town.hears(process)
            for each in range(kills * each_time, messages):
                town.says(each)
            await town.settles()
            await asyncio.sleep(3)  # for anything that would be shown twice
        seen = town.look()
    told = (
        f"{messages} messages, {chats} chats, {kills} kills ({fell} at a step), {storm.failed} of "
        f"{storm.calls} calls failed ({storm.unanswered} carried out), {seen.shown} shown, lost "
        f"{len(seen.lost)}, disordered {len(seen.disordered)}, doubled {len(seen.doubled)}, "
        f"{time.monotonic() - began:.0f} s"
    )
    record_property("told", told)
    print(told)  # noqa: T201 - the figures of a run, for whoever reads them

    assert seen.lost == []
    assert seen.disordered == []
    assert len(seen.doubled) <= (0 if knows else kills)
    assert fell > 0
