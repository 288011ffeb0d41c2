"""Supervisor: runs the parts of a long-running process until it is told to stop.

On SIGTERM or SIGINT it claims no more work, finishes what has begun, and returns. On a second
signal the system ends the process at once, and its work is taken over when its leases expire. On
SIGHUP a new generation of workers starts with the new settings while the old one finishes its work.

This is the bulkhead of everything long-running: a crash in one part is reported and does not affect
the others. What the parts do is not known here.
"""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, TypeAlias

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_event, log_warning
from oldfriend.app.pid_lock import ReloadResult
from oldfriend.config.settings import Settings, apply_reload
from oldfriend.domain.errors import InvalidInput, PlatformRejected
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
                f"(last: {self.last_error}) and was not started again. See the log for the cause; "
                "then run `oldfriend reload`, or stop Oldfriend and start it again.",
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
            log_warning("task-crashed", error, task=part.name, times=len(part.crashes))
        finally:
            part.running -= 1
        if part.has_given_up:
            log_warning("task-given-up", task=part.name)
            return
        if part.crashes and not stopping.is_set():
            await sleep_or_stop(backoff(len(part.crashes)), stopping)
    log_event("task-ended", task=part.name)


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


WorkerPart: TypeAlias = Callable[[AppContext, asyncio.Event], Awaitable[None]]
"""A part of a process: works until the event is set, finishes what it has begun, and returns."""

SupervisorCommand: TypeAlias = Literal["stop", "reload", "look"]

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
DRAIN_GRACE_S: Final = 5.0
"""Seconds a drain may take beyond the longest turn."""
STOPPING_MESSAGE: Final = localizable(
    "process_stops", "It is stopping: it finishes what it has begun and starts nothing new."
)


@dataclass(slots=True)
class WorkerGeneration:
    """The workers running with one version of the settings."""

    app: AppContext
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    tasks: list["asyncio.Task[None]"] = field(default_factory=list)


