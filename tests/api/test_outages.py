"""A platform that another process listens to and does not reach is away on the page, too."""

import asyncio
from dataclasses import replace

from typing_extensions import override

from oldfriend.channels.channel import BotDiagnosis, Cursors, HandleEvent, UnreadableUpdate
from oldfriend.domain.errors import PlatformUnavailable
from oldfriend.inbound.receive import listen_on_channel
from oldfriend.queues.outages import OUTAGE_TTL, find_outage_start
from oldfriend.runtime.bot_connections import UnavailableChannel, check_channels
from oldfriend.runtime.wiring import open_app
from tests.api.conftest import Browse, Site


class Away(UnavailableChannel):
    """A platform that cannot be reached until it is there again."""

    def __init__(self) -> None:
        """Nobody has tried yet."""
        super().__init__("away")
        self.is_back, self.tried = asyncio.Event(), asyncio.Event()
        self.has_told = asyncio.Event()

    @override
    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Fail, or tell something once and then nothing."""
        del cursors
        if not self.is_back.is_set():
            self.tried.set()
            raise PlatformUnavailable("away")
        await handle_event(UnreadableUpdate(channel="telegram", update_id=1, reason="odd"))
        self.has_told.set()
        await asyncio.Event().wait()


async def test_away_in_another_process_is_told_with_since_when_until_it_is_back(
    site: Site, browse: Browse
) -> None:
    """In Settings and among the checks of Upkeep; without news of it for minutes, no more."""
    owner, platform, stopping = await browse(), Away(), asyncio.Event()
    before = (await owner.get("/telegram")).json()["unreachable_since"]
    async with open_app(site.app.settings) as other, asyncio.TaskGroup() as tasks:
        listening = replace(other, channels={"telegram": platform}, clock=site.app.clock)
        tasks.create_task(listen_on_channel("telegram", listening, stopping))
        await platform.tried.wait()
        platform.tried.clear()
        await platform.tried.wait()  # the first failure is recorded by now
        now = site.app.clock()
        away = (await owner.get("/telegram")).json()["unreachable_since"]
        async with site.app.db.begin_read() as tx:
            checks = await check_channels(
                tx, {"telegram": BotDiagnosis(findings=(), format_group_hint=None)}, now=now
            )
            later = await find_outage_start(tx, "telegram", now=now + OUTAGE_TTL)
        platform.is_back.set()
        await platform.has_told.wait()
        after = (await owner.get("/telegram")).json()["unreachable_since"]
        stopping.set()

    assert (before, after, later) == (None, None, None)
    assert away is not None
    assert [each.text for each in checks if not each.is_ok] == [
        "Telegram: the process that listens has not reached it for 0 min."
    ]
