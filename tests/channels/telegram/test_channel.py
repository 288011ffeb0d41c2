"""Telegram as any platform: parts are sent, refusals say whether the place is closed or moved."""

from collections.abc import AsyncIterator, Iterator

import pytest

from oldfriend.channels.telegram.channel import Telegram
from oldfriend.domain.errors import InvalidInput, NotDelivered, PlaceClosed, PlaceMoved
from tests.fakes.telegram import Fault, World, running_telegram

ANA, FAMILY = 7, -100


@pytest.fixture
def world() -> Iterator[World]:
    """A Telegram of this test."""
    with running_telegram() as world:
        yield world


@pytest.fixture
async def telegram(world: World) -> AsyncIterator[Telegram]:
    """Our bot on it."""
    telegram = Telegram(world.token, base_url=world.url)
    yield telegram
    await telegram.close()


async def test_a_part_is_sent_and_named(world: World, telegram: Telegram) -> None:
    """By the key under which a reply to it comes back."""
    key = await telegram.send(str(ANA), "**hi**", key="x")

    assert key == f"message:{ANA}:{world.shown[0].id}"
    assert await telegram.name() == "oldfriend_bot"


async def test_places_are_closed_or_moved(world: World, telegram: Telegram) -> None:
    """Blocked, gone, become a supergroup; a flood says how long to wait."""
    world.blocked.add(ANA)
    with pytest.raises(PlaceClosed):
        await telegram.send(str(ANA), "x", key="x")
    with pytest.raises(PlaceClosed):
        await telegram.send("-5", "x", key="x")
    world.group(FAMILY, "Family")
    world.migrates(FAMILY, -1001)
    with pytest.raises(PlaceMoved) as moved:
        await telegram.send(f"{FAMILY}/3", "x", key="x")
    world.scripted["sendMessage"].append(Fault(status=429, retry_after=7, description="Too Many"))
    with pytest.raises(NotDelivered) as flood:
        await telegram.send("8", "x", key="x")
    with pytest.raises(InvalidInput):
        await telegram.send("nowhere", "x", key="x")

    assert moved.value.address == "-1001/3"
    assert flood.value.retry_after_s == 7


async def test_a_reply_is_seen_as_a_draft(world: World, telegram: Telegram) -> None:
    """First that it is typed; of a long one its end; half-open marks are no trouble."""
    glimpse = telegram.glimpse(str(ANA), key="turn")
    await glimpse.show("")
    await glimpse.show("")
    await glimpse.show("The **sea")
    await glimpse.show("word " * 2_000)

    assert world.actions == [(ANA, "typing")]
    assert world.drafts[ANA][0] == "The **sea"
    assert len(world.drafts[ANA][1]) <= 4_096
    assert world.shown == []


async def test_where_there_are_no_drafts_it_types(world: World, telegram: Telegram) -> None:
    """In groups, and on a server that does not know them."""
    world.drafts_are_known = False
    world.group(FAMILY, "Family")
    for place in (ANA, FAMILY):
        glimpse = telegram.glimpse(str(place), key="turn")
        await glimpse.show("The sea")
        await glimpse.show("The sea was")

    assert world.actions == [(ANA, "typing"), (FAMILY, "typing")]
    assert len(world.called("sendMessageDraft")) == 1
