"""What crashes is started again, not for ever; what is told to stop ends what it has begun."""

import asyncio
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.pid_lock import ReloadResult
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import ModelSettings
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import LocalizedText
from oldfriend.runtime.supervisor import (
    CRASH_WINDOW_S,
    DRAIN_GRACE_S,
    MAX_CRASHES,
    SupervisedPart,
    Supervisor,
    WorkerPart,
    compute_backoff,
    run_with_restarts,
)
from tests.engines import both_engines
from tests.processes import line_of, python

engine = both_engines


def at_once(crashes: int) -> float:
    """A pause that does not keep a test waiting."""
    return 0.0


async def idle(app: AppContext, stopping: asyncio.Event) -> None:
    """Do nothing until told to stop."""
    await stopping.wait()


async def crash(app: AppContext, stopping: asyncio.Event) -> None:
    """Crash at once."""
    raise ZeroDivisionError


class Supervised:
    """A supervisor at work, and what it was told to have reloaded."""

    def __init__(
        self, app: AppContext, read_again: Callable[[], Settings], **works: WorkerPart
    ) -> None:
        """Let it begin."""
        self.supervisor = Supervisor(app, works, load_settings=read_again, backoff=at_once)
        self.reloads: list[ReloadResult] = []

    async def run(self, *, with_door: bool = True) -> bool:
        """Run to the end."""

        async def door(stopping: asyncio.Event) -> None:
            await stopping.wait()

        return await self.supervisor.run(
            admin_server=door if with_door else None, on_reload=self.reloads.append
        )


@pytest.fixture
def supervised(app: AppContext) -> Callable[..., Supervised]:
    """A supervisor of some works."""

    def supervised(
        read_again: Callable[[], Settings] = lambda: app.settings, **works: WorkerPart
    ) -> Supervised:
        return Supervised(app, read_again, **works)

    return supervised


