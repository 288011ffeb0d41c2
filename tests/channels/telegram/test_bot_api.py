"""What Telegram says no to becomes an error that says whether it will ever say yes."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from telegram.error import TelegramError

from oldfriend.channels.channel import ChannelSpec
from oldfriend.channels.discord.spec import DISCORD
from oldfriend.channels.telegram.api_errors import GroupMigrated, map_receive_errors
from oldfriend.channels.telegram.bot_api import BotApi, TelegramAddress, parse_address
from oldfriend.channels.telegram.rendering import render
from oldfriend.channels.telegram.spec import TELEGRAM
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


async def test_get_updates_returns_raw_updates_including_unparsable_ones(
    world: World, api: BotApi
) -> None:
    """Also one that the library could not read."""
    world.tell({"message": "nonsense"})
    number = world.says(ANA, "hello")

    wild, said = await api.get_updates(offset=0, wait_s=0)

    assert isinstance(wild, dict)
    assert wild["message"] == "nonsense"
    assert isinstance(said, dict)
    assert said["message"]["message_id"] == number
    assert (await api.get_me()).username == "oldfriend_bot"


async def test_markdown_message_is_sent_and_edited_and_unchanged_edit_is_no_error(
    world: World, api: BotApi
) -> None:
    """The same words again are no error."""
    number = await api.send_message(TO_ANA, render("**hi** <1m"), key="a")
    await api.edit_message(TO_ANA, number, render("**hi** there"))
    await api.edit_message(TO_ANA, number, render("**hi** there"))

    assert [(each.text, each.html) for each in world.shown] == [("hi there", "<b>hi</b> there")]


async def test_rejected_markup_is_resent_as_plain_text(world: World, api: BotApi) -> None:
    """Its marks are lost, and nothing else."""
    refusal = Fault(status=400, description="Bad Request: can't parse entities: whatever")
    world.scripted["sendMessage"].append(refusal)
    await api.send_message(TO_ANA, render("**hi** <1m"), key="a")

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
async def test_temporary_send_error_raises_delivery_failed_with_retry_after(
    world: World, api: BotApi, fault: Fault
) -> None:
    """With the time that Telegram asks for."""
    world.scripted["sendMessage"].append(fault)
    with pytest.raises(DeliveryFailed) as caught:
        await api.send_message(TO_ANA, render("x"), key="a")

    assert caught.value.retry_after_s == (7 if fault.retry_after else None)


async def test_blocked_deleted_or_migrated_chat_raises_a_permanent_error(
    world: World, api: BotApi
) -> None:
    """Blocked, deleted; a group that moved says where it is."""
    world.blocks(8)
    world.gone.add(9)
    world.group(FAMILY, "Family")
    world.migrates(FAMILY, -1001)
    for chat in (8, 9):
        with pytest.raises(Undeliverable):
            await api.send_message(TelegramAddress(chat_id=chat), render("x"), key="a")
    with pytest.raises(GroupMigrated) as caught:
        await api.send_message(TelegramAddress(chat_id=FAMILY), render("x"), key="a")

    assert caught.value.chat_id == -1001


async def test_draft_is_shown_where_the_server_supports_drafts(world: World, api: BotApi) -> None:
    """Half-open marks are shown as they stand."""
    assert await api.send_draft(TO_ANA, 1, render("half **a"))
    world.drafts_are_known = False
    assert not await api.send_draft(TO_ANA, 1, render("half **a bo"))
    world.drafts_are_known = True

    assert world.drafts[ANA] == ["half **a"]


async def test_file_download_callback_answer_chat_action_and_voice_work(
    world: World, api: BotApi
) -> None:
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


async def test_wrong_token_webhook_conflict_and_no_network_raise_clear_errors(
    world: World, api: BotApi
) -> None:
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


def test_telegram_address_text_round_trips() -> None:
    """A chat, and a topic in it."""
    for address in (TelegramAddress(chat_id=7), TelegramAddress(chat_id=-100, topic_id=3)):
        assert parse_address(address.as_text) == address
    with pytest.raises(InvalidInput):
        parse_address("nora")


def test_error_of_the_library_is_told_without_the_token() -> None:
    """It may quote the address that it called."""
    token = "123456:AAFakeTokenOfAFakeBot_0123456789abc"
    with pytest.raises(PlatformUnavailable) as told, map_receive_errors():
        raise TelegramError(f"cannot call 'https://api.telegram.org/bot{token}ä/getMe', {token}")

    assert "AAFake" not in str(told.value)
    assert "getMe" in str(told.value)


@pytest.mark.parametrize("spec", [TELEGRAM, DISCORD], ids=lambda spec: spec.name)
def test_what_can_be_no_token_is_told_with_the_platform(spec: ChannelSpec, tmp_path: Path) -> None:
    """Before anything is sent."""
    with pytest.raises(PlatformRejected, match=f"the token of a {spec.title} bot"):
        spec.open_bot({"token": "nö"}, spec.default_settings, tmp_path)
