"""Somebody connects Matrix, pairs by a code, and talks: encrypted, the whole way through."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.cli.main import main
from oldfriend.config.settings import Settings, load_settings
from oldfriend.inbound.account_linking import create_code_for
from oldfriend.inbound.receive import listen_on_channel
from oldfriend.memory.people import ensure_owner
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from tests.clock import FrozenClock
from tests.fakes.matrix import Homeserver, Talker, talking

PASSWORD = "correct horse"

pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.fixture
def environment(server: Homeserver, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What somebody gives who connects it."""
    given = {
        "OLDFRIEND_MATRIX_HOMESERVER": server.address,
        "OLDFRIEND_MATRIX_USER": "@friend:example.org",
        "OLDFRIEND_MATRIX_PASSWORD": PASSWORD,
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return given


@asynccontextmanager
async def serving(settings: Settings, clock: FrozenClock) -> AsyncIterator[AppContext]:
    """A process that hears and answers."""
    async with open_app(settings, clock=clock, with_channels=True) as app:
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(listen_on_channel("matrix", app, stopping))
            group.create_task(run_worker(app, stopping=stopping))
            yield app
            stopping.set()
            app.notifier.notify()


async def hear(talker: Talker, bot: str, *, count: int) -> list[str]:
    """What the bot has said, once it is so much."""
    async with asyncio.timeout(30):
        while len(said := talker.list_read(bot)) < count:
            await asyncio.sleep(0.05)
            await talker.sync()
    return said


async def test_person_connects_pairs_by_a_code_and_talks_encrypted(
    server: Homeserver,
    environment: dict[str, str],
    tmp_path: Path,
    clock: FrozenClock,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The homeserver reads neither the code nor the cat's name."""
    monkeypatch.setattr("oldfriend.channels.matrix.unread_events.KEY_WAIT_S", 0.3)
    data = str(tmp_path / "data")
    assert await asyncio.to_thread(main, ["--data", data, "connect", "matrix"]) == 0
    shown = capsys.readouterr().out
    settings = load_settings(
        environment, data=data, overrides=["limits.messages_per_minute=0", "matrix.quiet_s=0"]
    )
    bot = environment["OLDFRIEND_MATRIX_USER"]
    async with talking(server, "@ana:example.org") as ana, serving(settings, clock) as app:
        async with app.db.begin_write() as tx:
            owner = await ensure_owner(tx, now=clock(), zone="UTC")
        code = await create_code_for(app.db, app.clock, owner)
        room = await ana.invite_alone(bot)
        async with asyncio.timeout(10):
            while server.rooms[room].membership_of(bot) != "join":  # noqa: ASYNC110 - a fake notifies nobody
                await asyncio.sleep(0.02)
        await ana.sync()
        await ana.say(room, "Hello?")
        await hear(ana, bot, count=1)
        await ana.say(room, code)
        await hear(ana, bot, count=2)
        await ana.say(room, "My cat is called Miso.")
        await hear(ana, bot, count=3)
        await ana.say(room, "What is my cat called?")
        said = await hear(ana, bot, count=4)
        ana.client.invalidate_outbound_session(room)
        server.held_keys = []
        await ana.say(room, "Where does my sister live?")
        await ana.say(room, "Are you there?")
        unread = await hear(ana, bot, count=5)
        server.release_keys()
        answered = await hear(ana, bot, count=6)
        checks = [each.text for each in await run_checks(app)]

    assert "https://matrix.to/#/@friend:example.org" in shown
    assert PASSWORD not in shown
    assert "introduced" in said[0]
    assert "Miso" in said[3]
    assert "encrypted" in unread[4]
    assert not any("encrypted" in each for each in answered[5:])
    assert not server.list_events(room)
    assert "Matrix knows the bot as @friend:example.org." in checks


async def test_connecting_with_a_wrong_password_says_so(
    server: Homeserver,
    environment: dict[str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """And stores nothing."""
    logging.getLogger("nio").setLevel(logging.CRITICAL)
    server.passwords[environment["OLDFRIEND_MATRIX_USER"]] = "another"
    data = tmp_path / "data"
    assert await asyncio.to_thread(main, ["--data", str(data), "connect", "matrix"]) != 0

    shown = capsys.readouterr()
    assert "does not accept this name and password" in shown.err + shown.out
    assert PASSWORD not in shown.err + shown.out
    assert not list(data.glob("matrix/login.json"))
