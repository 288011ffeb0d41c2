"""Discord as people use it: direct messages, mentions, replies, files, buttons, lost sessions."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from oldfriend.api.web_app import build_routes
from oldfriend.channels.channel import (
    ButtonPress,
    ChannelEvent,
    HandleEvent,
    IncomingMessage,
    MessageDeletion,
    PressAnswer,
    Reaction,
)
from oldfriend.channels.discord.discord_channel import DiscordChannel
from oldfriend.channels.discord.rendering import render_text, split
from oldfriend.cli.main import main
from oldfriend.config.settings import load_settings
from oldfriend.domain.buttons import Button
from oldfriend.domain.errors import NotFound, PlatformRejected
from oldfriend.domain.messages import ADDRESS_DETAIL
from oldfriend.inbound.account_linking import create_code_for
from oldfriend.inbound.receive import listen_on_channel
from oldfriend.memory.people import ensure_owner
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import run_worker
from tests.channels.harness import HARNESSES, until
from tests.channels.test_contract import Ear, listening
from tests.clock import FrozenClock
from tests.fakes.discord import BOT, TOKEN, FakeDiscord, running_discord
from tests.fakes.platform import MemoryCursors

SQUARE = "950"


@pytest.fixture
async def world() -> AsyncIterator[FakeDiscord]:
    """A Discord of this test."""
    async with running_discord() as world:
        world.opens(SQUARE, "square")
        yield world


@pytest.fixture
async def bot(world: FakeDiscord) -> AsyncIterator[DiscordChannel]:
    """Our bot on it."""
    bot = DiscordChannel(TOKEN, base_url=world.url, debounce_s=0.0)
    yield bot
    await bot.close()


async def heard(
    world: FakeDiscord, bot: DiscordChannel, *said: tuple[str, dict[str, object]]
) -> list[IncomingMessage]:
    """What the bot hears of what Ana says in a channel of a server."""
    world.meets(1, "Ana")
    ear = Ear()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(bot.listen(ear, MemoryCursors()))
        await until(lambda: bool(world.sessions))
        for text, more in said:
            world.says("201", SQUARE, text, **more)
        world.says("201", "301", "that is all")
        await until(lambda: "that is all" in ear.texts())
        task.cancel()
    return ear.messages[:-1]


async def test_mention_reply_and_command_in_a_server_are_for_the_bot(
    world: FakeDiscord, bot: DiscordChannel
) -> None:
    """By their names for people; what is not for it is not even read."""
    ours = world._post(BOT, SQUARE, "Hello.")
    messages = await heard(
        world,
        bot,
        ("lovely weather", {}),
        (f"<@{BOT['id']}> does <@201> like tea?", {}),
        (f"<@{BOT['id']}> /allow", {}),
        (f"<@!{BOT['id']}> yes", {"type": 19, "referenced_message": ours}),
    )

    assert [each.text for each in messages] == [
        "@Oldfriend does @Ana like tea?",
        "/allow",
        "@Oldfriend yes",
    ]
    assert all(each.is_addressed and not each.chat_ref.is_private for each in messages)
    assert messages[0].details == {ADDRESS_DETAIL: "@Oldfriend"}
    assert messages[0].chat_ref.title == "square"
    assert messages[2].replies_to == f"message:{SQUARE}:{ours['id']}"
    assert (messages[2].quoted_text, messages[2].quoted_from) == ("Hello.", "Oldfriend")


async def test_voice_note_photo_and_forward_are_told_apart(
    world: FakeDiscord, bot: DiscordChannel
) -> None:
    """A recording is fetched by its message, since its address expires."""
    voice = world.keep(b"OggS-voice", duration_secs=3.4)
    photo = world.keep(b"JPEG", mime="image/jpeg")
    world.meets(1, "Ana")
    ear = Ear()
    snapshot = {"message": {"content": "Tea is bad.", "attachments": [], "mentions": []}}
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(bot.listen(ear, MemoryCursors()))
        await until(lambda: bool(world.sessions))
        world.says("201", "301", "", attachments=[voice], flags=1 << 13)
        world.says("201", "301", "", attachments=[photo])
        world.says("201", "301", "", message_reference={"type": 1}, message_snapshots=[snapshot])
        await until(lambda: len(ear.messages) == 3)
        task.cancel()
    recording, picture, forward = ear.messages

    assert (recording.text, recording.is_readable) == ("[voice message, 0:03]", False)
    assert await bot.download_audio(recording.details["recording"]) == b"OggS-voice"
    with pytest.raises(NotFound):
        await bot.download_audio("301/7/7")
    assert (picture.text, picture.details) == ("[photo]", {"media": "photo"})
    assert (forward.text, forward.is_own_words) == ("Tea is bad.", False)


async def test_used_buttons_go_and_reactions_are_heard(
    world: FakeDiscord, bot: DiscordChannel
) -> None:
    """Who pressed is told what came of it."""
    world.meets(1, "Ana")
    ear = Ear()

    async def answer(event: object) -> PressAnswer | None:
        await ear(event)  # type: ignore[arg-type]
        return PressAnswer(text="Done.") if isinstance(event, ButtonPress) else None

    buttons = (Button(label="Done", command="/done x1"),)
    sent = await bot.send("301", "It is time.", send_key="a", buttons=buttons)
    number = sent.rpartition(":")[2]
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(bot.listen(answer, MemoryCursors()))
        await until(lambda: bool(world.sessions))
        world.presses("201", "301", number, "/done x1")
        world.reacts("201", "301", number, "👍")
        await until(lambda: bool(world.toasts) and len(ear.events) == 2)
        task.cancel()
    reaction = ear.events[1]

    assert world.toasts == ["Done."]
    assert isinstance(reaction, Reaction)
    assert (reaction.emoji, reaction.target_external_id) == ("👍", sent)


async def test_lost_session_is_made_up_for_from_the_history(tmp_path: Path) -> None:
    """Also while the process lives; in the order in which it was said, each once."""
    ear, cursors = Ear(), MemoryCursors()
    async with HARNESSES["discord"]() as harness:
        bot = harness.open(tmp_path)
        async with listening(harness, bot, ear, cursors):
            harness.says("ana", "0")
            await until(lambda: ear.texts() == ["0"])
            for number in range(1, 250):
                if number in {50, 150}:
                    await harness.world.drop()  # type: ignore[attr-defined]
                harness.says("ana", str(number))
            await until(lambda: len(ear.messages) >= 250)
        await bot.close()

    assert ear.texts() == [str(number) for number in range(250)]


@asynccontextmanager
async def online(
    world: FakeDiscord, ear: HandleEvent, cursors: MemoryCursors, *allowed: str
) -> AsyncIterator[None]:
    """The bot is there, as a new process."""
    bot = DiscordChannel(TOKEN, base_url=world.url, debounce_s=0.0, allowed=allowed)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(bot.listen(ear, cursors))
        await until(lambda: bool(world.sessions))
        yield
        task.cancel()
    await bot.close()
    await until(lambda: not world.sessions)


async def test_first_words_of_somebody_are_heard_although_the_process_died_of_them(
    world: FakeDiscord,
) -> None:
    """Once they speak again; what they said before the bot was ours is none of its business."""
    ear, cursors, channel = Ear(), MemoryCursors(), world.meets(1, "Ana")
    world.says("201", channel, "to another program")
    died = asyncio.Event()

    async def die(event: ChannelEvent) -> None:
        died.set()
        await asyncio.Event().wait()

    async with online(world, die, cursors):
        world.says("202", world.meets(2, "Ben"), "hello")
        await died.wait()
        world.says("201", channel, "first")
    async with online(world, ear, cursors):
        world.says("201", channel, "are you there?")
        await until(lambda: "are you there?" in ear.texts())

    assert ear.texts() == ["hello", "first", "are you there?"]


async def test_whoever_may_write_is_heard_though_they_first_wrote_while_the_bot_was_off(
    world: FakeDiscord,
) -> None:
    """Their chat is opened once; of what is no person among the allowed, nothing comes."""
    ear, cursors, channel = Ear(), MemoryCursors(), world.meets(1, "Ana")
    world.says("201", channel, "to another program")
    async with online(world, ear, cursors, "201", SQUARE):
        await until(lambda: sum("/@me/channels" in each for each in world.requests) == 2)
    world.says("201", channel, "first")
    for _ in range(2):
        async with online(world, ear, cursors, "201", SQUARE):
            await until(lambda: ear.texts() == ["first"])
            await asyncio.sleep(0.1)

    assert ear.texts() == ["first"]
    assert sum("/@me/channels" in each for each in world.requests) == 2


async def test_failing_look_into_a_history_ends_not_all_listening(
    world: FakeDiscord, bot: DiscordChannel
) -> None:
    """Else with many chats and some trouble the last of them would never be caught up with."""
    channel, cursors = world.meets(1, "Ana"), MemoryCursors()
    first = int(world.says("201", channel, "before"))
    await cursors.save(BOT["id"], f"d{channel}")
    await cursors.save(f"{BOT['id']}/{channel}", str(first))
    world.says("201", channel, "away")
    world.read_troubles, ear = 2, Ear()
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(bot.listen(ear, cursors))  # which raises nothing
        await until(lambda: ear.texts() == ["away"])
        task.cancel()

    assert world.read_troubles == 0


async def test_many_deletions_at_once_are_a_moderators_and_take_nothing(
    world: FakeDiscord, bot: DiscordChannel
) -> None:
    """Nobody deletes many of their own messages at once; a single one is taken for theirs."""
    ear, channel = Ear(), world.meets(1, "Ana")
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(bot.listen(ear, MemoryCursors()))
        await until(lambda: bool(world.sessions))
        said = [world.says("201", channel, f"{number}") for number in range(3)]
        world.tell("MESSAGE_DELETE_BULK", {"ids": said[:2], "channel_id": channel})
        world.deletes(channel, said[2])
        await until(lambda: bool(deleted(ear)))
        task.cancel()

    assert [each.external_id.rpartition(":")[2] for each in deleted(ear)] == [said[2]]


def deleted(ear: Ear) -> list[MessageDeletion]:
    """What is to be forgotten."""
    return [each for each in ear.events if isinstance(each, MessageDeletion)]


async def test_strangers_leave_nothing_behind_and_push_nobody_out(
    world: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said to a bot that is off by somebody known is heard, however many others wrote."""
    monkeypatch.setattr("oldfriend.channels.discord.event_listener.MAX_CHANNELS", 2)
    ear, cursors = Ear(), MemoryCursors()
    people = [world.meets(number, f"Person {number}") for number in range(1, 7)]
    cursors.strangers = {"203", "204", "205", "206", SQUARE}
    async with online(world, ear, cursors):
        for number, channel in enumerate(people, 1):
            world.says(str(200 + number), channel, f"hello {number}")
        world.says("203", SQUARE, f"<@{BOT['id']}> hello all")
        await until(lambda: len(ear.messages) == 7)
    known = set(cursors.positions)
    world.says("201", people[0], "are you there?")
    async with online(world, ear, cursors):
        await until(lambda: "are you there?" in ear.texts())

    assert known == {BOT["id"], f"{BOT['id']}/301", f"{BOT['id']}/302", f"{BOT['id']}/began"}
    assert f"GET /api/v10/channels/{SQUARE}" not in world.requests


