"""An event that meets an error of ours is not lost, and is forgotten as all else is."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import (
    BotChannel,
    ButtonPress,
    ChannelEvent,
    ChatRef,
    Cursors,
    HandleEvent,
    IncomingMessage,
    MessageDeletion,
    Sender,
)
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from oldfriend.config.settings_schema import RetentionSettings
from oldfriend.domain.clock import DAY
from oldfriend.domain.job_types import Job
from oldfriend.forgetting.delete import apply_retention, forget
from oldfriend.inbound import receive
from oldfriend.inbound.failed_events import MAX_KEPT
from oldfriend.inbound.receive import handle_event, listen_on_channel
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.identities import find_identity
from oldfriend.queues.queue import list_jobs, retry_dead_letter
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.runtime.worker import claim_next_partition
from tests.clock import FrozenClock
from tests.engines import both_engines

ANA = Sender(address="7", name="Ana")
EVE = Sender(address="9", name="Eve")
SECRET = "The blue lantern stands under the seventh oak."
FULL = 3

engine = both_engines


class Bot(BotChannel):
    """A platform that tells some events, each again until it is handled, and then no more."""

    debounce_s = 0.0

    def __init__(self, *events: ChannelEvent) -> None:
        """Take what it tells."""
        self.events = [*events]
        self.sent: list[str] = []
        self.has_told = asyncio.Event()

    async def send(self, address: str, text: str, **how: Any) -> str:
        """Send something."""
        self.sent.append(text)
        return f"sent:{len(self.sent)}"

    async def listen(self, handle_event: HandleEvent, cursors: Cursors) -> None:
        """Tell everything."""
        for event in self.events:
            await handle_event(event)
        self.has_told.set()
        await asyncio.Event().wait()


def says(text: str, sender: Sender = ANA, **more: Any) -> IncomingMessage:
    """Somebody says something in their own chat."""
    spot = ChatRef(channel="telegram", address=sender.address, title=sender.name, is_private=True)
    fields = {"external_id": "message:7:1", "number": 1, "at": 5 * DAY, **more}
    return IncomingMessage(chat_ref=spot, sender=sender, text=text, **fields)


def allowing_ana(app: AppContext, *events: ChannelEvent) -> AppContext:
    """The same, on a platform that tells some events."""
    chosen = replace(app.settings, channels={"telegram": TelegramSettings(allowed=("7",))})
    return replace(app, settings=chosen, channels={"telegram": Bot(*events)})


@asynccontextmanager
async def broken(
    monkeypatch: pytest.MonkeyPatch, name: str = "handle_message"
) -> AsyncIterator[None]:
    """Meanwhile, something has a bug."""

    async def fail(*_: object) -> None:
        raise KeyError(SECRET)

    with monkeypatch.context() as patch:
        patch.setattr(receive, name, fail)
        yield


async def hear(app: AppContext) -> None:
    """Listen until the platform has told everything."""
    stopping, bot = asyncio.Event(), app.channels["telegram"]
    assert isinstance(bot, Bot)
    async with asyncio.timeout(30), asyncio.TaskGroup() as tasks:
        tasks.create_task(listen_on_channel("telegram", app, stopping))
        await bot.has_told.wait()
        stopping.set()


async def dead_letters(app: AppContext) -> list[Job]:
    """What failed."""
    async with app.db.begin_read() as tx:
        return await list_jobs(tx, is_dead_letter=True)


async def run_all(app: AppContext) -> None:
    """Do the background work that is due."""
    while (lease := await claim_next_partition(app, "agenda")) is not None:
        await run_jobs(app, lease, asyncio.Event())


async def texts(app: AppContext) -> list[str]:
    """What people said, as it stands in the log."""
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT text FROM message WHERE role = 'person' ORDER BY seq")
    return [row[0] for row in rows]


async def ana(app: AppContext) -> Any:
    """Whom the memory knows as Ana."""
    async with app.db.begin_read() as tx:
        found = await find_identity(tx, "telegram", "7")
    assert found is not None
    return found.id


async def test_event_that_meets_a_bug_is_kept_once_and_handled_on_a_retry(
    app: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told twice, it is kept once, with where the error was and none of what it quoted."""
    app = allowing_ana(app, says(SECRET), says(SECRET))
    async with broken(monkeypatch):
        await hear(app)
    (kept,) = await dead_letters(app)
    lost = await texts(app)
    async with app.db.begin_write() as tx:
        await retry_dead_letter(tx, kept.queue, kept.partition, kept.seq, now=app.clock())
    await run_all(app)

    assert lost == []
    assert kept.partition == "event/telegram"
    assert kept.attempts == 1
    assert kept.error is not None
    assert kept.error.startswith("KeyError: at test_failed_events.py:")
    assert kept.person == await ana(app)
    assert await texts(app) == [SECRET]
    assert await dead_letters(app) == []


