"""oldfriend work: more hands for the same memory, as many as one likes, on any machine."""

import argparse
import asyncio
import sys
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from oldfriend.app.house import House
from oldfriend.app.persona.soul import take_up_soul
from oldfriend.app.running.collecting import collect_seldom
from oldfriend.app.running.opening_books import open_books
from oldfriend.app.running.supervisor import Supervisor, Work, heeding_signals
from oldfriend.app.running.telling import begin_telling, tell, tell_trouble
from oldfriend.app.wiring import open_house
from oldfriend.app.working import work
from oldfriend.cli.opening import settings_from


async def work_off(house: House, stopping: asyncio.Event) -> None:
    """Do what waits in the queues."""
    async with asyncio.TaskGroup() as both:
        both.create_task(make_ready(house))
        await work(house, stopping=stopping)


async def make_ready(house: House) -> None:
    """Take up SOUL.md, and let the first reply wait for nothing that can be had before."""
    taken = await take_up_soul(house)
    if taken.trouble is not None:
        tell_trouble("soul-refused", why=taken.trouble)
    elif taken.is_new:
        tell("soul-taken-up", version=taken.version)
    await house.warm()
    await open_books()
    collect_seldom()


WORKS: Final[Mapping[str, Work]] = MappingProxyType({"worker": work_off})
"""What is kept running in a process that stays."""


async def run(options: argparse.Namespace) -> int:
    """Work until told to stop; 0 when everything that was begun came to its end."""
    settings = settings_from(options)
    begin_telling(sys.stderr)
    async with open_house(settings, reaches=True) as house:
        supervisor = Supervisor(house, WORKS, read_again=partial(settings_from, options))
        with heeding_signals(supervisor):
            tell("working", data=str(settings.data))
            has_ended = await supervisor.run()
    tell("stopped")
    return 0 if has_ended else 1
