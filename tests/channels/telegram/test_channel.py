"""Telegram as any platform: parts are sent, refusals say whether the place is closed or moved."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from oldfriend.channels.telegram.channel import Telegram
from oldfriend.domain.errors import (
    InvalidInput,
    NotDelivered,
    NotFound,
    PlaceClosed,
    PlaceMoved,
)
from tests.fakes.telegram import Fault, World, running_telegram

ANA, BEN, FAMILY = 7, 8, -100


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


async def test_whoever_sends_the_same_meanwhile_waits_for_it(
    world: World, telegram: Telegram
) -> None:
    """Somebody slow has lost a chat to another one here: in line, in the air, or gone from it."""
    address = str(ANA)
    world.scripted["sendMessage"] += [Fault(status=200, delay_s=0.2)] * 3
    async with asyncio.TaskGroup() as both:
        both.create_task(telegram.send(str(BEN), "first", key="other"))
        await asyncio.sleep(0.05)
        slow = both.create_task(telegram.send(address, "hi", key="x"))
        quick = both.create_task(telegram.send(address, "hi", key="x"))
    async with asyncio.TaskGroup() as both:
        gone = both.create_task(telegram.send(address, "ho", key="y"))
        following = both.create_task(telegram.send(address, "ho", key="y"))
        await asyncio.sleep(0.1)
        gone.cancel()

    assert world.texts(ANA) == ["hi", "ho"]
    assert slow.result() == quick.result()
    assert following.result() == f"message:{ANA}:{world.shown[-1].id}"


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


@pytest.mark.parametrize("place", [ANA, FAMILY])
async def test_where_there_are_no_drafts_one_message_is_edited(
    world: World, telegram: Telegram, place: int
) -> None:
    """In groups, and on a server that does not know them; it becomes the reply, word for word."""
    world.drafts_are_known = False
    world.group(FAMILY, "Family")
    glimpse = telegram.glimpse(str(place), key="turn")
    for text in ("", "The **sea", "The **sea", "The **sea** was"):
        await glimpse.show(text)
    assert glimpse.shown == f"message:{place}:{world.shown[0].id}"
    goes_on = telegram.glimpse(str(place), key="turn", shown=glimpse.shown)
    await goes_on.show("The **sea** was calm")
    assert world.texts(place) == ["The sea was calm"]
    is_there = await telegram.amend(str(place), glimpse.shown, "The **sea** was `calm`.")
    is_the_same = await telegram.amend(str(place), glimpse.shown, "The **sea** was `calm`.")

    assert (is_there, is_the_same) == (True, True)
    assert world.texts(place) == ["The sea was calm."]
    assert world.actions == [(place, "typing")]
    assert len(world.called("sendMessageDraft")) == (place > 0)
    assert len(world.called("editMessageText")) == 4


async def test_who_goes_on_after_a_crash_knows_what_was_shown(world: World, tmp_path: Path) -> None:
    """Before anything is shown, also where nobody came to note it but the one who sent it."""
    world.group(FAMILY, "Family")
    died = Telegram(world.token, base_url=world.url, folder=tmp_path)
    glimpse = died.glimpse(str(FAMILY), key="turn")
    await glimpse.show("The sea")
    await died.close()
    after = Telegram(world.token, base_url=world.url, folder=tmp_path)
    goes_on = after.glimpse(str(FAMILY), key="turn")
    another = after.glimpse(str(FAMILY), key="another turn")
    await after.close()

    assert goes_on.shown == glimpse.shown == f"message:{FAMILY}:{world.shown[0].id}"
    assert another.shown is None


async def test_of_a_long_reply_its_first_part_is_edited(world: World, telegram: Telegram) -> None:
    """The others follow once it is written."""
    world.drafts_are_known = False
    glimpse = telegram.glimpse(str(ANA), key="turn")
    await glimpse.show("The sea")
    await glimpse.show("The sea. " * 1_000)
    await glimpse.show("The sea. " * 1_100)

    assert len(world.shown) == 1
    assert len(world.shown[0].text) <= 4_096
    assert world.shown[0].edits == 1


async def test_a_message_that_is_gone_is_sent_anew(world: World, telegram: Telegram) -> None:
    """And a place that is closed stays closed; a flood says how long to wait."""
    assert not await telegram.amend(str(ANA), f"message:{ANA}:99", "x")
    world.scripted["editMessageText"].append(
        Fault(status=429, retry_after=4, description="Too Many Requests: retry after 4")
    )
    with pytest.raises(NotDelivered) as flood:
        await telegram.amend(str(ANA), f"message:{ANA}:99", "x")
    world.blocked.add(ANA)
    with pytest.raises(PlaceClosed):
        await telegram.amend(str(ANA), f"message:{ANA}:99", "x")

    assert flood.value.retry_after_s == 4


async def test_a_reply_is_sent_as_it_sounds(world: World, telegram: Telegram) -> None:
    """As a voice note; as a file to whoever takes no voice notes, or where it cannot be one."""
    refused = Fault(status=400, description="Bad Request: VOICE_MESSAGES_FORBIDDEN")
    await telegram.send_aloud(str(ANA), b"OggS", is_opus=True, title="Mo", key="a")
    world.scripted["sendVoice"].append(refused)
    key = await telegram.send_aloud(str(ANA), b"OggS", is_opus=True, title="Mo", key="b")
    await telegram.send_aloud(str(ANA), b"ID3", is_opus=False, title="Mo", key="c")
    world.blocked.add(ANA)
    with pytest.raises(PlaceClosed):
        await telegram.send_aloud(str(ANA), b"OggS", is_opus=True, title="Mo", key="d")

    assert [each.kind for each in world.shown] == ["voice", "audio", "audio"]
    assert key == f"message:{ANA}:{world.shown[1].id}"


async def test_a_recording_is_fetched(world: World, telegram: Telegram) -> None:
    """One that is not to be had is told apart from one that may be had later."""
    world.sends_file(ANA, "voice", b"OggS...")
    assert await telegram.fetch("file-0") == b"OggS..."
    with pytest.raises(NotFound):
        await telegram.fetch("file-9")
    world.scripted["getFile"].append(Fault(status=502))
    with pytest.raises(NotDelivered):
        await telegram.fetch("file-0")
