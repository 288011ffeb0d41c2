"""Ctrl-C during a reply stops the reply; at the prompt it ends the talk."""

import asyncio
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from queue import SimpleQueue

import pytest

from oldfriend.cli.terminal import on_interrupt
from tests.cli.serving import on_any_port, served
from tests.fakes.raw_server import END, STREAM_HEAD, Step, chat_piece, raw_server
from tests.processes import Program
from tests.terminals import Terminal, terminals

CTRL_C = b"\x03"
NEVER_ENDING = [STREAM_HEAD, chat_piece("Once upon a time"), 60.0]
SHORT = [STREAM_HEAD, chat_piece("As you like."), chat_piece("", ends="stop"), END]


@contextmanager
def in_a_thread(*scripts: Sequence[Step]) -> Iterator[str]:
    """A server beside a test that does not await; its address."""
    urls: SimpleQueue[str] = SimpleQueue()
    loop = asyncio.new_event_loop()
    stopping = asyncio.Event()

    async def serve() -> None:
        async with raw_server(*scripts) as server:
            urls.put(server.url)
            await stopping.wait()

    def run() -> None:
        with asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield urls.get(timeout=10)
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()


@pytest.fixture
def program(oldfriend: Program) -> Iterator[Program]:
    """The command line with a model that tells without end, and then answers shortly."""
    with in_a_thread(NEVER_ENDING, SHORT) as url:
        chosen = {
            "OLDFRIEND_MODELS_MAIN": "mine:model",
            "OLDFRIEND_PROVIDERS_MINE_BASE_URL": f"{url}/v1",
        }
        yield on_any_port(replace(oldfriend, environment=chosen))


def interrupt(window: Terminal) -> None:
    """As a terminal does with Ctrl-C while nothing is being typed."""
    window.process.send_signal(signal.SIGINT)


@pytest.mark.slow
@pytest.mark.parametrize("is_served", [False, True])
def test_ctrl_c_stops_the_reply_and_the_talk_goes_on(program: Program, is_served: bool) -> None:
    """Also beside a process that serves; at the prompt it ends the talk."""
    with served(program) if is_served else terminals(program), terminals(program) as open_chat:
        window = open_chat()
        window.shows("you:")
        window.types("Tell me a story.")
        window.shows("Once upon a time")
        interrupt(window)
        window.shows("(Stopped.)", within_s=5)
        window.types("Then not.")
        window.shows("As you like.")
        window.shows("you:")
        interrupt(window)

        assert window.ends() == 0
        assert "Traceback" not in window.shown
    said = program.done("chat", stdin="/history\n").stdout
    assert "As you like." in said
    assert "Once upon a time" not in said


@pytest.mark.slow
def test_hanging_model_shows_a_dimmed_notice_and_can_be_stopped(program: Program) -> None:
    """In the language of the talk; it can be stopped too."""
    with in_a_thread([60.0]) as url:
        hanging = replace(
            program,
            environment={
                **program.environment,
                "OLDFRIEND_PROVIDERS_MINE_BASE_URL": f"{url}/v1",
            },
        )
        with terminals(hanging) as open_chat:
            window = open_chat()
            window.shows("you:")
            window.types("¿Dónde está la llave de la casa?")
            window.shows("\x1b[90m(Mi modelo de lenguaje lleva")
            interrupt(window)
            window.shows("\x1b[90m(Parado.)", within_s=5)
            window.types("/quit")

            assert window.ends() == 0


async def test_second_ctrl_c_runs_the_previous_signal_handler() -> None:
    """Nobody is locked in with a reply that cannot be stopped."""
    pressed: list[str] = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append("as ever"))
    try:
        with on_interrupt(lambda: pressed.append("stop")):
            for _ in range(2):
                os.kill(os.getpid(), signal.SIGINT)
                await asyncio.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(0.05)
    finally:
        signal.signal(signal.SIGINT, before)

    assert pressed == ["stop", "as ever", "as ever"]
