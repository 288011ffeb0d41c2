"""Restart policy: restarts a crashed part of a process, with a backoff and a limit.

This is the bulkhead of everything long-running: a crash in one part is reported and does not affect
the others. What the parts do is not known here.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from oldfriend.app.event_log import log_event, log_warning
from oldfriend.domain.errors import PlatformRejected
from oldfriend.domain.i18n_messages import localizable

RunUntilStopped: TypeAlias = Callable[[asyncio.Event], Awaitable[None]]
"""Works until the event is set, then finishes what it has begun, and returns."""

MAX_CRASHES: Final = 5
CRASH_WINDOW_S: Final = 600.0
FIRST_BACKOFF_S, MAX_BACKOFF_S = 1.0, 60.0


@dataclass(slots=True)
class SupervisedPart:
    """The state of one part that is kept running."""

    name: str
    running: int = 0  # briefly two during a reload
    has_given_up: bool = False
    crashes: deque[float] = field(default_factory=deque)  # times by the loop's clock
    last_error: str | None = None  # its class name
    advice: str | None = None  # what the last error says to do

    @property
    def problem(self) -> str | None:
        """Why the part does not do its work, in a sentence; None while it does."""
        if self.advice is not None and (self.has_given_up or not self.running):
            return self.advice
        if self.has_given_up:
            minutes = round(CRASH_WINDOW_S / 60)
            return localizable(
                "part_crashed",
                f"The {self.name} crashed more than {MAX_CRASHES} times in {minutes} minutes "
                f"(last: {self.last_error}) and stays down. The log says where; then "
                "`oldfriend reload`, or stop and start it again.",
                part=self.name,
                most=MAX_CRASHES,
                minutes=minutes,
                kind=self.last_error or "",
            )
        if not self.running and self.last_error:
            text = f"The {self.name} is about to start after a crash ({self.last_error})."
            return localizable("part_starts_again", text, part=self.name, kind=self.last_error)
        if not self.running:
            return localizable("part_starts", f"The {self.name} is about to start.", part=self.name)
        return None

    def record_crash(self, error: BaseException, at: float) -> None:
        """Record a crash; those outside the window are dropped."""
        self.last_error = type(error).__name__
        self.advice = error.user_text if isinstance(error, PlatformRejected) else None
        self.crashes.append(at)
        while self.crashes[0] < at - CRASH_WINDOW_S:
            self.crashes.popleft()
        self.has_given_up = len(self.crashes) > MAX_CRASHES

    def reset_crashes(self) -> None:
        """Reset the count, because somebody has intervened."""
        self.crashes.clear()
        self.advice = None
        self.has_given_up = False


class UnexpectedExit(Exception):
    """A part returned without being told to stop."""


def compute_backoff(crashes: int) -> float:
    """Return how many seconds to wait before the next start."""
    return min(MAX_BACKOFF_S, FIRST_BACKOFF_S * 2.0 ** (crashes - 1))


async def run_with_restarts(
    part: SupervisedPart,
    run: RunUntilStopped,
    stopping: asyncio.Event,
    *,
    backoff: Callable[[int], float] = compute_backoff,
) -> None:
    """Run a part until it is told to stop, or has crashed too often."""
    while not stopping.is_set():
        part.running += 1
        try:
            await run_once(run, stopping)
        except (Exception, asyncio.CancelledError) as error:
            if is_being_cancelled():
                raise
            part.record_crash(error, asyncio.get_running_loop().time())
            log_warning("crashed", error, part=part.name, times=len(part.crashes))
        finally:
            part.running -= 1
        if part.has_given_up:
            log_warning("given-up", part=part.name)
            return
        if part.crashes and not stopping.is_set():
            await sleep_or_stop(backoff(len(part.crashes)), stopping)
    log_event("ended", part=part.name)


async def run_once(run: RunUntilStopped, stopping: asyncio.Event) -> None:
    """Run a part once. Raises UnexpectedExit, or whatever the part raises."""
    await run(stopping)
    if not stopping.is_set():
        raise UnexpectedExit


def is_being_cancelled() -> bool:
    """Return whether this task is being cancelled.

    A part may also raise CancelledError by mistake.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def sleep_or_stop(seconds: float, stopping: asyncio.Event) -> None:
    """Sleep for some seconds, or until told to stop."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stopping.wait()
