"""Whatever dies while people write on any channel, and whatever its platform does: nothing is lost.

A process dies here by an error that nothing catches, in the middle of its work, with its leases
held; the next one opens its bot anew. Real processes die in ``test_telegram_crashes.py``, and at
full size on every channel in ``test_channels_killed.py``.
"""

import asyncio
import gc
import random
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext, CrashPoint
from oldfriend.channels.channel import Sender
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.config.settings import Settings, build_default_channels
from oldfriend.config.settings_schema import LimitSettings
from oldfriend.inbound.account_linking import create_code_for, link_own_address
from oldfriend.inbound.receive import listen_on_channel
from oldfriend.memory.people import ensure_owner
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from tests.channels.harness import HARNESSES, ChannelHarness, until
from tests.conftest import SIZE, Sizes
from tests.journeys.test_telegram_crashes import STEPS, note

PEOPLE = ("ana", "ben")
FAULTY = 0.25
AT_EACH_SIZE = ("discord", "email", "slack")
"""One that knows keys, one that answers by threads, one that can be asked what was sent."""

pytestmark = pytest.mark.slow


class Died(BaseException):
    """The process is no more."""


class Town:
    """People on a platform, and the processes that serve them one after the other."""

    def __init__(self, harness: ChannelHarness, settings: Settings, folder: Path) -> None:
        """Nothing was said yet."""
        self.harness, self.folder = harness, folder
        self.settings = replace(
            settings,
            channels=build_default_channels(),
            limits=LimitSettings(messages_per_minute=0, lease_s=1.0, heartbeat_s=0.2),
        )
        self.said: dict[str, list[str]] = {each: [] for each in PEOPLE}
        self.chance = random.Random(5)
        self.knows = harness.spec.capabilities.sends_once or harness.can_tell

    def says(self, number: int) -> None:
        """Somebody asks for a note; a quarter of what is sent and of what is read meets trouble.

        Only a platform that knows what it has is silent about it.
        """
        who = self.chance.choice(PEOPLE)
        self.said[who].append(note(number))
        if self.chance.random() < FAULTY:
            is_done = self.chance.random() < 0.5 and self.knows
            self.harness.fail("unanswered" if is_done else "unreachable")
        if self.chance.random() < FAULTY:
            self.harness.fail_reading()
        self.harness.says(who, f"remember that {note(number)}")

    def has_answered(self) -> bool:
        """Whether each note was answered."""
        shown = {who: "\n".join(self.harness.shown(who)) for who in PEOPLE}
        return all(each in shown[who] for who, notes in self.said.items() for each in notes)

    async def pair(self, app: AppContext) -> None:
        """Everybody sends a code, unless they have, or is linked where nobody does."""
        for who in PEOPLE:
            if not self.harness.spec.pairs_by_code:
                sender = Sender(address=self.harness.address(who).partition("/")[0], name=who)
                name = self.harness.spec.name
                await link_own_address(app.db, app.clock, self.settings, sender, None, channel=name)
            elif not self.harness.shown(who):
                async with app.db.begin_write() as tx:
                    owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
                self.harness.says(who, await create_code_for(app.db, app.clock, owner))
                await until(lambda who=who: bool(self.harness.shown(who)))

    async def serve(self, numbers: range, *, dies_at: str | None = None) -> bool:
        """Serve while some notes are asked for, and tell whether the process died of it."""

        def reached(step: CrashPoint) -> None:
            if step == dies_at:
                raise Died

        name, bot = self.harness.spec.name, self.harness.open(self.folder)
        stopping, has_died = asyncio.Event(), False
        try:
            async with open_app(self.settings) as plain, asyncio.TaskGroup() as tasks:
                app = replace(
                    plain, channels={name: bot}, platforms=frozenset({name}), on_crash_point=reached
                )
                tasks.create_task(listen_on_channel(name, app, stopping))
                tasks.create_task(run_worker(app, stopping=stopping))
                await self.harness.connected()
                await self.pair(app)
                for number in numbers:
                    self.says(number)
                await until(self.has_answered, seconds=60)
                stopping.set()
                app.notifier.notify()
        except* Died:
            has_died = True
        finally:
            await bot.close()
        with warnings.catch_warnings():  # whoever dies closes nothing
            warnings.simplefilter("ignore")
            gc.collect()
        return has_died


@pytest.mark.parametrize("name", sorted(HARNESSES) if SIZE == "full" else AT_EACH_SIZE)
async def test_nothing_is_lost_or_out_of_order_on_any_channel_whatever_dies(
    name: str,
    settings: Settings,
    sizes: Sizes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And nothing twice where the platform knows keys or can be asked, else one for each kill."""
    kills, each_time = (3, 4) if sizes.kills < 40 else (sizes.kills, sizes.crash_messages // 40)
    async with HARNESSES[name]() as harness:
        monkeypatch.setitem(CHANNELS, name, harness.spec)
        town = Town(harness, settings, tmp_path)
        await town.serve(range(0))
        died = 0
        for kill in range(kills):
            numbers = range(kill * each_time, (kill + 1) * each_time)
            died += await town.serve(numbers, dies_at=town.chance.choice(STEPS))
        await town.serve(range(kills * each_time, (kills + 1) * each_time))

        shown = {who: harness.shown(who) for who in PEOPLE}
    doubled = 0
    for who, notes in town.said.items():
        answers = [next((n for n in notes if n in text), "") for text in shown[who]]
        times = Counter(filter(None, answers))
        doubled += times.total() - len(times)
        assert [each for each in dict.fromkeys(answers) if each] == notes
    assert died > 0
    assert doubled <= (0 if town.knows else died)
