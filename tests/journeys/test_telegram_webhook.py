"""Telegram calls `oldfriend serve` instead of being asked; nothing is lost where it dies."""

import signal
import socket
from collections.abc import Iterator

import pytest

from tests.cli.serving import served
from tests.fakes.telegram import World, running_telegram
from tests.journeys.telegram_server import Home, home_on, listening
from tests.processes import Program, until

ANA = 7


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def called(program: Program, world: World) -> Home:
    """The program, which Telegram is to call."""
    port = free_port()
    return home_on(
        program,
        world,
        OLDFRIEND_TELEGRAM_WEBHOOK=f"http://127.0.0.1:{port}/api/telegram",
        OLDFRIEND_TELEGRAM_WEBHOOK_PORT=str(port),
    )


def test_webhook_messages_are_answered_once_after_a_server_kill(
    oldfriend: Program, world: World
) -> None:
    """What was said meanwhile is told again; each is answered once; then it asks again.

    An album, of which it heard the first piece, is one message with what comes after.
    """
    home = called(oldfriend, world)
    picture = {"photo": [{"file_id": "a"}], "media_group_id": "x"}
    with served(home.program) as running:
        until(lambda: world.webhook is not None)
        home.pair(ANA)
        world.says(ANA, "remember that tea is warm")
        home.sees(ANA, "tea is warm")
        home.comes_to_hold("SELECT 1 FROM delivered")
        world.says(ANA, **picture, caption="remember that boats float")
        home.sees(ANA, "boats float")
        assert world.poller == 0
        running.process.send_signal(signal.SIGKILL)
        running.process.wait()
        world.says(ANA, **picture, caption="at noon")
        world.says(ANA, "remember that stars are far")
        until(lambda: world.hooked[-1] == 0)
    with served(home.program):
        home.sees(ANA, "stars are far", seconds=60)  # what the dead one held is let go after 30 s
        assert "is to be asked" not in home.program.done("doctor").stdout
    world.says(ANA, "remember that rain is wet")
    asking = home_on(oldfriend, world)
    with listening(asking):
        asking.sees(ANA, "rain is wet")
        assert world.webhook is None

    said = home.rows(
        "SELECT text FROM message WHERE role = 'person' AND replaced_at IS NULL ORDER BY seq"
    )
    assert [text for (text,) in said] == [
        "remember that tea is warm",
        "remember that boats float\nat noon",
        "remember that stars are far",
        "remember that rain is wet",
    ]
    for words in ("tea is warm", "stars are far", "rain is wet"):
        assert sum(words in text for text in world.texts(ANA)) == 1
