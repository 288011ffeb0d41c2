"""What Telegram says no to becomes an error that says whether it will ever say yes."""

from collections.abc import AsyncIterator, Iterator

import pytest

from oldfriend.channels.telegram.api_errors import GroupMigrated
from oldfriend.channels.telegram.bot_api import BotApi, TelegramAddress, parse_address
from oldfriend.domain.errors import (
    DeliveryFailed,
    InvalidInput,
    NotFound,
    PlatformRejected,
    PlatformUnavailable,
    Undeliverable,
)
from tests.fakes.telegram import Fault, World, running_telegram

ANA, FAMILY = 7, -100
TO_ANA = TelegramAddress(chat_id=ANA)


@pytest.fixture(scope="module")
def telegram() -> Iterator[World]:
    """One Telegram for these tests; each has its own chat."""
    with running_telegram() as world:
        yield world


@pytest.fixture
def world(telegram: World) -> World:
    """The same, with nothing said yet."""
    telegram.shown.clear()
    telegram.updates.clear()
    return telegram


@pytest.fixture
async def api(world: World) -> AsyncIterator[BotApi]:
    """Our connection to it."""
    async with BotApi(world.token, base_url=world.url) as api:
        yield api


async def test_updates_come_as_they_were_sent(world: World, api: BotApi) -> None:
    """Also one that the library could not read."""
    world.tell({"message": "nonsense"})
    number = world.says(ANA, "hello")

    wild, said = await api.get_updates(offset=0, wait_s=0)

    assert isinstance(wild, dict)
    assert wild["message"] == "nonsense"
    assert isinstance(said, dict)
    assert said["message"]["message_id"] == number
    assert (await api.get_me()).username == "oldfriend_bot"


async def test_markdown_is_shown_and_can_be_changed(world: World, api: BotApi) -> None:
    """The same words again are no error."""
    number = await api.send_message(TO_ANA, "**hi** <1m", key="a")
    await api.edit_message(TO_ANA, number, "**hi** there")
    await api.edit_message(TO_ANA, number, "**hi** there")

    assert [(each.text, each.html) for each in world.shown] == [("hi there", "<b>hi</b> there")]


async def test_what_telegram_cannot_parse_is_sent_as_plain_words(world: World, api: BotApi) -> None:
    """Its marks are lost, and nothing else."""
    refusal = Fault(status=400, description="Bad Request: can't parse entities: whatever")
    world.scripted["sendMessage"].append(refusal)
    await api.send_message(TO_ANA, "**hi** <1m", key="a")

    assert [(each.text, each.html) for each in world.shown] == [("hi <1m", "hi <1m")]


@pytest.mark.parametrize(
    "fault",
    [
        Fault(),
        Fault(status=502),
        Fault(status=0),
        Fault(status=429, retry_after=7, description="Too Many Requests"),
    ],
)
async def test_what_may_pass_is_tried_later(world: World, api: BotApi, fault: Fault) -> None:
    """With the time that Telegram asks for."""
    world.scripted["sendMessage"].append(fault)
    with pytest.raises(DeliveryFailed) as caught:
        await api.send_message(TO_ANA, "x", key="a")

    assert caught.value.retry_after_s == (7 if fault.retry_after else None)


async def test_who_is_gone_is_never_reached(world: World, api: BotApi) -> None:
    """Blocked, deleted; a group that moved says where it is."""
    world.blocks(8)
    world.gone.add(9)
    world.group(FAMILY, "Family")
    world.migrates(FAMILY, -1001)
    for chat in (8, 9):
        with pytest.raises(Undeliverable):
            await api.send_message(TelegramAddress(chat_id=chat), "x", key="a")
    with pytest.raises(GroupMigrated) as caught:
        await api.send_message(TelegramAddress(chat_id=FAMILY), "x", key="a")

    assert caught.value.chat_id == -1001


async def test_drafts_are_shown_where_there_are_any(world: World, api: BotApi) -> None:
    """Half-open marks are shown as they stand."""
    assert await api.send_draft(TO_ANA, 1, "half **a")
    world.drafts_are_known = False
    assert not await api.send_draft(TO_ANA, 1, "half **a bo")
    world.drafts_are_known = True

    assert world.drafts[ANA] == ["half **a"]


async def test_files_buttons_and_speech(world: World, api: BotApi) -> None:
    """The rest of what we ask for."""
    world.sends_file(ANA, "voice", b"OggS")
    assert await api.download_file("file-0") == b"OggS"
    with pytest.raises(NotFound):
        await api.download_file("file-99")
    await api.answer_callback_query("too old")
    await api.answer_callback_query(query := world.presses(ANA, "yes"))
    await api.send_chat_action(TO_ANA, "typing")
    await api.send_voice(TO_ANA, b"opus", is_opus=True, title="", key="a")
    await api.send_voice(TO_ANA, b"mp3", is_opus=False, title="Reply", key="b")

    assert query in world.acknowledged
    assert [each.kind for each in world.shown] == ["voice", "audio"]


async def test_who_may_not_hear_is_told_why(world: World, api: BotApi) -> None:
    """A wrong token, another listener, no network."""
    async with BotApi("1:wrong", base_url=world.url) as stranger:
        with pytest.raises(PlatformRejected, match="oldfriend connect telegram"):
            await stranger.get_me()
    await api.set_webhook("http://127.0.0.1:9/hook", secret="s")
    with pytest.raises(PlatformRejected, match="webhook"):
        await api.get_updates(offset=0, wait_s=0)
    await api.remove_webhook()
    async with BotApi(world.token, base_url="http://127.0.0.1:9") as lonely:
        with pytest.raises(PlatformUnavailable):
            await lonely.get_me()


def test_addresses_are_written_and_read() -> None:
    """A chat, and a topic in it."""
    for address in (TelegramAddress(chat_id=7), TelegramAddress(chat_id=-100, topic_id=3)):
        assert parse_address(address.as_text) == address
    with pytest.raises(InvalidInput):
        parse_address("nora")
