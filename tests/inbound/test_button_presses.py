"""Buttons on Telegram: a press is the command of whoever was shown it, once, and then they go."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import replace

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.channels.channel import ChatRef, IncomingMessage, Sender
from oldfriend.channels.telegram.telegram_channel import TelegramChannel
from oldfriend.channels.telegram.telegram_settings import TelegramSettings
from oldfriend.domain.clock import DAY, MINUTE
from oldfriend.domain.ids import PersonId
from oldfriend.domain.job_types import Lease, QueueName
from oldfriend.inbound.account_linking import create_code
from oldfriend.inbound.receive import handle_event, listen_on_channel
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.identities import find_identity
from oldfriend.queues.queue import claim_jobs
from oldfriend.replies.outbox_worker import deliver
from oldfriend.replies.reply_worker import process_chat
from oldfriend.runtime.job_handlers import run_jobs
from oldfriend.tasks.task import STATUSES, Task
from oldfriend.tasks.task_store import list_tasks
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock
from tests.engines import SQLITE_ONLY
from tests.fakes.telegram import Shown, World, running_telegram
from tests.turn.conftest import wants
from tests.turn.test_server_tools import notes

ANA, BEN = 7, 8

pytestmark = SQLITE_ONLY


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


class Chat:
    """Ana and Ben, who write to the companion on Telegram."""

    def __init__(self, app: AppContext, world: World) -> None:
        """Nothing was said yet."""
        self.app, self.world, self.number = app, world, 0

    async def says(self, user: int, text: str, language: str = "en") -> str:
        """Say something, and have it answered."""
        self.number += 1
        address = str(user)
        said = IncomingMessage(
            chat_ref=ChatRef(channel="telegram", address=address, title="x", is_private=True),
            sender=Sender(address=address, name=f"User {user}", language=language),
            external_id=f"said:{self.number}",
            number=None,
            at=self.app.clock(),
            text=text,
        )
        await handle_event(self.app, said)
        return await self.works()

    async def works(self) -> str:
        """Do all that waits, and return what is shown last."""
        stopping = asyncio.Event()
        work_by_queue: dict[QueueName, Callable[[Lease], Awaitable[object]]] = {
            "inbox": lambda lease: process_chat(self.app, lease),
            "agenda": lambda lease: run_jobs(self.app, lease, stopping),
            "outbox": lambda lease: deliver(self.app, lease, stopping),
        }
        for queue, work in work_by_queue.items():
            while True:
                async with self.app.db.begin_write() as tx:
                    lease = await claim_jobs(
                        tx, queue, owner="me", now=self.app.clock(), lease_s=60
                    )
                if lease is None:
                    break
                await work(lease)
        return self.world.shown[-1].text if self.world.shown else ""

    async def presses(self, user: int, shown: Shown, command: str) -> str:
        """Press a button; what only the one who pressed is told."""
        query = self.world.presses(user, command, below=shown.id)
        assert await asyncio.to_thread(self.world.wait, lambda: query in self.world.acknowledged)
        await self.works()
        return self.world.toasts[query]

    async def tasks(self, user: int = ANA) -> list[Task]:
        """All there ever were."""
        async with self.app.db.begin_read() as tx:
            return await list_tasks(tx, await self.person(user), statuses=STATUSES)

    async def person(self, user: int) -> PersonId:
        """Who that is."""
        async with self.app.db.begin_read() as tx:
            found = await find_identity(tx, "telegram", str(user))
        assert found is not None
        return found.id


@pytest.fixture
async def chat(app: AppContext, world: World, clock: FrozenClock) -> AsyncIterator[Chat]:
    """Both are allowed, and the channel listens."""
    telegram = TelegramChannel(world.token, base_url=world.url, debounce_s=0)
    channels = {"telegram": TelegramSettings(allowed=(str(ANA), str(BEN)))}
    settings = replace(app.settings, channels=channels)
    app = replace(
        app,
        settings=settings,
        channels={"telegram": telegram},
        platforms=frozenset({"telegram"}),
    )
    stopping = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(listen_on_channel("telegram", app, stopping))
        yield Chat(app, world)
        stopping.set()
    await telegram.close()


async def remind(chat: Chat, clock: FrozenClock, text: str, language: str = "en") -> Shown:
    """Have a reminder set and delivered; it as it is shown."""
    await chat.says(ANA, text, language)
    clock.now += 6 * MINUTE
    await chat.works()
    return chat.world.shown[-1]


async def gone(chat: Chat, shown: Shown) -> bool:
    """Whether the buttons go."""
    return await asyncio.to_thread(chat.world.wait, lambda: not shown.buttons)


async def test_reminder_carries_three_buttons_and_one_press_counts(
    chat: Chat, clock: FrozenClock
) -> None:
    """It is a command of Ana's; a second press changes nothing and says so."""
    shown = await remind(chat, clock, "remind me in 5 minutes to call mum")
    (task,) = await chat.tasks()
    done, minutes, tomorrow = shown.buttons

    assert shown.text == "Reminder: call mum"
    assert done == ("Done", f"/done {task.short_id}")
    assert minutes == ("In 10 minutes", f"/snooze {task.short_id} 10m")
    assert tomorrow == ("Tomorrow", f"/snooze {task.short_id} tomorrow")
    assert await chat.presses(ANA, shown, minutes[1]) == ""
    assert "I'll remind you again" in chat.world.shown[-1].text
    (later,) = await chat.tasks()
    assert later.due_at == clock.now + 10 * MINUTE
    assert await gone(chat, shown)
    count = len(chat.world.shown)
    assert await chat.presses(ANA, shown, done[1]) == "That was answered already."
    assert await chat.tasks() == [later]
    assert len(chat.world.shown) == count


