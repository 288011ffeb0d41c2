"""The fake is strict where Telegram is strict, by the library that the program uses."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator

import pytest
from telegram import Bot
from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
)
from telegram.request import HTTPXRequest

from tests.fakes.telegram import Fault, World, running_telegram

ANA, FAMILY = 7, -100


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


@pytest.fixture
async def bot(world: World) -> AsyncIterator[Bot]:
    """The library, pointed at it."""
    async with bot_at(world, world.token) as bot:
        yield bot


def bot_at(world: World, token: str) -> Bot:
    """A bot with some token."""
    return Bot(
        token,
        base_url=f"{world.url}/bot",
        base_file_url=f"{world.url}/file/bot",
        request=HTTPXRequest(read_timeout=3),
        get_updates_request=HTTPXRequest(read_timeout=5),
    )


async def test_updates_are_repeated_until_confirmed_by_offset(world: World, bot: Bot) -> None:
    """Whoever asks with the same offset gets the same."""
    world.says(ANA, "one")
    world.says(ANA, "two")
    first = await bot.get_updates()
    again = await bot.get_updates()
    rest = await bot.get_updates(offset=first[0].update_id + 1)

    assert [each.message and each.message.text for each in first] == ["one", "two"]
    assert again == first
    assert [each.message and each.message.text for each in rest] == ["two"]
    assert not await bot.get_updates(offset=rest[0].update_id + 1)


async def test_second_poller_causes_a_conflict_for_the_first(world: World, bot: Bot) -> None:
    """The later one wins, as on the real one."""

    async def earlier() -> None:
        with pytest.raises(Conflict):
            await bot.get_updates(timeout=3)

    async with asyncio.TaskGroup() as group:
        group.create_task(earlier())
        await asyncio.sleep(0.2)
        assert await bot.get_updates(timeout=1) == ()


@pytest.mark.parametrize(
    "html", ["<b>open", "a < b", "<1m", "<b><i>x</b></i>", "<table>x</table>", "<a>x</a>"]
)
async def test_invalid_html_is_refused(bot: Bot, html: str) -> None:
    """With the words by which programs know it."""
    with pytest.raises(BadRequest, match="Can't parse entities|can't parse entities"):
        await bot.send_message(ANA, html, parse_mode="HTML")


async def test_length_is_counted_without_tags(world: World, bot: Bot) -> None:
    """In UTF-16 units."""
    await bot.send_message(ANA, f"<b>{'x' * 4096}</b>", parse_mode="HTML")
    with pytest.raises(BadRequest, match="too long"):
        await bot.send_message(ANA, "\U0001f600" * 2049)

    assert world.texts(ANA) == ["x" * 4096]


async def test_edit_without_change_is_refused(world: World, bot: Bot) -> None:
    """As programs that stream must know."""
    sent = await bot.send_message(ANA, "one")
    await bot.edit_message_text("two", chat_id=ANA, message_id=sent.message_id)
    with pytest.raises(BadRequest, match="not modified"):
        await bot.edit_message_text("two", chat_id=ANA, message_id=sent.message_id)

    assert world.texts(ANA) == ["two"]


async def test_send_to_blocked_unknown_or_migrated_chat_fails(world: World, bot: Bot) -> None:
    """Blocked, unknown, moved."""
    world.blocks(ANA)
    world.group(FAMILY, "Family")
    world.migrates(FAMILY, -1001)
    with pytest.raises(Forbidden, match="blocked"):
        await bot.send_message(ANA, "x")
    with pytest.raises(BadRequest, match="not found"):
        await bot.send_message(-5, "x")
    with pytest.raises(ChatMigrated):
        await bot.send_message(FAMILY, "x")


async def test_flood_limit_raises_retry_after(world: World, bot: Bot) -> None:
    """It says how long to wait."""
    world.limits_floods = True
    with pytest.raises(RetryAfter):
        for _ in range(5):
            await bot.send_message(ANA, "x")


async def test_scripted_faults_are_raised_in_order(world: World, bot: Bot) -> None:
    """Errors, resets, and answers that are lost although all was done."""
    world.scripted["sendMessage"].extend([Fault(), Fault(status=0), Fault(is_done=True)])
    for _ in range(3):
        with pytest.raises(NetworkError):
            await bot.send_message(ANA, "x")

    assert world.texts(ANA) == ["x"]


async def test_files_drafts_chat_actions_and_callback_queries_work(world: World, bot: Bot) -> None:
    """The rest of what a companion needs."""
    world.sends_file(ANA, "voice", b"OggS...")
    query = world.presses(ANA, "yes")
    (voice, _) = await bot.get_updates()
    assert voice.message
    assert voice.message.voice
    file = await voice.message.voice.get_file()
    content = await file.download_as_bytearray()
    await bot.send_chat_action(ANA, "typing")
    await bot.send_message_draft(ANA, 1, "half a")
    await bot.answer_callback_query(query)
    await bot.send_voice(ANA, b"spoken", caption="in words")

    assert bytes(content) == b"OggS..."
    assert (world.drafts[ANA], world.actions) == (["half a"], [(ANA, "typing")])
    assert world.acknowledged == {query}
    assert [(each.kind, each.file, each.text) for each in world.shown] == [
        ("voice", b"spoken", "in words")
    ]


async def test_a_wrong_token_is_refused(world: World) -> None:
    """At once."""
    bot = bot_at(world, "1:wrong")
    async with bot.request:
        with pytest.raises(InvalidToken):
            await bot.get_me()


async def test_responses_are_not_delayed_by_tcp_delayed_ack(bot: Bot) -> None:
    """What goes out in pieces waited for 40 ms to be acknowledged: no bot would be quick."""
    taken: list[float] = []
    for _ in range(40):
        began = time.perf_counter()
        await bot.send_chat_action(ANA, "typing")
        taken.append(time.perf_counter() - began)

    assert min(taken[20:]) < 0.03  # the first ones are acknowledged at once in any case
