"""What happens on Telegram is heard in order until it is taken; what was sent in one go is one."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest

from oldfriend.channels.telegram.bot_api import BotApi
from oldfriend.channels.telegram.polling import (
    UnparsedUpdate,
    Update,
    find_open_album,
    join_albums,
    poll,
    try_parse_update,
)
from oldfriend.channels.telegram.updates import MessageUpdate
from tests.fakes.telegram import World, running_telegram

ANA, BEN = 7, 8
PHOTO = [{"file_id": "a"}]


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


@pytest.fixture
async def api(world: World) -> AsyncIterator[BotApi]:
    """Our connection to it."""
    async with BotApi(world.token, base_url=world.url) as api:
        yield api


async def heard_within(api: BotApi, seconds: float, *, fails_at: str = "") -> list[Update]:
    """What is taken in so many seconds; one text cannot be."""
    taken: list[Update] = []

    async def take(update: Update) -> None:
        if isinstance(update, MessageUpdate) and update.text == fails_at:
            raise OSError("no room")
        taken.append(update)

    with suppress(TimeoutError, OSError):
        async with asyncio.timeout(seconds):
            await poll(api, take)
    return taken


def texts_of(updates: list[Update]) -> list[str]:
    """What was said in them."""
    return [each.text if isinstance(each, MessageUpdate) else "lost" for each in updates]


@pytest.mark.slow
async def test_update_whose_handler_failed_is_delivered_again(world: World, api: BotApi) -> None:
    """Nothing is confirmed before everything up to it was taken."""
    for text in ("one", "two", "three"):
        world.says(ANA, text)
    first = await heard_within(api, 1, fails_at="two")
    again = await heard_within(api, 1)
    world.says(ANA, "four")
    rest = await heard_within(api, 1)

    assert texts_of(first) == ["one"]
    assert texts_of(again) == ["one", "two", "three"]
    assert texts_of(rest) == ["four"]


@pytest.mark.slow
async def test_unparsable_update_is_skipped_and_neighbors_are_handled(
    world: World, api: BotApi
) -> None:
    """Its neighbours are not."""
    world.says(ANA, "before")
    world.tell({"message": {"chat": "nonsense"}})
    world.says(ANA, "after")
    taken = await heard_within(api, 1)

    assert texts_of(taken) == ["before", "lost", "after"]
    assert isinstance(taken[1], UnparsedUpdate)
    assert not world.updates


@pytest.mark.slow
async def test_album_pieces_in_separate_updates_become_one_message(
    world: World, api: BotApi
) -> None:
    """Its pieces come one after the other, with others between them."""

    async def send() -> None:
        world.says(ANA, photo=PHOTO, media_group_id="x")
        await asyncio.sleep(0.2)
        world.says(BEN, "hello")
        world.says(ANA, caption="us in Faro", photo=PHOTO, media_group_id="x")
        await asyncio.sleep(0.3)
        world.says(ANA, photo=PHOTO, media_group_id="x")

    async with asyncio.TaskGroup() as group:
        group.create_task(send())
        taken = await heard_within(api, 3)

    assert texts_of(taken) == ["us in Faro", "hello"]
    assert isinstance(taken[0], MessageUpdate)
    assert taken[0].message_id == 1


def piece(update: int, chat: int, album: str, text: str = "") -> Update:
    """A message, perhaps of an album."""
    message: dict[str, Any] = {
        "message_id": update,
        "date": 1,
        "chat": {"id": chat, "type": "private"},
        "photo": PHOTO,
        "media_group_id": album,
        "caption": text,
    }
    return try_parse_update({"update_id": update, "message": message})


def test_open_album_is_closed_by_the_next_message_in_its_chat() -> None:
    """What is said elsewhere closes nothing."""
    one, two, other = piece(1, ANA, "x"), piece(2, ANA, "x"), piece(3, BEN, "")
    after = piece(4, ANA, "")

    assert find_open_album([other, one, two]) == 1
    assert find_open_album([one, two, other]) == 0
    assert find_open_album([one, two, other, after]) is None


def test_interleaved_albums_are_joined_per_chat() -> None:
    """Also two of the same name in two chats."""
    mixed = [piece(1, ANA, "x", "a"), piece(2, BEN, "x", "b"), piece(3, ANA, "x", "c")]

    assert texts_of(join_albums(mixed)) == ["a\nc", "b"]


@pytest.mark.slow
async def test_slow_handler_blocks_only_its_own_chat(world: World, api: BotApi) -> None:
    """In a chat in order, chats beside each other; nothing is confirmed before all are taken."""
    for user, text in ((ANA, "one"), (ANA, "two"), (BEN, "three")):
        world.says(user, text)
    taken: list[str] = []
    was_slow = asyncio.Event()

    async def take(update: Update) -> None:
        assert isinstance(update, MessageUpdate)
        if update.text == "one":
            await was_slow.wait()
        taken.append(update.text)
        if update.text == "three":
            was_slow.set()

    with suppress(TimeoutError):
        async with asyncio.timeout(2):
            await poll(api, take)

    assert taken == ["three", "one", "two"]
    assert not world.updates