async def test_done_ends_it_and_tomorrow_is_nine_in_the_morning(
    chat: Chat, clock: FrozenClock
) -> None:
    """As the same words would."""
    first = await remind(chat, clock, "remind me in 5 minutes to call mum")
    await chat.presses(ANA, first, first.buttons[0][1])
    second = await remind(chat, clock, "remind me in 5 minutes to feed the cat")
    await chat.presses(ANA, second, second.buttons[2][1])
    by_text = {each.text: each for each in await chat.tasks()}

    assert by_text["call mum"].status == "done"
    assert by_text["feed the cat"].is_date_only
    assert "Done: “call mum”." in chat.world.texts(ANA)


async def test_press_counts_days_after_the_reminder(chat: Chat, clock: FrozenClock) -> None:
    """Though it has left the list by then."""
    shown = await remind(chat, clock, "remind me in 5 minutes to call mum")
    clock.now += 3 * DAY
    await chat.presses(ANA, shown, shown.buttons[0][1])
    assert [each.status for each in await chat.tasks()] == ["done"]


async def test_foreign_or_stale_press_changes_nothing_and_says_so(
    chat: Chat, clock: FrozenClock
) -> None:
    """Of another person, of nobody, below a message that was none of ours, or of an old time."""
    shown = await remind(chat, clock, "remind me in 5 minutes to call mum")
    command = shown.buttons[0][1]
    await chat.says(BEN, "hello")
    (before,) = await chat.tasks()

    assert "no use any more" in await chat.presses(BEN, shown, command)
    assert "not yours" in await chat.presses(99, shown, command)
    assert "no use any more" in await chat.presses(ANA, replace(shown, id=4_711), command)
    assert await chat.tasks() == [before]
    await chat.says(ANA, "in 10 minutes again")
    clock.now += 11 * MINUTE
    await chat.works()
    (later,) = await chat.tasks()
    await chat.presses(ANA, shown, command)
    assert "That has changed meanwhile" in chat.world.shown[-1].text
    assert await chat.tasks() == [later]