async def until_so(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(10):
        while not is_so():  # noqa: ASYNC110 - nothing rings when a part has crashed
            await asyncio.sleep(0.001)


async def test_crashed_part_is_restarted(supervised: Callable[..., Supervised]) -> None:
    """And works then."""
    starts: list[int] = []

    async def twice_broken(app: AppContext, stopping: asyncio.Event) -> None:
        starts.append(len(starts))
        if len(starts) < 3:
            raise KeyError
        await stopping.wait()

    it = supervised(worker=twice_broken)
    async with asyncio.TaskGroup() as group:
        ended = group.create_task(it.run())
        await until_so(lambda: len(starts) == 3 and not it.supervisor.problems)
        it.supervisor.stop()

    assert ended.result()


async def test_repeatedly_crashing_part_stays_down_and_others_continue(
    supervised: Callable[..., Supervised],
) -> None:
    """It is told why, until somebody has looked after it."""
    others = 0

    async def other(app: AppContext, stopping: asyncio.Event) -> None:
        nonlocal others
        others += 1
        await stopping.wait()

    it = supervised(worker=crash, other=other)
    async with asyncio.TaskGroup() as group:
        ended = group.create_task(it.run())
        part = it.supervisor.parts["worker"]
        await until_so(lambda: part.has_given_up)
        (trouble,) = it.supervisor.problems
        crashes = len(part.crashes)
        await asyncio.sleep(0.02)
        it.supervisor.stop()

    assert crashes == len(part.crashes) == MAX_CRASHES + 1
    assert "worker crashed more than 5 times in 10 minutes (last: ZeroDivisionError)" in trouble
    assert isinstance(trouble, LocalizedText)
    assert (trouble.code, trouble.values["part"]) == ("part_crashed", "worker")
    assert others == 1
    assert ended.result()


async def test_process_without_http_server_ends_if_all_parts_are_down(
    supervised: Callable[..., Supervised],
) -> None:
    """Whoever started it sees that it could not work."""
    async with asyncio.timeout(10):
        assert not await supervised(worker=crash).run(with_door=False)


async def test_unexpected_exit_or_self_cancellation_counts_as_crash(
    supervised: Callable[..., Supervised],
) -> None:
    """Nothing dies in silence."""

    async def give_up(app: AppContext, stopping: asyncio.Event) -> None:
        return

    async def cancel_oneself(app: AppContext, stopping: asyncio.Event) -> None:
        raise asyncio.CancelledError

    it = supervised(one=give_up, two=cancel_oneself)
    async with asyncio.TaskGroup() as group:
        group.create_task(it.run())
        await until_so(lambda: all(each.has_given_up for each in it.supervisor.parts.values()))
        it.supervisor.stop()

    errors = [part.last_error for part in it.supervisor.parts.values()]
    assert errors == ["UnexpectedExit", "CancelledError"]


async def test_stop_waits_for_running_work(
    supervised: Callable[..., Supervised],
) -> None:
    """Meanwhile it says that it is stopping."""
    finished = asyncio.Event()
    done: list[str] = []

    async def slow(app: AppContext, stopping: asyncio.Event) -> None:
        await stopping.wait()
        await finished.wait()
        done.append("turn")

    it = supervised(worker=slow)
    async with asyncio.TaskGroup() as group:
        ended = group.create_task(it.run())
        await until_so(lambda: not it.supervisor.problems)
        it.supervisor.stop()
        await until_so(lambda: it.supervisor.is_draining)
        (trouble,) = it.supervisor.problems
        assert not done
        finished.set()

    assert done == ["turn"]
    assert "stopping" in trouble
    assert ended.result()


async def test_work_beyond_the_turn_timeout_is_abandoned_on_stop(
    app: AppContext,
) -> None:
    """Its leases run out, and another takes it over."""
    soon = replace(app.settings.limits, turn_timeout_s=0.1 - DRAIN_GRACE_S)
    hurried = replace(app, settings=replace(app.settings, limits=soon))

    async def endless(app: AppContext, stopping: asyncio.Event) -> None:
        await asyncio.Event().wait()

    it = Supervised(hurried, lambda: hurried.settings, worker=endless)
    async with asyncio.TaskGroup() as group:
        ended = group.create_task(it.run())
        await until_so(lambda: not it.supervisor.problems)
        it.supervisor.stop()

    assert not ended.result()


async def test_reload_restarts_parts_with_the_new_settings(
    app: AppContext, supervised: Callable[..., Supervised]
) -> None:
    """The old one ends what it has begun; what takes a new start is named."""
    seen: list[tuple[str, int]] = []

    async def note(app: AppContext, stopping: asyncio.Event) -> None:
        limit = app.settings.limits.messages_per_minute
        seen.append(("began", limit))
        await stopping.wait()
        seen.append(("ended", limit))

    before = app.settings.limits.messages_per_minute

    def choose_otherwise() -> Settings:
        limits = replace(app.settings.limits, messages_per_minute=3, heartbeat_s=2.0)
        return replace(app.settings, limits=limits)

    it = supervised(choose_otherwise, worker=note)
    async with asyncio.TaskGroup() as group:
        group.create_task(it.run())
        await until_so(lambda: len(seen) == 1)
        it.supervisor.reload()
        await until_so(lambda: len(seen) == 3)
        it.supervisor.stop()

    assert seen[0] == ("began", before)
    assert set(seen[1:3]) == {("ended", before), ("began", 3)}
    assert seen[3:] == [("ended", 3)]
    assert it.reloads == [ReloadResult(number=1, needs_start=("limits.heartbeat_s",))]


async def test_reload_with_invalid_settings_changes_nothing(
    app: AppContext, supervised: Callable[..., Supervised]
) -> None:
    """The reason is told."""
    begun: list[AppContext] = []

    async def note(app: AppContext, stopping: asyncio.Event) -> None:
        begun.append(app)
        await stopping.wait()

    def refuse() -> Settings:
        raise InvalidInput("limits.lease_s must be a number.")

    it = supervised(refuse, worker=note)
    async with asyncio.TaskGroup() as group:
        group.create_task(it.run())
        await until_so(lambda: len(begun) == 1)
        it.supervisor.reload()
        await until_so(lambda: len(it.reloads) == 1)
        it.supervisor.stop()

    assert it.reloads == [ReloadResult(number=1, refused="limits.lease_s must be a number.")]
    assert begun == [app]


async def test_reload_restarts_a_part_that_has_given_up(
    supervised: Callable[..., Supervised],
) -> None:
    """Perhaps it was the settings."""
    is_broken = True

    async def perhaps(app: AppContext, stopping: asyncio.Event) -> None:
        if is_broken:
            raise KeyError
        await stopping.wait()

    it = supervised(worker=perhaps)
    async with asyncio.TaskGroup() as group:
        group.create_task(it.run())
        await until_so(lambda: it.supervisor.parts["worker"].has_given_up)
        is_broken = False
        it.supervisor.reload()
        await until_so(lambda: not it.supervisor.problems)
        it.supervisor.stop()


SCRIPT = """
import asyncio, os, signal, sys
from pathlib import Path
from oldfriend.config.settings import load_settings
from oldfriend.runtime.supervisor import Supervisor, handle_signals
from oldfriend.app.event_log import configure_logging
from oldfriend.runtime.wiring import open_app

async def wait(app, stopping):
    print("up", flush=True)
    await (asyncio.Event() if sys.argv[2] == "endless" else stopping).wait()

async def main():
    configure_logging(sys.stdout)
    settings = load_settings({}, data=sys.argv[1])
    async with open_app(settings) as app:
        supervisor = Supervisor(app, {"worker": wait}, load_settings=lambda: settings)
        with handle_signals(supervisor):
            await supervisor.run()

signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may be deaf to it
if sys.stdin.isatty():
    os.open(os.ttyname(0), os.O_RDWR)  # a session of its own belongs to the terminal it opens
asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_it_at_once(tmp_path: Path, number: signal.Signals) -> None:
    """Whoever asks twice does not want to wait for the longest turn."""
    with python(SCRIPT, tmp_path, "endless") as process:
        assert line_of(process.stdout) == "up"
        process.send_signal(number)
        assert "event=stopping" in line_of(process.stdout)
        process.send_signal(number)

        assert process.wait(10) == -number


def test_sighup_reloads_but_a_closed_terminal_stops_the_process(tmp_path: Path) -> None:
    """The same signal asks a process without a terminal to reload."""
    screen, keyboard = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path), "graceful"],
        stdin=keyboard,
        stdout=keyboard,
        stderr=keyboard,
        start_new_session=True,
    )
    os.close(keyboard)
    with process, os.fdopen(screen, "rb", buffering=0) as terminal:
        assert b"up" in terminal.readline()
        process.send_signal(signal.SIGHUP)
        assert b"event=settings-reloaded" in terminal.readline()
        terminal.close()

        assert process.wait(10) == 0


async def test_reload_recreates_the_models(
    app: AppContext, supervised: Callable[..., Supervised]
) -> None:
    """The next turn is answered by the one that was chosen last."""
    seen: list[list[str]] = []

    async def note(app: AppContext, stopping: asyncio.Event) -> None:
        seen.append([each.name for each in app.models.values()])
        await stopping.wait()

    it = supervised(
        lambda: replace(app.settings, models=ModelSettings(main=("ollama:tiny",))), worker=note
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(it.run())
        await until_so(lambda: len(seen) == 1)
        it.supervisor.reload()
        await until_so(lambda: len(seen) == 2)
        it.supervisor.stop()

    assert seen == [[], ["ollama:tiny"] * 3]
    assert it.reloads == [ReloadResult(number=1)]


def test_crashes_outside_the_window_are_not_counted() -> None:
    """Five in ten minutes are borne; six are not."""
    part = SupervisedPart("worker")
    for at in range(MAX_CRASHES):
        part.record_crash(KeyError(), at)
    assert not part.has_given_up
    part.record_crash(KeyError(), CRASH_WINDOW_S + MAX_CRASHES)
    assert not part.has_given_up
    for _ in range(MAX_CRASHES):
        part.record_crash(KeyError(), CRASH_WINDOW_S + MAX_CRASHES)

    assert part.has_given_up


def test_restart_backoff_grows_up_to_a_minute() -> None:
    """So that what is broken for a while is not asked all the time."""
    assert [compute_backoff(crashes) for crashes in (1, 2, 3, 9, 50)] == [1, 2, 4, 60, 60]


async def test_stop_interrupts_the_restart_backoff() -> None:
    """Nobody waits a minute for a process that has nothing to do."""
    stopping = asyncio.Event()

    async def break_down(stopping: asyncio.Event) -> None:
        raise KeyError

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        group.create_task(
            run_with_restarts(SupervisedPart("x"), break_down, stopping, backoff=lambda _: 1000)
        )
        await asyncio.sleep(0)
        stopping.set()
