"""From connecting a number to an answer on WhatsApp, the whole way through."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.whatsapp.whatsapp_settings import WEBHOOK_PATH
from oldfriend.cli.main import main
from oldfriend.config.settings import Settings, load_settings
from oldfriend.domain.buttons import Button
from oldfriend.domain.clock import MAX_TIME
from oldfriend.inbound.account_linking import create_code_for
from oldfriend.inbound.receive import listen_on_channel
from oldfriend.memory.people import ensure_owner
from oldfriend.replies.unprompted_messages import UnpromptedMessage, send_unprompted
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from tests.channels.whatsapp.conftest import ANA, until
from tests.fakes.whatsapp import CREDENTIALS, NUMBER, WhatsApp, free_port

STRANGER = "491701234567"
DAY_S = 24 * 60 * 60.0
VARIABLES = {f"OLDFRIEND_WHATSAPP_{name.upper()}": value for name, value in CREDENTIALS.items()}

pytestmark = pytest.mark.usefixtures("settings_folder")


def chosen(world: WhatsApp, data: Path) -> Settings:
    """Settings of somebody who has a number."""
    port = free_port()
    world.webhook_url = f"http://127.0.0.1:{port}{WEBHOOK_PATH}"
    return load_settings(
        VARIABLES,
        data=str(data),
        overrides=[
            f"whatsapp.base_url={world.url}",
            f"whatsapp.webhook_port={port}",
            "whatsapp.quiet_s=0",
            "whatsapp.template=good_to_see_you",
            "limits.messages_per_minute=0",
        ],
    )


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[AppContext]:
    """A process that hears and answers."""
    async with open_app(settings, with_channels=True) as app:
        stopping = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(listen_on_channel("whatsapp", app, stopping))
            group.create_task(run_worker(app, stopping=stopping))
            yield app
            stopping.set()
            app.notifier.notify()


async def is_held(app: AppContext) -> None:
    """Wait until a part waits for them to write, which is a moment after they were asked to."""
    async with asyncio.timeout(45):
        while True:
            async with app.db.begin_read() as tx:
                row = await tx.row(
                    "SELECT 1 FROM job WHERE queue = 'outbox' AND due_at = :never", never=MAX_TIME
                )
            if row is not None:
                return
            await asyncio.sleep(0.01)


async def test_person_pairs_and_is_answered_also_after_a_day_of_silence(
    world: WhatsApp, tmp_path: Path
) -> None:
    """A stranger is turned away; what is said late waits for them to write."""
    settings = chosen(world, tmp_path / "data")
    async with asyncio.timeout(100), serving(settings) as app:
        async with app.db.begin_write() as tx:
            owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
        code = await create_code_for(app.db, app.clock, owner)
        world.says(STRANGER, "Who are you?")
        await until(lambda: world.texts(STRANGER))
        world.says(ANA, code, name="Ana")
        await until(lambda: world.texts(ANA))
        world.says(ANA, "My cat is called Miso.")
        await until(lambda: len(world.texts(ANA)) == 2)
        world.doubles = True
        world.says(ANA, "What is my cat called?")
        await until(lambda: len(world.texts(ANA)) == 3)
        world.doubles = False
        assert "Miso" in world.texts(ANA)[2]
        world.tells_statuses = False
        world.heard_at[ANA] = time.time() - 2 * DAY_S  # before what comes late reaches us
        world.tells(ANA, type="text", text={"body": "And my dog?"}, at=time.time() - 2 * DAY_S)
        world.heard_at[ANA] = time.time() - 2 * DAY_S
        await until(lambda: "good_to_see_you" in world.texts(ANA))
        await is_held(app)
        assert len(world.texts(ANA)) == 4
        world.says(ANA, "Yes, tell me.")
        await until(lambda: len(world.texts(ANA)) >= 6)
        world.webhook_url = ""

    assert world.texts(ANA).count("good_to_see_you") == 1
    assert len(world.texts(STRANGER)) == 1


@pytest.mark.parametrize(("code", "may_retry"), [(131016, True), (131051, False)])
async def test_message_that_is_refused_later_is_sent_again_or_set_aside(
    world: WhatsApp,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    may_retry: bool,
) -> None:
    """What was accepted and then not delivered is not lost: it arrives, or the owner sees it."""
    monkeypatch.setattr("oldfriend.inbound.withdrawn_messages.RESEND_DELAY", 0)
    world.tells_statuses = False
    settings = chosen(world, tmp_path / "data")
    async with asyncio.timeout(100), serving(settings) as app:
        async with app.db.begin_write() as tx:
            owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
        world.says(ANA, await create_code_for(app.db, app.clock, owner))
        await until(lambda: world.texts(ANA))
        world.says(ANA, "My cat is called Miso.")
        await comes_to_hold(app, "SELECT 1 FROM delivered")
        refused = world.shown[-1]
        for _ in range(2):  # Meta tells of it twice, as it may
            world.status(refused, "failed", code=code)
        aside = "SELECT error FROM job WHERE dead_lettered_at IS NOT NULL"
        if may_retry:
            await until(lambda: len(world.texts(ANA)) == 3)
        else:
            assert str(code) in await comes_to_hold(app, aside)
        before = len(world.texts(ANA))
        world.says(ANA, "And my dog is called Rex.")
        await until(lambda: len(world.texts(ANA)) > before)
        world.webhook_url = ""

    texts = world.texts(ANA)
    assert texts.count(refused.text) == (2 if may_retry else 1)


def has_texts(world: WhatsApp, count: int) -> bool:
    """Whether Ana was sent so many."""
    return len(world.texts(ANA)) == count


async def test_message_that_is_sent_again_has_its_buttons(
    world: WhatsApp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below its last part, as before."""
    monkeypatch.setattr("oldfriend.inbound.withdrawn_messages.RESEND_DELAY", 0)
    world.tells_statuses = False
    message = UnpromptedMessage(
        text="Water the plants?\n\n" + "They are dry. " * 400,
        dedup_key="plants",
        kind="reminder",
        reason="You asked for it.",
        language="en",
        buttons=(Button("Done", "/done x1"),),
    )
    settings = chosen(world, tmp_path / "data")
    async with asyncio.timeout(100), serving(settings) as app:
        async with app.db.begin_write() as tx:
            owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
        world.says(ANA, await create_code_for(app.db, app.clock, owner))
        await until(lambda: world.texts(ANA))
        world.says(ANA, "My cat is called Miso.")
        await comes_to_hold(app, "SELECT 1 FROM delivered")
        async with app.db.begin_write() as tx:
            assert await send_unprompted(tx, app, owner.id, message, now=app.clock())
        await comes_to_hold(app, "SELECT 1 FROM delivered WHERE ordinal = 1")
        parts = world.shown[-2:]
        for count, refused in enumerate(parts, 5):
            world.status(refused, "failed", code=131016)
            await until(partial(has_texts, world, count))
        world.webhook_url = ""

    again = world.shown[-2:]
    assert [(each.text, each.buttons) for each in again] == [
        (each.text, each.buttons) for each in parts
    ]
    assert [len(each.buttons) for each in again] == [0, 1]


