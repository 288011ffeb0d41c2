"""Supervisor: runs the parts of a long-running process until it is told to stop.

On SIGTERM or SIGINT it claims no more work, finishes what has begun, and returns. On a second
signal the system ends the process at once, and its work is taken over when its leases expire. On
SIGHUP a new generation of workers starts with the new settings while the old one finishes its work.
What the parts do is not known here.
"""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, TypeAlias

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_event, log_warning
from oldfriend.app.pid_lock import ReloadResult
from oldfriend.config.settings import Settings, apply_reload
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.runtime.restart_policy import (
    RunUntilStopped,
    SupervisedPart,
    compute_backoff,
    run_with_restarts,
)

WorkerPart: TypeAlias = Callable[[AppContext, asyncio.Event], Awaitable[None]]
"""A part of a process: works until the event is set, finishes what it has begun, and returns."""

SupervisorCommand: TypeAlias = Literal["stop", "reload", "look"]

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)
DRAIN_GRACE_S: Final = 5.0
"""Seconds a drain may take beyond the longest turn."""
STOPPING_MESSAGE: Final = localizable(
    "process_stops", "It is stopping: it ends what it has begun and takes up nothing more."
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

    def _start_generation(self, group: asyncio.TaskGroup) -> None:
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
                group.create_task(self._run_part(self.parts[name], work, generation))
            )
        self._generations.append(generation)

    async def _run_part(
        self, part: SupervisedPart, work: WorkerPart, generation: WorkerGeneration
    ) -> None:
        run = partial(work, generation.app)
        await run_with_restarts(part, run, generation.stopping, backoff=self._backoff)
        self._commands.put_nowait("look")

    def _reload(self, group: asyncio.TaskGroup) -> ReloadResult:
        """Apply the changed settings if all of them are valid."""
        self._reload_count += 1
        try:
            loaded = self._load_settings()
        except InvalidInput as error:
            log_warning("reload-refused", error)
            return ReloadResult(number=self._reload_count, refused=error.user_text)
        settings, needs_start = apply_reload(self.app.settings, loaded)
        self.app = self.app.with_settings(self.app, settings)
        for part in self.parts.values():
            part.reset_crashes()
        self._start_generation(group)
        log_event("reloaded", needs_start=" ".join(needs_start))
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
            log_warning("left-unfinished", parts=len(unfinished))
        return not unfinished


def is_done(task: "asyncio.Task[None]") -> bool:
    """Return whether a task has ended."""
    return task.done()


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