async def test_channel_heard_from_last_is_the_last_to_be_dropped(
    world: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a channel that was dropped is caught up with when somebody speaks there again."""
    monkeypatch.setattr("oldfriend.channels.discord.event_listener.MAX_CHANNELS", 2)
    ear, cursors = Ear(), MemoryCursors()
    people = [world.meets(number, f"Person {number}") for number in range(1, 4)]

    def is_heard_last(entry: str, count: int) -> bool:
        listed = cursors.positions.get(str(BOT["id"]), "")
        return len(ear.messages) == count and listed.endswith(entry)

    async with online(world, ear, cursors):
        for count, number in enumerate((1, 2, 1, 3)):
            world.says(str(200 + number), people[number - 1], f"hello {number}")
            await until(partial(is_heard_last, f"d{people[number - 1]}", count + 1))
    assert cursors.positions[str(BOT["id"])] == "d301 d303"
    world.says("202", people[1], "missed")
    async with online(world, ear, cursors):
        world.says("202", people[1], "and now?")
        await until(lambda: "and now?" in ear.texts())

    assert ear.texts()[-2:] == ["missed", "and now?"]


async def test_nothing_in_a_history_keeps_the_rest_from_being_read(
    world: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long it is."""
    monkeypatch.setattr("oldfriend.channels.discord.event_listener.PAGE_SIZE", 2)
    ear, cursors = Ear(), MemoryCursors()
    people = [world.meets(number, f"Person {number}") for number in (1, 2)]
    async with online(world, ear, cursors):
        for number, channel in enumerate(people, 1):
            world.says(str(200 + number), channel, "hello")
        await until(lambda: len(ear.messages) == 2)
    for number, channel in enumerate(people, 1):
        for odd in ({"author": None}, {"author": {"id": "x"}, "content": "odd"}):
            world.messages[channel].append({"id": world._next(), "mentions": [], **odd})
        for count in range(50):
            world.says(str(200 + number), channel, f"{channel} {count}")
    async with online(world, ear, cursors):
        await until(lambda: len(ear.messages) == 102)

    for channel in people:
        said = [each for each in ear.texts() if each.startswith(channel)]
        assert said == [f"{channel} {count}" for count in range(50)]


async def test_catching_up_delays_no_press_and_keeps_the_order_of_a_channel(
    world: FakeDiscord, bot: DiscordChannel
) -> None:
    """Discord waits three seconds for what comes of a press."""
    ear, cursors = Ear(), MemoryCursors()
    ana, ben = world.meets(1, "Ana"), world.meets(2, "Ben")
    buttons = (Button(label="Done", command="/done x1"),)
    sent = await bot.send(ben, "It is time.", send_key="a", buttons=buttons)
    async with online(world, ear, cursors):
        world.says("201", ana, "zero")
        await until(lambda: ear.texts() == ["zero"])
    world.says("201", ana, "one")
    world.held[ana] = asyncio.Event()
    async with online(world, ear, cursors):
        world.says("201", ana, "two")
        world.presses("202", ben, sent.rpartition(":")[2], "/done x1")
        await until(lambda: isinstance(ear.events[-1], ButtonPress))
        world.held[ana].set()
        await until(lambda: len(ear.messages) == 3)
        world.says("201", ana, "three")
        await until(lambda: len(ear.messages) == 4)

    assert ear.texts() == ["zero", "one", "two", "three"]


async def test_more_events_than_can_wait_are_read_from_the_history(
    world: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, in order."""
    monkeypatch.setattr("oldfriend.channels.discord.event_listener.MAX_WAITING", 2)
    ear, cursors = Ear(), MemoryCursors()
    ana = world.meets(1, "Ana")

    async def hear_slowly(event: ChannelEvent) -> None:
        await asyncio.sleep(0.01)
        await ear(event)

    async with online(world, hear_slowly, cursors):
        for number in range(40):
            world.says("201", ana, str(number))
        await until(lambda: len(ear.messages) == 40)

    assert ear.texts() == [str(number) for number in range(40)]


async def test_first_words_that_a_flood_pushed_out_are_heard_after_a_lost_session(
    world: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next session reads them from the history, though nobody had been heard there."""
    monkeypatch.setattr("oldfriend.channels.discord.event_listener.MAX_WAITING", 2)
    ear, cursors = Ear(), MemoryCursors()
    ana, ben = world.meets(1, "Ana"), world.meets(2, "Ben")
    bot = DiscordChannel(TOKEN, base_url=world.url, debounce_s=0.0)

    class Stuck(MemoryCursors):
        """It answers nothing."""

        async def is_known(self, address: str) -> bool:
            await asyncio.Event().wait()
            return False

    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(bot.listen(ear, Stuck()))
        await until(lambda: bool(world.sessions))
        for number in range(8):
            world.says("201", ana, str(number))
        world.says("202", ben, "hello")
        await until(lambda: ben in bot._progress.lost)
        first.cancel()
        await until(lambda: not world.sessions)
        second = tasks.create_task(bot.listen(ear, cursors))
        await until(lambda: "hello" in ear.texts())
        second.cancel()
    await bot.close()

    assert ear.texts().count("hello") == 1


async def test_wrong_token_is_refused_and_not_told(world: FakeDiscord) -> None:
    """With what to do."""
    bot = DiscordChannel("wrong-token", base_url=world.url)
    with pytest.raises(PlatformRejected, match="oldfriend connect discord") as refused:
        await bot.register()
    with pytest.raises(PlatformRejected):
        await bot.listen(Ear(), MemoryCursors())
    await bot.close()

    assert "wrong-token" not in str(refused.value)


def test_markdown_is_sent_as_it_is_and_all_else_is_escaped() -> None:
    """A table becomes code; code that is cut goes on as code; no part is too long."""
    table = "Look:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nYes."
    code = "```python\n" + "\n".join(f"print({number})" for number in range(400)) + "\n```"
    bold = " ".join(["**two words**"] * 400)

    assert render_text(table, is_markdown=True) == table.replace("| a", "```\n| a").replace(
        "2 |", "2 |\n```"
    )
    assert render_text("*no* _markup_ # > `x`", is_markdown=False).startswith(r"\*no\* \_markup\_")
    parts = split(code, is_markdown=True)
    assert len(parts) > 2
    assert all(each.startswith("```python\n") and each.endswith("\n```") for each in parts)
    for text in (code, bold, "*" * 5_000, "a" * 30_000):
        for is_markdown in (True, False):
            cut = split(text, is_markdown=is_markdown)
            assert all(len(render_text(each, is_markdown=is_markdown)) <= 2_000 for each in cut)
    assert all(each.count("**") % 2 == 0 for each in split(bold, is_markdown=True))


async def test_person_connects_pairs_and_is_answered_on_discord(
    world: FakeDiscord,
    tmp_path: Path,
    clock: FrozenClock,
    settings_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By the command, the code and a direct message; a stranger is turned away."""
    build_routes.cache_clear()
    data = str(tmp_path / "data")
    monkeypatch.setenv("OLDFRIEND_DISCORD_TOKEN", TOKEN)
    monkeypatch.setenv("OLDFRIEND_DISCORD_BASE_URL", world.url)
    assert await asyncio.to_thread(main, ["--data", data, "connect", "discord"]) == 0
    assert "@oldfriend is connected" in capsys.readouterr().out
    settings = load_settings(
        {"OLDFRIEND_DISCORD_TOKEN": TOKEN},
        data=data,
        overrides=[f"discord.base_url={world.url}", "discord.quiet_s=0"],
    )
    ana, eve = world.meets(1, "Ana"), world.meets(2, "Eve")
    async with (
        asyncio.timeout(60),
        open_app(settings, clock=clock, with_channels=True) as app,
        asyncio.TaskGroup() as tasks,
    ):
        stopping = asyncio.Event()
        tasks.create_task(listen_on_channel("discord", app, stopping))
        tasks.create_task(run_worker(app, stopping=stopping))
        async with app.db.begin_write() as tx:
            owner = await ensure_owner(tx, now=clock(), zone="UTC")
        code = await create_code_for(app.db, app.clock, owner)
        await until(lambda: bool(world.sessions))
        world.says("202", eve, "Hello there")
        await until(lambda: len(world.shown(eve)) == 1)
        world.says("201", ana, code)
        await until(lambda: len(world.shown(ana)) == 1)
        world.says("201", ana, "My cat is called Miso.")
        await until(lambda: len(world.shown(ana)) == 2)
        world.says("201", ana, "What is my cat called?")
        await until(lambda: len(world.shown(ana)) == 3)
        stopping.set()
        app.notifier.notify()

    assert "Miso" in world.shown(ana)[-1]["content"]
