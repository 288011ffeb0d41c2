"""How does a part of a process keep running? Started again when it crashes, not for ever.

This is the bulkhead of everything that runs for long: what crashes in one part is told and stays
there. It does not know what the parts do.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from oldfriend.app.running.telling import tell, tell_trouble
from oldfriend.domain.errors import PlatformRefused
from oldfriend.domain.sayings import saying

Run: TypeAlias = Callable[[asyncio.Event], Awaitable[None]]
"""Does its work until the event is set, then ends what it has begun, and returns."""

MOST_CRASHES: Final = 5
WITHIN_S: Final = 600.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0


@dataclass(slots=True)
class Part:
    """One thing that is kept running, and how it does."""

    name: str
    running: int = 0  # two for a moment while one takes over from another
    has_given_up: bool = False
    crashes: deque[float] = field(default_factory=deque)  # when, by the loop's clock
    last_error: str | None = None  # its kind
    advice: str | None = None  # what the last error has said that somebody can do

    @property
    def trouble(self) -> str | None:
        """Why it does not do its work, in a sentence; None while it does."""
        if self.advice is not None and (self.has_given_up or not self.running):
            return self.advice
        if self.has_given_up:
            minutes = round(WITHIN_S / 60)
            return saying(
                "part_crashed",
                f"The {self.name} crashed more than {MOST_CRASHES} times in {minutes} minutes "
                f"(last: {self.last_error}) and stays down. The log says where; then "
                "`oldfriend reload`, or stop and start it again.",
                part=self.name, most=MOST_CRASHES, minutes=minutes, kind=self.last_error or "",
            )  # fmt: skip
        if not self.running and self.last_error:
            told = f"The {self.name} is about to start after a crash ({self.last_error})."
            return saying("part_starts_again", told, part=self.name, kind=self.last_error)
        if not self.running:
            return saying("part_starts", f"The {self.name} is about to start.", part=self.name)
        return None

    def note_crash(self, error: BaseException, at: float) -> None:
        """Count a crash; those of long ago are forgotten."""
        self.last_error = type(error).__name__
        self.advice = error.says if isinstance(error, PlatformRefused) else None
        self.crashes.append(at)
        while self.crashes[0] < at - WITHIN_S:
            self.crashes.popleft()
        self.has_given_up = len(self.crashes) > MOST_CRASHES

    def forgive(self) -> None:
        """Begin to count anew: somebody has looked after it."""
        self.crashes.clear()
        self.advice = None
        self.has_given_up = False


class EndedUnasked(Exception):
    """A part returned though nobody told it to stop."""


def pause_after(crashes: int) -> float:
    """How many seconds to wait before the next start."""
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (crashes - 1))


async def keep_running(
    part: Part, run: Run, stopping: asyncio.Event, *, pause: Callable[[int], float] = pause_after
) -> None:
    """Run a part until it is told to stop, or has crashed too often."""
    while not stopping.is_set():
        part.running += 1
        try:
            await run_on(run, stopping)
        except (Exception, asyncio.CancelledError) as error:
            if is_being_cancelled():
                raise
            part.note_crash(error, asyncio.get_running_loop().time())
            tell_trouble("crashed", error, part=part.name, times=len(part.crashes))
        finally:
            part.running -= 1
        if part.has_given_up:
            tell_trouble("given-up", part=part.name)
            return
        if part.crashes and not stopping.is_set():
            await at_most(pause(len(part.crashes)), stopping)
    tell("ended", part=part.name)


async def run_on(run: Run, stopping: asyncio.Event) -> None:
    """Run a part once. Raises EndedUnasked, or whatever it raises."""
    await run(stopping)
    if not stopping.is_set():
        raise EndedUnasked


def is_being_cancelled() -> bool:
    """Whether this task is to end; a part may also raise CancelledError by mistake."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def at_most(seconds: float, stopping: asyncio.Event) -> None:
    """Wait so long, or until told to stop."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stopping.wait()
