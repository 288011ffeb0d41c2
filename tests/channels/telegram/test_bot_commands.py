"""Commands are offered to people in their language, once."""

from collections.abc import Iterator

import pytest

from oldfriend.channels.telegram.bot_api import BotApi
from oldfriend.channels.telegram.telegram_channel import register_commands
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES
from oldfriend.turn.request_handlers.registry import COMMANDS
from tests.fakes.telegram import Fault, World, running_telegram


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


async def test_bot_commands_are_registered_once_in_every_language(world: World) -> None:
    """What is offered already is not offered again; what was left half done is done."""
    async with BotApi(world.token, base_url=world.url) as api:
        world.scripted["setMyCommands"] += [Fault(status=200)] * 3 + [Fault(status=502)]
        await register_commands(api)
        half = len(world.commands)
        await register_commands(api)
        calls = len(world.called("setMyCommands"))
        await register_commands(api)

    alone = world.commands["all_private_chats", ""]
    in_spanish = world.commands["all_group_chats", "es"]
    assert (half, len(world.commands)) == (3, 2 * len(OFFLINE_LANGUAGES))
    assert calls == len(world.called("setMyCommands")) == 4 + 2 * len(OFFLINE_LANGUAGES)
    offered = [each["command"] for each in alone]
    assert offered[:3] == ["remind", "schedule", "tasks"]
    assert offered[-3:] == ["help", "retry", "stop"]
    assert {f"/{each}" for each in offered[:-3]} <= COMMANDS
    zone = next(each for each in alone if each["command"] == "zone")
    assert zone["description"] == "By whose clocks you live: /zone Lisbon"
    assert in_spanish[0]["description"] == "Parar la respuesta en la que estoy"