async def comes_to_hold(app: AppContext, sql: str) -> str:
    """Wait until something stands in the database; its first value."""
    async with asyncio.timeout(45):
        while True:
            async with app.db.begin_read() as tx:
                row = await tx.row(sql)
            if row is not None:
                return str(row[0])
            await asyncio.sleep(0.02)


async def test_press_of_a_button_lets_go_out_what_was_held(world: WhatsApp, tmp_path: Path) -> None:
    """It opens the window as a text does; nothing more has to be written."""
    settings = chosen(world, tmp_path / "data")
    async with asyncio.timeout(100), serving(settings) as app:
        async with app.db.begin_write() as tx:
            owner = await ensure_owner(tx, now=app.clock(), zone="UTC")
        world.says(ANA, await create_code_for(app.db, app.clock, owner))
        await until(lambda: world.texts(ANA))
        done = (Button("Done", "/done x1"),)
        await app.channels["whatsapp"].send(ANA, "Well?", send_key="r/0", buttons=done)
        asked = world.shown[-1]
        world.tells(ANA, type="text", text={"body": "hello"}, at=time.time() - 2 * DAY_S)
        world.heard_at[ANA] = time.time() - 2 * DAY_S
        await until(lambda: "good_to_see_you" in world.texts(ANA))
        await is_held(app)
        held = len(world.texts(ANA))
        world.presses(ANA, asked)
        await until(lambda: len(world.texts(ANA)) >= held + 2)  # also what came of the press
        world.webhook_url = ""


def test_number_is_connected_by_the_command_line(
    world: WhatsApp,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With its link, its own help, and what is wrong with its webhook."""
    for name, value in {**VARIABLES, "OLDFRIEND_WHATSAPP_BASE_URL": world.url}.items():
        monkeypatch.setenv(name, value)
    data = str(tmp_path / "data")

    assert main(["--data", data, "connect", "whatsapp"]) == 0
    told = capsys.readouterr().out
    assert f"https://wa.me/{NUMBER}" in told
    main(["--data", data, "doctor"])
    told = capsys.readouterr().out
    assert "Meta calls nobody" in told
    assert not any(each in told for name, each in CREDENTIALS.items() if name != "phone_number_id")