async def test_command_that_is_retried_is_answered(
    app: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what would have been said at once."""
    app = allowing_ana(app, says("/zone Lisbon"))
    async with broken(monkeypatch):
        await hear(app)
    (kept,) = await dead_letters(app)
    async with app.db.begin_write() as tx:
        await retry_dead_letter(tx, kept.queue, kept.partition, kept.seq, now=app.clock())
    await run_all(app)
    bot = app.channels["telegram"]
    assert isinstance(bot, Bot)

    assert any("Lisbon" in each for each in bot.sent)


@pytest.mark.parametrize("is_newer_kept", [False, True])
async def test_old_edit_that_is_retried_does_not_undo_a_newer_one(
    app: AppContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, is_newer_kept: bool
) -> None:
    """Whether the newer one was taken in, or failed too."""
    app = allowing_ana(app)
    await handle_event(app, says("It is in the attic."))
    failing = ["It is in the cellar."] + ["It is in the garden."] * is_newer_kept
    for text in failing:
        clock.tick(seconds=1)
        edited = allowing_ana(app, says(text, is_edit=True))
        async with broken(monkeypatch):
            await hear(edited)
    clock.tick(seconds=1)
    if not is_newer_kept:
        await handle_event(app, says("It is in the garden.", is_edit=True))

    for kept in await dead_letters(app):
        async with app.db.begin_write() as tx:
            await retry_dead_letter(tx, kept.queue, kept.partition, kept.seq, now=app.clock())
        await run_all(app)
        clock.tick(seconds=1)

    assert (await texts(app))[-1] == "It is in the garden."
    assert await dead_letters(app) == []


async def test_retrying_an_old_edit_takes_in_the_newest(
    app: AppContext, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that nothing is lost if the newest is dropped then."""
    await handle_event(allowing_ana(app), says("It is in the attic."))
    for text in ["It is in the cellar.", "It is in the garden."]:
        clock.tick(seconds=1)
        async with broken(monkeypatch):
            await hear(allowing_ana(app, says(text, is_edit=True)))
    older = min(await dead_letters(app), key=lambda each: each.seq)
    async with app.db.begin_write() as tx:
        await retry_dead_letter(tx, older.queue, older.partition, older.seq, now=app.clock())
    await run_all(app)

    assert (await texts(app))[-1] == "It is in the garden."
    assert len(await dead_letters(app)) == 1


async def test_of_strangers_nothing_is_kept(
    app: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor of a group that we are not in."""
    group = ChatRef(channel="telegram", address="-5", title="Square", is_private=False)
    app = allowing_ana(
        app, says("Hello", EVE, external_id="message:9:1"), replace(says("Hi"), chat_ref=group)
    )
    async with broken(monkeypatch):
        await hear(app)

    assert await dead_letters(app) == []


async def test_press_that_meets_a_bug_is_kept(
    app: AppContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And retried as one."""
    press = ButtonPress(
        chat_ref=says("").chat_ref, sender=ANA, target_external_id="message:7:2", command="/x"
    )
    app = allowing_ana(app, says("I like tea."), press)
    async with broken(monkeypatch, "handle_press"):
        await hear(app)
    (kept,) = await dead_letters(app)
    async with app.db.begin_write() as tx:
        await retry_dead_letter(tx, kept.queue, kept.partition, kept.seq, now=app.clock())
    await run_all(app)

    assert kept.payload["arguments"] | {"event": None} == {
        "channel": "telegram",
        "type": "ButtonPress",
        "event": None,
    }
    assert await dead_letters(app) == []


async def test_no_more_than_some_are_kept(app: AppContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many come while a bug lasts."""
    monkeypatch.setattr("oldfriend.inbound.failed_events.MAX_KEPT", FULL)
    events = [says(f"line {n}", external_id=f"message:7:{n}") for n in range(FULL + 2)]
    app = allowing_ana(app, *events)
    async with broken(monkeypatch):
        await hear(app)

    assert len(await dead_letters(app)) == FULL < MAX_KEPT


async def forget_everything(app: AppContext) -> None:
    """All of it."""
    await forget(app, await ana(app), DeletionRequest(everything=True))


async def forget_its_time(app: AppContext) -> None:
    """What was said that day."""
    await forget(app, await ana(app), DeletionRequest(since=4 * DAY, until=6 * DAY))


async def forget_its_words(app: AppContext) -> None:
    """The same words, which were said another time, too."""
    await handle_event(app, says(SECRET, external_id="message:7:2", number=2, at=90 * DAY))
    await forget(app, await ana(app), DeletionRequest(since=89 * DAY, until=91 * DAY))


async def delete_it_there(app: AppContext) -> None:
    """Its author deletes the message on the platform."""
    deletion = MessageDeletion(chat_ref=says("").chat_ref, external_id="message:7:1")
    await handle_event(app, deletion)


async def let_it_grow_old(app: AppContext) -> None:
    """It is older than messages are kept."""
    kept_for = replace(app.settings, retention=RetentionSettings(messages_days=30))
    await apply_retention(replace(app, settings=kept_for), await ana(app))


@pytest.mark.parametrize(
    "end", [forget_everything, forget_its_time, forget_its_words, delete_it_there, let_it_grow_old]
)
async def test_kept_event_goes_with_what_is_forgotten(
    app: AppContext,
    clock: FrozenClock,
    monkeypatch: pytest.MonkeyPatch,
    end: Callable[[AppContext], Awaitable[None]],
) -> None:
    """By whichever way its words would have gone; another one stays, unless everything goes."""
    other = says("The weather is fine.", external_id="message:7:9", at=clock.now)
    app = allowing_ana(app, says(SECRET), other)
    async with broken(monkeypatch):
        await hear(app)
    assert len(await dead_letters(app)) == 2
    await end(app)
    async with app.db.begin_read() as tx:
        found = [row[0] for row in await tx.rows("SELECT payload FROM job")]

    assert not any("lantern" in body for body in found)
    stays = end is not forget_everything
    assert sum("weather is fine" in body for body in found) == stays