class Supervisor:
    """All parts that run in this process."""

    def __init__(
        self,
        app: AppContext,
        workers: Mapping[str, WorkerPart],
        *,
        load_settings: Callable[[], Settings],
        backoff: Callable[[int], float] = compute_backoff,
    ) -> None:
        """Start nothing yet; ``load_settings`` reads the settings as they are now."""
        self.app = app
        self.parts = {name: SupervisedPart(name) for name in workers}
        self.began_at = app.clock()
        self.is_draining = False
        self._workers = workers
        self._load_settings = load_settings
        self._backoff = backoff
        self._commands: asyncio.Queue[SupervisorCommand] = asyncio.Queue()
        self._generations: list[WorkerGeneration] = []
        self._reload_count = 0
        self._reload_waiters: list[asyncio.Future[ReloadResult]] = []

    def stop(self) -> None:
        """Request a stop."""
        self._commands.put_nowait("stop")

    def reload(self) -> None:
        """Request a reload of the settings."""
        self._commands.put_nowait("reload")

    async def reload_now(self) -> tuple[ReloadResult, AppContext]:
        """Reload the settings, and return the result with the app context that is then in use."""
        outcome: asyncio.Future[ReloadResult] = asyncio.get_running_loop().create_future()
        self._reload_waiters.append(outcome)
        self.reload()
        return await outcome, self.app

    @property
    def problems(self) -> list[str]:
        """Why the process does not do all its work, in sentences."""
        if self.is_draining:
            return [STOPPING_MESSAGE]
        return [trouble for part in self.parts.values() if (trouble := part.problem)]

    async def run(
        self,
        *,
        admin_server: RunUntilStopped | None = None,
        on_reload: Callable[[ReloadResult], None] | None = None,
    ) -> bool:
        """Run all parts until asked to stop; return whether all begun work has finished.

        With an ``admin_server`` the process stays up to report the problem when all parts have
        given up. Without one it ends then and returns False, because it could not do what was
        asked.
        """
        was_asked = True
        closing = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            if admin_server is not None:
                group.create_task(
                    run_with_restarts(
                        SupervisedPart("door"), admin_server, closing, backoff=self._backoff
                    )
                )
            self._start_generation(group)
            while (command := await self._commands.get()) != "stop":
                if command == "reload":
                    outcome = self._reload(group)
                    if on_reload is not None:
                        on_reload(outcome)
                    self._notify_waiters(outcome)
                elif admin_server is None and all(
                    part.has_given_up for part in self.parts.values()
                ):
                    was_asked = False
                    break
            has_ended = await self._drain()
            closing.set()
            self._notify_waiters(ReloadResult(number=self._reload_count, refused=STOPPING_MESSAGE))
        return was_asked and has_ended

    def _start_generation(self, task_group: asyncio.TaskGroup) -> None:
        """Start all parts with the current app context, and tell earlier generations to stop."""
        for earlier in self._generations:
            earlier.stopping.set()
        self._generations = [
            generation
            for generation in self._generations
            if not all(map(is_done, generation.tasks))
        ]
        generation = WorkerGeneration(self.app)
        for name, work in self._workers.items():
            generation.tasks.append(
                task_group.create_task(self._run_part(self.parts[name], work, generation))
            )
        self._generations.append(generation)

    async def _run_part(
        self, part: SupervisedPart, work: WorkerPart, generation: WorkerGeneration
    ) -> None:
        run = partial(work, generation.app)
        await run_with_restarts(part, run, generation.stopping, backoff=self._backoff)
        self._commands.put_nowait("look")

    def _reload(self, task_group: asyncio.TaskGroup) -> ReloadResult:
        """Apply the changed settings if all of them are valid."""
        self._reload_count += 1
        try:
            loaded = self._load_settings()
        except InvalidInput as error:
            log_warning("settings-refused", error)
            return ReloadResult(number=self._reload_count, refused=error.user_text)
        settings, needs_start = apply_reload(self.app.settings, loaded)
        self.app = self.app.with_settings(self.app, settings)
        for part in self.parts.values():
            part.reset_crashes()
        self._start_generation(task_group)
        log_event("settings-reloaded", needs_start=" ".join(needs_start))
        return ReloadResult(number=self._reload_count, needs_start=needs_start)

    def _notify_waiters(self, outcome: ReloadResult) -> None:
        """Report the result of a reload to those waiting for it."""
        for each in self._reload_waiters:
            if not each.done():
                each.set_result(outcome)
        self._reload_waiters.clear()

    async def _drain(self) -> bool:
        """Stop everything within the time of the longest turn; return whether it all finished."""
        self.is_draining = True
        log_event("stopping")
        for generation in self._generations:
            generation.stopping.set()
        tasks = [task for generation in self._generations for task in generation.tasks]
        longest_s = max(
            generation.app.settings.limits.turn_timeout_s for generation in self._generations
        )
        _, unfinished = await asyncio.wait(tasks, timeout=longest_s + DRAIN_GRACE_S)
        for task in unfinished:
            task.cancel()
        if unfinished:
            log_warning("shutdown-incomplete", tasks=len(unfinished))
        return not unfinished


def is_done(async_task: "asyncio.Task[None]") -> bool:
    """Return whether a task has ended."""
    return async_task.done()


@contextmanager
def handle_signals(supervisor: Supervisor) -> Iterator[None]:
    """Pass signals on to the supervisor.

    The system also sends SIGHUP when the terminal is closed; a process started there then stops.
    """
    loop = asyncio.get_running_loop()
    is_at_terminal = has_terminal() and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN

    def stop() -> None:
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)  # a second signal ends the process at once
        supervisor.stop()

    def reload() -> None:
        if is_at_terminal and not has_terminal():
            stop()
        else:
            supervisor.reload()

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, stop)
    loop.add_signal_handler(signal.SIGHUP, reload)
    try:
        yield
    finally:
        for number in (*STOP_SIGNALS, signal.SIGHUP):
            loop.remove_signal_handler(number)


def has_terminal() -> bool:
    """Return whether this process has a terminal that is still open."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True
