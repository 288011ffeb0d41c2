"""What runs in a process that stays? Parts that are kept running, until it is told to stop.

Told to stop (SIGTERM, SIGINT), it claims nothing more, ends what it has begun, and returns; told
so twice, the system ends it at once, and what it held is taken over when its leases end. Told to
reload (SIGHUP), a new shift with the new settings takes over, while the old one ends its work.
It does not know what the parts do.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, TypeAlias

from oldfriend.app.choices.settings import Settings, reloaded
from oldfriend.app.house import House
from oldfriend.app.running.keeping import Part, Run, keep_running, pause_after
from oldfriend.app.running.presence import Reload
from oldfriend.app.running.telling import tell, tell_trouble
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import saying

Work: TypeAlias = Callable[[House, asyncio.Event], Awaitable[None]]
"""A part of a house: works until the event is set, ends what it has begun, and returns."""

Asked: TypeAlias = Literal["stop", "reload", "look"]

STOPPING: Final = (signal.SIGTERM, signal.SIGINT)
TO_LEAVE_S: Final = 5.0
"""What a drain may take beyond the longest turn."""
IS_STOPPING: Final = saying(
    "process_stops", "It is stopping: it ends what it has begun and takes up nothing more."
)


@dataclass(slots=True)
class Shift:
    """Those who work with one version of the settings."""

    house: House
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)


class Supervisor:
    """Everything that runs in this process."""

    def __init__(
        self,
        house: House,
        works: Mapping[str, Work],
        *,
        read_again: Callable[[], Settings],
        pause: Callable[[int], float] = pause_after,
    ) -> None:
        """Nothing runs yet. ``read_again`` reads the settings as they are chosen now."""
        self.house = house
        self.parts = {name: Part(name) for name in works}
        self.began_at = house.clock()
        self.is_draining = False
        self._works = works
        self._read_again = read_again
        self._pause = pause
        self._asked: asyncio.Queue[Asked] = asyncio.Queue()
        self._shifts: list[Shift] = []
        self._reloads = 0
        self._waiting: list[asyncio.Future[Reload]] = []

    def stop(self) -> None:
        """Ask it to end."""
        self._asked.put_nowait("stop")

    def reload(self) -> None:
        """Ask it to read the settings again."""
        self._asked.put_nowait("reload")

    async def reload_now(self) -> tuple[Reload, House]:
        """Have the settings read again, and what came of it, with the house as it is then."""
        outcome: asyncio.Future[Reload] = asyncio.get_running_loop().create_future()
        self._waiting.append(outcome)
        self.reload()
        return await outcome, self.house

    @property
    def troubles(self) -> list[str]:
        """Why it does not do all its work, in sentences."""
        if self.is_draining:
            return [IS_STOPPING]
        return [trouble for part in self.parts.values() if (trouble := part.trouble)]

    async def run(
        self, *, door: Run | None = None, has_reloaded: Callable[[Reload], None] | None = None
    ) -> bool:
        """Work until asked to stop; whether all that was begun has come to its end.

        With a ``door`` it stays to say what is wrong when all parts have given up; without, it
        ends then, as what was asked could not be done.
        """
        was_asked = True
        closing = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            if door is not None:
                group.create_task(keep_running(Part("door"), door, closing, pause=self._pause))
            self._begin_shift(group)
            while (asked := await self._asked.get()) != "stop":
                if asked == "reload":
                    outcome = self._reload(group)
                    if has_reloaded is not None:
                        has_reloaded(outcome)
                    self._tell(outcome)
                elif door is None and all(part.has_given_up for part in self.parts.values()):
                    was_asked = False
                    break
            has_ended = await self._drain()
            closing.set()
            self._tell(Reload(number=self._reloads, refused=IS_STOPPING))
        return was_asked and has_ended

    def _begin_shift(self, group: asyncio.TaskGroup) -> None:
        """Let all parts start with the house as it is now, and those before them end."""
        for earlier in self._shifts:
            earlier.stopping.set()
        self._shifts = [shift for shift in self._shifts if not all(map(is_over, shift.tasks))]
        shift = Shift(self.house)
        for name, work in self._works.items():
            shift.tasks.append(group.create_task(self._keep(self.parts[name], work, shift)))
        self._shifts.append(shift)

    async def _keep(self, part: Part, work: Work, shift: Shift) -> None:
        run = partial(work, shift.house)
        await keep_running(part, run, shift.stopping, pause=self._pause)
        self._asked.put_nowait("look")

    def _reload(self, group: asyncio.TaskGroup) -> Reload:
        """Take over what has changed in the settings, if all of it is right."""
        self._reloads += 1
        try:
            chosen = self._read_again()
        except InvalidInput as error:
            tell_trouble("reload-refused", error)
            return Reload(number=self._reloads, refused=error.says)
        settings, needs_start = reloaded(self.house.settings, chosen)
        self.house = self.house.refurnish(self.house, settings)
        for part in self.parts.values():
            part.forgive()
        self._begin_shift(group)
        tell("reloaded", needs_start=" ".join(needs_start))
        return Reload(number=self._reloads, needs_start=needs_start)

    def _tell(self, outcome: Reload) -> None:
        """Tell those who wait for it what came of a reload."""
        for each in self._waiting:
            if not each.done():
                each.set_result(outcome)
        self._waiting.clear()

    async def _drain(self) -> bool:
        """End everything, within the time of the longest turn; whether it has ended by itself."""
        self.is_draining = True
        tell("stopping")
        for shift in self._shifts:
            shift.stopping.set()
        tasks = [task for shift in self._shifts for task in shift.tasks]
        longest_s = max(shift.house.settings.limits.turn_timeout_s for shift in self._shifts)
        _, late = await asyncio.wait(tasks, timeout=longest_s + TO_LEAVE_S)
        for task in late:
            task.cancel()
        if late:
            tell_trouble("left-unfinished", parts=len(late))
        return not late


def is_over(task: "asyncio.Task[None]") -> bool:
    """Whether a task has ended."""
    return task.done()


@contextmanager
def heeding_signals(supervisor: Supervisor) -> Iterator[None]:
    """Pass on what the system and the person ask of this process.

    The system also sends SIGHUP when the terminal is closed; who began there then stops.
    """
    loop = asyncio.get_running_loop()
    is_at_terminal = has_terminal() and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN

    def stop() -> None:
        for number in STOPPING:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)  # asked again, it ends without another word
        supervisor.stop()

    def reload() -> None:
        if is_at_terminal and not has_terminal():
            stop()
        else:
            supervisor.reload()

    for number in STOPPING:
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, reload)
    try:
        yield
    finally:
        for number in (*STOPPING, signal.SIGHUP):
            loop.remove_signal_handler(number)


def has_terminal() -> bool:
    """Whether this process belongs to a terminal that is still there."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