async def test_press_does_not_wait_for_more_words_nor_join_them(
    app: AppContext, chat: Chat, clock: FrozenClock
) -> None:
    """What is written in the same seconds is answered for itself."""
    shown = await remind(chat, clock, "remind me in 5 minutes to call mum")
    telegram = chat.app.channels["telegram"]
    assert isinstance(telegram, TelegramChannel)
    telegram.debounce_s = 2.0
    await chat.says(ANA, "My cat is called Miso.")
    await chat.presses(ANA, shown, shown.buttons[0][1])
    await chat.says(ANA, "She is grey.")
    clock.now += MINUTE
    await chat.works()

    assert (await chat.tasks())[0].status == "done"
    async with app.db.begin_read() as tx:
        rows = await tx.rows("SELECT turn, text FROM message WHERE role = 'person' ORDER BY seq")
    assert len({turn for turn, _ in rows[-3:]}) == 3


async def test_question_before_a_tool_acts_is_answered_by_a_press(
    app: AppContext, chat: Chat, clock: FrozenClock
) -> None:
    """Yes below an earlier question does nothing for a later one, which waits on."""
    server = notes()
    _, code = await create_code(app.db, app.clock, app.settings, None)  # the owner's
    await chat.says(ANA, code)
    calls = [
        wants("notes_create", text="a letter to Ana"),
        "Just a moment.",
        wants("notes_create", text="a letter to Ben"),
        "One more.",
    ]
    model = ScriptedModel([*calls, "Hm.", "Hm."])
    chat.app = replace(with_models(chat.app, {"main": model}), tool_servers=server)
    await chat.says(ANA, "Send Ana a letter")
    first = chat.world.shown[-1]
    await chat.says(ANA, "Rather send Ben a letter")
    second = chat.world.shown[-1]

    assert second.buttons == [("Yes", "/yes"), ("No", "/no")]
    await chat.presses(ANA, first, "/yes")
    assert server.calls == []
    assert "I have done nothing" in chat.world.shown[-1].text
    await chat.presses(ANA, second, "/yes")
    assert server.calls == [("create", {"text": "a letter to Ben"})]


async def test_yes_below_the_question_has_it_done_once(
    app: AppContext, chat: Chat, clock: FrozenClock
) -> None:
    """And the buttons go."""
    server = notes()
    _, code = await create_code(app.db, app.clock, app.settings, None)
    await chat.says(ANA, code)
    model = ScriptedModel([wants("notes_create", text="a letter"), "Just a moment.", "Hm."])
    chat.app = replace(with_models(chat.app, {"main": model}), tool_servers=server)
    await chat.says(ANA, "Write a letter")
    shown = chat.world.shown[-1]
    await chat.presses(ANA, shown, "/yes")

    assert server.calls == [("create", {"text": "a letter"})]
    assert await chat.presses(ANA, shown, "/yes") == "That was answered already."
    assert len(server.calls) == 1
    assert await gone(chat, shown)


@pytest.mark.parametrize(
    ("said", "language", "labels"),
    [
        ("recuérdame en 5 minutos llamar a mamá", "es", ["Hecho", "En 10 minutos", "Mañana"]),
        ("erinnere mich in 5 Minuten an den Müll", "de", ["Erledigt", "In 10 Minuten", "Morgen"]),
        ("rappelle-moi dans 5 minutes d'appeler maman", "fr", ["C'est fait", "Dans 10 minutes"]),
        ("5分钟后提醒我给妈妈打电话", "zh", ["完成", "10分钟后", "明天"]),
    ],
)
async def test_buttons_speak_the_language_of_the_reminder(
    chat: Chat, clock: FrozenClock, said: str, language: str, labels: list[str]
) -> None:
    """And a press of any of them is understood in it."""
    shown = await remind(chat, clock, said, language)

    assert [label for label, _ in shown.buttons][: len(labels)] == labels
    await chat.presses(ANA, shown, shown.buttons[1][1])
    (task,) = await chat.tasks()
    assert (task.status, task.due_at) == ("open", clock.now + 10 * MINUTE)
